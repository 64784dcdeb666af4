"""The variants of the Invitation Algorithm: as safe as the plain one, and when they merge."""

from collections.abc import Callable

import pytest

from harness.execute import Outcome
from harness.networks import examine, networks
from harness.run import Run
from harness.scenario import scenario
from nodes.task import members, shared_out
from traces.events import Became, Sent
from traces.merge import read_trace

VARIANTS = [f"nodes.variants:{name}" for name in ("LowestFirst", "Noting", "Regrouping", "Quick")]


@pytest.mark.parametrize("protocol", VARIANTS)
def test_a_variant_keeps_every_claim_on_every_small_network(protocol: str) -> None:
    for case in networks(4, priorities=3, seeds=1):
        found = examine((case, protocol)).results
        assert (found["S00-4'a"], found["S00-4'b"]) == ("holds", "holds"), case.words
        assert {found["GM82-3a"], found["GM82-3b"]} <= {"holds", "vacuous"}, case.words


@pytest.mark.parametrize("engine", ["virtual", "real"])
@pytest.mark.parametrize("protocol", VARIANTS)
def test_a_variant_survives_the_crash_of_its_coordinator(
    protocol: str, engine: str, run: Callable[..., Outcome]
) -> None:
    @scenario(nodes=4, protocol=protocol)
    def coordinator_lost(run: Run) -> None:
        """GM82-3: the coordinator crashes, the others regroup; it returns."""
        run.start()
        run.settled()
        lost = run.kill("coordinator")
        run.settled()
        run.restart(lost)
        run.settled()

    assert run(coordinator_lost, engine=engine).as_expected


def regrouped_after(protocol: str, run: Callable[..., Outcome]) -> tuple[float, int]:
    """How long the others need after a crash, and how many messages."""

    @scenario(nodes=9, protocol=protocol)
    def lost(run: Run) -> None:
        """CJ97 10.2.2."""
        run.start()
        run.settled()
        run.kill("coordinator")
        run.settled()

    events = read_trace(run(lost, engine="virtual").run.trace)
    crash = next(event.at for event in events if type(event).__name__ == "Died")
    last = max(event.at for event in events if isinstance(event, Became))
    sent = sum(isinstance(event, Sent) and crash < event.at < last for event in events)
    return (last - crash) / 1e6, sent


def test_old_peers_that_are_invited_regroup_sooner_and_with_fewer_messages(
    run: Callable[..., Outcome],
) -> None:
    plain_ms, plain = regrouped_after("nodes.invitation:Invitation", run)
    quick_ms, quick = regrouped_after("nodes.variants:Regrouping", run)
    assert quick_ms < plain_ms
    assert quick < plain / 2


def test_the_lowest_number_leads_where_it_has_the_highest_priority(
    run: Callable[..., Outcome],
) -> None:
    @scenario(nodes=4, protocol=VARIANTS[0])
    def start(run: Run) -> None:
        """S97 section 2."""
        run.start()
        run.settled()

    events = read_trace(run(start, engine="virtual").run.trace)
    last = [event for event in events if isinstance(event, Became)][-1]
    assert last.c == 1


def test_who_is_in_a_team_can_be_read_off_its_task() -> None:
    assert members(f"3.7 {shared_out((5, 1, 3))}") == (1, 3, 5)
    assert members("") == ()

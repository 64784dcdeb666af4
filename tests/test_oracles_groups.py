"""Connectivity, GM82-4 and S00-4' against slow obvious oracles."""

from collections import Counter
from functools import partial
from random import Random

from hypothesis import given, settings

from tests.build import MS, Trace, info
from tests.group_traces import build_groups, group_traces
from tests.oracle_groups import Network, judged
from tests.oracle_runs import bend, random_run
from traces.cliques import BUDGET
from traces.events import AnyEvent
from traces.groups import check_groups, demanded
from traces.rulings import Case
from traces.run import RunInfo

NAMES = ("GM82-4", "S00-4'a", "S00-4'b")
INVITATION = "nodes.invitation:Invitation"


def judged_alike(events: list[AnyEvent], about: RunInfo, bound: int) -> Counter[str]:
    """What was found, by the analyzer and the oracle alike."""
    case, network, found = Case(events, about), Network(events, about), Counter[str]()
    intervals = case.connectivity.intervals
    assert [(it.start, it.end, list(it.nodes)) for it in intervals] == [
        (it.start, it.end, it.nodes) for it in network.spans
    ]
    for mine, its in zip(intervals, network.spans, strict=True):
        assert {link: mine.link(*link) for link in its.links} == its.links
        assert set(mine.seen) == its.seen
        assert (mine.stable, set(mine.graph.edges)) == (its.stable, its.edges)
        found.update(its.links.values())
        found["stable" if its.stable else "not stable"] += 1
    for name in NAMES:
        expected = judged(network, name, bound)
        groups = check_groups(case.history, intervals, bound, partial(demanded, name, BUDGET))
        assert groups.judged == expected.judged, name
        assert [(it.start, it.at) for it in groups.found] == expected.wrong, name
        assert not any(it.undecided for it in groups.found)
        result = "violated" if expected.wrong else "holds" if expected.judged else "vacuous"
        found[f"{name} {result}"] += 1
    return found


def by_hand(t: Trace) -> Counter[str]:
    return judged_alike(t.events, info(t.nodes), bound=60 * MS)


def test_connectivity_and_groups_are_as_the_oracle_says() -> None:
    found: Counter[str] = Counter()
    for seed in range(400):
        try:
            found += by_hand(build_groups(Random(seed)))
        except AssertionError as differs:
            raise AssertionError(f"seed {seed}: {differs}") from differs
    for what in ("ok", "late", "lost", "doubt", "stable", "not stable"):
        assert found[what] > 100, what
    for name in NAMES:
        assert all(found[f"{name} {it}"] > 40 for it in ("holds", "violated", "vacuous")), name


@given(group_traces())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_connectivity_and_groups_are_as_the_oracle_says_of_what_hypothesis_draws(t: Trace) -> None:
    by_hand(t)


def test_runs_of_the_invitation_algorithm_are_judged_as_the_oracle_says() -> None:
    found: Counter[str] = Counter()
    for seed in range(60):
        events, about = random_run(
            seed, protocol=INVITATION, lateness=bool(seed % 3), steps=8, nodes=4
        )
        if seed % 2:
            bend(events, Random(seed))
        if len(events) < 1000:
            found += judged_alike(events, about, bound=300 * MS)
    for name in NAMES:
        assert found[f"{name} holds"], name
        assert found[f"{name} violated"], name

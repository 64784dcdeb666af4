"""Restricted operations by majority and two-phase commit (GM82 IV-B), and how they are judged."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.execute import Outcome
from harness.run import Run
from harness.scenario import RESTRICTED, scenario
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from nodes.restricted import Restricted
from tests.build import Trace
from tests.mutants.restricted import MUTANTS
from tests.oracle_restricted import broken_operations
from traces.events import AnyEvent, Died, Injected, Loaded, Opened, Stored, decode_lines, encoder
from traces.lives import History
from traces.merge import read_trace
from traces.restricted import Ledger, check_restricted
from traces.run import RunInfo

Step = tuple[str, dict[str, Any]]
STEPS: list[Step] = [
    ("stored", {"cell": "prepared"}),  # begun, and not yet safe
    ("sent", {"kind": "Prepare", "ack": False}),
    ("received", {"kind": "Prepare", "ack": True}),
    ("stored", {"cell": "datum"}),  # decided, and not yet safe
    ("sent", {"kind": "Commit", "ack": False}),  # safe, and nobody knows
    ("received", {"kind": "Commit", "ack": True}),
]
MEMBER_STEPS: list[Step] = [
    ("received", {"kind": "Prepare", "ack": False}),
    ("stored", {"cell": "prepared"}),
    ("sent", {"kind": "Prepare", "ack": True}),
    ("received", {"kind": "Commit", "ack": False}),
    ("stored", {"cell": "datum"}),
    ("sent", {"kind": "Commit", "ack": True}),
]
RARE_STEPS: list[Step] = [  # of an operation that fails, and of a node in doubt
    ("sent", {"kind": "Abort", "ack": False}),
    ("received", {"kind": "Abort", "ack": False}),
    ("stored", {"cell": "prepared", "value": None}),
    ("sent", {"kind": "Inquiry", "ack": False}),
    ("sent", {"kind": "Inquiry", "ack": True}),
    ("received", {"kind": "Inquiry", "ack": True}),
]


def data(events: list[AnyEvent]) -> dict[int, dict[str, Any]]:
    """The datum each node holds at the end."""
    return {e.node: e.value for e in events if isinstance(e, Stored) and e.cell == "datum"}


# --- the protocol -------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["virtual", "real"])
@pytest.mark.parametrize(("event", "where"), STEPS, ids=[f"step-{k}" for k in range(len(STEPS))])
def test_a_coordinator_killed_at_any_step_leaves_a_log_that_all_recover_from(
    engine: str, event: str, where: dict[str, object], run: Callable[..., Outcome]
) -> None:
    @scenario(nodes=3, protocol=RESTRICTED)
    def coordinator_killed(run: Run) -> None:
        """GM82-RO: twice at the very same step."""
        run.start()
        run.settled()
        for _ in range(2):
            dead = run.arm("coordinator", event, **where)
            run.reached(dead)
            run.kill(dead)
            run.restart(dead)
            run.settled()
        run.seen("sent", kind="Commit", ack=False)

    outcome = run(coordinator_killed, engine=engine)
    assert outcome.as_expected


@pytest.mark.parametrize("engine", ["virtual", "real"])
@pytest.mark.parametrize(
    ("event", "where"), MEMBER_STEPS, ids=[f"step-{k}" for k in range(len(MEMBER_STEPS))]
)
def test_a_member_killed_at_any_step_leaves_a_log_that_all_recover_from(
    engine: str, event: str, where: dict[str, object], run: Callable[..., Outcome]
) -> None:
    @scenario(nodes=3, protocol=RESTRICTED)
    def member_killed(run: Run) -> None:
        """GM82-RO: node 1 dies, and the others are still a majority."""
        run.start()
        run.settled()
        run.arm(1, event, **where)
        run.reached(1)
        run.kill(1)
        run.restart(1)
        run.settled()
        run.seen("sent", kind="Commit", ack=False)

    outcome = run(member_killed, engine=engine)
    assert outcome.as_expected


@pytest.mark.parametrize("engine", ["virtual", "real"])
def test_the_minority_performs_nothing_and_holds_what_the_majority_made_once_healed(
    engine: str, run: Callable[..., Outcome]
) -> None:
    outcome = run("majority-goes-on", engine=engine)
    assert outcome.as_expected
    events = read_trace(outcome.run.trace)
    performed = Ledger(History(events, 5)).performed()
    (split,) = (e for e in events if isinstance(e, Injected) and e.verb == "cut")
    (mend,) = (e for e in events if isinstance(e, Injected) and e.verb == "mend")
    meanwhile = [it for it in performed if it.performed and split.at < it.performed.at < mend.at]
    assert meanwhile
    assert not {it.by for it in meanwhile} & {4, 5}
    last = meanwhile[-1].version
    caught_up = {
        e.node
        for e in events
        if isinstance(e, Stored) and e.cell == "datum" and e.value["version"] >= last
    }
    assert caught_up >= {4, 5}


def test_members_in_doubt_perform_nothing_before_the_coordinator_returns(
    run: Callable[..., Outcome],
) -> None:
    events = read_trace(run("blocked-in-doubt", engine="virtual").run.trace)
    killed = next(k for k, e in enumerate(events) if isinstance(e, Injected) and e.verb == "kill")
    back = [k for k, e in enumerate(events) if isinstance(e, Injected) and e.verb == "restart"][1]
    stored = [e for e in events[killed:back] if isinstance(e, Stored) and e.cell == "datum"]
    assert stored == []
    assert {value["version"] for value in data(events).values()} >= {1}


@pytest.mark.parametrize("nodes", [1, 2, 4, 9])
def test_any_number_of_nodes_performs_operations(nodes: int, run: Callable[..., Outcome]) -> None:
    expect = {"GM82-3a": "vacuous", "GM82-3b": "vacuous", "GM82-GH": "vacuous"}

    @scenario(nodes=nodes, protocol=RESTRICTED, expect=expect if nodes == 1 else {})
    def cold_start(run: Run) -> None:
        """GM82 IV-B: a system of any size, of which a majority is one more than half."""
        run.start()
        run.settled()
        run.seen("stored", cell="datum")
        run.elapse(200)

    assert run(cold_start, engine="virtual").as_expected


def test_exactly_half_of_the_nodes_is_no_majority(run: Callable[..., Outcome]) -> None:
    @scenario(nodes=4, protocol=RESTRICTED, expect={"GM82-RO": "vacuous"})
    def half(run: Run) -> None:
        """GM82 IV-B: two of four."""
        run.start([1, 2])
        run.settled([1, 2])
        run.elapse(500)

    outcome = run(half, engine="virtual")
    assert outcome.as_expected
    assert "restricted no" in outcome.run.trace.read_text()
    assert "restricted yes" not in outcome.run.trace.read_text()


def stormy(seed: int, protocol: str = RESTRICTED) -> tuple[list[AnyEvent], int]:
    """A run in which nodes are cut off, die at steps of operations, and return."""
    rng = Random(seed)
    n = rng.choice((3, 3, 4, 5))
    info = RunInfo("stormy", "", protocol, "virtual", seed, n, timing_for(n), bool(seed % 2),
                   properties=Restricted.claims)  # fmt: skip
    run = Run(info, VirtualEngine(info))
    run.engine.record(Opened(scenario="stormy", engine="virtual", nodes=n))
    run.start()
    for _ in range(rng.randint(5, 25)):
        run.live.catch_up()
        running, down = sorted(run.live.running), sorted(set(run.nodes) - run.live.up)
        stopped = sorted(run.live.stopped & run.live.up)
        match rng.choice(("arm", "arm", "arm", "kill", "restart", "split", "mend", "lose")):
            case "arm" if running:
                event, where = rng.choice(STEPS + MEMBER_STEPS + RARE_STEPS)
                run.arm(rng.choice(running), event, **where)
            case "kill" if stopped:
                run.kill(rng.choice(stopped))
            case "restart" if down or stopped:
                node = rng.choice(down + stopped)
                run.restart(node) if node in down else run.resume(node)
            case "split":
                run.split(rng.sample(run.nodes, rng.randint(1, n - 1)))
            case "lose":
                run.lose(run.links(), p=rng.random() / 2)
            case "mend":
                run.mend()
        run.elapse(rng.choice((1.0, info.timing.t_ms, 20 * info.timing.t_ms)) * rng.random())
    run.finish()
    run.engine.close()
    return decode_lines(encoder.encode_lines(run.engine.events)), n


def test_no_storm_makes_two_operations_of_one_version() -> None:
    performed = blocked = 0
    for seed in range(300):
        events, nodes = stormy(seed)
        finding = check_restricted(History(events, nodes))
        assert finding.cases == [], f"seed {seed}"
        performed += finding.examined["performed"]
        blocked += any(getattr(e, "kind", "") == "Inquiry" for e in events)
    assert performed > 1000
    assert blocked > 30


# --- the judge ----------------------------------------------------------------------------


def update(version: int, op: str, by: int) -> dict[str, Any]:
    return {"version": version, "op": op, "group": op.partition("/")[0], "by": by}


def voted(t: Trace, op: dict[str, Any], *nodes: int) -> None:
    for node in nodes:
        t.put(node, Stored(cell="prepared", value=op))


def test_an_operation_with_the_votes_of_a_majority_is_fine() -> None:
    t, op = Trace(3), update(1, "3.2/1", 3)
    t.start(1, 2, 3)
    voted(t, op, 3, 1)
    t.put(3, Stored(cell="datum", value=op))
    t.put(1, Stored(cell="datum", value=op))
    finding = check_restricted(t.history())
    assert finding.cases == []
    assert finding.examined == {"performed": 1, "groups": 1, "votes": 2}


def test_half_of_the_votes_are_too_few() -> None:
    t, op = Trace(4), update(1, "4.2/1", 4)
    t.start(1, 2, 3, 4)
    voted(t, op, 4, 1)
    t.put(4, Stored(cell="datum", value=op))
    voted(t, op, 2)  # too late
    (case,) = check_restricted(t.history()).cases
    assert "by the votes of 1,4, of 4 nodes" in case.says


def test_where_votes_are_assigned_a_majority_is_of_those_of_the_version_before() -> None:
    t, first = Trace(3), update(0, "", 0) | {"votes": [1, 1, 1]}
    one = update(1, "3.2/1", 3) | {"votes": [0, 1, 2]}
    other = update(2, "2.3/1", 2) | {"votes": [0, 1, 0]}
    t.start(1, 2, 3)
    t.put(1, Stored(cell="datum", value=first))
    voted(t, one, 3, 2)
    t.put(3, Stored(cell="datum", value=one))
    voted(t, other, 2, 1)  # two of three nodes, with one of three votes
    t.put(2, Stored(cell="datum", value=other))
    (case,) = check_restricted(t.history()).cases
    assert "2.3/1 of group 2.3 under node 2 was performed as version 2" in case.says
    assert "by the votes of 1-2, 1 of 3" in case.says


def test_two_operations_of_one_version_are_a_conflict() -> None:
    t, one, other = Trace(3), update(1, "3.2/1", 3), update(1, "2.2/1", 2)
    t.start(1, 2, 3)
    voted(t, one, 3, 1)
    t.put(3, Stored(cell="datum", value=one))
    voted(t, other, 2, 1)
    t.put(2, Stored(cell="datum", value=other))
    (case,) = check_restricted(t.history()).cases
    assert case.nodes == (3, 2)
    assert "version 1 was made by 3.2/1 of group 3.2 under node 3, and by 2.2/1" in case.says


def test_what_nobody_performed_cannot_be_taken_over() -> None:
    t, op = Trace(3), update(1, "3.2/1", 3)
    t.start(1, 2, 3)
    voted(t, op, 3, 1)
    t.put(1, Stored(cell="datum", value=op))
    (case,) = check_restricted(t.history()).cases
    assert "node 1 took over version 1" in case.says


@pytest.mark.parametrize("found", [True, False])
def test_a_decision_that_was_the_last_line_of_a_life_counts_if_the_next_life_finds_it(
    found: bool,
) -> None:
    t, one, other = Trace(3), update(1, "3.2/1", 3), update(1, "2.2/1", 2)
    t.start(1, 2, 3)
    voted(t, one, 3, 1)
    t.put(3, Stored(cell="datum", value=one))
    t.kill(3)
    t.start(3)
    if found:
        t.put(3, Loaded(cell="datum", value=one))
    voted(t, other, 2, 1)
    t.put(2, Stored(cell="datum", value=other))
    assert len(check_restricted(t.history()).cases) == found


def build_operations(rng: Random) -> Trace:
    """Votes and decisions by chance, crashes after any of them, cells that kept the last or not.

    In half of them the datum is an assignment of votes, and counts.
    """
    t, weighted = Trace(rng.randint(2, 4)), rng.random() < 0.5
    up: set[int] = set()
    disk: dict[tuple[int, str], Any] = {}
    ops = [update(rng.randint(1, 2), f"{by}.{k}/1", by)
           for by in range(1, t.nodes + 1) for k in range(rng.randint(0, 1) + 1)]  # fmt: skip
    if weighted:
        ops = [op | {"votes": [rng.randint(0, 3) for _ in range(t.nodes)]} for op in ops]
        initial = update(0, "", 0) | {"votes": [rng.randint(0, 3) for _ in range(t.nodes)]}
    for _ in range(rng.randint(5, 30)):
        node = rng.randint(1, t.nodes)
        if node not in up:
            t.start(node)
            up.add(node)
            for cell in ("datum", "prepared"):
                if (node, cell) in disk:
                    t.put(node, Loaded(cell=cell, value=disk[node, cell]))
            if weighted and (node, "datum") not in disk:
                t.put(node, Stored(cell="datum", value=initial))
            continue
        cell = rng.choice(("prepared", "prepared", "datum"))
        value = rng.choice([*ops, *([None] if cell == "prepared" else [])])
        t.put(node, Stored(cell=cell, value=value))
        crashed = rng.random() < 0.25
        if not crashed or rng.random() < 0.5:
            disk[node, cell] = value
        if crashed:
            t.kill(node)
            up.discard(node)
    return t


def accused(events: list[AnyEvent], nodes: int) -> list[tuple[int, int, int]]:
    return sorted(case.events[-1] for case in check_restricted(History(events, nodes)).cases)


@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=False).map(build_operations))
def test_what_breaks_gm82_ro_is_what_the_oracle_says(t: Trace) -> None:
    assert accused(t.events, t.nodes) == sorted(broken_operations(t.events, t.nodes))


def test_random_operations_break_every_rule_and_none() -> None:
    traces = [build_operations(Random(seed)) for seed in range(200)]
    cases = [check_restricted(t.history()).cases for t in traces]
    for words in ("was made by", "took over", "by the votes of"):
        assert sum(words in case.says for found in cases for case in found) > 20
    assert [] in cases


@pytest.mark.parametrize("mutant", MUTANTS[:9], ids=lambda mutant: mutant.__name__)
def test_analyzer_and_oracle_agree_on_storms_of_wrong_protocols(mutant: type[Restricted]) -> None:
    for seed in range(15):
        events, nodes = stormy(seed, f"{mutant.__module__}:{mutant.__name__}")
        assert accused(events, nodes) == sorted(broken_operations(events, nodes)), f"seed {seed}"


def test_a_storm_kills_in_the_midst_of_operations() -> None:
    """The storms are no fair weather: most see a death and a doubt."""
    deaths = sum(any(isinstance(e, Died) and e.signal for e in stormy(s)[0]) for s in range(40))
    assert deaths > 20

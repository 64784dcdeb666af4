"""Locks on votes that move: BGS86 3 to the number, and against the oracle."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from harness.catalog import built_in
from harness.execute import Outcome, simulate
from harness.run import Run
from harness.scenario import HARDENED_TWO, LOCKS_ONE, LOCKS_TWO, Scenario, scenario
from reports.terminal import render_text
from tests.build import Trace, info
from tests.oracle_locks import asked_twice_and_taken, hidden, minorities, overlaps
from tests.vote_weather import in_a_storm
from traces.events import AnyEvent, Received, Sent, Stored
from traces.lives import History
from traces.lock_rulings import LockRulings
from traces.locks import LockRecord
from traces.merge import read_trace
from traces.rulings import Case

BOTH = pytest.mark.parametrize("engine", ["virtual", "real"])


def locks_of(outcome: Outcome) -> LockRecord:
    info = outcome.run.read_info()
    history = History(read_trace(outcome.run.trace), info.nodes)
    return LockRecord(history, "BGS86-T221" in info.properties)


@BOTH
def test_who_raises_its_votes_learns_of_the_lock_it_was_never_asked_for(
    engine: str, run: Callable[..., Outcome]
) -> None:
    record = locks_of(run("lost-lock-request", engine=engine))
    assert [(it.name, it.object, it.group, it.votes, sum(it.v)) for it in record.locks] == [
        ("3.1.1", "x", (3, 4), 3, 5),
        ("1.1.2", "y", (1,), 100, 104),
    ]
    assert record.contended == 1


@BOTH
def test_without_its_log_a_vote_increase_makes_two_hold_one_lock(
    engine: str, run: Callable[..., Outcome]
) -> None:
    wrong = replace(built_in()["lost-lock-request"], protocol="tests.mutants.locks:LogNotSent")
    outcome = run(wrong, engine=engine)
    assert outcome["BGS86-C22"] == "violated"
    assert [(one.name, other.name) for one, other in locks_of(outcome).overlaps] == [
        ("3.1.1", "1.1.1")
    ]


@BOTH
def test_a_lock_outlives_the_votes_it_was_given_by_and_the_report_shows_both_holders(
    engine: str, run: Callable[..., Outcome]
) -> None:
    outcome = run("lock-of-votes-given-back", engine=engine)
    verdict = next(v for v in outcome.verdicts if v.id == "BGS86-C22")
    assert "3.1.1 (node 3) took x with the votes of nodes" in verdict.because
    assert "(v = 1 1 1 2)" in verdict.because
    assert "1.1.1 (node 1) held it" in verdict.because
    assert "the votes of node 1, 100 of 104" in verdict.because
    assert verdict.evidence[0].nodes == (1, 3)
    shown = render_text(outcome.run, outcome.verdicts)
    assert "while 1.1.1 held it" in shown


# --- the oracle -----------------------------------------------------------------------------


def tampered(seed: int) -> tuple[list[AnyEvent], bool, int]:
    """A storm of locks in which some locks are never released, and some votes are others."""
    rng = Random(seed)
    protocol = rng.choice((LOCKS_ONE, LOCKS_TWO))
    events, info = in_a_storm(seed, protocol)
    kept: dict[int, dict[str, str]] = {}
    stores = [e for e in events if isinstance(e, Stored) and e.cell == "held"]
    for k, event in enumerate(stores):
        if rng.random() < 0.5:  # it goes on holding what it held
            event.value.update(kept.get(event.node, {}))
        if rng.random() < 0.2:  # it holds what another one holds
            event.value.update({f"{event.node}.{k}.0": rng.choice("xy")})
        kept[event.node] = dict(event.value)
    votes = [e for e in events if isinstance(e, Received) and e.kind == "Yes"]
    for vote in rng.sample(votes, len(votes) // 3):
        k = rng.randrange(info.nodes)
        vote.args[1]["V"][k], vote.args[1]["N"][k] = rng.randint(0, 9), rng.randint(0, 3)
    return events, protocol == LOCKS_TWO, info.nodes


def test_the_record_of_locks_agrees_with_the_oracle_on_tampered_histories() -> None:
    overlapping = few = 0
    for seed in range(25):
        events, versions, nodes = tampered(seed)
        record = LockRecord(History(events, nodes), versions)
        pairs = {frozenset((a.name, b.name)) for a, b in record.overlaps}
        assert pairs == overlaps(events, nodes), seed
        weak = {it.name for it in record.locks if 2 * it.votes <= sum(it.v)}
        assert weak == minorities(events, nodes, versions), seed
        assert record.objects == len(asked_twice_and_taken(events)), seed
        overlapping += bool(pairs)
        few += bool(weak)
    assert min(overlapping, few) > 3


def loose(seed: int) -> Trace:
    """Nodes that take and give up objects as they like, and send each other anything."""
    rng = Random(seed)
    t = Trace(rng.randint(2, 4))
    for node in range(1, t.nodes + 1):
        t.start(node)
    held: dict[int, dict[str, str]] = {node: {} for node in range(1, t.nodes + 1)}
    flying: list[Sent] = []
    for k in range(30):
        node = rng.randint(1, t.nodes)
        match rng.choice(("take", "give up", "send", "receive", "receive")):
            case "take" if not held[node]:
                held[node] = {f"{node}.1.{k}": rng.choice("xy")}
                t.put(node, Stored("held", dict(held[node])))
            case "give up" if held[node]:
                held[node] = {}
                t.put(node, Stored("held", {}))
            case "send":
                others = [j for j in range(1, t.nodes + 1) if j != node]
                flying.append(t.send(node, rng.choice(others)))
            case "receive" if flying:
                t.receive(flying.pop(0))
    return t


def test_locks_on_cuts_that_were_never_recorded_agree_with_the_oracle() -> None:
    found = 0
    for seed in range(300):
        t = loose(seed)
        rulings = LockRulings(Case(t.events, info(t.nodes)), versions=False)
        pairs = hidden(t.events, t.nodes)
        assert {it.later.says for it in rulings.hidden} == {b for _, b in pairs}, seed
        assert {(it.earlier.says, it.later.says) for it in rulings.hidden} <= pairs, seed
        assert sum(it.pairs for it in rulings.hidden) == len(pairs), seed
        found += bool(pairs)
    assert found > 100


# --- a crash at every step ------------------------------------------------------------------


def day(died: list[int], node: int = 0, event: str = "", **where: Any) -> Scenario:
    """Votes and locks come and go; at that point the node dies, and returns later."""

    @scenario(nodes=3, protocol=HARDENED_TWO, lateness=False, parameters={"patience": 1})
    def a_day(run: Run) -> None:
        """BGS86-C22, BGS86-T221: whatever step a node dies at."""

        def asked(i: int, kind: str, **args: Any) -> None:
            run.live.catch_up()
            if i in run.live.running:
                run.ask(i, kind, **args)
            run.elapse(2)

        run.start()
        if node:
            run.arm(node, event, **where)
        asked(1, "Increase", votes=5)
        asked(2, "Lock", object="x")
        asked(2, "Increase", votes=2)
        asked(1, "Lock", object="x")
        asked(1, "Decrease", votes=2)
        asked(2, "Unlock", object="x")
        asked(3, "Lock", object="x")
        run.live.catch_up()
        if run.live.stopped:
            died.append(run.kill(node))
            asked(1, "Lock", object="x")
            run.restart(node)
        for i in (2, 1, 3):
            asked(i, "Lock", object="x")
            asked(i, "Lock", object="y")
        run.elapse(3 * run.info.timing.check_ms)
        for i in (1, 3, 2):
            asked(i, "Lock", object="x")

    return a_day


def steps_of(events: list[AnyEvent]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Every step of every node that a crash can come right after."""
    for e in events:
        if isinstance(e, Sent):
            yield e.node, "sent", {"kind": e.kind, "to": e.to}
        elif isinstance(e, Received):
            yield e.node, "received", {"kind": e.kind, "src": e.src}
        elif isinstance(e, Stored):
            yield e.node, "stored", {"cell": e.cell, "value": e.value}


def test_a_crash_at_any_step_breaks_no_claim(run: Callable[..., Outcome]) -> None:
    died: list[int] = []
    quiet = run(day(died), engine="virtual")
    steps = {str(it): it for it in steps_of(read_trace(quiet.run.trace))}.values()
    assert {where["kind"] for _, event, where in steps if event == "sent"} >= {
        "Increase", "Vote", "Decrease", "LockRequest", "Yes", "UnlockRequest",
    }  # fmt: skip
    for node, event, where in steps:
        _, verdicts = simulate(day(died, node, event, **where))
        results = {v.id: v.result for v in verdicts}
        assert "violated" not in results.values(), (node, event, where)
        assert results["BGS86-C22"] == "holds", (node, event, where)
    assert len(died) > 60

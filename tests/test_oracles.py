"""A4 to A9 against slow obvious oracles: random runs of the Bully and its mutants, bent or not."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings

from tests.build import Trace
from tests.oracle_cells import broken_cells
from tests.oracle_corpus import Case, corpus
from tests.oracle_environment import Broken, Environment
from tests.oracle_lives import all_lives
from tests.oracle_platform import broken_contents, broken_lives, broken_order
from tests.oracle_runs import forget
from tests.trace_strategies import build_cells, cell_traces
from traces import environment
from traces.assumptions import Finding, check_a4, check_a5, check_a6, check_a7
from traces.events import AnyEvent, Loaded, Received, Sent, Started, Stored
from traces.lives import History
from traces.traffic import Traffic
from traces.validity import event_id
from traces.verdicts import Break, EventId

CELLS = 1500
Check = Callable[[History, Traffic], Finding]


def accused(check: Check, events: list[AnyEvent], nodes: int) -> list[EventId]:
    """The lines a check of the analyzer accuses: the last of each case."""
    finding = check(History(events, nodes), Traffic(events))
    return sorted(case.events[-1] for case in finding.cases)


def share(broken: list[bool]) -> float:
    return sum(broken) / len(broken)


def test_lives_begin_and_end_where_the_oracle_says() -> None:
    for seed, events, info in corpus():
        history, expected = History(events, info.nodes), all_lives(events, info.nodes)
        for node, lives in history.lives.items():
            found = [(it.inc, it.at, it.crash.at if it.crash else None) for it in lives]
            assert found == [(it.inc, it.start, it.down) for it in expected[node]], f"seed {seed}"


def a4(case: Case) -> tuple[list[EventId], list[EventId]]:
    return accused(check_a4, case.events, case.info.nodes), broken_cells(
        case.events, case.info.nodes
    )


def a6(case: Case) -> tuple[list[EventId], list[EventId]]:
    return accused(check_a6, case.events, case.info.nodes), broken_contents(case.events)


def a7(case: Case) -> tuple[list[EventId], list[EventId]]:
    return accused(check_a7, case.events, case.info.nodes), broken_order(
        case.events, case.info.nodes
    )


@pytest.mark.parametrize(("compared", "least"), [(a4, 0.02), (a6, 0.1), (a7, 0.1)])
def test_what_breaks_an_obligation_is_what_the_oracle_says(
    compared: Callable[[Case], tuple[list[EventId], list[EventId]]], least: float
) -> None:
    broken = []
    for case in corpus():
        found, expected = compared(case)
        assert found == sorted(expected), f"seed {case.seed}"
        broken.append(bool(expected))
    assert least < share(broken) < 0.9


def test_what_breaks_a5_is_what_the_oracle_says() -> None:
    broken = []
    for seed, events, info in corpus():
        bent = list(events)
        if seed % 5 == 0:
            bent = [type(e)(**{f: getattr(e, f) for f in e.__struct_fields__}) for e in events]
            forget(bent, Random(seed), Started)
        found, expected = accused(check_a5, bent, info.nodes), broken_lives(bent)
        assert found == sorted(expected), f"seed {seed}"
        broken.append(bool(expected))
    assert 0.1 < share(broken) < 0.9


# --- safe cells ---------------------------------------------------------------------------


def judged_alike(t: Trace) -> bool:
    """Whether A4 is broken, by the analyzer and the oracle alike."""
    expected = broken_cells(t.events, t.nodes)
    assert accused(check_a4, t.events, t.nodes) == sorted(expected)
    return bool(expected)


def test_safe_cells_are_judged_as_the_oracle_says() -> None:
    broken = [judged_alike(build_cells(Random(seed))) for seed in range(CELLS)]
    assert 0.1 < share(broken) < 0.9


@given(cell_traces())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_safe_cells_that_hypothesis_draws_are_judged_as_the_oracle_says(t: Trace) -> None:
    judged_alike(t)


def test_a_cell_whose_stores_may_all_be_lost_may_hold_what_it_held_before_them() -> None:
    t = Trace(2)
    for value in ("a", "b"):  # each the last line of a life that loaded nothing
        t.start(1)
        t.put(1, Stored(cell="word", value=value))
        t.kill(1)
    t.start(1)
    t.put(1, Loaded(cell="word", value=None))
    assert not judged_alike(t)


@pytest.mark.parametrize("restarts", [1, 2])
def test_a_message_handled_by_one_life_and_again_by_the_next_breaks_a7(restarts: int) -> None:
    t = Trace(2)
    t.start(1, 2)
    sent = t.send(1, 2)
    t.receive(sent)
    t.receive(t.send(1, 2))
    t.became(2, "Election", h=1)
    t.kill(restarts)
    t.start(restarts)
    if restarts == 1:  # the old life's message comes after the new one's
        t.receive(t.send(1, 2))
    again = t.receive(sent)
    t.became(2, "Election", h=1)
    assert accused(check_a7, t.events, 2) == broken_order(t.events, 2) == [event_id(again)]


# --- A8 and A9 ----------------------------------------------------------------------------


def named(events: list[AnyEvent], breaks: list[Break]) -> Broken:
    """What the breaks of the analyzer rest on, line by line."""
    lines, found = {event_id(e): e for e in events}, Broken()
    for it in breaks:
        rest = list(it.events)
        while rest:
            line = rest.pop(0)
            if isinstance(lines[line], Sent):
                found.sends[line] = {it.assumption}
            elif isinstance(lines[line], Received):
                if it.assumption == "A9":  # a request, and the proof that it took too long
                    found.requests.add(line)
                    rest.pop(0)
            else:
                found.pauses.add(line)
    return found


def test_what_breaks_a8_and_a9_is_what_the_oracle_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "SHOWN", 1 << 30)  # name every line, not the first few
    shares: dict[str, list[bool]] = {"sends": [], "pauses": [], "requests": []}
    compared = 0
    for seed, events, info in corpus():
        looked = environment.look(History(events, info.nodes), Traffic(events), info.timing)
        oracle = Environment(events, info)
        found, expected = named(events, looked.breaks), oracle.broken()
        assert found.sends.keys() == expected.sends.keys(), f"seed {seed}"
        assert all(found.sends[it] <= expected.sends[it] for it in found.sends), f"seed {seed}"
        assert (found.pauses, found.requests) == (expected.pauses, expected.requests), seed
        for it in looked.breaks:
            sends = [e for e in events if isinstance(e, Sent) and event_id(e) in it.events]
            late = [e for e in sends if event_id(e) in expected.sends]
            if it.assumption == "A8":
                assert it.felt == max(oracle.felt(e) for e in late), f"seed {seed}"
                compared += 1
        for what, broken in shares.items():
            broken.append(bool(getattr(expected, what)))
    assert compared > 100
    assert 0.2 < share(shares["sends"]) < 0.9
    assert 0.05 < share(shares["pauses"]) < 0.9
    assert 0.01 < share(shares["requests"]) < 0.9

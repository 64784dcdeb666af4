"""Assertions 1 and 3 on recorded cuts: the sweep against cases by hand and the oracle."""

from itertools import pairwise
from random import Random

from hypothesis import given, settings

from tests.build import Trace
from tests.oracle import Cut, violating_cuts
from tests.trace_strategies import random_trace, traces
from traces.chapters import Crash
from traces.cuts import Swept
from traces.events import Became

TRACES = 2500


def cuts_in(swept: Swept, events: int) -> set[Cut]:
    found: set[Cut] = set()
    for d in swept.found:
        end = 2 * events if d.end is None else d.end
        found.update((key // 2, bool(key % 2)) for key in range(d.start, end))
    return found


def test_two_active_nodes_with_different_coordinators_violate_1a() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.became(1, "Reorganization", 1)
    t.became(2, "Normal", 2)
    a, b = t.sweep()
    assert [{s.node for s in found.states} for found in a.found] == [{1, 2}]
    assert not b.found


def test_two_normal_nodes_with_different_tasks_violate_1b_alone() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(2, 1, d="old")
    t.normal(2, 2, d="new")
    a, b = t.sweep()
    assert not a.found
    states = b.found[0].states
    assert [s.d for s in states if isinstance(s, Became)] == ["new", "old"]


def test_a_violation_is_an_interval_that_ends_when_they_agree_again() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1)
    start = t.became(2, "Reorganization", 2)
    end = t.became(1, "Election", h=2)
    found = t.sweep()[0].found
    assert [(d.at, d.until) for d in found] == [(start.at, end.at)]


def test_nodes_in_election_and_nodes_that_are_down_have_no_say() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.normal(3, 1)
    t.became(2, "Election", 2)
    t.became(3, "Down", 3)
    a, b = t.sweep()
    assert not a.found
    assert not b.found
    assert (a.pairs, b.pairs) == (0, 0)


def test_a_killed_coordinator_is_down_before_its_successor_is_elected() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.elect(2, 1)
    t.kill(2)
    t.elect(1)
    assert not t.sweep()[0].found


def test_what_a_node_wrote_between_the_stamp_of_a_kill_and_its_death_counts() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1)
    t.inject("kill", 2)
    last = t.became(2, "Normal", 2, d="task")
    t.died(2, 9)
    found = t.sweep()[0].found
    assert [(d.at, d.until) for d in found] == [(last.at, last.at)]


def test_an_unplanned_death_dates_from_the_last_event_of_the_life() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(2, 2)
    t.wait(50)
    t.normal(1, 1)
    t.died(2)
    assert not t.sweep()[0].found


def test_a_node_killed_while_suspended_is_down_from_where_it_stopped() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(2, 2)
    t.pause(2)
    t.wait(500)
    t.normal(1, 1)
    t.kill(2)
    assert not t.sweep()[0].found


def test_a_node_that_overslept_was_down_from_the_pause_on() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(2, 2)
    since = t.now
    t.pause(2)
    t.wait(500)
    t.normal(1, 1)
    t.resume(2)
    t.overslept(2, since)
    a, _ = t.sweep()
    assert not a.found
    (crash,) = [s for _, s in t.history().steps if isinstance(s, Crash)]
    assert crash.at < since + 10_000


def test_what_a_node_published_between_waking_and_failing_itself_does_not_count() -> None:
    t = Trace(2)
    t.start(1, 2)
    since = t.now
    t.pause(2)
    t.wait(500)
    t.normal(1, 1)
    t.resume(2)
    t.became(2, "Normal", 2)
    t.overslept(2, since)
    assert not t.sweep()[0].found


def test_a_node_that_was_paused_and_does_not_know_it_still_has_its_say() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(2, 2)
    t.pause(2)
    t.wait(500)
    t.normal(1, 1)
    t.resume(2)
    assert len(t.sweep()[0].found) == 1


def test_every_recorded_cut_is_counted() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.elect(2, 1)
    t.kill(2)
    assert t.sweep()[0].cuts == len(t.events) + 1


def test_nodes_of_different_groups_need_not_agree_and_those_of_one_group_must() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.became(1, "Normal", 1, d="x", g="1.1")
    t.became(2, "Normal", 2, d="y", g="2.1")
    a, b = t.sweep(by_group=True)
    assert (a.found, b.found, a.pairs, b.pairs) == ([], [], 0, 0)
    t.became(3, "Normal", 1, d="z", g="1.1")
    a, b = t.sweep(by_group=True)
    assert not a.found
    assert [{s.node for s in found.states} for found in b.found] == [{1, 3}]
    t.became(2, "Reorganization", 2, g="1.1")
    assert len(t.sweep(by_group=True)[0].found) == 1


def swept_alike(t: Trace, by_group: bool = False) -> bool:
    """Whether the assertion is broken, at the very same cuts by the sweep and the oracle."""
    assert all(a.at < b.at for a, b in pairwise(t.events))
    expected = violating_cuts(t.events, t.nodes, by_group)
    assert tuple(cuts_in(s, len(t.events)) for s in t.sweep(by_group)) == expected
    return any(expected)


def grouped(t: Trace, rng: Random) -> Trace:
    """The same trace with its states spread over a few groups."""
    for event in t.events:
        if isinstance(event, Became):
            event.g = rng.choice(("1.1", "2.1", "2.2"))
    return t


def test_the_sweep_of_groups_agrees_with_the_oracle_on_random_traces() -> None:
    all_traces = (grouped(random_trace(seed), Random(seed)) for seed in range(TRACES))
    violating = sum(swept_alike(t, by_group=True) for t in all_traces)
    assert 0.1 < violating / TRACES < 0.9


def test_the_sweep_agrees_with_the_oracle_on_random_traces() -> None:
    violating = sum(swept_alike(random_trace(seed)) for seed in range(TRACES))
    assert 0.1 < violating / TRACES < 0.9


@given(traces())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_the_sweep_agrees_with_the_oracle_on_what_hypothesis_draws(t: Trace) -> None:
    swept_alike(t)

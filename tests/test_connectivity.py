"""Connectivity: what messages bear witness of, what rules say of silent links, and the machine."""

import pytest

from tests.build import MS, TIMING, Trace
from tests.oracle_runs import random_run
from traces.connectivity import Connectivity, Interval, connectivity
from traces.events import Began, Discarded, Injected, TimedOut
from traces.lives import History
from traces.traffic import Traffic
from traces.validity import problems_of

T_M = TIMING.t_m_ms


def two() -> Trace:
    t = Trace(2)
    t.start(1, 2)
    return t


def seen(t: Trace) -> Connectivity:
    """What the trace shows, once a run that is still open has been closed."""
    if not t.history().closed:
        t.wait(50)
        t.close()
    assert not problems_of(t.events, t.nodes)
    return connectivity(t.history(), Traffic(t.events), TIMING)


def last(t: Trace) -> Interval:
    return seen(t).intervals[-1]


def on_time(t: Trace, i: int, j: int) -> None:
    t.receive(t.send(i, j))


def late(t: Trace, i: int, j: int) -> None:
    sent = t.send(i, j)
    t.wait(T_M)
    t.receive(sent)


def lost(t: Trace, i: int, j: int) -> None:
    t.send(i, j)
    t.wait(T_M)


# --- outcomes -----------------------------------------------------------------------------


def test_two_nodes_that_hear_each_other_in_time_are_connected() -> None:
    t = two()
    on_time(t, 1, 2)
    on_time(t, 2, 1)
    it = last(t)
    assert (it.pair(1, 2), it.stable, it.by_rule) == ("connected", True, 0)
    assert it.graph.edges == {(1, 2)}


def test_two_nodes_that_lose_all_messages_are_disconnected() -> None:
    t = two()
    lost(t, 1, 2)
    lost(t, 2, 1)
    it = last(t)
    assert (it.pair(1, 2), it.stable, it.graph.edges) == ("disconnected", True, frozenset())


def test_one_way_is_partially_connected_and_not_stable() -> None:
    t = two()
    on_time(t, 1, 2)
    lost(t, 2, 1)
    assert last(t).pair(1, 2) == "partial"
    assert not last(t).stable


def test_a_late_message_is_neither_delivered_in_time_nor_lost() -> None:
    t = two()
    late(t, 1, 2)
    late(t, 2, 1)
    assert last(t).link(1, 2) == "late"
    assert last(t).pair(1, 2) == "partial"


def test_a_message_received_just_within_t_m_is_in_time() -> None:
    t = two()
    sent = t.send(1, 2)
    received = t.receive(sent)
    t.now = received.at = sent.at + round(T_M * MS)
    assert last(t).link(1, 2) == "ok"


def test_a_message_that_was_only_discarded_is_lost() -> None:
    t = two()
    sent = t.send(1, 2)
    t.put(2, Discarded(why="late", src=1, sinc=1, m=sent.m))
    assert last(t).link(1, 2) == "lost"


def test_a_message_sent_shortly_before_the_end_of_its_period_has_no_outcome() -> None:
    t = two()
    t.send(1, 2)
    t.wait(T_M - 1)
    t.cut(1, (2, 1))
    assert not any(it.seen for it in seen(t).intervals)


def test_but_one_that_was_received_in_time_has() -> None:
    t = two()
    sent = t.send(1, 2)
    t.cut(1, (2, 1))
    t.receive(sent)
    assert [it.seen for it in seen(t).intervals if it.seen] == [{(1, 2): "ok"}]


def test_a_message_received_by_the_next_life_was_not_received_by_the_one_that_was_up() -> None:
    t = two()
    t.wait(50)
    sent = t.send(1, 2)
    t.kill(2)
    t.start(2)
    t.receive(sent)
    assert not any(it.seen for it in seen(t).intervals)


def test_a_send_that_was_the_last_line_of_a_life_that_crashed_may_never_have_happened() -> None:
    t = two()
    t.send(1, 2)
    t.wait(50)
    t.kill(1)
    assert not any(it.seen for it in seen(t).intervals)
    t = two()
    t.send(1, 2)
    t.became(1, "Election")
    t.wait(50)
    t.kill(1)
    assert any(it.seen for it in seen(t).intervals)


def test_a_node_that_is_down_or_suspended_is_no_vertex_and_has_no_links() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.kill(2)
    t.pause(3)
    t.send(1, 2)
    t.send(1, 3)
    t.wait(50)
    it = last(t)
    assert (it.nodes, it.suspended, it.seen) == ((1,), (3,), {})


def test_a_period_in_which_a_node_is_suspended_is_not_stable() -> None:
    t = two()
    t.wait(5)
    t.pause(2)
    t.wait(5)
    t.resume(2)
    t.wait(5)
    stable = [it.stable for it in seen(t).intervals if it.end - it.start > 4 * MS]
    assert stable == [True, False, True]


# --- where intervals begin ----------------------------------------------------------------


@pytest.mark.parametrize("before", [on_time, late, lost])
@pytest.mark.parametrize("after", [on_time, late, lost])
def test_where_the_outcome_on_a_link_flips_a_new_interval_begins_at_the_later_send(
    before: object, after: object
) -> None:
    t = two()
    before(t, 1, 2)  # type: ignore[operator]
    at = t.now + 1000
    after(t, 1, 2)  # type: ignore[operator]
    begun = [it.start for it in seen(t).intervals]
    assert (at in begun) == (before is not after)


def test_what_one_link_does_is_no_flip_of_another() -> None:
    t = two()
    on_time(t, 1, 2)
    lost(t, 2, 1)
    on_time(t, 1, 2)
    lost(t, 2, 1)
    assert last(t).seen == {(1, 2): "ok", (2, 1): "lost"}


def test_a_flip_elsewhere_leaves_a_link_that_is_silent_from_then_on_without_a_witness() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    lost(t, 1, 2)
    on_time(t, 1, 3)
    lost(t, 1, 3)
    before, after = seen(t).intervals[-2:]
    assert (before.seen[1, 2], before.link(1, 2)) == ("lost", "lost")
    assert (1, 2) not in after.seen
    assert after.link(1, 2) == "ok"


@pytest.mark.parametrize("verb", ["kill", "pause", "resume", "start", "restart"])
def test_a_fault_that_was_asked_for_ends_a_period(verb: str) -> None:
    t = two()
    asked = t.inject(verb, 2)
    assert asked.at in [it.start for it in seen(t).intervals]


def test_starts_crashes_pauses_and_rules_bound_periods_and_waits_do_not() -> None:
    t = two()
    since = t.now
    turns = [t.pause(1), t.resume(1), t.overslept(1, since), t.died(2), t.cut(1, (1, 2))]
    turns.append(t.mend(1, (1, 2)))
    t.wait(5)
    idle = t.inject("arm", 1)
    begun = {it.start for it in seen(t).intervals}
    assert {event.at for event in turns} <= begun
    assert idle.at not in begun
    assert {crash.at for crash in t.history().crashes} <= begun


def test_nothing_is_looked_at_once_the_run_is_being_ended() -> None:
    t = two()
    t.wait(5)
    end = t.controller(Injected(step=9, verb="end"))
    lost(t, 1, 2)
    request = t.receive(t.send(1, 2, "Ready"))
    t.wait(30)
    t.put(1, TimedOut(to=2, call=request.call, kind="Ready"))
    assert seen(t).intervals[-1].end == end.at
    assert seen(t).machine == 0


# --- stalls -------------------------------------------------------------------------------


def called(kind: str = "Ready", took: float = 1, answered: float | None = None) -> Trace:
    """Node 1 calls node 2, and gives up."""
    t = two()
    sent = t.send(1, 2, kind)
    t.wait(took)
    request = t.receive(sent)
    if answered is not None:
        t.wait(answered)
        t.receive(t.answer(request))
    t.wait(30)
    t.put(1, TimedOut(to=2, call=sent.call, kind=kind))
    return t


def restarts_at_the_time_out(t: Trace) -> bool:
    (gave_up,) = [e.at for e in t.events if isinstance(e, TimedOut)]
    return gave_up in [it.start for it in seen(t).intervals]


def test_a_node_that_had_the_call_in_time_and_never_answered_has_stalled() -> None:
    assert restarts_at_the_time_out(called())
    assert seen(called()).machine == 1


def test_so_has_one_that_answered_later_than_t_p_and_not_one_that_answered_within() -> None:
    assert restarts_at_the_time_out(called(answered=TIMING.t_p_ms + 1))
    assert not restarts_at_the_time_out(called(answered=TIMING.t_p_ms - 1))


def test_a_call_that_came_late_shows_itself() -> None:
    assert not restarts_at_the_time_out(called(took=T_M + 1))


def test_a_procedure_that_is_not_immediate_may_take_its_time() -> None:
    def t(proc: str) -> Trace:
        t = two()
        request = t.receive(t.send(1, 2, "Invitation"))
        t.put(2, Began(proc=proc))
        t.wait(30)
        t.put(1, TimedOut(to=2, call=request.call, kind="Invitation"))
        return t

    assert not restarts_at_the_time_out(t("Invitation"))
    assert restarts_at_the_time_out(t("Check"))  # an answer given at once leaves no other line


def test_a_node_that_crashed_before_the_time_out_has_not_stalled() -> None:
    t = two()
    request = t.receive(t.send(1, 2, "Ready"))
    t.kill(2)
    t.start(2)
    t.wait(30)
    t.put(1, TimedOut(to=2, call=request.call, kind="Ready"))
    assert not restarts_at_the_time_out(t)


# --- silent links -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verbs", "word"),
    [
        ((), "ok"),
        (("cut",), "lost"),
        (("drop",), "lost"),
        (("hold",), "lost"),
        (("pause",), "lost"),  # its drop contract
        (("lose",), "doubt"),
        (("delay",), "doubt"),
        (("reorder",), "doubt"),
        (("duplicate",), "ok"),
        (("cut", "delay"), "lost"),  # the first that does not pass decides
        (("delay", "cut"), "doubt"),
    ],
)
def test_a_silent_link_takes_the_word_of_the_rules_in_force(
    verbs: tuple[str, ...], word: str
) -> None:
    t = two()
    for rule, verb in enumerate(verbs):
        t.rule(rule + 1, verb, (1, 2), (2, 1))
    it = last(t)
    assert (it.link(1, 2), it.by_rule) == (word, 2)
    pair = {"ok": "connected", "lost": "disconnected", "doubt": "partial"}[word]
    assert it.pair(1, 2) == pair


def test_a_rule_that_was_taken_off_has_no_word() -> None:
    t = two()
    t.cut(1, (1, 2), (2, 1))
    t.wait(5)
    t.mend(1, (1, 2), (2, 1))
    pairs = [it.pair(1, 2) for it in seen(t).intervals if it.end - it.start > 4 * MS]
    assert pairs == ["disconnected", "connected"]


def test_a_message_counts_more_than_a_rule() -> None:
    t = two()
    t.rule(1, "lose", (1, 2), (2, 1))
    on_time(t, 1, 2)
    on_time(t, 2, 1)
    assert last(t).pair(1, 2) == "connected"


# --- the machine --------------------------------------------------------------------------


def test_what_is_late_or_lost_without_a_rule_is_laid_to_the_machine() -> None:
    t = two()
    late(t, 1, 2)
    lost(t, 1, 2)
    on_time(t, 1, 2)
    assert seen(t).machine == 2


def test_what_a_rule_on_that_link_explains_is_not() -> None:
    t = two()
    t.rule(1, "delay", (1, 2))
    late(t, 1, 2)
    lost(t, 1, 2)
    assert seen(t).machine == 0
    lost(t := two(), 2, 1)
    assert seen(t).machine == 1


def test_what_comes_late_right_after_a_pause_is_not() -> None:
    t = two()
    t.pause(2)
    t.resume(2)
    late(t, 1, 2)
    assert seen(t).machine == 0
    t = two()
    t.pause(2)
    t.resume(2)
    t.wait(TIMING.t_p_ms + 1)
    late(t, 1, 2)
    assert seen(t).machine == 1


def test_a_node_that_stopped_or_overslept_by_itself_is_laid_to_the_machine() -> None:
    t = two()
    t.pause(2, asked=False)
    t.overslept(1, t.now)
    assert seen(t).machine == 2


def test_in_virtual_time_the_machine_does_nothing() -> None:
    links = ("kill", "restart", "cut", "split", "delay", "lose", "hold", "reorder", "duplicate",
             "mend", "pause", "resume")  # fmt: skip
    for seed in range(40):
        events, about = random_run(seed, links, protocol="nodes.invitation:Invitation", nodes=4)
        history = History(events, about.nodes)
        assert connectivity(history, Traffic(events), about.timing).machine == 0, seed

"""A8 and A9 on traces by hand: each is kept, each can be broken, and the cause is named."""

from tests.build import MS, TIMING, Trace
from tests.test_assumptions import accused, started
from traces.events import (
    Delayed,
    Discarded,
    Held,
    Injected,
    Released,
    Ruled,
    Sent,
    TimedOut,
    Witnessed,
)

LATE = TIMING.t_m_ms + 5


# --- A8: the communication subsystem ------------------------------------------------------


def test_a8_is_broken_by_a_cut_and_names_the_rule() -> None:
    t = started()
    t.cut(7, (1, 2))
    t.drop(t.send(1, 2), 7)
    t.drop(t.send(1, 2), 7)
    t.wait(LATE)
    t.mend(7, (1, 2))
    verdict = t.judge()["A8"]
    assert accused(verdict) == ["AreYouThere 1->2 was dropped by rule 7 (cut 1->2) (2 cases)"]
    assert verdict.examined["machine"] == 0


def test_the_break_of_a_cut_lasts_until_it_is_mended() -> None:
    t = started()
    t.cut(7, (1, 2))
    t.drop(t.send(1, 2), 7)
    t.wait(400)
    mended = t.mend(7, (1, 2))
    assert t.judge()["A8"].evidence[0].until_ms == (mended.at - t.events[0].at) / MS


def test_a_cut_that_dropped_nothing_breaks_nothing() -> None:
    t = started()
    t.cut(7, (1, 2))
    t.wait(400)
    t.mend(7, (1, 2))
    t.receive(t.send(1, 2))
    assert t.judge()["A8"].result == "holds"


def test_a8_is_broken_by_a_delay_beyond_t_m() -> None:
    t = started()
    t.relay(Ruled(rule=3, verb="delay", links=((1, 2),)))
    sent = t.send(1, 2)
    t.relay(Delayed(src=1, dst=2, k=1, rule=3, by=round(LATE * MS)))
    t.wait(LATE)
    t.receive(sent)
    assert "was delayed by 15.0 ms by rule 3 (delay 1->2)" in accused(t.judge()["A8"])[0]


def test_a8_is_broken_by_a_message_held_too_long() -> None:
    t = started()
    t.relay(Ruled(rule=3, verb="hold", links=((1, 2),)))
    sent = t.send(1, 2)
    t.relay(Held(src=1, dst=2, k=1, rule=3))
    t.wait(LATE)
    t.relay(Released(src=1, dst=2, k=1, rule=3))
    t.receive(sent)
    assert "was held by rule 3 (hold 1->2)" in accused(t.judge()["A8"])[0]


def test_a8_is_broken_by_a_slow_machine_and_says_that_nobody_asked_for_it() -> None:
    t = started()
    sent = t.send(1, 2)
    t.wait(LATE)
    t.receive(sent)
    verdict = t.judge()["A8"]
    assert "took 15.0 ms: nobody asked for it, the machine was slow" in accused(verdict)[0]
    assert verdict.examined["machine"] == 1


def test_a_message_discarded_as_late_was_lost() -> None:
    t = started()
    t.send(1, 2)
    t.receive(t.send(1, 2))
    t.put(2, Discarded(why="late", src=1, sinc=1, m=1))
    assert "was discarded as late" in accused(t.judge()["A8"])[0]


def test_a_message_lost_where_a_buffer_overflowed_says_so() -> None:
    t = started()
    t.send(1, 2)
    t.controller(Witnessed(step=1, target=2, overflow=12))
    assert "the receive buffer of node 2 overflowed" in accused(t.judge()["A8"])[0]


def test_nothing_is_owed_to_a_node_that_is_down_or_about_to_be() -> None:
    t = started(3)
    t.kill(2)
    t.send(1, 2)
    t.send(1, 3)
    t.wait(LATE / 2)
    t.kill(3)
    t.wait(LATE)
    t.start(2, 3)
    assert t.judge()["A8"].result == "holds"


def test_nothing_is_owed_when_the_send_was_the_last_event_of_its_life() -> None:
    t = started()
    t.send(1, 2)
    t.kill(1)
    t.wait(LATE)
    assert t.judge()["A8"].result == "holds"


def test_nothing_is_owed_less_than_t_m_before_the_end() -> None:
    t = started()
    t.send(1, 2)
    t.put(1, TimedOut(to=2, call=77, kind="Halt"))
    t.inject("end", 1, 2)
    t.wait(LATE)
    assert t.judge()["A8"].result == "holds"


# --- A9: pauses and slow answers ----------------------------------------------------------


def paused(how_long_ms: float) -> Trace:
    t = started()
    t.receive(t.send(1, 2))
    t.pause(2)
    t.wait(how_long_ms)
    t.resume(2)
    return t


def test_a9_is_broken_by_a_pause_longer_than_t_p() -> None:
    verdict = paused(50).judge()["A9"]
    assert "node 2 was paused for 50.0 ms" in accused(verdict)[0]
    assert verdict.examined["machine"] == 0


def test_a_pause_within_t_p_breaks_nothing() -> None:
    assert paused(5).judge()["A9"].result == "holds"


def test_a_message_late_because_its_receiver_was_paused_breaks_a9_and_not_a8() -> None:
    t = started()
    t.pause(2)
    sent = t.send(1, 2)
    t.wait(50)
    t.resume(2)
    t.receive(sent)
    verdicts = t.judge()
    assert verdicts["A8"].result == "holds"
    assert accused(verdicts["A9"])[0].endswith("(2 cases)")


def test_a_message_dropped_by_the_contract_of_a_pause_breaks_a9_and_not_a8() -> None:
    t = started()
    links = ((1, 2),)
    t.controller(Injected(step=1, verb="pause", nodes=(2,), rule=4, args={"contract": "drop"}))
    t.relay(Ruled(rule=4, verb="cut", links=links))
    t.pause(2, asked=False)
    t.drop(t.send(1, 2), 4)
    t.wait(50)
    t.resume(2)
    verdicts = t.judge()
    assert verdicts["A8"].result == "holds"
    assert verdicts["A9"].result == "violated"


def test_a_stop_that_nobody_asked_for_is_held_against_the_machine() -> None:
    t = started()
    t.pause(2, asked=False)
    t.wait(50)
    t.resume(2)
    verdict = t.judge()["A9"]
    assert "node 2 was stopped, nobody asked for it" in accused(verdict)[0]
    assert verdict.examined["machine"] == 1


def test_a_stop_at_a_trace_point_is_a_pause_too() -> None:
    t = started()
    t.inject("arm", 2, args={"event": "sent"})
    t.send(2, 1)
    t.pause(2, asked=False)
    t.wait(50)
    t.resume(2)
    assert t.judge()["A9"].examined["machine"] == 0
    assert "node 2 stopped at a trace point" in accused(t.judge()["A9"])[0]


def test_a_node_killed_while_suspended_did_not_pause_but_crash() -> None:
    t = started()
    t.receive(t.send(1, 2))
    t.pause(2)
    t.send(1, 2)
    t.wait(50)
    t.kill(2)
    verdicts = t.judge()
    assert (verdicts["A8"].result, verdicts["A9"].result) == ("holds", "holds")


def test_a_pause_that_a_node_converted_into_a_crash_does_not_break_a9() -> None:
    t = started()
    since = t.now
    t.pause(2)
    t.send(1, 2)
    t.wait(50)
    t.resume(2)
    t.overslept(2, since)
    verdicts = t.judge()
    assert (verdicts["A8"].result, verdicts["A9"].result) == ("holds", "holds")
    assert verdicts["A9"].examined["converted"] == 1
    assert verdicts["A9"].examined["machine"] == 0
    assert "failed itself" in verdicts["A9"].because


def test_a_node_that_overslept_by_itself_is_laid_to_the_machine() -> None:
    t = started()
    since = t.now
    t.wait(50)
    t.overslept(2, since)
    verdict = t.judge()["A9"]
    assert verdict.result == "holds"
    assert (verdict.examined["converted"], verdict.examined["machine"]) == (1, 1)


def test_a9_is_broken_by_an_answer_later_than_t_p() -> None:
    t = started()
    request = t.receive(t.send(1, 2))
    t.wait(LATE)
    t.receive(t.answer(request))
    verdict = t.judge()["A9"]
    assert (
        "the answer of node 2 to AreYouThere (call 1) of node 1 took 15.0 ms"
        in (accused(verdict)[0])
    )
    assert verdict.examined["machine"] == 1


def unanswered(t: Trace) -> Sent:
    sent = t.send(1, 2)
    t.receive(sent)
    t.wait(TIMING.t_ms)
    return sent


def test_a9_is_broken_when_a_node_that_is_up_never_answers() -> None:
    t = started()
    sent = unanswered(t)
    t.put(1, TimedOut(to=2, call=sent.call, kind=sent.kind))
    assert "never came, though it was up" in accused(t.judge()["A9"])[0]


def test_a_time_out_of_a_call_to_a_node_that_died_breaks_nothing() -> None:
    t = started()
    sent = t.send(1, 2)
    t.receive(sent)
    t.kill(2)
    t.wait(TIMING.t_ms)
    t.put(1, TimedOut(to=2, call=sent.call, kind=sent.kind))
    assert t.judge()["A9"].result == "holds"


def test_one_cause_is_one_break_however_much_it_touched() -> None:
    t = started()
    sent = t.send(1, 2)
    t.drop(sent, 1)
    t.wait(TIMING.t_ms)
    t.put(1, TimedOut(to=2, call=sent.call, kind=sent.kind))
    verdicts = t.judge()
    assert verdicts["A8"].count == 1
    assert verdicts["A9"].count == 0

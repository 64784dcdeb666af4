"""The kernel gives a protocol exactly what GM82 Appendix I gives its algorithms."""

from typing import Any

import pytest

from nodes.kernel import MS, Kernel
from nodes.protocol import TIMEOUT, Call, Procedure, Protocol, Wait, immediate, on, procedure
from nodes.wire import Message
from traces.events import (
    AnyEvent,
    Began,
    Discarded,
    Received,
    Sent,
    Started,
    Stopped,
    Stored,
    TimedOut,
)
from traces.run import Timing

TIMING = Timing()
T = round(TIMING.t_ms * MS)


class Toy(Protocol):
    """A protocol that notes what happens to its procedures."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.notes: list[Any] = []

    @immediate("Ping")
    def ping(self, j: int, x: int) -> int:
        self.notes.append(("ping", j, x))
        return x + 1

    @immediate("StopAll")
    def stop_all(self, j: int) -> None:
        self.stop()

    @on("Told")
    def told(self, j: int, x: int) -> None:
        self.notes.append(("told", j, x))

    @procedure("Slow")
    def slow(self, j: int, x: int) -> Procedure:
        answer = yield Call(3, "Ping", (x,))
        return answer

    def recovery(self) -> Procedure:
        self.notes.append((yield Call(2, "Ping", (7,))))
        self.notes.append("recovered")

    def inner(self) -> Procedure:
        self.stop()
        yield Call(2, "Ping", (1,))
        self.notes.append("inner done")

    def check(self) -> Procedure:
        yield self.inner()
        self.notes.append("after inner")

    def timeout(self) -> Procedure:
        self.notes.append((yield Call(self.i, "Ping", (40,))))


def kernel(cells: dict[str, Any] | None = None, marks: list[int] | None = None) -> Kernel:
    made = Kernel(1, 1, (1, 2, 3), Toy, TIMING, cells or {}, marks or [0] * 4)
    made.start(0)
    return made


def notes(made: Kernel) -> list[Any]:
    assert isinstance(made.protocol, Toy)
    return made.protocol.notes


def taken(made: Kernel) -> list[AnyEvent]:
    events = list(made.out)
    made.out.clear()
    return events


def only(events: list[AnyEvent], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def answer(made: Kernel, call: int, value: int, src: int = 2, m: int = 1, now: int = 1) -> None:
    made.receive(now, src, Message(0, src, 1, m, "Ping", True, call, (value,)))


def test_a_call_resumes_its_process_with_the_answer() -> None:
    made = kernel()
    (sent,) = only(taken(made), Sent)
    assert (sent.to, sent.kind, sent.args, sent.ack) == (2, "Ping", (7,), False)
    answer(made, sent.call, 8)
    assert notes(made) == [8, "recovered"]


def test_a_call_that_is_not_answered_within_t_yields_timeout() -> None:
    made = kernel()
    taken(made)
    assert made.deadline == T
    made.tick(T - 1)
    assert notes(made) == []
    made.tick(T)
    assert notes(made) == [TIMEOUT, "recovered"]
    assert only(taken(made), TimedOut)[0].to == 2


def test_a_late_answer_is_received_and_ignored() -> None:
    made = kernel()
    (sent,) = only(taken(made), Sent)
    made.tick(T)
    answer(made, sent.call, 8, now=T + 1)
    assert notes(made) == [TIMEOUT, "recovered"]
    assert only(taken(made), Received)


def test_an_immediate_procedure_answers_in_the_message_handler() -> None:
    made = kernel()
    taken(made)
    made.receive(1, 2, Message(0, 2, 1, 1, "Ping", False, 99, (5,)))
    assert ("ping", 2, 5) in notes(made)
    (ack,) = only(taken(made), Sent)
    assert (ack.to, ack.ack, ack.call, ack.args) == (2, True, 99, (6,))


def test_a_receipt_is_recorded_before_it_is_handled() -> None:
    made = kernel()
    taken(made)
    made.receive(1, 2, Message(0, 2, 1, 1, "Ping", False, 99, (5,)))
    assert [type(event) for event in taken(made)] == [Received, Sent]


def test_a_remote_procedure_is_answered_when_its_process_ends() -> None:
    made = kernel()
    taken(made)
    made.receive(1, 2, Message(0, 2, 1, 1, "Slow", False, 50, (5,)))
    (request,) = only(taken(made), Sent)
    assert (request.to, request.ack) == (3, False)
    answer(made, request.call, 6, src=3)
    (ack,) = only(taken(made), Sent)
    assert (ack.to, ack.kind, ack.ack, ack.call, ack.args) == (2, "Slow", True, 50, (6,))


def test_a_call_to_the_node_itself_is_a_standard_procedure_call() -> None:
    made = kernel()
    made.tick(round(TIMING.timeout_ms * MS))
    assert 41 in notes(made)


def test_a_local_call_of_a_procedure_with_calls_of_its_own_waits_for_them() -> None:
    class Indirect(Toy):
        def recovery(self) -> Procedure:
            self.notes.append((yield Call(self.i, "Slow", (5,))))

    made = Kernel(1, 1, (1, 2, 3), Indirect, TIMING, {}, [0] * 4)
    made.start(0)
    (request,) = only(taken(made), Sent)
    answer(made, request.call, 6, src=3)
    assert notes(made) == [6]


def test_a_check_that_stops_all_before_its_first_call_goes_on_itself() -> None:
    class Stopping(Toy):
        def check(self) -> Procedure:
            self.stop()
            self.notes.append((yield Call(3, "Ping", (1,))))

    made = Kernel(1, 1, (1, 2, 3), Stopping, TIMING, {}, [0] * 4)
    made.start(0)
    period = round(TIMING.check_ms * MS)
    made.receive(period - 1, 2, Message(0, 2, 1, 1, "Slow", False, 50, (5,)))
    taken(made)
    made.tick(period)
    events = taken(made)
    assert [e.procs for e in only(events, Stopped)] == [("Slow",)]
    answer(made, only(events, Sent)[-1].call, 2, src=3, now=period + 1)
    assert notes(made) == [TIMEOUT, "recovered", 2]


def test_an_immediate_procedure_with_a_call_is_refused_where_it_is_written() -> None:
    def asks(self: Protocol, j: int) -> Procedure:
        yield Call(j, "Ping")

    def knows(self: Protocol, j: int) -> int:
        return j

    with pytest.raises(TypeError, match="Ask: an IMMEDIATE procedure has no yield"):
        immediate("Ask")(asks)
    with pytest.raises(TypeError, match="Know: "):
        procedure("Know")(knows)


def sleeper() -> Kernel:
    class Sleeper(Toy):
        def recovery(self) -> Procedure:
            yield Wait(30)
            self.notes.append("awake")

        @procedure("Nap")
        def nap(self, j: int) -> Procedure:
            yield Wait(10)
            return 7

    made = Kernel(1, 1, (1, 2, 3), Sleeper, TIMING, {}, [0] * 4)
    made.start(0)
    return made


def test_a_wait_lets_its_time_go_by_and_shorter_ones_end_first() -> None:
    made = sleeper()
    made.receive(MS, 2, Message(0, 2, 1, 1, "Nap", False, 9, ()))
    taken(made)
    assert made.deadline == 11 * MS
    made.tick(11 * MS)
    assert [(e.to, e.ack, e.call, e.args) for e in only(taken(made), Sent)] == [(2, True, 9, (7,))]
    assert made.deadline == 30 * MS
    made.tick(30 * MS - 1)
    assert notes(made) == []
    made.tick(30 * MS)
    assert notes(made) == ["awake"]


def test_stop_ends_a_process_that_waits() -> None:
    made = sleeper()
    made.receive(1, 2, Message(0, 2, 1, 1, "StopAll", False, 9, ()))
    assert only(taken(made), Stopped)[0].procs == ("Recovery",)
    made.tick(40 * MS)
    assert notes(made) == []


def test_stop_ends_every_other_process_and_forgets_their_calls() -> None:
    made = kernel()
    (waiting,) = only(taken(made), Sent)
    made.receive(1, 2, Message(0, 2, 1, 1, "StopAll", False, 9, ()))
    assert only(taken(made), Stopped)[0].procs == ("Recovery",)
    answer(made, waiting.call, 8, m=2)
    assert notes(made) == []


def test_the_process_that_called_stop_finishes_that_procedure_and_no_more() -> None:
    made = kernel()
    taken(made)
    made.tick(round(TIMING.check_ms * MS))
    sent = only(taken(made), Sent)[-1]
    answer(made, sent.call, 2)
    assert "inner done" in notes(made)
    assert "after inner" not in notes(made)


def test_what_arrives_out_of_order_counts_as_lost() -> None:
    made = kernel()
    taken(made)
    for m in (2, 1, 2):
        made.receive(1, 2, Message(0, 2, 1, m, "Ping", False, m, (0,)))
    assert [e.why for e in only(taken(made), Discarded)] == ["late", "duplicate"]
    assert notes(made) == [("ping", 2, 0)]


def test_the_next_life_takes_nothing_for_new_that_an_earlier_one_handled() -> None:
    marks = [0] * 4
    echo = Message(0, 2, 1, 5, "Ping", False, 5, (0,))
    kernel(marks=marks).receive(1, 2, echo)
    made = kernel(marks=marks)
    made.receive(1, 2, echo)
    assert [e.why for e in only(taken(made), Discarded)] == ["duplicate"]


def test_a_new_life_of_a_peer_counts_from_one_again_and_its_old_life_is_late() -> None:
    made = kernel()
    for inc, m in ((1, 5), (2, 1), (1, 6)):
        made.receive(1, 2, Message(0, 2, inc, m, "Ping", False, m, (m,)))
    assert notes(made) == [("ping", 2, 5), ("ping", 2, 1)]


def test_call_numbers_are_never_used_twice_even_after_a_crash_that_lost_them() -> None:
    cells: dict[str, Any] = {}
    used: list[int] = []
    for _ in range(5):
        made = kernel(dict(cells))
        for event in made.out:
            if isinstance(event, Stored):
                cells[event.cell] = event.value
            if isinstance(event, Sent):
                used.append(event.call)
    assert len(used) == len(set(used)) == 5


def test_the_block_of_call_numbers_is_safe_before_the_first_of_them_is_sent() -> None:
    made = kernel()
    assert [type(event) for event in taken(made)] == [Started, Began, Stored, Sent]


def test_a_message_of_an_unknown_kind_is_garbage() -> None:
    made = kernel()
    taken(made)
    made.receive(1, 2, Message(0, 2, 1, 1, "Coup", False, 1, ()))
    assert [event.why for event in only(taken(made), Discarded)] == ["garbage"]


def test_a_check_does_not_start_while_the_last_one_is_at_work() -> None:
    made = kernel()
    period = round(TIMING.check_ms * MS)
    made.tick(period)
    made.tick(2 * period)
    began = [event.proc for event in only(taken(made), Began)]
    assert began.count("Check") == 2  # the first timed out at 1.5 periods
    made = kernel()
    made.tick(period)
    made.tick(period + 1)
    assert [e.proc for e in only(taken(made), Began)].count("Check") == 1


def test_a_message_that_is_no_call_is_handled_and_not_answered() -> None:
    made = kernel()
    taken(made)
    made.receive(1, 2, Message(0, 2, 1, 1, "Told", False, 0, (5,)))
    assert notes(made) == [("told", 2, 5)]
    assert [type(event) for event in taken(made)] == [Received]


def test_a_message_that_is_no_call_is_sent_in_the_order_of_the_others() -> None:
    made = kernel()
    (request,) = only(taken(made), Sent)
    made.send(2, "Told", (5,))
    (sent,) = only(taken(made), Sent)
    assert (sent.to, sent.kind, sent.ack, sent.call, sent.args) == (2, "Told", False, 0, (5,))
    assert sent.m == request.m + 1


def test_a_handler_with_a_call_is_refused_where_it_is_written() -> None:
    def asks(self: Protocol, j: int) -> Procedure:
        yield Call(j, "Ping")

    with pytest.raises(TypeError, match="Ask: "):
        on("Ask")(asks)


def test_a_timer_rings_once_at_its_time_unless_it_is_cancelled() -> None:
    made = kernel()
    rung: list[str] = []
    made.after(30, lambda: rung.append("first"))
    cancelled = made.after(20, lambda: rung.append("never"))
    made.after(40, lambda: rung.append("second"))
    assert made.deadline == 20 * MS
    made.cancel(cancelled)
    made.tick(20 * MS)
    assert rung == []
    assert made.deadline == 30 * MS
    made.tick(30 * MS)
    assert rung == ["first"]
    made.tick(45 * MS)
    made.tick(60 * MS)
    assert rung == ["first", "second"]


def test_a_timer_may_set_the_next_and_stop_leaves_it_alone() -> None:
    made = kernel()
    rung: list[int] = []

    def ring() -> None:
        rung.append(1)
        made.after(10, ring)

    made.after(10, ring)
    made.receive(1, 2, Message(0, 2, 1, 1, "StopAll", False, 9, ()))
    for now in range(10, 41, 10):
        made.tick(now * MS)
    assert rung == [1, 1, 1, 1]


class Grouped(Toy):
    """Only what is said in its own group keeps Timeout away."""

    def heard(self, kind: str, args: tuple[Any, ...]) -> bool:
        return args == (1,)


def silence_after(args: tuple[Any, ...]) -> bool:
    """Whether Timeout runs when its coordinator has said this just before."""
    made = Kernel(1, 1, (1, 2, 3), Grouped, TIMING, {}, [0] * 4)
    made.start(0)
    made.protocol.become(c=2)
    late = round(TIMING.timeout_ms * MS)
    made.receive(late - 1, 2, Message(0, 2, 1, 1, "Ping", False, 1, args))
    made.tick(late)
    return 41 in notes(made)


def test_a_word_of_another_group_is_not_heard_from_ones_coordinator() -> None:
    assert not silence_after((1,))
    assert silence_after((2,))


def test_a_check_that_is_hastened_comes_sooner_and_never_later() -> None:
    made = kernel()
    due = round(TIMING.check_ms * MS)
    made.hasten(2 * TIMING.check_ms)
    taken(made)
    made.hasten(5)
    assert made.deadline == 5 * MS
    made.tick(5 * MS)
    assert [began.proc for began in only(taken(made), Began)] == ["Check"]
    assert made.deadline <= 5 * MS + due

"""The operating system under a protocol: GM82 Appendix I without any input or output.

The kernel is told what happened (`start`, `receive`, `ask`, `tick`) and leaves in `out` the
events that follow, in order. An event says itself what is to be done about it: Sent, a message
goes out; Stored and Became, a safe cell is replaced. An engine performs them: stamp and write the
event, then act. So the same kernel runs in a real process and under virtual time, and "right after
the event, before its effect" is a place both know.

- CALL sends a request and suspends the process until the answer comes or T goes by. Call
  numbers are unique for ever: blocks of them are drawn from a safe cell, and an answer whose
  call is no longer waited for is ignored.
- What arrives out of order on a link counts as lost (Assumption 7), in the next life too: the
  marks that tell are not the kernel's own.
- A Wait suspends the process for its time; STOP ends it as it ends any other. A timer calls back
  after its time, unless it is cancelled; STOP leaves it alone.
- A message that is no CALL (its call is 0) is handled and not answered.
- STOP ends all processes; the one that called it may finish the procedure it is in.
- Times are integers, in nanoseconds.
"""

from collections import deque
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from types import GeneratorType
from typing import Any
from typing import Protocol as Interface

import msgspec

from nodes.protocol import TIMEOUT, UNDEFINED, Call, Procedure, Protocol, Vector, Wait
from traces.events import (
    AnyEvent,
    Asked,
    Became,
    Began,
    Discarded,
    Loaded,
    Received,
    Sent,
    Started,
    Stopped,
    Stored,
    TimedOut,
)  # fmt: skip
from traces.run import Timing

CALLS_A_BLOCK = 1000
M_BITS = 40  # a message is as new as its sender's incarnation, then its number
MS = 1_000_000
WAITING = object()  # what a CALL gives while its answer is not there


class Marks(Interface):
    """The newest message of each peer that any life of this node has taken, by its number.

    It outlives the node: what an earlier life handled must not be handled again (Assumption 7).
    """

    def __getitem__(self, src: int, /) -> int: ...
    def __setitem__(self, src: int, newness: int, /) -> None: ...


class Carried(Interface):
    """What a datagram carries: a Message off the wire, or the very event of its sending."""

    inc: int
    m: int
    kind: str
    ack: bool
    call: int
    args: tuple[Any, ...]


class Process(msgspec.Struct, eq=False):
    """A running procedure: the stack of its local CALLs, and whose CALL it answers."""

    name: str
    stack: list[Procedure]
    asker: int = UNDEFINED  # the node whose CALL it runs, if it is one's
    call: int = 0  # and the number of that CALL
    last: int = 0  # after STOP: it ends when no more than this many procedures remain


class Kernel:
    """Node i's operating system for one life. One thread of control; never re-entered."""

    def __init__(
        self,
        i: int,
        inc: int,
        nodes: tuple[int, ...],
        protocol: type[Protocol],
        timing: Timing,
        cells: dict[str, Any],
        seen: Marks,
        key: int = 0,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.i, self.inc, self.key, self.timing = i, inc, key, timing
        self.parameters: Mapping[str, Any] = parameters or {}
        self.out: list[AnyEvent] = []
        self.cells = dict(cells)
        self._found = cells
        state = msgspec.convert(cells["S"], Vector) if "S" in cells else Vector()
        self.protocol = protocol(i, nodes, self, state)
        self._any = protocol.heard is Protocol.heard  # whatever the coordinator says will do
        self._handlers = self.protocol.handlers()
        self._t = round(timing.t_ms * MS)
        self._check, self._timeout = round(timing.check_ms * MS), round(timing.timeout_ms * MS)
        self._now = 0
        self._current: Process | None = None
        self._waiting: dict[int, Process] = {}  # all processes but the current one, by their CALL
        self._checking, self._listening = Process("Check", []), Process("Timeout", [])
        self._expiry: deque[tuple[int, int, Call]] = deque()  # (due, number): one T, so in order
        self._naps: list[tuple[int, int]] = []  # a heap of (due, number): numbers below 0
        self._timers: dict[int, Callable[[], None]] = {}  # by the same numbers
        self._calls = self._block = self._napped = 0
        self._m = dict.fromkeys(nodes, 0)
        self._seen = seen
        self._check_at = self._silent_at = 0
        self.deadline = 0  # nothing is due before; often nothing is then either

    # --- what the engine tells it -----------------------------------------------------------

    def start(self, now: int, pid: int = 0) -> None:
        """A life begins: the cells as found, then procedure Recovery."""
        self._now = now
        self.out.append(Started(pid=pid, protocol=type(self.protocol).__name__))
        for cell in sorted(self._found):
            self.out.append(Loaded(cell=cell, value=self._found[cell]))
        self._block = self._found.get("calls", 0)
        self._calls = self._block
        self._check_at, self._silent_at = now + self._check, now + self._timeout
        self.deadline = min(self._check_at, self._silent_at)
        self._begin(Process("Recovery", [self.protocol.recovery()]))

    def receive(self, now: int, src: int, message: Carried) -> None:
        """A datagram of this run arrived: in order it is handled, late it counts as lost."""
        self._now = now
        inc, m, kind = message.inc, message.m, message.kind
        handler = self._handlers.get(kind)
        if handler is None:
            self.out.append(Discarded("garbage", 0, src, inc, m))
            return
        newness, seen = inc << M_BITS | m, self._seen[src]
        if newness <= seen:
            why = "duplicate" if newness == seen else "late"
            self.out.append(Discarded(why, 0, src, inc, m))
            return
        self._seen[src] = newness
        ack, call, args = message.ack, message.call, message.args
        out = self.out
        out.append(Received(src, inc, m, kind, ack, call, args, node=self.i, inc=self.inc))
        if src == self.protocol.state.c and (self._any or self.protocol.heard(kind, args)):
            self._silent_at = now + self._timeout
        if ack:
            self._answered(src, message)
            return
        value = handler(src, *args) if args else handler(src)
        if type(value) is GeneratorType:
            self._begin(Process(kind, [value], src, call))
        elif call:
            # (True,) is a constant; one made for each answer is one more for a trace to keep.
            answer = (True,) if value is True else () if value is None else (value,)
            self._send(src, kind, True, call, answer)

    def ask(self, now: int, number: int, kind: str, args: dict[str, Any]) -> None:
        """A client of the node wants something."""
        self._now = now
        self.out.append(Asked(number, kind, args))
        getattr(self.protocol, self.protocol.requests[kind])(**args)

    def tick(self, now: int) -> None:
        """Do what is due: time-outs of CALLs, Check, Timeout."""
        self._now = now
        expiry, waiting = self._expiry, self._waiting
        while expiry and expiry[0][0] <= now:
            _, call, request = expiry.popleft()
            process = waiting.pop(call, None)
            if process is not None:
                self.out.append(TimedOut(request.to, call, request.kind))
                self._run(process, TIMEOUT)
        if self._check_at <= now:
            self._check_at = now + self._check
            self._again(self._checking, self.protocol.check)
        if self._silent_at <= now:
            self._silent_at = now + self._timeout
            self._again(self._listening, self.protocol.timeout)
        while expiry and expiry[0][1] not in waiting:
            expiry.popleft()
        naps = self._naps
        if naps:
            self._wake(now)
        # Whatever happens from here on only puts the next deadline off, but for a new CALL.
        at = self._check_at
        if self._silent_at < at:
            at = self._silent_at
        if expiry and expiry[0][0] < at:
            at = expiry[0][0]
        if naps and naps[0][0] < at:
            at = naps[0][0]
        self.deadline = at

    def put_off(self, ns: int) -> None:
        """What was done since `now` took so long: what is waited for may come as much later.

        T counts from the instant at which a request left, and no other node is to be blamed for
        the time that this one took (A9 allows it T_p).
        """
        self._expiry = deque((due + ns, call, request) for due, call, request in self._expiry)
        self._naps = [(due + ns, number) for due, number in self._naps]
        self._silent_at += ns

    def _wake(self, now: int) -> None:
        """Go on with every process that has waited long enough, and ring every timer."""
        naps, waiting, timers = self._naps, self._waiting, self._timers
        while naps and (naps[0][0] <= now or not (naps[0][1] in timers or naps[0][1] in waiting)):
            number = heappop(naps)[1]
            if number in waiting:
                self._run(waiting.pop(number), None)
            elif number in timers:
                timers.pop(number)()

    # --- what the protocol asks of it ---------------------------------------------------------

    def became(self, state: Vector) -> None:
        """The state vector changed; it is kept in safe storage (Assumption 4)."""
        self._silent_at = self._now + self._timeout
        self.out.append(Became(state.s, state.c, state.h, state.up, state.d, state.g))

    def store(self, cell: str, value: Any) -> None:
        """A safe cell of the protocol's own."""
        self.cells[cell] = value
        self.out.append(Stored(cell, value))

    def stop(self) -> None:
        """CALL STOP (GM82 App. I): it never touches the operating system itself."""
        ended = tuple(process.name for process in self._waiting.values())
        for process in self._waiting.values():
            process.stack.clear()
        self._waiting.clear()
        if current := self._current:
            # "The process running procedure P is allowed to finish P and then is also halted."
            current.last = max(current.last, len(current.stack) - 1)
        if ended:
            self.out.append(Stopped(ended))

    def hasten(self, ms: float) -> None:
        """The next Check is due by then, or as it was."""
        self._check_at = min(self._check_at, self._now + round(ms * MS))
        self.deadline = min(self.deadline, self._check_at)

    def send(self, to: int, kind: str, args: tuple[Any, ...]) -> None:
        """A message that is no CALL: nobody waits for an answer."""
        self._send(to, kind, False, 0, args)

    def note(self, event: AnyEvent) -> None:
        """What a failure detector is told and says."""
        self.out.append(event)

    def after(self, ms: float, ring: Callable[[], None]) -> int:
        """A timer; it is cancelled by its number, which no Wait has."""
        number = self._due(ms)
        self._timers[number] = ring
        return number

    def cancel(self, timer: int) -> None:
        """A timer that will not ring, or has rung."""
        self._timers.pop(timer, None)

    # --- processes ----------------------------------------------------------------------------

    def _again(self, process: Process, procedure: Callable[[], Procedure]) -> None:
        """Check or Timeout is due, unless the last one is still at work.

        Up to its first CALL it needs no process: it would be the outermost procedure, which a
        STOP of its own lets finish. Most of the time it looks, and that is all.
        """
        if not process.stack:
            out, began, body = self.out, len(self.out), procedure()
            request = next(body, None)
            if request is not None:
                process.stack.append(body)
                process.last = 0
                value = self._obey(process, request)
                if value is not WAITING:
                    self._run(process, value)
            if len(out) > began:  # else it was not worth a line every period
                out.insert(began, Began(process.name))

    def _begin(self, process: Process) -> None:
        self.out.append(Began(process.name))
        self._run(process, None)

    def _run(self, process: Process, value: Any) -> None:
        """Give a process what it waits for; it runs until it waits again or ends."""
        self._current = process
        stack = process.stack
        while len(stack) > process.last:
            try:
                request = stack[-1].send(value)
            except StopIteration as done:
                stack.pop()
                value = done.value
                continue
            if type(request) is Call and request.to != self.i:  # most of them
                self._call(process, request)
                break
            value = self._obey(process, request)
            if value is WAITING:
                break
        else:
            if stack:  # halted by its own STOP
                stack.clear()
            elif process.asker:
                args = () if value is None else (value,)
                self._send(process.asker, process.name, True, process.call, args)
        self._current = None

    def _obey(self, process: Process, request: Any) -> Any:
        """Do a CALL or a Wait; the answer, or WAITING where it is not there yet."""
        if type(request) is Call:
            if request.to != self.i:
                self._call(process, request)
                return WAITING
            request = self._handlers[request.kind](self.i, *request.args)
        elif type(request) is Wait:
            self._nap(process, request)
            return WAITING
        if type(request) is GeneratorType:
            process.stack.append(request)  # a local CALL is a standard procedure call
            return None
        return request

    def _call(self, process: Process, request: Call) -> None:
        if self._calls == self._block:
            self._block += CALLS_A_BLOCK
            self.out.append(Stored("calls", self._block))
        self._calls = call = self._calls + 1
        self._waiting[call] = process
        due = self._now + self._t
        self._expiry.append((due, call, request))
        if due < self.deadline:
            self.deadline = due
        to = request.to
        self._m[to] = m = self._m[to] + 1
        self.out.append(
            Sent(to, m, request.kind, False, call, request.args, node=self.i, inc=self.inc)
        )

    def _nap(self, process: Process, request: Wait) -> None:
        self._waiting[self._due(request.ms)] = process

    def _due(self, ms: float) -> int:
        """A number for what is due then: below 0, so never that of a CALL."""
        self._napped -= 1
        due = self._now + round(ms * MS)
        heappush(self._naps, (due, self._napped))
        self.deadline = min(self.deadline, due)
        return self._napped

    # --- messages -----------------------------------------------------------------------------

    def _answered(self, src: int, message: Carried) -> None:
        # "A response to the call statement which arrives after the timeout occurred is ignored."
        process = self._waiting.pop(message.call, None)
        if process is not None:
            self._run(process, message.args[0] if message.args else None)

    def _send(self, to: int, kind: str, ack: bool, call: int, args: tuple[Any, ...]) -> None:
        self._m[to] = m = self._m[to] + 1
        self.out.append(Sent(to, m, kind, ack, call, args, node=self.i, inc=self.inc))

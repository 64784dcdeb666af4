"""The virtual engine: the same protocol objects under a virtual clock, in one process.

A heap of deliveries and wake-ups, a seeded latency, and the effects of each kernel performed
one by one as in a real process: stamp and write the event, then act. Same seed, same trace,
byte for byte. Rules:

- Handling takes no time; a datagram takes 50 to 300 us, and a link keeps its order unless a
  rule delays. Each event moves the clock by 1 ns, so that the stamps are the order.
- A crash takes what the node had not yet done, and what was queued for it. A pause keeps both.
- A node that was paused for more than T_p fails itself on waking, if the rule is on (A9).

Limits: nothing else happens to a node than what the scenario does to it; A8 and A9 hold unless
a fault breaks them. The real engine is where the machine has its say.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from harness.rules import Action, Installed, Link, Rule, decide
from nodes.config import Ask, Point, load_protocol
from nodes.kernel import MS, Kernel
from nodes.protocol import Protocol, Vector
from traces.events import (
    CONTROLLER,
    NURSERY,
    RELAY,
    AnyEvent,
    Became,
    Closed,
    Continued,
    Counted,
    Delayed,
    Died,
    Discarded,
    Dropped,
    Duplicated,
    Held,
    Overslept,
    Received,
    Released,
    Ruled,
    Sent,
    Spawned,
    Stored,
    Suspended,
    Witnessed,
    encoder,
)
from traces.memory import uncollected
from traces.run import RunInfo

FASTEST, SPREAD = 50_000, 250_000  # latency in ns: 50 us and up to 250 more
NEVER = 1 << 62
KEPT = {Became, Stored}  # the events after which a safe cell is replaced


class Seat:
    """One node's place: its process while it has one, its safe cells always."""

    __slots__ = ("cells", "inbox", "inc", "kernel", "marks", "n", "node", "owed", "points", "since",
                 "stopped", "wake", "wires")  # fmt: skip

    def __init__(self, node: int, nodes: int) -> None:
        self.node, self.inc, self.n = node, 0, 0
        self.cells: dict[str, Any] = {}
        self.marks = [0] * (nodes + 1)
        self.kernel: Kernel | None = None
        self.inbox: list[Sent] = []
        self.points: tuple[Point, ...] = ()
        self.stopped = False
        self.owed: AnyEvent | None = None  # the event it froze at, whose effect is to come
        self.since = 0  # the last instant it ran
        self.wake = NEVER  # when it will be woken next: at its deadline or before
        self.wires: dict[int, Wire] = {}  # by the node they lead to


class Wire:
    """A directed link: its rules, what it has carried, and what it holds."""

    __slots__ = ("arrives", "dropped", "forwarded", "held", "link", "refused", "rules", "to")

    def __init__(self, link: Link, to: Seat) -> None:
        self.link, self.to = link, to
        self.rules: list[Installed] = []
        self.held: list[tuple[int, int, Sent]] = []  # (rule, k, datagram)
        self.arrives = 0  # nothing overtakes the last one
        self.forwarded = self.dropped = self.refused = 0

    @property
    def taken(self) -> int:
        """How many it was given: it forwarded, dropped or still holds them."""
        return self.forwarded + self.dropped + len(self.held)


class VirtualEngine:
    """Deterministic; thousands of times faster than the clock on the wall."""

    name = "virtual"

    def __init__(self, info: RunInfo, narrate: Callable[[], None] = lambda: None) -> None:
        self.events: list[AnyEvent] = []
        self._keep = self.events.append
        self._info, self._pulse = info, narrate
        self._protocol: type[Protocol] = load_protocol(info.protocol)
        self._kernel: type[Kernel] = getattr(self._protocol, "kernel", Kernel)
        self._nodes = tuple(range(1, info.nodes + 1))
        self._seats = {i: Seat(i, info.nodes) for i in self._nodes}
        self._wires = {
            (i, j): Wire((i, j), self._seats[j]) for i in self._nodes for j in self._nodes if i != j
        }
        for (i, j), wire in self._wires.items():
            self._seats[i].wires[j] = wire
        self._tolerance = round(info.timing.t_p_ms * MS) if info.lateness else NEVER
        self._latency = Random(info.seed).random
        # The last entry is never due, so that there always is one.
        self._heap: list[tuple[int, int, Seat, Sent | None]] = [(NEVER, 0, Seat(0, 0), None)]
        self._pushed = 0
        self._clock = 0
        self._lines = {CONTROLLER: 0, RELAY: 0, NURSERY: 0}

    # --- the engine's verbs -------------------------------------------------------------------

    def now(self) -> int:
        """Virtual nanoseconds since the start."""
        return self._clock

    def record(self, event: AnyEvent) -> int:
        """An event of the controller."""
        return self._write(event, CONTROLLER)

    def spawn(self, lives: Mapping[int, int]) -> None:
        """Start nodes, one after the other."""
        for node, inc in lives.items():
            seat = self._seats[node]
            self._write(Spawned(target=node, life=inc, pid=0), NURSERY)
            seat.inc, seat.n, seat.inbox = inc, 0, []
            self._boot(seat)

    def kill(self, node: int) -> None:
        """It has done what it has done; the rest never happens."""
        seat = self._seats[node]
        seat.kernel, seat.inbox, seat.points, seat.stopped = None, [], (), False
        self._write(Died(target=node, life=seat.inc, signal=9), NURSERY)

    def suspend(self, node: int) -> None:
        """Freeze a node between two events."""
        self._freeze(self._seats[node])

    def resume(self, node: int) -> None:
        """Thaw it: it finds itself late, or does what it was about to do."""
        seat = self._seats[node]
        seat.stopped = False
        self._write(Continued(target=node, life=seat.inc), NURSERY)
        late = self._clock - seat.since
        if late > self._tolerance:
            self._fail(seat, late)
            return
        owed, seat.owed = seat.owed, None
        if owed is not None:
            self._act(seat, owed)
        kernel = seat.kernel
        assert kernel is not None  # only a live node is ever stopped
        self._perform(seat, kernel)
        while seat.inbox and not seat.stopped:
            sent = seat.inbox.pop(0)
            kernel.receive(self._clock, sent.node, sent)
            self._perform(seat, kernel)
        if not seat.stopped:
            kernel.tick(self._clock)
            self._perform(seat, kernel)

    def arm(self, node: int, points: Sequence[Point]) -> None:
        """It will freeze itself right after such an event."""
        self._seats[node].points = tuple(points)

    def ask(self, node: int, ask: Ask) -> None:
        """It takes it up at once."""
        seat = self._seats[node]
        kernel = seat.kernel
        assert kernel is not None  # only a running node is ever asked
        kernel.ask(self._clock, ask.number, ask.kind, dict(ask.args))
        self._perform(seat, kernel)

    def install(self, rule_id: int, rule: Rule, links: Iterable[Link]) -> None:
        """Put a rule last on each of these links."""
        links = tuple(links)
        self._write(Ruled(rule=rule_id, verb=rule.verb, links=links), RELAY)
        for link in links:
            self._wires[link].rules.append(Installed(rule_id, rule))

    def remove(self, rule_id: int) -> None:
        """Take it off, and let go what it held, in order."""
        wires = {
            link: wire
            for link, wire in self._wires.items()
            if any(rule.rule_id == rule_id for rule in wire.rules)
        }
        verb = next(
            (r.rule.verb for w in wires.values() for r in w.rules if r.rule_id == rule_id), ""
        )
        self._write(Ruled(rule=rule_id, verb=verb, links=tuple(wires), on=False), RELAY)
        for link, wire in wires.items():
            wire.rules = [rule for rule in wire.rules if rule.rule_id != rule_id]
            freed = [held for held in wire.held if held[0] == rule_id]
            wire.held = [held for held in wire.held if held[0] != rule_id]
            for _, k, sent in freed:
                self._write(Released(src=link[0], dst=link[1], k=k, rule=rule_id), RELAY)
                self._deliver(wire, sent)

    def witness(self, step: int, node: int) -> None:
        """Its state letter and its backlog, as /proc would show them."""
        seat = self._seats[node]
        state = "T" if seat.stopped else "S"
        self.record(Witnessed(step=step, target=node, state=state, backlog=len(seat.inbox)))

    def advance(self, done: Callable[[], bool] | None, until: int) -> bool:
        """Let virtual time pass."""
        with uncollected():
            return self._advance(done, until)

    def _advance(self, done: Callable[[], bool] | None, until: int) -> bool:
        heap, seen = self._heap, -1
        while True:
            if done is not None and len(self.events) != seen:
                seen = len(self.events)
                if done():
                    return True
            if heap[0][0] > until:
                self._clock = max(self._clock, until)
                return done is not None and done()
            at, _, seat, sent = heappop(heap)
            clock = self._clock
            if at > clock:
                self._clock = clock = at
            kernel = seat.kernel
            if kernel is None or seat.stopped:
                self._missed(seat, sent)
            elif sent is not None:
                kernel.receive(clock, sent.node, sent)
                self._perform(seat, kernel)
            elif seat.wake == at:
                seat.wake = NEVER
                kernel.tick(clock)
                self._perform(seat, kernel)

    def close(self, why: str = "") -> None:
        """End every life and write what each link carried."""
        for seat in self._seats.values():
            if seat.kernel:
                self.kill(seat.node)
        for wire in self._wires.values():
            if taken := wire.taken:
                counts = Counted(*wire.link, taken, wire.forwarded, wire.dropped, wire.refused)
                self._write(counts, RELAY)
        self.record(Closed(why=why))

    def save(self, trace: Path) -> None:
        """Write the trace, whole."""
        trace.write_bytes(encoder.encode_lines(self.events))

    # --- lives --------------------------------------------------------------------------------

    def _boot(self, seat: Seat) -> None:
        cells = msgspec.to_builtins(seat.cells)
        seat.kernel = kernel = self._kernel(
            seat.node, seat.inc, self._nodes, self._protocol, self._info.timing, cells, seat.marks,
            parameters=self._info.parameters,
        )  # fmt: skip
        seat.stopped, seat.points, seat.owed = False, (), None
        kernel.start(self._clock)
        self._perform(seat, kernel)

    def _fail(self, seat: Seat, late: int) -> None:
        """GM82 II, Assumption 9: lateness becomes a crash; what came meanwhile is lost."""
        for sent in seat.inbox:
            self._event(seat, Discarded(why="down", src=sent.node))
        self._event(seat, Overslept(since=seat.since, late=late))
        seat.inbox = []
        seat.inc += 1
        self._boot(seat)

    def _freeze(self, seat: Seat) -> None:
        seat.stopped, seat.since = True, self._clock
        self._write(Suspended(target=seat.node, life=seat.inc), NURSERY)

    def _missed(self, seat: Seat, sent: Sent | None) -> None:
        """A datagram or a wake-up for a node that is dead or stopped."""
        if sent is None:
            seat.wake = NEVER
        elif seat.stopped:
            seat.inbox.append(sent)
        else:
            self._wires[sent.node, seat.node].refused += 1

    def _perform(self, seat: Seat, kernel: Kernel) -> None:
        """Stamp and write each event, then do what it says; a point freezes in between."""
        out = kernel.out
        if out:
            if seat.points:
                if self._to_point(seat, out):
                    return
                out.clear()
            clock, n, keep = self._clock, seat.n, self._keep
            for event in out:
                clock += 1
                event.at = clock
                event.n = n
                n += 1
                keep(event)
                if type(event) is Sent:
                    wire = seat.wires[event.to]
                    if wire.rules:
                        self._clock = clock
                        self._ruled(wire, event)
                        clock = self._clock
                        continue
                    # As `_deliver` does it: nearly all events are datagrams without a rule.
                    at = clock + FASTEST + int(self._latency() * SPREAD)
                    if at <= wire.arrives:
                        at = wire.arrives + 1
                    wire.arrives = at
                    wire.forwarded += 1
                    self._pushed = pushed = self._pushed + 1
                    heappush(self._heap, (at, pushed, wire.to, event))
                elif type(event) is not Received:
                    event.node = seat.node
                    event.inc = seat.inc
                    if type(event) in KEPT:
                        self._act(seat, event)
            out.clear()
            self._clock, seat.n = clock, n
        if kernel.deadline < seat.wake:  # else it is woken before, and looks again
            seat.wake = due = kernel.deadline
            self._pushed = pushed = self._pushed + 1
            heappush(self._heap, (due, pushed, seat, None))

    def _act(self, seat: Seat, event: AnyEvent) -> None:
        """What comes after an event, if anything does."""
        if type(event) is Sent:
            self._ruled(seat.wires[event.to], event)
        elif type(event) is Became:
            seat.cells["S"] = Vector(event.s, event.c, event.h, event.up, event.d, event.g)
        elif type(event) is Stored:
            seat.cells[event.cell] = event.value

    def _to_point(self, seat: Seat, out: list[AnyEvent]) -> bool:
        """The same, one by one, for a node that has points; whether it came to one."""
        for done, event in enumerate(out, 1):
            self._event(seat, event)
            if self._at_point(seat, event):
                seat.owed = event
                del out[:done]
                return True
            self._act(seat, event)
        return False

    def _at_point(self, seat: Seat, event: AnyEvent) -> bool:
        for point in seat.points:
            if point.matches(event):
                seat.points = tuple(p for p in seat.points if p is not point)
                self._freeze(seat)
                return True
        return False

    # --- links --------------------------------------------------------------------------------

    def _ruled(self, wire: Wire, sent: Sent) -> None:
        """What the relay does to one datagram where there are rules."""
        k, (i, j) = wire.taken + 1, wire.link
        action, delay, rule = decide(wire.rules, self._info.seed, wire.link, k)
        if action is Action.PASS:
            self._deliver(wire, sent)
        elif action is Action.DROP:
            self._write(Dropped(src=i, dst=j, k=k, rule=rule), RELAY)
            wire.dropped += 1
        elif action is Action.HOLD:
            self._write(Held(src=i, dst=j, k=k, rule=rule), RELAY)
            wire.held.append((rule, k, sent))
        elif action is Action.DELAY:
            self._write(Delayed(src=i, dst=j, k=k, rule=rule, by=delay), RELAY)
            self._push(self._clock + delay + self._flight(), wire.to, sent)
            wire.forwarded += 1
        else:
            self._write(Duplicated(src=i, dst=j, k=k, rule=rule, by=delay), RELAY)
            self._deliver(wire, sent)
            self._push(self._clock + delay + self._flight(), wire.to, sent)

    def _deliver(self, wire: Wire, sent: Sent) -> None:
        wire.arrives = at = max(self._clock + self._flight(), wire.arrives + 1)
        wire.forwarded += 1
        self._push(at, wire.to, sent)

    def _flight(self) -> int:
        return FASTEST + int(self._latency() * SPREAD)

    def _push(self, at: int, seat: Seat, sent: Sent | None) -> None:
        self._pushed += 1
        heappush(self._heap, (at, self._pushed, seat, sent))

    # --- the trace ----------------------------------------------------------------------------

    def _event(self, seat: Seat, event: AnyEvent) -> None:
        self._clock = event.at = self._clock + 1
        event.node = seat.node
        event.inc = seat.inc
        event.n = n = seat.n
        seat.n = n + 1
        self.events.append(event)

    def _write(self, event: AnyEvent, inc: int) -> int:
        self._clock += 1
        event.at, event.inc, event.n = self._clock, inc, self._lines[inc]
        self._lines[inc] += 1
        self.events.append(event)
        return event.at

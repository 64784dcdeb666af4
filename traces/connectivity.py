"""Who could reach whom, and when: from the evidence of delivery, not from what was ordered.

S97 5, S00: two nodes are connected in an interval if all messages between them are delivered in
time, disconnected if all are lost, else partially connected; the system is stable if no node
crashes or recovers and no pair is partially connected. Rules:

- A period is bounded by whatever changes who is up or what the links do: a start, a crash, a
  pause and its end, a rule of the relay, and the faults that ask for them.
- In it each message between two nodes that are up, and not suspended, has an outcome: `ok`,
  received within T_m by the life that is up; `late`, received later; `lost`, never received, or
  only discarded (A7). A message not received in time and sent less than T_m before the end of
  the period has none, nor a lost one that was the last line of its life (it may never have gone).
- Where the outcome on a directed link differs from the one before on that link, a new interval
  begins, at the later send. So in an interval a link is all ok, all late, all lost, or silent.
- A new interval also begins where a machine stalled and no message shows it: at a time-out of a
  CALL that was received in time, of an IMMEDIATE procedure, by a node that was up all the while
  and did not answer within T_p. (Any other procedure leaves a Began right after the receipt, and
  may take as long as its own CALLs do.)
- A silent link takes the word of the rules in force: a cut or a hold, lost; none, or one that
  only duplicates, ok; any other, in doubt, so that the pair is partially connected.
- `machine` counts what nobody asked for: messages late or lost on a link without a rule, with no
  pause of either end within T_p; stalls likewise; nodes that stopped or overslept by themselves.

Limits: a link is only seen where it was used; `witnessed` and `by_rule` say how often. A program
that writes no Began has only IMMEDIATE procedures.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise, permutations
from typing import Generic, Literal, TypeVar, cast

from traces.chapters import Pause, Rule
from traces.cliques import Graph
from traces.events import Began, Received, Sent, TimedOut
from traces.liveness import boundaries
from traces.lives import History
from traces.run import Timing
from traces.traffic import Traffic

Link = tuple[int, int]
Call = tuple[int, int, int, int]
"""(caller or answerer, its life, the other node, call number)."""
Outcome = Literal["ok", "late", "lost", "doubt"]
Pair = Literal["connected", "disconnected", "partial"]

_NOTHING_PASSES = frozenset(("cut", "drop", "hold", "pause"))
_NEVER = 1 << 62


@dataclass
class Interval:
    """From `start` up to, not including, `end`: who was there and what every link did."""

    start: int
    end: int
    nodes: tuple[int, ...]
    """Up, and not suspended, all the time."""
    suspended: tuple[int, ...]
    """Up, but not running."""
    rules: dict[Link, list[Rule]]
    """In force on each link, in the order they came."""
    seen: dict[Link, Outcome] = field(default_factory=dict)
    """What messages bear witness of."""

    def link(self, i: int, j: int) -> Outcome:
        """What link i->j did: by its messages, or by the rules if it was silent."""
        if (i, j) in self.seen:
            return self.seen[i, j]
        rules = self.rules.get((i, j), [])
        if all(rule.verb == "duplicate" for rule in rules):
            return "ok"
        return "lost" if rules[0].verb in _NOTHING_PASSES else "doubt"

    def pair(self, i: int, j: int) -> Pair:
        """S97 5: connected, disconnected or partially connected."""
        match self.link(i, j), self.link(j, i):
            case "ok", "ok":
                return "connected"
            case "lost", "lost":
                return "disconnected"
        return "partial"

    @cached_property
    def pairs(self) -> dict[Link, Pair]:
        """Every pair i < j of its nodes."""
        return {(i, j): self.pair(i, j) for i, j in combinations(self.nodes, 2)}

    @property
    def stable(self) -> bool:
        """S00: every pair of nodes is either connected or disconnected, and nobody sleeps."""
        return not self.suspended and "partial" not in self.pairs.values()

    @property
    def graph(self) -> Graph:
        """The connectivity graph: the connected pairs are its edges."""
        edges = (pair for pair, how in self.pairs.items() if how == "connected")
        return Graph(self.nodes, frozenset(edges))

    @property
    def by_rule(self) -> int:
        """Directed links that no message bears witness of."""
        return sum(link not in self.seen for link in permutations(self.nodes, 2))


@dataclass(slots=True)
class Connectivity:
    """Every interval of the run in order, and how often the machine itself had its say."""

    intervals: list[Interval]
    machine: int


def connectivity(history: History, traffic: Traffic, timing: Timing) -> Connectivity:
    """What the trace shows of every link, interval by interval."""
    witness = _Witness(history, traffic, timing)
    intervals = [it for start, end in pairwise(boundaries(history)) for it in witness(start, end)]
    asleep = sum(pause.by == "nobody" for pause in history.pauses)
    overslept = sum(crash.how == "overslept" and not crash.asked for crash in history.crashes)
    return Connectivity(intervals, witness.machine + asleep + overslept)


T = TypeVar("T")


class _InForce(Generic[T]):
    """What lasts from one stamp to another, asked for in the order of time."""

    def __init__(self, spans: list[tuple[int, int, T]]) -> None:
        self.due = sorted(spans, key=lambda span: span[0], reverse=True)
        self.now: list[tuple[int, int, T]] = []

    def at(self, start: int) -> list[T]:
        """What has begun by `start` and is not over, in the order it began."""
        while self.due and self.due[-1][0] <= start:
            self.now.append(self.due.pop())
        self.now = [span for span in self.now if span[1] > start]
        return [span[2] for span in self.now]


class _Witness:
    """Hears the messages of one period after the other."""

    def __init__(self, history: History, traffic: Traffic, timing: Timing) -> None:
        self.history, self.events, self.traffic = history, history.events, traffic
        self.t_m, self.t_p = round(timing.t_m_ms * 1e6), round(timing.t_p_ms * 1e6)
        self.pauses: _InForce[Pause] = _InForce(
            [(p.at, p.until or _NEVER, p) for p in history.pauses]
        )
        self.rules: _InForce[Rule] = _InForce(
            [(r.on, r.off or _NEVER, r) for r in history.rules.values()]
        )
        self.machine = 0
        self.perhaps_never_sent = {
            history.last_event(life)
            for lives in history.lives.values()
            for life in lives
            if life.crash or not history.closed
        }
        self.sends = traffic.sends
        self.next = 0
        self.stalls = sorted(self._stalls(), reverse=True)

    def __call__(self, start: int, end: int) -> Iterator[Interval]:
        """The intervals of the period from `start` to `end`."""
        up = {i: life.inc for i in self.history.lives
              if (life := self.history.life_up(i, start, start))}  # fmt: skip
        suspended = {pause.node for pause in self.pauses.at(start)} & up.keys()
        rules: defaultdict[Link, list[Rule]] = defaultdict(list)
        for rule in self.rules.at(start):
            for directed in rule.links:
                rules[directed].append(rule)
        running = {i: inc for i, inc in up.items() if i not in suspended}

        def begin(at: int) -> Interval:
            return Interval(at, end, tuple(running), tuple(sorted(suspended)), rules)

        now, last = begin(start), dict[Link, Outcome]()
        for at, link, outcome in self._heard(running, rules, end):
            flips = link is None or last.get(link, outcome) != outcome
            if flips and at > now.start:
                now.end = at
                yield now
                now = begin(at)
            if link is not None and outcome is not None:
                now.seen[link] = last[link] = outcome
        yield now

    def _heard(
        self, running: dict[int, int], rules: dict[Link, list[Rule]], end: int
    ) -> Iterator[tuple[int, Link | None, Outcome | None]]:
        """Outcomes in the order of the sends, and stalls, which have neither link nor outcome."""
        events, sends = self.events, self.sends
        while self.next < len(sends):
            i = sends[self.next]
            sent = cast(Sent, events[i])
            at, src, dst = sent.at, sent.node, sent.to
            if at >= end:
                break
            self.next += 1
            if running.get(src) != sent.inc or dst not in running:
                continue
            outcome = self._outcome(i, running[dst], end)
            if outcome is not None:
                yield from self._stalled(at)
                if outcome != "ok" and (src, dst) not in rules:
                    self.machine += not self._slept((src, dst), at - self.t_p, at + self.t_m)
                yield at, (src, dst), outcome
        yield from self._stalled(end - 1)

    def _outcome(self, i: int, inc: int, end: int) -> Outcome | None:
        at, received = self.events[i].at, self.traffic.receipt_of(i)
        if received is not None and received.at - at <= self.t_m and received.inc == inc:
            return "ok"
        if at + self.t_m > end:
            return None
        if received is not None:
            return "late"
        return None if i in self.perhaps_never_sent else "lost"

    def _stalled(self, until: int) -> Iterator[tuple[int, None, None]]:
        while self.stalls and self.stalls[-1] <= until:
            yield self.stalls.pop(), None, None

    def _slept(self, nodes: tuple[int, ...], start: int, end: int) -> bool:
        """Whether one of them was paused at some time from `start` to `end`."""
        return any(self.history.paused(node, start, end) for node in nodes)

    def _stalls(self) -> Iterator[int]:
        """Where a time-out shows that a node stood still though it was up and had the CALL."""
        time_outs = [e for e in self.events if type(e) is TimedOut and e.at < self.history.horizon]
        gave_up = {(e.node, e.inc, e.to, e.call): e.at for e in time_outs}
        awaited = {(e.to, e.node, e.call) for e in time_outs}
        asked: dict[Call, int] = {}
        answered: dict[Call, int] = {}
        for i in self.sends if gave_up else ():
            sent = cast(Sent, self.events[i])
            call = sent.node, sent.inc, sent.to, sent.call
            if sent.ack and (sent.node, sent.to, sent.call) in awaited:
                answered.setdefault(call, sent.at)
            elif not sent.ack and call in gave_up:
                asked[call] = i
        for call, i in asked.items():
            at, sent = gave_up[call], cast(Sent, self.events[i])
            life, request = self.history.life_up(sent.to, sent.at, at), self.traffic.receipt_of(i)
            if request is None or life is None:
                continue
            if request.at - sent.at > self.t_m:
                continue
            answer = answered.get((life.node, life.inc, sent.node, sent.call), _NEVER)
            if answer - request.at > self.t_p and self._immediate(
                self.traffic.received_at(i), request
            ):
                self.machine += not self._slept((life.node,), request.at - self.t_p, at)
                yield at

    def _immediate(self, j: int, request: Received) -> bool:
        """Whether what was called runs in the message handler (GM82 App. I: IMMEDIATE)."""
        for k in range(j + 1, len(self.events)):
            event = self.events[k]
            if event.node == request.node and event.inc == request.inc:
                return not (isinstance(event, Began) and event.proc == request.kind)
        return True

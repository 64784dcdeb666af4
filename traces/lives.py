"""The history of a run: lives, crashes, pauses, rules and state changes, read in one pass.

Rules:

- A life is a node and its incarnation. It is up from its Started to its crash.
- A crash is an interval, before kill() to after waitpid(); the node is Down from the kill's
  stamp, or from the last event the life wrote if that is later. An unplanned death dates from
  the last event the life wrote.
- A node that was killed while suspended never ran again, so it is Down from where it stopped.
- A node that overslept was Down from the last instant it knew itself awake, or from the last
  pause asked of it since (GM82 II, Assumption 9). That Down is put in where it belongs, and
  what the life wrote after it no longer counts as its state (GM82 II: Down "regardless of
  what actually is stored in that cell").
- A step is a change of some node's state. Its key is 2i when event i made it and 2i + 1 when
  it is a crash that follows event i, so keys order all the recorded cuts.

Limits: once the run is being ended nothing is expected to arrive; `horizon` is that instant.
"""

from bisect import bisect_right
from operator import attrgetter, itemgetter

from traces.chapters import Crash, Life, Pause, Rule, State
from traces.events import (
    AnyEvent,
    Became,
    Closed,
    Continued,
    Counted,
    Died,
    Discarded,
    Injected,
    Overslept,
    Received,
    Ruled,
    Sent,
    Started,
    Suspected,
    Suspended,
    TimedOut,
    Watched,
    Witnessed,
)

_at = attrgetter("at")
_TURNS: frozenset[type] = frozenset(
    (Started, Died, Overslept, Suspended, Continued,
     Injected, Ruled, Witnessed, Counted, Closed, TimedOut, Watched, Suspected)
)  # fmt: skip


class History:
    """What the checks share, read once."""

    def __init__(self, events: list[AnyEvent], nodes: int) -> None:
        self.events = events
        self.nodes = nodes
        self.began = events[0].at if events else 0
        self.ended = self.horizon = events[-1].at if events else 0
        self.closed = False
        self.steps: list[tuple[int, State]] = []
        self.lives: dict[int, list[Life]] = {i: [] for i in range(1, nodes + 1)}
        self.crashes: list[Crash] = []
        self.pauses: list[Pause] = []
        self.rules: dict[int, Rule] = {}
        self.witnessed: list[Witnessed] = []
        self.silences: list[tuple[int, TimedOut | Watched | Suspected]] = []
        self.turns: list[tuple[int, AnyEvent]] = []  # what is neither message nor state
        _Reader(self).read()

    def ms(self, at: int) -> float:
        """A stamp as milliseconds since the run began."""
        return round((at - self.began) / 1e6, 3)

    def life(self, node: int, inc: int) -> Life | None:
        """Life `inc` of `node`, if it ever started."""
        return next((it for it in self.lives.get(node, ()) if it.inc == inc), None)

    def life_up(self, node: int, start: int, end: int) -> Life | None:
        """The one life of `node` that was up throughout [start, end], if there is one."""
        lives = self.lives.get(node, [])
        at = bisect_right(lives, start, key=_at) - 1
        if at < 0 or (lives[at].crash is not None and lives[at].crash.at <= end):  # type: ignore[union-attr]
            return None
        return lives[at]

    def state_at(self, node: int, key: int) -> State:
        """The state of a node at its place in a cut; it has one there."""
        at = bisect_right(self.steps, key, key=itemgetter(0)) - 1
        while self.steps[at][1].node != node:
            at -= 1
        return self.steps[at][1]

    def paused(self, node: int, start: int, end: int) -> Pause | None:
        """A pause of `node` that has an instant in [start, end]."""
        for pause in self.pauses:
            if pause.node == node and pause.at <= end and (pause.until or self.ended) >= start:
                return pause
        return None

    def last_event(self, life: Life) -> int:
        """Index of the last event a life wrote while it was up.

        The Overslept that ended it does not count, nor what it found in its socket by then.
        """
        end, i = life.end, life.start
        while (i := self.written_before(life.node, life.inc, end, life.start)) > life.start:
            event = self.events[i]
            if not (isinstance(event, Discarded) and event.why == "down"):
                break
            end = i
        return i

    def written_before(self, node: int, inc: int, end: int, floor: int) -> int:
        """Index of the last event of a life in (floor, end), or floor if there is none."""
        events = self.events
        for i in range(end - 1, floor, -1):
            if events[i].node == node and events[i].inc == inc:
                return i
        return floor


class _Reader:
    """Fills a History. One method an event type, in the order of the trace."""

    def __init__(self, history: History) -> None:
        self.to = history
        self.up: dict[int, Life] = {}
        self.inc_up: list[int] = [0] * (history.nodes + 1)
        self.spawned: dict[int, int] = {}
        self.killed: dict[int, int] = {}
        self.asked: dict[int, int] = {}
        self.armed: set[int] = set()
        self.asks: dict[int, list[int]] = {}
        self.stopped: dict[int, Pause] = {}
        self.verbs: dict[int, str] = {}
        self.void: set[int] = set()

    def read(self) -> None:
        to, inc_up = self.to, self.inc_up
        add_step, add_turn = to.steps.append, to.turns.append
        methods = {kind: getattr(self, kind.__name__.lower()) for kind in _TURNS}
        for i, event in enumerate(to.events):
            kind = type(event)
            if kind is Received or kind is Sent:  # most are, and say nothing here
                continue
            if kind is Became:
                if inc_up[event.node] == event.inc:
                    add_step((2 * i, event))  # type: ignore[arg-type]
                else:
                    self.became(i, event)  # type: ignore[arg-type]
            elif kind in methods:
                add_turn((i, event))
                methods[kind](i, event)
        for node, life in list(self.up.items()):
            if self.killed.get(node, -1) > life.start:
                self._end(node, len(to.events), "killed")
        if self.void:
            to.steps = [step for step in to.steps if step[0] not in self.void]
        # Nodes that crash after the same event do so in the order of their stamps.
        to.steps += [(2 * it.index + 1, it) for it in sorted(to.crashes, key=_at)]
        to.steps.sort(key=itemgetter(0))

    def became(self, i: int, event: Became) -> None:
        # Only a life that never said Started comes here and counts; a dead one does not.
        lives = self.to.lives[event.node]
        if not lives or event.inc > lives[-1].inc:
            self._begin(i, event)
            self.to.steps.append((2 * i, event))

    def started(self, i: int, event: Started) -> None:
        self._begin(i, event)
        self.to.steps.append((2 * i, event))

    def _begin(self, i: int, event: Started | Became) -> None:
        if event.node in self.up:
            self._end(event.node, i, "vanished")
        lives = self.to.lives[event.node]
        if not lives or lives[-1].crash is None or lives[-1].crash.how != "overslept":
            self.spawned[event.node] = event.inc  # the first life of its process
        life = Life(event.node, event.inc, i, event.at, len(self.to.events))
        lives.append(life)
        self.up[event.node] = life
        self.inc_up[event.node] = event.inc

    def died(self, i: int, event: Died) -> None:
        if event.target in self.up and event.life >= self.spawned[event.target]:
            self._end(event.target, i, "killed" if event.target in self.killed else "died")

    def _end(self, node: int, i: int, how: str) -> None:
        """The life of `node` is over before event i: date its crash."""
        life = self.up[node]
        floor, pause = life.start, self.stopped.pop(node, None)
        if pause is not None:
            floor = max(floor, pause.asked)
            pause.until, pause.how = self.to.events[min(i, len(self.to.events) - 1)].at, "killed"
        elif node in self.killed:
            floor = max(floor, self.killed[node])
        self.killed.pop(node, None)
        index = self.to.written_before(node, life.inc, i, floor)
        self._crash(life, i, Crash(self.to.events[index].at, node, life.inc, index, how))

    def _crash(self, life: Life, end: int, crash: Crash) -> None:
        life.crash, life.end = crash, end
        del self.up[life.node]
        self.inc_up[life.node] = 0
        self.asked.pop(life.node, None)
        self.to.crashes.append(crash)

    def overslept(self, i: int, event: Overslept) -> None:
        life = self.up.get(event.node)
        if life is None or life.inc != event.inc:
            return
        events = self.to.events
        asks = [events[k].at for k in self.asks.get(event.node, ()) if events[k].at >= event.since]
        at = max([life.at, event.since, *asks])
        index = min(max(bisect_right(events, at, key=_at) - 1, life.start), i - 1)
        for key, state in reversed(self.to.steps):
            if key <= 2 * index:
                break
            if state.node == event.node:
                self.void.add(key)
        asked = False
        for pause in self.to.pauses:
            if pause.node == event.node and (pause.until or event.at) >= at:
                pause.how, asked = "overslept", pause.by != "nobody"
        crash = Crash(at, event.node, event.inc, index, "overslept", event.late, asked)
        self._crash(life, i, crash)

    def suspended(self, i: int, event: Suspended) -> None:
        asked = self.asked.get(event.target, -1)
        start = self.to.events[asked].at if asked >= 0 else event.at
        by = "pause" if asked >= 0 else "point" if event.target in self.armed else "nobody"
        if by == "point":  # a pause leaves it armed
            self.armed.discard(event.target)
        pause = Pause(event.target, start, i, asked, by)
        self.to.pauses.append(pause)
        self.stopped[event.target] = pause

    def continued(self, i: int, event: Continued) -> None:
        pause = self.stopped.pop(event.target, None)
        self.asked.pop(event.target, None)
        if pause is not None:
            pause.until = event.at
            pause.how = pause.how or "resumed"

    def injected(self, i: int, event: Injected) -> None:
        if event.verb == "end":
            self.to.horizon = min(self.to.horizon, event.at)
        self.verbs.setdefault(event.rule, event.verb)
        for node in event.nodes:
            if event.verb in ("kill", "end"):
                self.killed[node] = i
                self.armed.discard(node)
            elif event.verb == "arm":
                self.armed.add(node)
            elif event.verb == "pause":
                self.asked[node] = i
                self.asks.setdefault(node, []).append(i)

    def ruled(self, i: int, event: Ruled) -> None:
        if event.on:
            # A pause may drop by a rule of the relay; its verb is then the fault's.
            verb = self.verbs.get(event.rule, event.verb)
            self.to.rules[event.rule] = Rule(event.rule, verb, event.links, event.at)
        elif event.rule in self.to.rules:
            self.to.rules[event.rule].off = event.at

    def witnessed(self, i: int, event: Witnessed) -> None:
        self.to.witnessed.append(event)

    def timedout(self, i: int, event: TimedOut | Watched | Suspected) -> None:
        self.to.silences.append((i, event))

    watched = suspected = timedout

    def counted(self, i: int, event: Counted) -> None:
        self.to.horizon = min(self.to.horizon, event.at)

    def closed(self, i: int, event: Closed) -> None:
        self.to.closed = True

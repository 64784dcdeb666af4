"""What the failure detectors were asked and what they said, and what was true of it (S97 2).

Rules:

- Node i monitors j from a Start_FD(j) to the next Start_FD(j) or Stop_FD(j) of the same life of
  i, or to its crash. Each Start_FD is a watch of its own.
- Of a life that overslept, what it wrote after it was Down does not count (traces.lives).
- j is down from a crash to its next start, and before its first one. In the recorded order a
  crash follows the event it is dated to; so the order decides where stamps are equal.
- j plays dead towards i from a PlayDead_FD to the next PlayAlive_FD that names i, or to its crash.

Limits: that a detector is asked is taken from the trace; what the detectors send each other is not
looked at here.
"""

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from traces.events import Played, Suspected, Watched
from traces.lives import History

Pair = tuple[int, int]
_NEVER = 1 << 62


@dataclass(slots=True)
class Watch:
    """From `start` up to `end` node `node` monitors `peer`; first `reported` then, if ever."""

    node: int
    peer: int
    key: int
    start: int
    end: int = _NEVER
    reported: int | None = None


@dataclass(slots=True)
class Alarm:
    """<DownSig, peer> at `node`; `watch` is the Start_FD it answers, None if there is none."""

    node: int
    peer: int
    index: int
    at: int
    watch: Watch | None


@dataclass(slots=True)
class Absence:
    """From cut `key` (stamp `start`) up to cut `until` (stamp `end`) a node is not there."""

    key: int
    start: int
    until: int = _NEVER
    end: int = _NEVER


@dataclass(slots=True)
class Detectors:
    """Every watch and every alarm in the recorded order, and who was absent for whom."""

    watches: list[Watch] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    down: dict[int, list[Absence]] = field(default_factory=dict)
    dead: defaultdict[Pair, list[Absence]] = field(default_factory=lambda: defaultdict(list))
    """Of (j, i): when j played dead towards i."""

    def was_down(self, alarm: Alarm) -> bool:
        """Whether the node was down at some time since the Start_FD that the alarm answers."""
        return alarm.watch is not None and _absent(self.down[alarm.peer], alarm, alarm.watch)

    def played_dead(self, alarm: Alarm) -> bool:
        """Whether it was up, but made the detector say so."""
        dead = self.dead.get((alarm.peer, alarm.node), [])
        return alarm.watch is not None and _absent(dead, alarm, alarm.watch)

    def truth(self, alarm: Alarm) -> str:
        """What was true of the node that was reported: down, was down, plays dead, or up."""
        if _there(self.down[alarm.peer], alarm.at):
            return "down"
        if self.was_down(alarm):
            return "was down"
        return "plays dead" if self.played_dead(alarm) else "up"


def _absent(absences: list[Absence], alarm: Alarm, watch: Watch) -> bool:
    return any(it.key < 2 * alarm.index and it.until > watch.key for it in absences)


def _there(absences: list[Absence], at: int) -> bool:
    """Whether `at` lies in one of them."""
    i = bisect_right(absences, at, key=lambda absence: absence.start) - 1
    return i >= 0 and absences[i].end > at


def detectors(history: History) -> Detectors:
    """Read the detectors' events in one pass."""
    reader = _Reader(history)
    for i, event in enumerate(history.events):
        if not isinstance(event, Watched | Suspected | Played) or not reader.counts(i, event):
            continue
        match event:
            case Watched():
                reader.watched(i, event)
            case Suspected():
                reader.suspected(i, event)
            case Played():
                reader.played(i, event)
    return reader.found


def downs(history: History, node: int) -> list[Absence]:
    """When a node was down, in order."""
    found = [Absence(-1, history.began)]
    for life in history.lives[node]:
        found[-1].until, found[-1].end = 2 * life.start, life.at
        if life.crash is None:
            return found
        found.append(Absence(2 * life.crash.index + 1, life.crash.at))
    return found


class _Reader:
    """Keeps the open watches and plays of the lives that are up."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.found = Detectors(down={node: downs(history, node) for node in history.lives})
        self.open: dict[Pair, tuple[int, Watch]] = {}
        self.plays: dict[Pair, tuple[int, Absence]] = {}

    def counts(self, i: int, event: Watched | Suspected | Played) -> bool:
        """Whether its life was up."""
        life = self.history.life(event.node, event.inc)
        return life is not None and (life.crash is None or i <= life.crash.index)

    def _crash_of(self, node: int, inc: int) -> tuple[int, int]:
        """The cut and the stamp at which a life was over."""
        life = self.history.life(node, inc)
        crash = life.crash if life else None
        return (2 * crash.index + 1, crash.at) if crash else (_NEVER, _NEVER)

    def watched(self, i: int, event: Watched) -> None:
        over = self._crash_of(event.node, event.inc)[1]
        for peer in event.peers:
            pair = event.node, peer
            inc, watch = self.open.pop(pair, (0, None))
            if watch is not None and inc == event.inc:
                watch.end = event.at
            if event.on:
                watch = Watch(*pair, 2 * i, event.at, over)
                self.open[pair] = event.inc, watch
                self.found.watches.append(watch)

    def suspected(self, i: int, event: Suspected) -> None:
        inc, watch = self.open.get((event.node, event.peer), (0, None))
        watch = watch if inc == event.inc else None
        self.found.alarms.append(Alarm(event.node, event.peer, i, event.at, watch))
        if watch is not None and watch.reported is None:
            watch.reported = event.at

    def played(self, i: int, event: Played) -> None:
        over = self._crash_of(event.node, event.inc)
        for peer in event.peers:
            pair = event.node, peer
            inc, play = self.plays.get(pair, (0, None))
            playing = play is not None and inc == event.inc
            if playing and not event.dead:
                del self.plays[pair]
                play.until, play.end = 2 * i, event.at  # type: ignore[union-attr]
            elif event.dead and not playing:
                play = Absence(2 * i, event.at, *over)
                self.plays[pair] = event.inc, play
                self.found.dead[pair].append(play)

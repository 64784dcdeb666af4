"""S97-FD1, FD2 and FD2': whether the failure detectors kept their word.

S97 2: completeness (1), that a monitored node that is down is reported, within the latency
tau_FD; accuracy (2), that a node is reported only while it is monitored, and only if it was down
since the last Start_FD. S97 6: where communication is not reliable, only that within a stable
interval what was reported was true within the last tau_FD. Rules:

- FD1: if i has monitored j, and j has been down, for tau_FD, then i has been told. Nothing is
  owed if j returned, or i called Start_FD or Stop_FD or crashed before that; nor if i was paused
  meanwhile; nor to the end of the run. Once i was told, nothing more is owed until its next
  Start_FD. tau_FD counts from the crash or the Start_FD, whichever was later.
- FD2: by the recorded order. That j played dead towards i is what PlayDead_FD is for: no false
  alarm.
- A stable stretch is a run of stable intervals (traces.connectivity) with the same nodes and the
  same connectivity graph, in which no node crashes or starts.
- In an asynchronous run FD1 is owed within stable stretches only, and counts from the start of
  the stretch at the earliest. There a node is also failed for i if the two are disconnected, or
  it plays dead towards i: the proof of ALE2' needs both (S97 App. B).
- FD2': an alarm at least tau_FD into a stable stretch is false if, in the last tau_FD, j was
  up, connected to i, and not playing dead towards i.

Limits: (1) itself, "eventually", is not judged where no stretch is as long as tau_FD.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from traces.cliques import Graph
from traces.connectivity import Interval
from traces.detectors import Absence, Alarm, Detectors, Watch
from traces.lives import History


@dataclass(slots=True)
class Failure:
    """From `start` to `end` `peer` had failed for the node of `watch`; `how` in words."""

    watch: Watch
    start: int
    end: int
    how: str

    @property
    def told(self) -> int | None:
        """When it was reported, if it was while it lasted."""
        reported = self.watch.reported
        return reported if reported is not None and reported <= self.end else None


@dataclass(slots=True)
class Completeness:
    """FD1: the failures that were reported or owed a report, and those reported late or never."""

    failures: int = 0
    latencies: list[int] = field(default_factory=list)
    found: list[Failure] = field(default_factory=list)


@dataclass(slots=True)
class Stretch:
    """The system was stable from `start` to `end`, with these nodes up and these pairs joined."""

    start: int
    end: int
    graph: Graph

    def failed(self, i: int, j: int) -> str:
        """What j is for i: down, disconnected, or neither."""
        if j not in self.graph.nodes:
            return "down"
        return "" if self.graph.joined(i, j) else "disconnected"


def check_completeness(
    history: History,
    detectors: Detectors,
    latency: int,
    stretches: list[Stretch] | None = None,
) -> Completeness:
    """FD1 over every watch; in stable stretches only, where there are some."""
    result = Completeness()
    for watch in detectors.watches:
        if stretches is None:
            failures = _down(history, detectors, watch)
        else:
            failures = _failed(history, detectors, watch, stretches)
        for failure in sorted(failures, key=lambda it: it.start):
            if watch.reported is not None and watch.reported < failure.start:
                break
            _owed(history, failure, latency, result)
    return result


def _owed(history: History, failure: Failure, latency: int, result: Completeness) -> None:
    """Whether it was reported in time, if it lasted so long."""
    due, told = failure.start + latency, failure.told
    in_time = told is not None and told <= due
    owed = failure.end > due and not history.paused(failure.watch.node, failure.start, due)
    if told is not None and (in_time or owed):
        result.latencies.append(told - failure.start)
    if in_time or owed:
        result.failures += 1
    if owed and not in_time:
        result.found.append(failure)


def _down(history: History, detectors: Detectors, watch: Watch) -> Iterator[Failure]:
    for absence in detectors.down[watch.peer]:
        yield from _overlap(history, watch, absence.start, absence.end, "down")


def _failed(
    history: History, detectors: Detectors, watch: Watch, stretches: list[Stretch]
) -> Iterator[Failure]:
    dead = detectors.dead.get((watch.peer, watch.node), [])
    for stretch in _between(stretches, watch.start, watch.end):
        how = stretch.failed(watch.node, watch.peer)
        if how:
            yield from _overlap(history, watch, stretch.start, stretch.end, how)
            continue
        for play in dead:
            start, end = max(stretch.start, play.start), min(stretch.end, play.end)
            yield from _overlap(history, watch, start, end, "playing dead")


def _overlap(history: History, watch: Watch, start: int, end: int, how: str) -> Iterator[Failure]:
    start, end = max(start, watch.start), min(end, watch.end, history.horizon)
    if start < end:
        yield Failure(watch, start, end, how)


def false_alarms(detectors: Detectors) -> list[Alarm]:
    """FD2: the alarms about nodes not monitored, or not absent since Start_FD."""
    return [
        alarm
        for alarm in detectors.alarms
        if not (detectors.was_down(alarm) or detectors.played_dead(alarm))
    ]


@dataclass(slots=True)
class Accuracy:
    """FD2': how many alarms were far enough into a stable stretch, and the false ones."""

    judged: int = 0
    found: list[tuple[Alarm, Stretch]] = field(default_factory=list)


def check_stable_accuracy(detectors: Detectors, latency: int, stretches: list[Stretch]) -> Accuracy:
    """FD2' over every alarm."""
    result = Accuracy()
    for alarm in detectors.alarms:
        for stretch in _between(stretches, alarm.at, alarm.at + 1):
            if stretch.start + latency <= alarm.at:
                result.judged += 1
                dead = detectors.dead.get((alarm.peer, alarm.node), [])
                recent = alarm.at - latency
                if not (stretch.failed(alarm.node, alarm.peer) or _lately(dead, recent, alarm.at)):
                    result.found.append((alarm, stretch))
    return result


def _lately(absences: list[Absence], start: int, end: int) -> bool:
    return any(it.start <= end and it.end >= start for it in absences)


def stable_stretches(history: History, intervals: list[Interval]) -> list[Stretch]:
    """The maximal stretches in which the system was stable."""
    turns = {crash.at for crash in history.crashes}
    turns |= {life.at for lives in history.lives.values() for life in lives}
    found: list[Stretch] = []
    for it in (it for it in intervals if it.stable):
        goes_on = found and found[-1].end == it.start and it.start not in turns
        if goes_on and found[-1].graph == it.graph:
            found[-1].end = it.end
        else:
            found.append(Stretch(it.start, it.end, it.graph))
    return found


def _between(stretches: list[Stretch], start: int, end: int) -> Iterator[Stretch]:
    """Those that have an instant in [start, end)."""
    first = bisect_right(stretches, start, key=lambda stretch: stretch.end)
    return takewhile(lambda stretch: stretch.start < end, stretches[first:])


def quantile(latencies: list[int], share: float) -> int:
    """The least latency that so many of them do not exceed; 0 if there are none."""
    ranked = sorted(latencies)
    return ranked[max(0, -(-round(share * 1000) * len(ranked) // 1000) - 1)] if ranked else 0

"""GM82-4, S00-4', S97-ALE2 and ALE2' as bounded liveness, on intervals of known connectivity.

GM82 IV, Assertion 4; S00, Assertion 4'; S97 5, ALE2: "there exists a constant c such that if the
system is stable for a time interval of duration at least c", then by its end it is in a good state
(what that is: traces.assertions), and "remains in that state as long as the system remains
stable". Rules:

- Intervals and graphs are those of traces.connectivity. Assertion 4' and ALE2 are about stable
  ones; Assertion 4 about any, with the connected pairs of the running nodes as edges.
- c stands for the "eventually" of Assertion 4 as well. It is Timing.merges_ms, and for ALE2 and
  ALE2' c_A, Timing.stoller_async_ms.
- In an interval of at least c the state must be good from c after its start (at the latest, just
  before its end) until its end.
- A shorter one that began bad and ended good counts too; for Assertion 4', good is (a) and (b).
  Any other shorter one says nothing, nor one with a single node: alone it is soon in order.

Limits: no excuses, since nothing but A1-A7 is assumed: what the machine does to a message changes
the interval, not the verdict.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from traces.assertions import Both, Covered, Demand, Elected, Led, OneGroup, States, groups_of
from traces.chapters import State
from traces.connectivity import Interval
from traces.lives import History
from traces.run import RunInfo


def merge_bound_ns(info: RunInfo) -> int:
    """c: how long the protocol may take to merge what can be merged."""
    return round(info.timing.merges_ms(info.nodes) * 1e6)


@dataclass(slots=True)
class Found:
    """An interval, the instant from c on at which it was not good, and how things were then."""

    start: int
    end: int
    at: int
    nodes: tuple[int, ...]
    says: str
    undecided: bool = False


@dataclass(slots=True)
class Grouped:
    """What the intervals showed; times in ns."""

    periods: int = 0
    judged: int = 0
    longest: int = 0
    slowest: int = 0
    witnessed: int = 0
    by_rule: int = 0
    found: list[Found] = field(default_factory=list)
    shown: tuple[tuple[int, int], str] = (0, 0), ""
    """How things were at the end of a good interval: the one with most groups, then nodes."""


def check_groups(
    history: History,
    intervals: list[Interval],
    bound: int,
    demands_of: Callable[[Interval], tuple[Demand, ...]],
) -> Grouped:
    """One property over every interval of the run.

    Of the demands of its assertion on an interval its own comes first; none: nothing is demanded.
    """
    result, states, steps, k = Grouped(periods=len(intervals)), States(), history.steps, 0
    for interval in intervals:
        while k < len(steps) and steps[k][1].at <= interval.start:
            states[steps[k][1].node] = steps[k][1]
            k += 1
        first = k
        while k < len(steps) and steps[k][1].at < interval.end:
            k += 1
        length = interval.end - interval.start
        # Nothing can get better in a short one without a change of state.
        if length >= bound or k > first or length > result.longest:
            demands = demands_of(interval)
            if demands:
                result.longest = max(result.longest, length)
                course = _Course(demands, states, interval, bound)
                course.follow([state for _, state in steps[first:k]])
                course.report(result)
        states.update((state.node, state) for _, state in steps[first:k])
    return result


class _Course:
    """How the states of one interval went, against what is demanded of them."""

    def __init__(
        self, demands: tuple[Demand, ...], states: States, interval: Interval, bound: int
    ) -> None:
        self.demand, self.demands = demands[0], demands
        self.states, self.interval = dict(states), interval
        self.long_enough = interval.end - interval.start >= bound
        self.due = min(interval.start + bound, interval.end - 1)
        self.began_bad = any(demand.met(self.states) is False for demand in demands)
        self.now = self.demand.met(self.states)
        self.since = self.changed = interval.start
        self.wrong: Found | None = None

    def follow(self, changes: list[State]) -> None:
        """Take in the changes, in order; what counts is the state that lasts after a stamp."""
        for at, state in enumerate(changes):
            if state.at > self.changed:
                self._lasted(state.at)
            self.states[state.node] = state
            if at + 1 == len(changes) or changes[at + 1].at > state.at:
                met = self.demand.met(self.states)
                if met is not self.now:
                    self.now, self.since = met, state.at
                self.changed = state.at
        self._lasted(self.interval.end)

    def _lasted(self, until: int) -> None:
        """The present state lasted until then: note it if it was not good when that was due."""
        if self.now or until <= self.due or not self.long_enough:
            return
        if self.wrong is None or (self.wrong.undecided and self.now is False):
            at, (nodes, says) = max(self.changed, self.due), self.demand.says(self.states)
            span = self.interval.start, self.interval.end
            self.wrong = Found(*span, at, nodes, says, undecided=self.now is None)

    def report(self, result: Grouped) -> None:
        """Add what this interval showed."""
        if not self.long_enough:
            got_there = all(demand.met(self.states) for demand in self.demands)
            if not (self.began_bad and got_there and len(self.interval.nodes) > 1):
                return
        result.judged += 1
        by_rule, size = self.interval.by_rule, len(self.interval.nodes)
        result.by_rule += by_rule
        result.witnessed += size * (size - 1) - by_rule
        if self.wrong is not None:
            result.found.append(self.wrong)
            return
        result.slowest = max(result.slowest, self.since - self.interval.start)
        rank = len(groups_of(self.states, self.interval.nodes)), size
        if rank > result.shown[0]:
            result.shown = rank, self.demand.says(self.states)[1]


def demanded(name: str, budget: int, interval: Interval) -> tuple[Demand, ...]:
    """What the assertion of this property demands of an interval, the property's own part first."""
    if not interval.nodes:
        return ()
    if name == "GM82-4":
        return (OneGroup(interval.graph),)
    if not interval.stable:
        return ()
    if name == "S97-ALE2'":
        return (Elected(interval.graph),)
    if name == "S97-ALE2":
        return (Both(Elected(interval.graph), Covered(interval.graph, budget)),)
    led, covered = Led(interval.graph), Covered(interval.graph, budget)
    return (led, covered) if name == "S00-4'a" else (covered, led)

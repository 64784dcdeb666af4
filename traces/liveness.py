"""GM82-2 as bounded liveness, on every quiet period the trace has.

GM82 III, Assertion 2: if no failures occur, the protocol eventually reaches a state where some
node i is Normal with S(i).c = i and all other nodes that are not failed are Normal under i.
"Eventually" cannot be judged on a finite trace, so a bound B stands for it. Rules:

- A period is a maximal interval in which no fault takes or ends effect, no node starts or
  crashes, and no break of A8 or A9 begins or ends.
- In a period of at least B, with some node up, the system must be settled from B after its
  start to its end. If not: excused when a break is in force in the period, or has left the
  nodes split (Assertion 1 broken in its shadow: two Normal coordinators never ask each other,
  and CJ97 claims Assertion 2 only from a consistent state on); else violated.
- In a shorter period "eventually" may have come all the same: one that began unsettled and
  ended settled counts too. A shorter one that did not settle says nothing.
- B = timeout + 2 check + (6n + 2) T, from Appendix I (docs/verdicts.md derives it). An election
  of the highest node up takes less than 3nT. It may have to be held twice, after a Timeout:
  timeout + (6n + 1) T; or after two Checks: 2 check + 5nT.

Limits: a slow protocol that needs less than B is not told from a fast one; `settled in` is
what it took at most. From some n on, where n - 9 > (timeout + check) / T, there is a road of
7(n - 1) calls that B covers only because answers take less than T.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from traces.events import Continued, Died, Injected, Overslept, Ruled, Started, Suspended
from traces.lives import History
from traces.run import RunInfo
from traces.settled import Shadows, Span
from traces.verdicts import Break

_TURNING = (Started, Died, Overslept, Suspended, Continued, Ruled)
_FAULTS = frozenset(("kill", "pause", "resume", "start", "restart"))


@dataclass(slots=True)
class Unsettled:
    """A period that was long enough, and the instant from B on at which it was not settled."""

    start: int
    end: int
    at: int
    excuse: Break | None


@dataclass(slots=True)
class Liveness:
    """What the periods showed; times in ns."""

    periods: int = 0
    judged: int = 0
    longest: int = 0
    slowest: int = 0
    found: list[Unsettled] = field(default_factory=list)


def bound_ns(info: RunInfo) -> int:
    """B: how long the protocol may take to settle when nothing fails."""
    return round(info.settles_ms * 1e6)


def check_liveness(history: History, spans: list[Span], shadows: Shadows, bound: int) -> Liveness:
    """Assertion 2 over every period of the run."""
    result = Liveness()
    for start, end in pairwise(boundaries(history, shadows.breaks)):
        result.periods += 1
        if not any(history.life_up(node, start, start) for node in history.lives):
            continue
        result.longest = max(result.longest, end - start)
        long_enough = end - start >= bound
        span = _span_at(spans, start + bound if long_enough else end - 1)
        if span is not None and span.end >= end:
            if long_enough or _span_at(spans, start) is None:
                result.judged += 1
                result.slowest = max(result.slowest, span.start - start)
        elif long_enough:
            result.judged += 1
            at = start + bound if span is None else span.end
            result.found.append(Unsettled(start, end, at, shadows.in_force(start, end)))
    return result


def boundaries(history: History, breaks: Iterable[Break] = ()) -> list[int]:
    """Where periods begin and end, within the time in which messages are carried."""
    stamps = {history.began, history.horizon}
    for _, event in history.turns:
        if isinstance(event, _TURNING) or (isinstance(event, Injected) and event.verb in _FAULTS):
            stamps.add(event.at)
    stamps.update(crash.at for crash in history.crashes)
    for found in breaks:
        stamps.update((found.start, found.end))
    return sorted(at for at in stamps if history.began <= at <= history.horizon)


def _span_at(spans: list[Span], at: int) -> Span | None:
    """The settled span that `at` lies in."""
    i = bisect_right(spans, at, key=lambda span: span.start) - 1
    return spans[i] if i >= 0 and spans[i].end > at else None

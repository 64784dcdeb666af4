"""The obvious way to judge GM82-2: every period, every instant of it from the bound on.

Shares no code with the analyzer, except that it is told when A8 and A9 were broken
(tests.oracle_environment judges that).
"""

from dataclasses import dataclass, field
from itertools import pairwise

from tests.oracle_lives import all_lives, horizon_of
from tests.oracle_settled import Interval, Scene, is_excused, scenes
from traces.events import (
    AnyEvent,
    Continued,
    Died,
    Injected,
    Overslept,
    Ruled,
    Started,
    Suspended,
)
from traces.run import RunInfo

FAULTS = ("kill", "pause", "resume", "start", "restart")


@dataclass
class Periods:
    """How many periods there were, how many say something, and each that was not settled."""

    all: int = 0
    judged: int = 0
    unsettled: list[tuple[int, bool]] = field(default_factory=list)
    """(the first instant from the bound on at which it was not, whether that is excused)."""

    @property
    def result(self) -> str:
        if not self.judged:
            return "vacuous"
        if not self.unsettled:
            return "holds"
        return "excused" if all(excused for _, excused in self.unsettled) else "violated"


def bound_of(info: RunInfo) -> int:
    """docs/verdicts.md: timeout + 2 check + (6n + 2)(2 T_m + T_p), in ns."""
    times = info.timing
    t = 2 * times.t_m_ms + times.t_p_ms
    return round((times.timeout_ms + 2 * times.check_ms + (6 * info.nodes + 2) * t) * 1e6)


def periods_of(
    events: list[AnyEvent], info: RunInfo, breaks: list[Interval], shades: list[Interval]
) -> Periods:
    """Judge every period of the trace; a shade is a break until its last effect."""
    return judge_periods(events, bound_of(info), breaks, shades, scenes(events, info.nodes))


def judge_periods(
    events: list[AnyEvent],
    bound: int,
    breaks: list[Interval],
    shades: list[Interval],
    seen: list[Scene],
) -> Periods:
    """The same for whatever `seen` calls settled."""
    found, nodes = Periods(), max((e.node for e in events), default=0)
    lives = [life for of in all_lives(events, nodes).values() for life in of]
    turns = {events[0].at, horizon_of(events)}
    turns |= {e.at for e in events if _is_turn(e)}
    turns |= {life.down for life in lives if life.down is not None}
    turns |= {at for interval in breaks for at in interval}
    inside = sorted(at for at in turns if events[0].at <= at <= horizon_of(events))
    for start, end in pairwise(inside):
        found.all += 1
        if any(life.up_during(start, start) for life in lives):
            _judge(found, start, end, bound, (breaks, shades), seen)
    return found


def _judge(
    found: Periods,
    start: int,
    end: int,
    bound: int,
    broken: tuple[list[Interval], list[Interval]],
    seen: list[Scene],
) -> None:
    breaks, shades = broken
    if end - start < bound:
        # Too short to demand anything, but it may have settled all the same.
        found.judged += not _during(seen, start, start + 1)[-1].settled and (
            _during(seen, end - 1, end)[-1].settled
        )
        return
    found.judged += 1
    unsettled = [s for s in _during(seen, start + bound, end) if not s.settled]
    if unsettled:
        first = unsettled[0]
        at = max(first.start, start + bound)
        in_force = any(a < end and b > start for a, b in breaks)
        left_split = first.split and is_excused(at, first.cut, shades, seen)
        found.unsettled.append((at, in_force or left_split))


def _during(seen: list[Scene], start: int, end: int) -> list[Scene]:
    """The cuts that were the present one at some instant of [start, end)."""
    return [s for s in seen if s.start < max(end, start + 1) and s.end > start]


def _is_turn(event: AnyEvent) -> bool:
    if isinstance(event, Injected):
        return event.verb in FAULTS
    return isinstance(event, Started | Died | Overslept | Suspended | Continued | Ruled)

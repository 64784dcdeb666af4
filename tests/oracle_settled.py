"""The obvious way to say when the system was settled, and what a broken assumption excuses.

Shares no code with the analyzer: it looks at the whole state at every cut. A cut is the present
one from its own instant until that of the next; the last one lasts for ever.
"""

from dataclasses import dataclass

from tests.oracle import Cut
from tests.oracle_lives import States, moments
from traces.events import AnyEvent, Became

FOR_EVER = 1 << 62
Interval = tuple[int, int]


@dataclass(frozen=True)
class Scene:
    """One cut, from when to when it was the present one, and what it shows."""

    cut: Cut
    start: int
    end: int
    settled: bool
    healed: bool
    split: bool


def scenes(events: list[AnyEvent], nodes: int) -> list[Scene]:
    """Every recorded cut in order."""
    states, all_moments = States(events, nodes), moments(events, nodes)
    ends = [start for _, start in all_moments[1:]] + [FOR_EVER]
    found = []
    for (cut, start), end in zip(all_moments, ends, strict=True):
        now = states.at(cut, start)
        settled, tasks = _settled(now), {s.d for s in now.values() if s}
        found.append(Scene(cut, start, end, settled, settled and len(tasks) == 1, _split(now)))
    return found


def _settled(states: dict[int, Became | None]) -> bool:
    """GM82 III, Assertion 2: some node that is up leads all that are up, and all are Normal."""
    return any(
        all(s is not None and s.s == "Normal" and s.c == leader for s in states.values())
        for leader in states
    )


def _split(states: dict[int, Became | None]) -> bool:
    """GM82 III, Assertion 1a does not hold."""
    active = {s.c for s in states.values() if s and s.s in ("Reorganization", "Normal")}
    return len(active) > 1


def is_excused(at: int, cut: Cut, breaks: list[Interval], seen: list[Scene]) -> bool:
    """Whether some break began by then, and since its end they never settled on one task."""
    past = [s for s in seen if s.cut <= cut and s.healed]
    return any(start <= at and not any(min(s.end, at) > end for s in past) for start, end in breaks)

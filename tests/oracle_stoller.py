"""The obvious way to judge S97-SLE1, ALE1 and SLE2: the whole state at every cut, then all pairs.

Shares no code with the analyzer.
"""

from itertools import combinations

from tests.oracle import Cut
from tests.oracle_lives import States, moments
from tests.oracle_settled import FOR_EVER, Scene
from traces.events import AnyEvent, Became

Now = dict[int, Became | None]


def disagreeing(events: list[AnyEvent], nodes: int, by_group: bool) -> set[Cut]:
    """The recorded cuts at which two nodes with status Norm have two leaders."""
    states, found = States(events, nodes), set()
    for cut in ((i, crashed) for i in range(len(events)) for crashed in (False, True)):
        norm = [s for s in states.at(cut).values() if s and s.s == "Normal"]
        for a, b in combinations(norm, 2):
            if a.c != b.c and (a.g == b.g or not by_group):
                found.add(cut)
    return found


def scenes_of(events: list[AnyEvent], nodes: int) -> list[Scene]:
    """Every cut; settled means ldrElected, healed that all have one leader, which is up."""
    states, all_moments = States(events, nodes), moments(events, nodes)
    ends = [start for _, start in all_moments[1:]] + [FOR_EVER]
    found = []
    for (cut, start), end in zip(all_moments, ends, strict=True):
        now = states.at(cut, start)
        one = len({s.c if s else 0 for s in now.values()}) == 1
        found.append(Scene(cut, start, end, _elected(now), one and _elected(now), split=True))
    return found


def _elected(now: Now) -> bool:
    """S97 (3)."""
    return bool(now) and all(s and s.s == "Normal" and s.c in now for s in now.values())

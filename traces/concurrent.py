"""Which pairs of nodes disagree on some consistent cut, recorded or not, and how far from it.

A node has its say from the step that gives it one to the step that takes it away or changes it: a
*word*. Words a and b of two nodes lie on a common consistent cut iff the end of a is not before
the start of b, nor the end of b before the start of a (any two concurrent local states do). So
all consistent cuts are decided by looking at pairs of words, and no lattice is ever walked. Rules:

- Words that overlap in the recorded order meet on a recorded cut; those are for traces.cuts. Of
  any other two, one ended before the other started. They meet on an unrecorded cut iff the one
  that started later does not know, by its vector clock, that the earlier one had ended: the
  earlier one is *hidden* from it.
- Their *gap* is how long before that start the earlier one ended. The cuts within eps are those
  of the order that has f before e also where f's stamp is more than eps older; such an edge from
  the end to the start is there iff the gap is more than eps, and a path of several edges spans
  more than eps too. So the pair meets within eps iff its gap is at most eps.
- Clocks tick at the ends of words. At each start the clock is compared with all ends so far, as
  one number: mostly there is nothing hidden, and that is all.
- Cheap first: only where two things are said in one group is anything to be compared. A group
  that never had two coordinators needs no clock.
- Of what is hidden from one word at one node, and disagrees with it, the word that ended last has
  the smallest gap. It stands for all of them; `pairs` counts them all.

Limits: the words of a node must not overlap, so a node says one thing at a time.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from traces.causality import Clocks, Place, Stop, place_of, stop_at
from traces.cuts import Swept, Turn
from traces.lives import History


class Word(NamedTuple):
    """A node begins to say something at its place `key`, with this stamp."""

    key: int
    at: int
    node: int
    says: object


@dataclass(slots=True)
class Hidden:
    """`later` does not know that words of one node that disagree with it had ended.

    `earlier` is the last of them; it ended at the place `end`, `gap` ns before the later one
    began. `pairs` is how many they are.
    """

    earlier: Word
    later: Word
    end: int
    gap: int
    pairs: int


@dataclass(slots=True)
class Unrecorded:
    """One assertion on the cuts that were not recorded."""

    clocks: bool = False  # whether any were needed
    found: list[Hidden] = field(default_factory=list)
    pairs: int = 0  # pairs of words that met there and nowhere else


def unrecorded(
    history: History, swept: Sequence[Swept], edges: Mapping[Place, Place]
) -> list[Unrecorded]:
    """What was swept, on the other cuts; `edges` are the time edges of the order."""
    if not any(some.many for some in swept):
        return [Unrecorded() for _ in swept]
    stops = sorted(swept[0].stops)
    clocks = Clocks(history.nodes, history.events, stops, edges)
    hiding = {place_of(stops[k]): k for k in clocks.totals}
    return [
        Unrecorded(bool(some.many), *(_compare(some, clocks, hiding) if hiding else ()))
        for some in swept
    ]


def _compare(swept: Swept, clocks: Clocks, hiding: Mapping[Stop, int]) -> tuple[list[Hidden], int]:
    """Each word with those that are hidden from it, in the recorded order; how many pairs met."""
    found, pairs = list[Hidden](), 0
    past: defaultdict[str, defaultdict[int, _Past]] = defaultdict(lambda: defaultdict(_Past))
    begun: dict[int, Turn] = {}
    for turn in swept.turns():
        key, at, node, left, before, group, says = turn
        if before is not None:
            past[left][node].add(begun[node], turn)
        if says is None:
            continue
        begun[node] = turn
        k = hiding.get(stop_at(key, node))
        if k is None or group not in past:
            continue
        for other, bound in clocks.behind(k):
            if other in past[group]:
                mine = past[group][other]
                pairs += mine.hidden(bound)
                unlike = mine.unlike(says, bound)
                if unlike:
                    begin, end = mine.last_unlike(says)
                    gap = max(0, at - end.at)
                    found.append(Hidden(_word(begin), _word(turn), end.key, gap, unlike))
    return found, pairs


def _word(turn: Turn) -> Word:
    return Word(turn.key, turn.at, turn.node, turn.says)


class _Past:
    """The words of one node in one group that have ended, in order: the turns of each."""

    def __init__(self) -> None:
        self._ends: list[int] = []  # their keys
        self._by_says: defaultdict[object, list[int]] = defaultdict(list)
        self._last: tuple[Turn, Turn] | None = None
        self._unlike: tuple[Turn, Turn] | None = None  # the last that is not like the last

    def add(self, begin: Turn, end: Turn) -> None:
        """Another one ended."""
        if self._last is not None and self._last[0].says != begin.says:
            self._unlike = self._last
        self._last = begin, end
        self._ends.append(end.key)
        self._by_says[begin.says].append(end.key)

    def hidden(self, bound: int) -> int:
        """How many ended after this key."""
        return len(self._ends) - bisect_right(self._ends, bound)

    def unlike(self, says: object, bound: int) -> int:
        """How many of these say something else."""
        alike = self._by_says.get(says, [])
        return self.hidden(bound) - len(alike) + bisect_right(alike, bound)

    def last_unlike(self, says: object) -> tuple[Turn, Turn]:
        """The last one that says something else; there is one."""
        last = self._unlike if self._last and self._last[0].says == says else self._last
        assert last is not None
        return last

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
from itertools import chain
from typing import NamedTuple

from traces.causality import Clocks, Place, Stop
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
    by_messages: int = 0  # pairs that would disagree there if time-outs told nothing


def unrecorded(
    history: History, swept: Sequence[Swept], edges: Mapping[Place, Place]
) -> list[Unrecorded]:
    """What was swept, on the other cuts; `edges` are the time edges of the order."""
    turns = [some.turns for some in swept]
    if not any(turns):
        return [Unrecorded() for _ in swept]
    known = _Known(history, _stops(turns, history.nodes + 1), edges)
    return [_compare(some, known) if some else Unrecorded() for some in turns]


def _stops(turns: list[list[Turn]], size: int) -> list[Stop]:
    """The places of all turns, in order; the clock ticks where a word ends."""
    ending = {turn[0] * size + turn[2] for turn in chain(*turns) if turn[4] is not None}
    codes = sorted([turn[0] * size + turn[2] for turn in chain(*turns)])
    return [(code // size, code % size, code in ending) for code in dict.fromkeys(codes)]


class _Known:
    """Where an end is hidden: what is known there; and which of its node's ends each one is."""

    def __init__(
        self, history: History, stops: Sequence[Stop], edges: Mapping[Place, Place]
    ) -> None:
        clocks = Clocks(history.nodes, edges)
        self.split = clocks.split
        self.hiding: dict[Place, int] = {}
        self.numbers: dict[Place, int] = {}
        tick, count, total = clocks.tick, [0] * (clocks.nodes + 1), 0
        followed = clocks.follow(history.events, stops)
        for (key, node, ends), clock in zip(stops, followed, strict=True):
            if ends:
                total += tick[node]
                count[node] += 1
                self.numbers[key, node] = count[node]
            if clock != total:
                self.hiding[key, node] = clock

    def number(self, end: Turn) -> int:
        """Which end of its node this is."""
        return self.numbers[end[0], end[2]]


def _compare(turns: list[Turn], known: _Known) -> Unrecorded:
    """Each word with those that are hidden from it, in the recorded order."""
    result, hiding = Unrecorded(clocks=True), known.hiding
    if not hiding:
        return result
    past: defaultdict[str, defaultdict[int, _Past]] = defaultdict(lambda: defaultdict(_Past))
    begun: dict[int, Turn] = {}
    for turn in turns:
        key, _, node, left, before, group, says = turn
        if before is not None:
            past[left][node].ended.append((begun[node], turn))
        if says is not None:
            begun[node] = turn
            if (key, node) in hiding and group in past:
                _look(turn, known, past[group], result)
    return result


def _look(turn: Turn, known: _Known, past: Mapping[int, "_Past"], result: Unrecorded) -> None:
    """What is hidden from the word that begins with this turn."""
    says = turn[6]
    by_messages, by_time_outs = known.split(known.hiding[turn[0], turn[2]])
    for node, mine in past.items():
        last = known.numbers[mine.ended[-1][1][0], node]
        if last <= by_messages[node - 1]:
            continue
        mine.catch_up(known)
        result.by_messages += mine.unlike(says, by_messages[node - 1])
        bound = by_time_outs[node - 1]
        if last <= bound:
            continue
        result.pairs += mine.hidden(bound)
        nearest = mine.last_unlike(says)
        if nearest is not None and known.number(nearest[1]) > bound:
            begin, end = nearest
            gap, pairs = max(0, turn[1] - end[1]), mine.unlike(says, bound)
            result.found.append(Hidden(_word(begin), _word(turn), end[0], gap, pairs))


def _word(turn: Turn) -> Word:
    return Word(turn[0], turn[1], turn[2], turn[6])


class _Past:
    """The words of one node in one group that have ended, in order: the turns of each.

    They are only counted where something is hidden, and up to there.
    """

    def __init__(self) -> None:
        self.ended: list[tuple[Turn, Turn]] = []
        self._numbers: list[int] = []
        self._by_says: defaultdict[object, list[int]] = defaultdict(list)
        self._unlike: tuple[Turn, Turn] | None = None  # the last that is not like the last

    def catch_up(self, known: _Known) -> None:
        """Count what has ended since."""
        done = len(self._numbers)
        for k, (begin, end) in enumerate(self.ended[done:], done):
            if k and self.ended[k - 1][0][6] != begin[6]:
                self._unlike = self.ended[k - 1]
            self._numbers.append(known.number(end))
            self._by_says[begin[6]].append(self._numbers[-1])

    def hidden(self, known: int) -> int:
        """How many ended after the one that is known."""
        return len(self._numbers) - bisect_right(self._numbers, known)

    def unlike(self, says: object, known: int) -> int:
        """How many of these say something else."""
        alike = self._by_says.get(says, [])
        return self.hidden(known) - len(alike) + bisect_right(alike, known)

    def last_unlike(self, says: object) -> tuple[Turn, Turn] | None:
        """The last one that says something else."""
        return self._unlike if self.ended[-1][0][6] == says else self.ended[-1]

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
from collections import Counter, defaultdict
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
    turns = [_disputed(some.turns) for some in swept]
    if not any(turns):
        return [Unrecorded() for _ in swept]
    size = history.nodes + 1
    ending = {turn[0] * size + turn[2] for turn in chain(*turns) if turn[4] is not None}
    places = sorted({turn[0] * size + turn[2] for turn in chain(*turns)})
    stops = [(code // size, code % size, code in ending) for code in places]
    clocks = Clocks(history.events, history.nodes, stops, edges)
    known = _Known(clocks, stops)
    return [_compare(some, known) if some else Unrecorded() for some in turns]


def _disputed(turns: list[Turn]) -> list[Turn]:
    """The turns of groups in which two things are said."""
    what = {(group, says) for _, _, _, _, _, group, says in turns}
    often = Counter(group for group, says in what if says is not None)
    many = {group for group, count in often.items() if count > 1}
    if not many or many == often.keys():
        return turns if many else []
    return [
        (key, at, node, left, before if left in many else None, group,
         says if group in many else None)
        for key, at, node, left, before, group, says in turns
        if left in many or group in many
    ]  # fmt: skip


class _Known:
    """Where an end is hidden: what is known there; and which of its node's ends each one is."""

    def __init__(self, clocks: Clocks, stops: Sequence[Stop]) -> None:
        self.split = clocks.split
        self.hiding: dict[Place, int] = {}
        self.numbers: dict[Place, int] = {}
        tick, count, total = clocks.tick, [0] * (clocks.nodes + 1), 0
        for (key, node, ends), clock in zip(stops, clocks.at, strict=True):
            if ends:
                total += tick[node]
                count[node] += 1
                self.numbers[key, node] = count[node]
            if clock != total:
                self.hiding[key, node] = clock


def _compare(turns: list[Turn], known: _Known) -> Unrecorded:
    """Each word with those that are hidden from it, in the recorded order."""
    result = Unrecorded(clocks=True)
    if not known.hiding:
        return result
    past: defaultdict[str, dict[int, _Past]] = defaultdict(dict)  # of each group, by node
    begun: dict[int, Word] = {}
    for key, at, node, left, before, group, says in turns:
        if before is not None:
            mine = past[left].setdefault(node, _Past())
            mine.add(begun[node], known.numbers[key, node], key, at)
        if says is not None:
            word = begun[node] = Word(key, at, node, says)
            if group in past and (key, node) in known.hiding:
                _look(word, known.split(known.hiding[key, node]), past[group], result)
    return result


def _look(
    word: Word,
    known: tuple[Sequence[int], Sequence[int]],
    past: dict[int, "_Past"],
    result: Unrecorded,
) -> None:
    """What is hidden from this word, which knows of so many ends of each node."""
    by_messages, by_time_outs = known
    for node, mine in past.items():
        if mine.numbers[-1] <= by_messages[node - 1]:
            continue
        result.by_messages += mine.unlike(word.says, by_messages[node - 1])
        bound = by_time_outs[node - 1]
        result.pairs += mine.hidden(bound)
        last = mine.last_unlike(word.says)
        if last is not None and last.number > bound:
            gap, pairs = max(0, word.at - last.at), mine.unlike(word.says, bound)
            result.found.append(Hidden(last.word, word, last.key, gap, pairs))


class _Ended(NamedTuple):
    """A word that ended, as this end of its node."""

    word: Word
    number: int
    key: int
    at: int


class _Past:
    """The words of one node in one group that have ended, in order."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._by_says: defaultdict[object, list[int]] = defaultdict(list)
        self._last: _Ended | None = None
        self._unlike: _Ended | None = None  # the last that says something else than the last

    def add(self, word: Word, number: int, key: int, at: int) -> None:
        """One more has ended."""
        if self._last is not None and self._last.word.says != word.says:
            self._unlike = self._last
        self._last = _Ended(word, number, key, at)
        self.numbers.append(number)
        self._by_says[word.says].append(number)

    def hidden(self, known: int) -> int:
        """How many ended after the one that is known."""
        return len(self.numbers) - bisect_right(self.numbers, known)

    def unlike(self, says: object, known: int) -> int:
        """How many of these say something else."""
        alike = self._by_says.get(says, [])
        return self.hidden(known) - len(alike) + bisect_right(alike, known)

    def last_unlike(self, says: object) -> _Ended | None:
        """The last one that says something else."""
        return self._unlike if self._last is None or self._last.word.says == says else self._last

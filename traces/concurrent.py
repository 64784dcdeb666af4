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
- Cheap first: only where two nodes of one group say two things is anything to be compared. If
  they never do (one coordinator, one task), no clock is needed.
- Of what is hidden from one word at one node, and disagrees with it, the word that ended last has
  the smallest gap. It stands for all of them; `pairs` counts them all.

Limits: the words of a node must not overlap, so a node says one thing at a time.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from traces.causality import Clocks, Place
from traces.chapters import ACTIVE
from traces.cuts import said
from traces.lives import History

NEVER = 1 << 62


@dataclass(slots=True, eq=False)
class Word:
    """What a node says from cut `key` (stamp `at`) up to cut `end` (stamp `until`)."""

    node: int
    group: str
    says: object
    key: int
    at: int
    end: int = NEVER
    until: int = NEVER
    number: int = 0  # which of its node's ends it is


@dataclass(slots=True)
class Hidden:
    """`later` does not know that words of one node that disagree with it had ended.

    `earlier` is the last of them, `gap` how long before it ended (ns), `pairs` how many they are.
    """

    earlier: Word
    later: Word
    gap: int
    pairs: int


@dataclass(slots=True)
class Unrecorded:
    """One assertion on the cuts that were not recorded."""

    clocks: Clocks | None = None  # none were needed
    found: list[Hidden] = field(default_factory=list)
    pairs: int = 0  # pairs of words that met there and nowhere else
    by_messages: int = 0  # pairs that would disagree there if time-outs told nothing


def words(
    history: History, by_group: bool = False, active: frozenset[str] = ACTIVE
) -> tuple[list[Word], list[Word]]:
    """Who said what, on the coordinator and on the task; in the order they began."""
    found: tuple[list[Word], list[Word]] = [], []
    size = history.nodes + 1
    now: tuple[list[Word | None], list[Word | None]] = [None] * size, [None] * size
    for key, state in history.steps:
        group, *both = said(state, by_group, active)
        for says, open_words, into in zip(both, now, found, strict=True):
            word = open_words[state.node]
            if word is not None:
                if word.says == says and word.group == group:
                    continue
                word.end, word.until = key, state.at
                open_words[state.node] = None
            if says is not None:
                word = open_words[state.node] = Word(state.node, group, says, key, state.at)
                into.append(word)
    return found


def disputed(all_words: list[Word]) -> list[Word]:
    """The words of groups in which two nodes have a say and two things are said."""
    who: defaultdict[str, set[int]] = defaultdict(set)
    what: defaultdict[str, set[object]] = defaultdict(set)
    for word in all_words:
        who[word.group].add(word.node)
        what[word.group].add(word.says)
    groups = {group for group in who if len(who[group]) > 1 and len(what[group]) > 1}
    return [word for word in all_words if word.group in groups] if groups else []


def unrecorded(
    history: History, all_words: tuple[list[Word], list[Word]], edges: Mapping[Place, Place]
) -> tuple[Unrecorded, Unrecorded]:
    """Both assertions; `edges` are the time edges of the order they are judged by."""
    by_coordinator, by_task = (disputed(some) for some in all_words)
    if not by_coordinator and not by_task:
        return Unrecorded(), Unrecorded()
    both = [*by_coordinator, *by_task]
    ends = sorted({(it.end, it.node) for it in both if it.end != NEVER})
    clocks = Clocks(history.events, history.nodes, ends, ((it.key, it.node) for it in both), edges)
    a, b = (_compare(clocks, some, ends) for some in (by_coordinator, by_task))
    return a, b


def _compare(clocks: Clocks, some: list[Word], ends: list[Place]) -> Unrecorded:
    """Each word with those that are hidden from it, in the recorded order."""
    result, tick, at = Unrecorded(clocks), clocks.tick, clocks.at
    ended: defaultdict[Place, list[Word]] = defaultdict(list)
    for word in some:
        ended[word.end, word.node].append(word)
    past: defaultdict[str, dict[int, _Past]] = defaultdict(dict)  # of each group, by node
    count = [0] * (clocks.nodes + 1)
    now = done = 0
    for word in some:
        while done < len(ends) and ends[done][0] <= word.key:
            place = ends[done]
            node, done = place[1], done + 1
            now += tick[node]
            count[node] += 1
            for over in ended.get(place, ()):
                over.number = count[node]
                past[over.group].setdefault(node, _Past()).add(over)
        clock = at[word.key, word.node]
        if clock != now and word.group in past:
            _look(word, clocks.split(clock), past[word.group], result)
    return result


def _look(
    word: Word, known: tuple[Sequence[int], Sequence[int]], past: dict[int, "_Past"],
    result: Unrecorded,
) -> None:  # fmt: skip
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
            gap = max(0, word.at - last.until)
            result.found.append(Hidden(last, word, gap, mine.unlike(word.says, bound)))


class _Past:
    """The words of one node in one group that have ended, in order."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._by_says: defaultdict[object, list[int]] = defaultdict(list)
        self._last: Word | None = None
        self._unlike: Word | None = None  # the last that says something else than the last

    def add(self, word: Word) -> None:
        """One more has ended."""
        if self._last is not None and self._last.says != word.says:
            self._unlike = self._last
        self._last = word
        self.numbers.append(word.number)
        self._by_says[word.says].append(word.number)

    def hidden(self, known: int) -> int:
        """How many ended after the one that is known."""
        return len(self.numbers) - bisect_right(self.numbers, known)

    def unlike(self, says: object, known: int) -> int:
        """How many of these say something else."""
        alike = self._by_says.get(says, [])
        return self.hidden(known) - len(alike) + bisect_right(alike, known)

    def last_unlike(self, says: object) -> Word | None:
        """The last one that says something else."""
        return self._unlike if self._last is None or self._last.says == says else self._last

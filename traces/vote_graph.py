"""Which vote increment sees and uses which: BGS86 2.1, 2.2, from a VoteRecord.

Rules:

- The increments of one node are ranked by their marks. What I_j saw of node z is then one number,
  the rank of the newest increment at z that its mark reaches: all older ones are seen with it.
  One that began after I_j was installed is not seen: what showed its mark was an earlier attempt,
  cancelled, and "a cancelled increase logically has no effect" (BGS86 2.1).
- I_j *uses* I_k if node(I_k) is in MAJG and I_k is the newest increment at that node as counted;
  in Scenario Two, if it uses the vote set of I_k, with the decrements that follow it.
- Sets of increments are the bits of an integer, so that all pairs are looked at at once: m
  increments of n nodes cost m * n operations on m bits.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from traces.vote_record import Increment, VoteRecord


@dataclass(frozen=True, slots=True)
class Pair:
    """Two increments that are not to each other as the claim says."""

    one: Increment
    other: Increment


def bits(mask: int) -> Iterator[int]:
    """The positions of the ones, the lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class VoteGraph:
    """The relations between all increments, in one reading of "sees"."""

    def __init__(
        self, record: VoteRecord, counted: bool = False, like: "VoteGraph | None" = None
    ) -> None:
        self.record, self.all = record, record.increments
        self.nodes = range(record.nodes)
        self._ranked: list[list[int]] = [[] for _ in self.nodes]  # by rank: numbers from 0
        for a, it in enumerate(self.all):
            self._ranked[it.node - 1].append(a)
        for ranked in self._ranked:
            ranked.sort(key=lambda a: (record.mark(self.all[a]), self.all[a].installed))
        self._marks = [[record.mark(self.all[a]) for a in ranked] for ranked in self._ranked]
        self.rank = {a: r for ranked in self._ranked for r, a in enumerate(ranked, 1)}
        # [a][z]: the rank of what a saw of z, and of what it used of it.
        self.saw = [
            list(self._ranks(it, it.counted_marks if counted else it.aware_marks))
            for it in self.all
        ]
        for a, it in enumerate(self.all):  # "Obviously, I_1 sees its own increment"
            self.saw[a][it.node - 1] = max(self.saw[a][it.node - 1], self.rank[a])
        # What is used is the same in both readings.
        self.used: list[tuple[int, ...]] = like.used if like else [self._used(i) for i in self.all]
        self._full = (1 << len(self.all)) - 1

    def _used(self, it: Increment) -> tuple[int, ...]:
        ranks = self._ranks(it, it.counted_marks)
        return tuple(r if z + 1 in it.majg else 0 for z, r in enumerate(ranks))

    def _ranks(self, it: Increment, marks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self._rank(it, z, marks[z]) for z in self.nodes)

    def _rank(self, it: Increment, z: int, mark: int) -> int:
        ranked, r = self._ranked[z], bisect_right(self._marks[z], mark)
        while r and self.all[ranked[r - 1]].begun >= it.installed:
            r -= 1
        return r

    # --- single relations, for people ---------------------------------------------------------

    def sees(self, a: int, b: int) -> bool:
        """Whether I_a sees I_b (numbers from 0)."""
        return self.saw[a][self.all[b].node - 1] >= self.rank[b]

    def uses(self, a: int) -> list[int]:
        """The increments that I_a uses."""
        return [self._ranked[z][r - 1] for z, r in enumerate(self.used[a]) if r]

    # --- all pairs ------------------------------------------------------------------------------

    @property
    def pairs(self) -> int:
        """How many there are."""
        return len(self.all) * (len(self.all) - 1) // 2

    def blind(self) -> Iterator[Pair]:
        """Pairs of which neither sees the other (T211, T221)."""
        unseen_by = self._unseen_by()
        for a, it in enumerate(self.all):
            unseen = 0
            for z in self.nodes:
                unseen |= self._above(z, self.saw[a][z])
            for b in bits(unseen & unseen_by[a] & (self._full << a + 1)):
                yield Pair(it, self.all[b])

    def _unseen_by(self) -> list[int]:
        """For each increment, the set of those that do not see it."""
        result = [0] * len(self.all)
        for z in self.nodes:
            below = self._prefixes([saw[z] for saw in self.saw], len(self._ranked[z]))
            for a in self._ranked[z]:
                result[a] = below[self.rank[a] - 1]  # those that saw less of z
        return result

    def _above(self, z: int, rank: int) -> int:
        return self._suffix[z][rank]

    @property
    def _suffix(self) -> list[list[int]]:
        """[z][r]: the increments at z of a rank above r."""
        if not hasattr(self, "_made"):
            self._made = []
            for ranked in self._ranked:
                masks = [0]
                for a in reversed(ranked):
                    masks.append(masks[-1] | 1 << a)
                self._made.append(masks[::-1])
        return self._made

    @staticmethod
    def _prefixes(values: list[int], most: int) -> list[int]:
        """[r]: the positions whose value is r or less, for r = 0 .. most."""
        at: defaultdict[int, int] = defaultdict(int)
        for position, value in enumerate(values):
            at[value] |= 1 << position
        masks, mask = [], 0
        for r in range(most + 1):
            mask |= at[r]
            masks.append(mask)
        return masks

    def mutual(self) -> list[int]:
        """For each increment, those that see all it uses, and use only what it sees."""
        known, known_by = [self._full] * len(self.all), [self._full] * len(self.all)
        for z in self.nodes:
            most = len(self._ranked[z])
            uses = self._prefixes([used[z] for used in self.used], most)
            sees = self._prefixes([saw[z] for saw in self.saw], most)
            for a in range(len(self.all)):
                known[a] &= uses[self.saw[a][z]]  # what they use of z, a saw
                if self.used[a][z]:
                    known_by[a] &= ~sees[self.used[a][z] - 1]  # they saw what a uses of z
        return [known[a] & known_by[a] & ~(1 << a) for a in range(len(self.all))]

    def sharing(self) -> list[int]:
        """For each increment, those whose majority has a node of its own majority."""
        members = [0] * len(self.nodes)
        for a, it in enumerate(self.all):
            for k in it.majg:
                members[k - 1] |= 1 << a
        result = []
        for a, it in enumerate(self.all):
            mask = 0
            for k in it.majg:
                mask |= members[k - 1]
            result.append(mask & ~(1 << a))
        return result

    # --- chains -----------------------------------------------------------------------------------

    def cycle(self) -> list[Increment]:
        """A cycle of "uses", if there is one (L211, L221)."""
        on_path, done = dict[int, int](), set[int]()
        for root in range(len(self.all)):
            if root in done:
                continue
            path, stack = list[int](), [(root, iter(self.uses(root)))]
            on_path[root] = 0
            path.append(root)
            while stack:
                a, rest = stack[-1]
                b = next(rest, None)
                if b is None:
                    stack.pop()
                    path.pop()
                    del on_path[a]
                    done.add(a)
                elif b in on_path:
                    return [self.all[c] for c in path[on_path[b] :]]
                elif b not in done:
                    on_path[b] = len(path)
                    path.append(b)
                    stack.append((b, iter(self.uses(b))))
        return []

    def forgetful(self) -> Iterator[tuple[Increment, Increment, Increment]]:
        """(x, j, k): I_k uses I_j, which sees I_x, and does not see I_x (L212, L222)."""
        for k, it in enumerate(self.all):
            for j in self.uses(k):
                for z in self.nodes:
                    if self.saw[j][z] > self.saw[k][z]:
                        yield self.all[self._ranked[z][self.saw[j][z] - 1]], self.all[j], it

    def edges(self) -> int:
        """How many "uses" there are."""
        return sum(len(self.uses(a)) for a in range(len(self.all)))

    def belated(self) -> Iterator[Pair]:
        """(j, k): I_k began to collect after I_j was installed, and does not see it (C211)."""
        for z in self.nodes:
            at_z = sorted((self.all[a].installed, self.rank[a], a) for a in self._ranked[z])
            installed = [it[0] for it in at_z]
            newest = [(0, -1), *accumulate(((rank, a) for _, rank, a in at_z), max)]
            for k, it in enumerate(self.all):
                rank, a = newest[bisect_left(installed, it.begun)]
                if rank > self.saw[k][z]:
                    yield Pair(self.all[a], it)

    def after(self) -> int:
        """How many pairs there are of which one began after the other was installed."""
        installed = sorted(it.installed for it in self.all)
        return sum(bisect_left(installed, it.begun) for it in self.all)

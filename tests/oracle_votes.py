"""BGS86's relations once more, from first principles: slow, and plain to see.

Every claim is a loop over pairs or triples of increments, on what each of them received. Nothing
of traces.vote_graph is used; of traces.vote_record only what an increment is.
"""

from itertools import combinations, permutations

from traces.vote_record import Increment, VoteRecord


class Oracle:
    def __init__(self, record: VoteRecord, counted: bool = False) -> None:
        self.record, self.all, self.counted = record, record.increments, counted
        self.key = "N" if record.versions else "V"

    def vectors(self, it: Increment) -> dict[int, dict[str, list[int]]]:
        votes = it.ballot.received if it.ballot else {}
        return {it.node: it.own, **{j: value for j, (_, value) in votes.items()}}

    def newest(self, it: Increment, z: int) -> int:
        """What tells how new the votes of z are to it: as counted by P1 or P3, or by any vector."""
        had = self.vectors(it)
        if z == it.node or (self.counted and z in had):
            return had[z][self.key][z - 1]
        return max(value[self.key][z - 1] for value in had.values())

    def of(self, it: Increment) -> int:
        return it.version if self.record.versions else it.votes

    def sees(self, a: Increment, b: Increment) -> bool:
        return self.newest(a, b.node) >= self.of(b) and b.begun < a.installed

    def uses(self, a: Increment, b: Increment) -> bool:
        """b is the newest increment at its node that a counts, and that node is in MAJG."""
        had = self.vectors(a)
        if b.node not in had:
            return False
        mark = had[b.node][self.key][b.node - 1]
        counted = [
            c for c in self.all
            if c.node == b.node and self.of(c) <= mark and c.begun < a.installed
        ]  # fmt: skip
        return bool(counted) and max(counted, key=lambda c: (self.of(c), c.installed)) is b

    def blind(self) -> set[tuple[int, int]]:
        return {
            (a.number, b.number)
            for a, b in combinations(self.all, 2)
            if not self.sees(a, b) and not self.sees(b, a)
        }

    def few(self) -> set[int]:
        """Installed without a majority."""
        found = set()
        for it in self.all:
            had = self.vectors(it)
            votes = {}
            for k in range(1, self.record.nodes + 1):
                if k in had:
                    votes[k] = had[k]["V"][k - 1]
                elif self.record.versions:
                    votes[k] = max((v["N"][k - 1], v["V"][k - 1]) for v in had.values())[1]
                else:
                    votes[k] = max(v["V"][k - 1] for v in had.values())
            if 2 * sum(votes[k] for k in had) <= sum(votes.values()):
                found.add(it.number)
        return found

    def mutual(self) -> set[tuple[int, int]]:
        return {
            (a.number, b.number)
            for a, b in combinations(self.all, 2)
            if all(self.sees(a, c) or c is a for c in self.all if self.uses(b, c))
            and all(self.sees(b, c) or c is b for c in self.all if self.uses(a, c))
        }

    def shared(self) -> set[tuple[int, int]]:
        return {
            (a.number, b.number)
            for a, b in combinations(self.all, 2)
            if set(self.vectors(a)) & set(self.vectors(b))
        }

    def cyclic(self) -> bool:
        reached = {(a.number, b.number) for a in self.all for b in self.all if self.uses(a, b)}
        while True:
            more = {(a, d) for a, b in reached for c, d in reached if b == c} - reached
            if not more:
                return any(a == b for a, b in reached)
            reached |= more

    def forgetful(self) -> bool:
        return any(
            self.uses(k, j) and self.sees(j, x) and not self.sees(k, x)
            for x, j, k in permutations(self.all, 3)
        )

    def belated(self) -> bool:
        return any(
            j.installed < k.begun and not self.sees(k, j) for j, k in permutations(self.all, 2)
        )

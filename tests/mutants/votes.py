"""Voting nodes that are wrong in one place each; BGS86 1.3 is all that is assumed."""

from nodes.protocol import Protocol, on, request
from nodes.votes import Increasing, Reassigning, Vectors, Votes


class AtLeastHalf(Increasing):
    """Takes half of the votes for a majority."""

    def majority(self, votes: int, total: int) -> bool:
        """As many as the others have will do."""
        return 2 * votes >= total


class RecordsNothing(Increasing):
    """A participant acknowledges a change, and does not record it."""

    @on("Increase")
    def register(self, j: int, ballot: str, votes: int) -> None:
        """Only the vote."""
        self.acknowledge(j, ballot)


class RecordsAfterwards(Increasing):
    """A participant acknowledges with the vector it had before the change."""

    @on("Increase")
    def register(self, j: int, ballot: str, votes: int) -> None:
        """In memory; the safe cell waits for the next reason to write."""
        self.V[j] = max(self.V[j], votes)
        self.acknowledge(j, ballot)


class InstallsFirst(Increasing):
    """An initiator has its new votes at once, and tells the others."""

    @request("Increase")
    def increase(self, votes: int) -> None:
        """Without waiting for anybody."""
        super().increase(votes)
        if self.ballot:
            self.install()


class CountsItsNewVotes(Increasing):
    """An initiator counts itself with the votes it wants."""

    def collect(self, votes: Votes) -> dict[int, int]:
        """With V_i[i] as it will be."""
        return super().collect(votes) | ({self.i: self.wanted} if self.ballot else {})


class OwnEntryOnly(Increasing):
    """P1 b) by the initiator's own entry, whatever the voters have recorded."""

    def collect(self, votes: Votes) -> dict[int, int]:
        """For those who did not answer."""
        return {k: votes[k][0][k] if k in votes else self.V[k] for k in self.nodes}


class NoPropagation(Increasing):
    """Uses what it learns of the others' votes, and does not keep it."""

    def collect(self, votes: Votes) -> dict[int, int]:
        """P1 without the last sentence of b)."""
        before = dict(self.V)
        v = super().collect(votes)
        self.V = before
        return v


class SameVersion(Reassigning):
    """Gives votes back without a new version.

    Equivalent inside the assumptions: who holds the entry with more votes never takes over the
    one with fewer under the same version, so at most it counts more votes for this node than it
    has. It does so only where this node did not vote, P3 b), and there more is the safe side: the
    total is larger, and what is a majority of it is one of the true total. Versions of increments
    are as before, so nobody sees less. What suffers is availability, which no claim is about.
    """

    @request("Decrease")
    def decrease(self, votes: int) -> None:
        """P5 without "add one to N_i[i]"."""
        self.cancel()
        if 0 <= votes < self.V[self.i]:
            self.V[self.i] = votes
            self.keep()
            self.show()
            for j in self.others:
                self.system.send(j, "Decrease", (self.vectors(),))


class TakesItsOwnEntry(Reassigning):
    """Takes over its own entry from others, who have recorded what it has not yet installed."""

    def update(self, V: dict[int, int], N: dict[int, int]) -> None:  # type: ignore[override]  # noqa: N803
        """For every node."""
        super().update(V, N)
        if N[self.i] > self.N[self.i]:
            self.V[self.i], self.N[self.i] = V[self.i], N[self.i]
            self.keep()


class ForgetsVersions(Reassigning):
    """A participant records the change of j under the version it had."""

    @on("Increase")
    def register(self, j: int, ballot: str, votes: int, vectors: Vectors) -> None:  # type: ignore[override]
        """P4 without "plus one"."""
        self.update(*self.read(vectors))
        self.V[j] = votes
        self.keep()
        self.acknowledge(j, ballot)


MUTANTS: list[type[Protocol]] = [
    AtLeastHalf,
    RecordsNothing,
    RecordsAfterwards,
    InstallsFirst,
    CountsItsNewVotes,
    OwnEntryOnly,
    NoPropagation,
    TakesItsOwnEntry,
    ForgetsVersions,
]
EQUIVALENT: list[type[Protocol]] = [SameVersion]

"""Locking nodes that are wrong in one place each; BGS86 1.3 is all that is assumed."""

from nodes.locks import HardenedTwo, LocksOne, LocksTwo
from nodes.protocol import Protocol, on, request
from nodes.votes import Increasing, Vectors


class LogNotSent(LocksOne):
    """Acknowledges a vote increase without its log."""

    def acknowledge(self, j: int, ballot: str) -> None:
        """As if there were no locks."""
        Increasing.acknowledge(self, j, ballot)


class ReleasesAnyLock(LocksOne):
    """An unlock releases the object, whoever has it."""

    @request("Unlock")
    def unlock(self, object: str) -> None:
        """What the log shows as granted."""
        super().unlock(object)
        for x, other in list(self.unmatched(object)):
            self.release(other, x)


class GrantsInMemory(LocksOne):
    """Says yes before the grant is safe."""

    def grant(self, T: str, x: str) -> bool:
        """The safe cell waits for the next reason to write."""
        if any(other != T for _, other in self.unmatched(x)):
            return False
        self.enter(x, T, released=False)
        return not self.log[x][T]


class GrantsTwice(LocksOne):
    """Grants the local lock whoever has it."""

    def grant(self, T: str, x: str) -> bool:
        """Without a look at the log."""
        self.enter(x, T, released=False)
        self.keep_log()
        return True


class CountsItselfAnew(LocksOne):
    """Counts its own vote as it is when the others have voted, not as it was when it was cast."""

    def decide(self, T: str) -> None:
        """With all it has by now."""
        self.pending[T].votes[self.i] = self.cast()
        super().decide(T)


class ForgetsItsLocks(LocksOne):
    """Who asks about a lock that is in use is told that it is free."""

    @on("Inquiry")
    def inquiry(self, j: int, T: str, x: str) -> None:
        """Only what is pending is thought of."""
        if T not in self.pending:
            self.system.send(j, "UnlockRequest", (T, x))


class ReleasesTooEarly(LocksOne):
    """Tells all that the lock is free before its transaction has given it up."""

    @request("Unlock")
    def unlock(self, object: str) -> None:
        """First the messages, then the safe cell."""
        for mine in [name for name, x in self.holds.items() if x == object]:
            self.release(mine, object)
        super().unlock(object)


class LogsStayBehind(HardenedTwo):
    """Hardened, but for the log that goes along with a decrease and with a lock vote."""

    def vectors(self) -> Vectors:
        """As published."""
        return LocksTwo.vectors(self)


class TakesItAllTheSame(HardenedTwo):
    """Hardened, but for the second look when a majority is there."""

    def obtain(self, T: str) -> None:
        """As published."""
        LocksTwo.obtain(self, T)


MUTANTS: list[type[Protocol]] = [
    LogNotSent,
    ReleasesAnyLock,
    GrantsInMemory,
    GrantsTwice,
    CountsItselfAnew,
    ForgetsItsLocks,
    ReleasesTooEarly,
    LogsStayBehind,
    TakesItAllTheSame,
]

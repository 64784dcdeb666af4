"""Locks by votes: the application of BGS86 3, on votes that stay, that increase, that go both ways.

A client asks a node to `Lock` and `Unlock` objects. A transaction T is named by its node, the life
of it and a number. `log` is a safe cell: of each object every transaction it was granted to here,
and whether that one released it; the local lock is free if all did. Rules, **as published**:

- A lock-request goes to all nodes. Who grants it writes granted(T) and answers yes with its vote;
  else it answers no and forwards its log of the object, which the initiator merges with its own.
- The votes are counted by P1 (P3). With a majority T has the lock: that is a store of cell `held`,
  and survives crashes, as a transaction may. A no, or no majority in time, is an abort.
- Abort and unlock write released(T) and tell all nodes. Who missed that asks the initiator when a
  lock was granted for longer than a Check; an initiator that does not know T any more says so.
- Who acknowledges a vote increase sends its log along; the initiator merges it.

A vote, the initiator's own too, counts as it was when the lock was granted: a node that raised its
votes meanwhile may have learned of another lock with them.

As published this is safe where votes only increase (Corollary 2.2). It is not where votes are given
back: nobody is told of the locks that the votes that are gone were given for, and two groups may
even have a majority at once (`two-majorities`). **Hardened** are three things (`Hardened`):

- Vectors never travel without the log: with a yes, an increase and a decrease too. So who knows of
  a vote change knows of each lock its node had granted before it.
- Who has a majority, and meanwhile learned of another lock on the object, aborts: what it learned
  may be why it has a majority.
- All that is newer in a vector is kept, also of nodes that voted themselves: an increase of theirs
  may be pending, and who is told of it must pass it on (P1 a) and P3 a) take a voter at its word).

Limits: as BGS86 says, it blocks and starves. Logs are never cut, and travel whole: some thousand
transactions a run are what a datagram can carry.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodes.protocol import Procedure, System, Vector, on, request
from nodes.votes import PATIENCE, Increasing, Known, Reassigning, Vectors
from traces.properties import LOCKING_ONE, LOCKING_TWO

Log = dict[str, dict[str, bool]]
"""Of each object its transactions, and whether they released it."""


class Pending:
    """A transaction that asked for a lock: the object, and the votes so far."""

    __slots__ = ("object", "timer", "votes")

    def __init__(self, object: str, own: tuple[int, Known], timer: int) -> None:
        self.object, self.timer = object, timer
        self.votes: dict[int, Known] = dict([own])


class LocksOne(Increasing):
    """Node i of BGS86 3 as published, on P1 and P2; if no votes are ever raised, on static ones."""

    claims = LOCKING_ONE

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, state: Vector) -> None:
        super().__init__(i, nodes, system, state)
        self.log: Log = {x: dict(of_x) for x, of_x in system.cells.get("log", {}).items()}
        self.holds: dict[str, str] = dict(system.cells.get("held", {}))  # T -> its object
        self.pending: dict[str, Pending] = {}
        self.transactions = 0
        self.lingering: set[tuple[str, str]] = set()  # granted here at the last Check

    def own(self) -> str:
        """`5 votes, holds x`."""
        objects = " ".join(sorted(self.holds.values()))
        return super().own() + (f", holds {objects}" if objects else "")

    def recovery(self) -> Procedure:
        """What was pending when the node crashed was not to be; what it holds it still holds."""
        yield super().recovery()
        for x, T in list(self.unmatched()):
            if node_of(T) == self.i and T not in self.holds:
                self.release(T, x)

    # --- the log --------------------------------------------------------------------------------

    def unmatched(self, *objects: str) -> Iterator[tuple[str, str]]:
        """The (x, T) granted and not released, of these objects or of all."""
        for x in objects or self.log:
            yield from ((x, T) for T, released in self.log.get(x, {}).items() if not released)

    def merge(self, log: Mapping[str, Mapping[str, bool]]) -> None:
        """BGS86 3: "to have an up to date view of what is locked"."""
        for x, of_x in log.items():
            for T, released in of_x.items():
                self.enter(x, T, released)
        self.keep_log()

    def enter(self, x: str, T: str, released: bool) -> None:
        """granted(T) or released(T); what was released is never granted again."""
        of_x = self.log.setdefault(x, {})
        of_x[T] = released or of_x.get(T, False)

    def copied(self, *objects: str) -> Log:
        """The log, of these objects or of all, as it goes into the cell and into a message."""
        return {x: dict(self.log.get(x, {})) for x in objects or self.log}

    def keep_log(self) -> None:
        """Into the safe cell, if that is not what it holds."""
        if self.system.cells.get("log", {}) != self.log:
            self.system.store("log", self.copied())

    def grant(self, T: str, x: str) -> bool:
        """Grant the local lock, unless another transaction has it, or T was over before it came."""
        if any(other != T for _, other in self.unmatched(x)):
            return False
        self.enter(x, T, released=False)
        self.keep_log()
        return not self.log[x][T]

    # --- lock(x): the initiator -----------------------------------------------------------------

    @request("Lock")
    def lock(self, object: str) -> None:
        """BGS86 3: send lock-request(x) to all nodes; this one is a receiving node too."""
        self.transactions += 1
        T = f"{self.i}.{self.system.inc}.{self.transactions}"
        if not self.grant(T, object):
            return
        patience = self.system.parameters.get("patience", PATIENCE)
        wait_ms = patience * self.system.timing.t_ms
        timer = self.system.after(wait_ms, lambda: self.abort(T)) if patience else 0
        self.pending[T] = Pending(object, (self.i, self.cast()), timer)
        for j in self.others:
            self.system.send(j, "LockRequest", (T, object))
        self.decide(T)

    @on("Yes")
    def yes(self, j: int, T: str, vectors: Vectors) -> None:
        """A vote on T; is it a majority now?"""
        vote = self.read(vectors)
        if T in self.pending:
            self.pending[T].votes[j] = vote
            self.learn(j, vote)
            self.decide(T)

    @on("No")
    def no(self, j: int, T: str, log: Log) -> None:
        """BGS86 3: "when it receives a no message, it aborts the request"."""
        self.merge(log)
        self.abort(T)

    def decide(self, T: str) -> None:
        """BGS86 3: "if the initiator receives a majority of votes, the lock(x) is successful"."""
        if self.passed(self.pending[T].votes):
            self.obtain(T)

    def obtain(self, T: str) -> None:
        """From here on T has exclusive access."""
        self.holds[T] = self.close_request(T)
        self.system.store("held", dict(self.holds))
        self.show()

    def close_request(self, T: str) -> str:
        """No more votes on T are counted; returns its object."""
        pending = self.pending.pop(T)
        self.system.cancel(pending.timer)
        return pending.object

    # --- unlock(x) ------------------------------------------------------------------------------

    def abort(self, T: str) -> None:
        """BGS86 3: "in this case a performs unlock(x)"."""
        if T in self.pending:
            self.release(T, self.close_request(T))

    @request("Unlock")
    def unlock(self, object: str) -> None:
        """The transaction of this node that has the object, or asks for it, needs it no longer."""
        for T in [T for T, it in self.pending.items() if it.object == object]:
            self.abort(T)
        for T in [T for T, x in self.holds.items() if x == object]:
            del self.holds[T]
            self.system.store("held", dict(self.holds))
            self.release(T, object)
            self.show()

    def release(self, T: str, x: str) -> None:
        """Write released(T), and tell all nodes."""
        self.enter(x, T, released=True)
        self.keep_log()
        for j in self.others:
            self.system.send(j, "UnlockRequest", (T, x))

    # --- the receiving nodes --------------------------------------------------------------------

    @on("LockRequest")
    def lock_request(self, j: int, T: str, x: str) -> None:
        """BGS86 3: check the request against the lock log."""
        if self.grant(T, x):
            self.system.send(j, "Yes", (T, self.vectors()))
        else:
            self.system.send(j, "No", (T, self.copied(x)))

    @on("UnlockRequest")
    def unlock_request(self, j: int, T: str, x: str) -> None:
        """Whether it was granted here or not: the request may come later, or never."""
        self.enter(x, T, released=True)
        self.keep_log()

    def check(self) -> Procedure:
        """BGS86 3: ask the initiator of a lock that was granted for long if it is still needed."""
        yield super().check()
        granted = {(x, T) for x, T in self.unmatched() if node_of(T) != self.i}
        for x, T in sorted(granted & self.lingering):
            self.system.send(node_of(T), "Inquiry", (T, x))
        self.lingering = granted

    @on("Inquiry")
    def inquiry(self, j: int, T: str, x: str) -> None:
        """BGS86 3: "it can ask the initiator if it missed an unlock-request"."""
        if T not in self.holds and T not in self.pending:
            self.system.send(j, "UnlockRequest", (T, x))

    # --- what travels with the votes ------------------------------------------------------------

    def acknowledge(self, j: int, ballot: str) -> None:
        """BGS86 3: "an acknowledging node, b, must send its lock log along with its votes"."""
        self.system.send(j, "Vote", (ballot, {**self.vectors(), "log": self.copied()}))

    def read(self, vectors: Vectors) -> Known:
        """BGS86 3: "integrate the lock information with its own", wherever it came along."""
        log: Any = vectors.get("log", {})
        self.merge(log)
        return super().read(vectors)


class LocksTwo(LocksOne, Reassigning):
    """The same as published, on P3, P4 and P5."""

    claims = LOCKING_TWO


class Hardened(LocksOne):
    """What must be added where votes are given back."""

    abstract = True

    def learn(self, k: int, vote: Known) -> None:
        """Whatever is newer, of whatever node."""
        self.update(*vote)

    def vectors(self) -> Vectors:
        """Never without the log."""
        return {**super().vectors(), "log": self.copied()}  # type: ignore[typeddict-unknown-key]

    def obtain(self, T: str) -> None:
        """Not if another transaction has it, as this node has learned since it asked."""
        x = self.pending[T].object
        if any(other != T for _, other in self.unmatched(x)):
            self.abort(T)
        else:
            super().obtain(T)


class HardenedOne(Hardened, LocksOne):
    """Hardened, on P1 and P2."""


class HardenedTwo(Hardened, LocksTwo):
    """Hardened, on P3, P4 and P5."""

    claims = LocksTwo.claims


def node_of(T: str) -> int:
    """The node of a transaction."""
    return int(T.partition(".")[0])

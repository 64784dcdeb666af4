"""BGS86-C22: no two transactions hold the lock on one object at once (BGS86 3).

Rules, all from messages and from the safe cells `held` and `votes`:

- A transaction holds its object from the store that enters it in `held` of its node to the store
  that takes it out. A crash ends nothing: what is in a safe cell is held. A store counts if it
  reached its cell (traces.stores).
- Its votes are those of its node, as it was when the first `LockRequest` was sent, and each `Yes`
  received for it by the time it took the lock; they are counted again by P1 (P3).
- Broken, when a transaction takes an object that another one holds, at any node.

Limits: that an application keeps to its locks is not looked at. Locks that were granted and not
obtained are no locks.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from traces.collected import Ballot, Value, counted
from traces.events import Asked, Loaded, Received, Sent, Stored
from traces.lives import History
from traces.stores import effective


@dataclass(slots=True)
class Lock:
    """A lock that a transaction took: where in the trace, and with whose votes."""

    name: str
    object: str
    node: int
    ballot: Ballot
    taken: int
    v: tuple[int, ...]  # v_k of every node
    group: tuple[int, ...]
    released: int | None = None

    @property
    def votes(self) -> int:
        """Those it was given."""
        return sum(self.v[k - 1] for k in self.group)

    @property
    def words(self) -> str:
        """`transaction 3.1.1 (node 3)`."""
        return f"transaction {self.name} (node {self.node})"


class LockRecord:
    """All locks of a run, in the order they were taken, and the pairs that overlap."""

    def __init__(self, history: History, versions: bool) -> None:
        self.versions = versions
        self.locks: list[Lock] = []
        self.overlaps: list[tuple[Lock, Lock]] = []  # (the one that held, the one that took)
        self.asked: defaultdict[str, int] = defaultdict(int)  # by object
        self.contended = 0  # asked for while it was held
        self._holders: defaultdict[str, list[Lock]] = defaultdict(list)
        self._held: dict[int, dict[str, str]] = {}
        none = [0] * history.nodes
        self._votes: defaultdict[int, Value] = defaultdict(lambda: {"V": none, "N": none})
        self._requests: dict[str, tuple[Ballot, Value]] = {}  # with the vote of its own node
        stores = dict(effective(history, "held", "votes"))
        for i, event in enumerate(history.events):
            if type(event) is Sent and event.kind == "LockRequest":
                self._requests.setdefault(event.args[0], (Ballot(i), self._votes[event.node]))
            elif type(event) is Received and event.kind == "Yes":
                name, vectors, *_ = event.args
                if name in self._requests:
                    self._requests[name][0].received[event.src] = i, vectors
            elif type(event) is Asked and event.kind == "Lock":
                self.asked[event.args["object"]] += 1
                self.contended += bool(self._holders[event.args["object"]])
            elif i in stores or (type(event) is Loaded and event.cell in ("held", "votes")):
                self._set(i, event)  # type: ignore[arg-type]

    @property
    def objects(self) -> int:
        """How many were asked for more than once, and taken."""
        taken = {it.object for it in self.locks}
        return sum(count > 1 and x in taken for x, count in self.asked.items())

    def _set(self, i: int, event: Stored | Loaded) -> None:
        if event.cell == "votes":
            self._votes[event.node] = event.value
            return
        before, now = self._held.get(event.node, {}), event.value
        self._held[event.node] = now
        for name in before.keys() - now.keys():
            self._released(i, before[name], name)
        for name in sorted(now.keys() - before.keys()):
            self._taken(i, event.node, name, now[name])

    def _released(self, i: int, x: str, name: str) -> None:
        for it in [it for it in self._holders[x] if it.name == name]:
            it.released = i
            self._holders[x].remove(it)

    def _taken(self, i: int, node: int, name: str, x: str) -> None:
        now = self._votes[node]
        ballot, own = self._requests.get(name, (Ballot(i), now))
        # Who votes on it after this was no part of its majority.
        ballot = replace(ballot, received=dict(ballot.received))
        votes = {node: own} | ballot.vectors
        v = tuple(votes for votes, _ in counted(votes, self.versions, now))
        lock = Lock(name, x, node, ballot, i, v, tuple(sorted(votes)))
        self.overlaps += [(other, lock) for other in self._holders[x]]
        self._holders[x].append(lock)
        self.locks.append(lock)


def rests_on(lock: Lock) -> Iterator[int]:
    """Where it was asked for, the votes it had, where it was taken."""
    yield lock.ballot.begun
    yield from (i for i, _ in lock.ballot.received.values())
    yield lock.taken

"""The vote changes of a run, as its trace shows them (BGS86 2.1, 2.2).

Rules, all from messages and from the safe cell `votes`, whose value is {"V": [...], "N": [...]}:

- A ballot begins with the first `Increase` sent of it. A vote on it is a `Vote` received for it.
- An increment is a store that raises the node's own entry of V, a decrement one that lowers it.
  It belongs to the node's newest ballot for that value. MAJG is the node itself and everybody
  whose vote it had received by then; its own vector is the one it held right before.
- The votes v_k are counted again by P1 (or P3): what the node made of them is not asked.
- The *mark* of a change is what tells newer from older: v(I) in Scenario One, where votes only
  grow, n(I) in Scenario Two. An increment sees another, *as counted*, by the mark of v_z; it is
  *aware* of it by any vector it received, or held (papers guide, trap 7).
- Increments are numbered by the order in which they were initiated, from 1.

Limits: an increase that was cancelled or cut short by a crash is no increment.
"""

from dataclasses import dataclass
from functools import cached_property

from traces.collected import Ballot, Value, aware, counted
from traces.events import Loaded, Received, Sent, Stored
from traces.lives import History
from traces.stores import effective


@dataclass(slots=True)
class Increment:
    """I_j: node(I), v(I), n(I), and what it collected."""

    node: int
    before: int  # its votes until then
    votes: int
    version: int
    begun: int  # where in the trace
    installed: int
    ballot: Ballot | None
    own: Value
    majg: tuple[int, ...]  # MAJG: who voted on it
    counted: tuple[int, ...]  # v_k of every node
    counted_marks: tuple[int, ...]
    aware_marks: tuple[int, ...]
    number: int = 0

    @property
    def majv(self) -> int:
        """MAJV: with how many votes."""
        return sum(self.counted[k - 1] for k in self.majg)

    @property
    def minv(self) -> int:
        """The votes of ming, everybody else."""
        return sum(self.counted) - self.majv

    @property
    def name(self) -> str:
        """`I3`."""
        return f"I{self.number}"

    @property
    def words(self) -> str:
        """`I3 (node 4: 1 -> 3)`."""
        return f"{self.name} (node {self.node}: {self.before} -> {self.votes})"


@dataclass(slots=True)
class Decrement:
    """D_j: a node gave votes back."""

    node: int
    before: int
    votes: int
    version: int
    installed: int


class VoteRecord:
    """All vote changes of a run."""

    def __init__(self, history: History, versions: bool) -> None:
        self.nodes, self.versions = history.nodes, versions
        self.increments: list[Increment] = []
        self.decrements: list[Decrement] = []
        self._held: dict[int, Value] = {}
        self._ballots: dict[str, Ballot] = {}
        self._newest: dict[int, Ballot] = {}
        stores = dict(effective(history, "votes"))
        for i, event in enumerate(history.events):
            if type(event) is Sent and event.kind == "Increase":
                self._sent(i, event)
            elif type(event) is Received and event.kind == "Vote":
                self._received(i, event)
            elif type(event) is Loaded and event.cell == "votes":
                self._held[event.node] = event.value
            elif i in stores:
                self._stored(i, stores[i])
        self.increments.sort(key=lambda it: it.begun)
        for number, it in enumerate(self.increments, 1):
            it.number = number

    @cached_property
    def initial(self) -> tuple[int, ...]:
        """I_0: the votes before any change."""
        at_first = {it.node: it.before for it in reversed(self._changes)}
        return tuple(
            at_first.get(k, self._held[k]["V"][k - 1] if k in self._held else 0)
            for k in range(1, self.nodes + 1)
        )

    @property
    def _changes(self) -> list[Increment | Decrement]:
        return sorted([*self.increments, *self.decrements], key=lambda it: it.installed)

    def mark(self, it: Increment) -> int:
        """What tells it from older and newer changes of its node."""
        return it.version if self.versions else it.votes

    def _sent(self, i: int, event: Sent) -> None:
        ballot, votes, *_ = event.args
        if ballot not in self._ballots:
            self._ballots[ballot] = self._newest[event.node] = Ballot(i, votes)

    def _received(self, i: int, event: Received) -> None:
        ballot, vectors, *_ = event.args
        if ballot in self._ballots:
            self._ballots[ballot].received[event.src] = i, vectors

    def _stored(self, i: int, event: Stored) -> None:
        node, value = event.node, event.value
        held, self._held[node] = self._held.get(node), value
        if held is None:
            return
        before, votes = held["V"][node - 1], value["V"][node - 1]
        version = value["N"][node - 1]
        if votes < before:
            self.decrements.append(Decrement(node, before, votes, version, i))
        elif votes > before:
            ballot = self._newest.get(node)
            if ballot is not None and ballot.votes != votes:
                ballot = None
            # Whoever votes on it after this was no part of its majority.
            had = Ballot(ballot.begun, votes, dict(ballot.received)) if ballot else None
            vectors = {node: held} | (had.vectors if had else {})
            v, marks = zip(*counted(vectors, self.versions), strict=True)
            self.increments.append(
                Increment(
                    node, before, votes, version, had.begun if had else i, i, had, held,
                    tuple(sorted(vectors)), v, marks,
                    aware(node, vectors, self.versions),
                )
            )  # fmt: skip

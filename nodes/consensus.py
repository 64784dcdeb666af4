"""Group consensus on the votes (BGS86 1.2): a coordinator of the active group assigns them all.

The assignment is the replicated datum of nodes.restricted. A coordinator elected by the Invitation
Algorithm, whose group is a majority and not the one the assignment was made for, decides on a new
one by two-phase commit inside the group: for who is outside no votes, for who is inside what they
would start with (nodes.policies). Rules:

- A majority is of the votes that the newest assignment gives; the first one is as given, or from
  the topology. Each node stores it in its first life, so that the trace begins with it.
- With its Accept a node brings the assignment that it knows. So a coordinator that was away counts
  with the newest one of its members, and nobody has to wait for a Prepare to reach it.
- A coordinator asks its members at every Check whether they are still there. If one is not, the
  group is made anew without it: the Invitation Algorithm itself would not notice.

Why no two groups both have the majority for one version: who decides on v + 1 has the votes of
nodes that hold version v, and holds it itself; no version is decided twice (nodes.restricted), so
all of them count by one and the same assignment v, under which any two majorities share a node
that has votes. That node votes for one operation of version v + 1 only. And who is behind, with an
assignment v that is no longer the newest, cannot decide on v + 1 again: a majority by v voted for
it, and answers with what it knows, or is in doubt and does not vote.

Limits: those of nodes.restricted. While a node with many votes is in doubt, all wait for it. Votes
go by who accepted, not by how well the members are connected meanwhile.

Parameters: `votes`, `links`; see nodes.assignment.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nodes.assignment import first_votes, refused_votes, topology
from nodes.policies import consensus
from nodes.protocol import TIMEOUT, UNDEFINED, Call, Procedure, immediate
from nodes.restricted import Restricted, Update


class Assignment(Update):
    """A version of the votes, in the order of the nodes, and whom it was made for."""

    votes: list[int]
    members: list[int]


class Consensus(Restricted):
    """Node i of GM82 IV-B, in groups that reassign the votes."""

    @classmethod
    def refusal(cls, parameters: Mapping[str, Any], nodes: Sequence[int]) -> str:
        """Why no node can run with these parameters."""
        strategy = parameters.get("strategy", "group-consensus")
        if strategy != "group-consensus":
            return f"strategy {strategy!r}: Consensus runs group-consensus only"
        if parameters.get("threshold"):
            return "a threshold is for votes that grow, and here they do not"
        return refused_votes(parameters, nodes)

    # --- the assignment -----------------------------------------------------------------------

    def first(self) -> Assignment:
        """Version 0, which nobody had to decide on."""
        votes = first_votes(self.system.parameters, self.nodes)
        return {
            "version": 0, "op": "", "group": "", "by": UNDEFINED,
            "votes": list(votes.values()), "members": [*self.nodes],
        }  # fmt: skip

    @property
    def datum(self) -> Assignment:
        """The newest assignment this node knows to be decided."""
        held: Assignment = self.system.cells.get("datum") or self.first()
        return held

    def recovery(self) -> Procedure:
        """GM82 App. II, Recovery; in the first life the first assignment is stored before."""
        if "datum" not in self.system.cells:
            self.system.store("datum", self.first())
        yield super().recovery()

    def weight(self, members: Collection[int]) -> int:
        """Their votes by the newest assignment known."""
        votes = dict(zip(self.nodes, self.datum["votes"], strict=True))
        return sum(votes[j] for j in members)

    def due(self) -> bool:
        """Whether the assignment was made for another group, and this one may change it."""
        return super().due() and self.datum["members"] != self.group()

    def group(self) -> list[int]:
        """This node and its members."""
        return sorted((*self.state.up, self.i))

    def next_update(self, base: Update) -> Assignment:
        """BGS86 1.2: "nodes outside the majority group do not receive any votes"."""
        votes = consensus(self.nodes, self.group(), topology(self.system.parameters))
        return {
            **super().next_update(base), "votes": [votes[j] for j in self.nodes],
            "members": self.group(),
        }  # fmt: skip

    # --- the group ----------------------------------------------------------------------------

    def acceptance(self, gn: str) -> tuple[Any, ...]:
        """With its Accept goes the newest assignment it knows."""
        return *super().acceptance(gn), self.datum

    @immediate("Accept")
    def accept(self, j: int, gn: str, history: str = "", known: Assignment | None = None) -> bool:
        """GM82 App. II, Accept: what node j knows to be decided is decided."""
        if known:
            self.adopt(known)
        return super().accept(j, gn, history)

    def check(self) -> Procedure:
        """GM82 App. II, Check; a coordinator whose member is gone makes the group anew."""
        yield super().check()
        if not self.coordinates():
            return
        lost = False
        for j in self.state.up:
            answer = yield Call(j, "AreYouMember", (self.state.g,))
            lost = lost or answer is TIMEOUT or not answer
        if lost and self.coordinates():
            yield self.merge(())

    @immediate("AreYouMember")
    def are_you_member(self, j: int, gn: str) -> bool:
        """Whether this node is still in group gn of node j."""
        return self.state.g == gn and self.state.c == j

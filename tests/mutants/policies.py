"""Nodes that reassign votes by themselves and are wrong in one place each.

A policy cannot break mutual exclusion (BGS86 1.2), so most of what is wrong in one is no case for
a court. These are: an increase without asking, and an assignment by too few votes.
"""

from collections.abc import Collection

from harness.scenario import AUTONOMOUS_ONE, AUTONOMOUS_TWO, CONSENSUS
from nodes.autonomous import AutonomousOne, AutonomousTwo
from nodes.consensus import Consensus
from nodes.protocol import Protocol


class AsksNobody(AutonomousTwo):
    """Takes the majority that answered its roll call for one that agreed to its increase."""

    def increase(self, votes: int) -> None:
        """Who is here has not recorded it."""
        super().increase(votes)
        if self.ballot:
            self.install()


class CountsItsRollCall(AutonomousOne):
    """Counts as votes on its increase what it was told in its roll call."""

    def increase(self, votes: int) -> None:
        """They were here a moment ago."""
        super().increase(votes)
        self.received |= self.here
        if self.ballot:
            self.count()


class CountsNodes(Consensus):
    """A majority is of nodes, whoever has the votes."""

    def weight(self, members: Collection[int]) -> int:
        """One each."""
        return len(members)


class CountsAsAtFirst(Consensus):
    """A majority is of the votes that there were to begin with."""

    def weight(self, members: Collection[int]) -> int:
        """By version 0."""
        votes = dict(zip(self.nodes, self.first()["votes"], strict=True))
        return sum(votes[j] for j in members)


class AssignsAnywhere(Consensus):
    """Takes any group for a majority."""

    def majority(self, count: int) -> bool:
        """As long as somebody is there."""
        return True


RIGHT: list[tuple[type[Protocol], str]] = [
    (Consensus, CONSENSUS),
    (AutonomousTwo, AUTONOMOUS_TWO),
    (AutonomousOne, AUTONOMOUS_ONE),
]
MUTANTS: list[type[Protocol]] = [
    AsksNobody, CountsItsRollCall, CountsNodes, CountsAsAtFirst, AssignsAnywhere,
]  # fmt: skip

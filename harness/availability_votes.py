"""The votes in force, read off a trace event by event: who has a majority by them.

Two kinds of nodes, two ways to look:

- Nodes that change their own votes (`nodes.autonomous`) say in S(i).d how many they have.
- Under group consensus (`nodes.consensus`) the newest assignment decided is in force, once its
  coordinator has stored it. A group goes by it if somebody in it holds it; and who is in doubt
  about the next one votes for nothing (GM82 IV-B), so its votes do not count for its group.

Rule: a dead node has what is in its safe cells.
"""

import re
from operator import itemgetter
from typing import Protocol

from harness.availability_cores import majority, mask, members
from nodes.consensus import Assignment
from traces.events import AnyEvent, Became, Stored

VOTES = re.compile(r"(\d+) votes")  # what S(i).d says


class InForce(Protocol):
    """What has been read so far."""

    def take(self, event: AnyEvent) -> None:
        """Read one more."""

    def majority(self, group: int) -> bool:
        """Whether this group has one now."""


class OwnVotes:
    """Each node has its own."""

    def __init__(self, nodes: int) -> None:
        self.votes = [0] * nodes

    def take(self, event: AnyEvent) -> None:
        """A node says how many it has."""
        if isinstance(event, Became) and (found := VOTES.fullmatch(event.d)):
            self.votes[event.node - 1] = int(found[1])

    def majority(self, group: int) -> bool:
        """By the votes as they are, whoever knows of them."""
        return majority(group, self.votes)


class Assigned:
    """All votes are in one assignment."""

    def __init__(self) -> None:
        self.datum: dict[int, Assignment] = {}
        self.prepared: dict[int, Assignment | None] = {}

    def take(self, event: AnyEvent) -> None:
        """A node knows of an assignment; or votes for one, or takes that back."""
        if isinstance(event, Stored) and event.cell == "datum":
            self.datum[event.node] = event.value
        elif isinstance(event, Stored) and event.cell == "prepared":
            self.prepared[event.node] = event.value

    def majority(self, group: int) -> bool:
        """By the newest that is decided, if the group knows of it."""
        newest = max(self.datum.values(), key=itemgetter("version"), default=None)
        if newest is None or newest not in map(self.datum.get, members(group)):
            return False
        return majority(mask(j for j in members(group) if not self.in_doubt(j)), newest["votes"])

    def in_doubt(self, i: int) -> bool:
        """Whether it voted for what it does not know the end of; of its own it knows."""
        vote = self.prepared.get(i)
        if vote is None or vote["by"] == i:
            return False
        return vote["version"] > self.datum[i]["version"]

"""What a strategy remembers, and what one event makes of it: BGS86 5.1, by the policies of BGS86 4.

A *core* is all that is remembered: votes, tables, who was active last, the token. Which groups
there are is no part of it. `regrouped` is the one place where votes change, and what changes
them are the functions of `nodes.policies` that the nodes use. Rules:

- Groups are masks: bit i - 1 is node i.
- An event changes votes at once (BGS86 5.1): every node of the active group decides by the votes
  as they were before, all at the same moment, and gives back as it takes.
- A group is active if it has more than half of all votes, as these are now. It looks when groups
  change; what others give back elsewhere it does not notice.
- What cannot matter any more is left out of a core, so that equal cores are one.

Limits: what a group *knows* of the votes of others is not modelled. A group that votes only grow
in knows all it needs (Corollary 2.1.1); where they decrease it may overrate the others.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from harness.availability import Links, Network, Rival
from nodes.policies import excluded_from, initial_votes, reset, wanted


class Group(NamedTuple):
    """Nodes that reach each other, and the links between them that are up."""

    nodes: int
    links: Links


Groups = tuple[Group, ...]
Table = tuple[tuple[int, int], ...]


class Core(NamedTuple):
    """What is remembered."""

    active: int
    """The last active group."""
    votes: tuple[int, ...]
    tables: tuple[Table, ...]
    """For each node, what it took on for whom (BGS86 4.4.2)."""
    last: tuple[int, ...]
    """For each node that is out and will catch up, the last active group it was in; else 0."""
    token: int
    """Who has it; 0: there is none."""
    halted: bool = False
    """Whether there was no active group since, if that matters."""


@cache
def members(group: int) -> tuple[int, ...]:
    """The nodes of a mask."""
    return tuple(i for i in range(1, group.bit_length() + 1) if group >> i - 1 & 1)


def mask(nodes: Iterable[int]) -> int:
    """The mask of some nodes."""
    return sum(1 << i - 1 for i in nodes)


def majority(group: int, votes: Sequence[int]) -> bool:
    """More than half of TOT (BGS86 2.1, P1)."""
    return 2 * sum(votes[i - 1] for i in members(group)) > sum(votes)


class Game:
    """One strategy on one network."""

    def __init__(self, network: Network, rival: Rival) -> None:
        self.rival, self.strategy, self.links = rival, rival.strategy, network.links
        self.nodes = tuple(range(1, network.nodes + 1))
        self.initial = initial_votes(self.nodes, network.links)
        nothing: tuple[Table, ...] = ((),) * network.nodes
        token = 1 if self.strategy.choice == "token" else 0
        self.noticing_halts = rival.after_halt == "away"
        self.circulating = bool(token) and rival.token == "circulating"
        out = (0,) * network.nodes
        self.start = Core(mask(self.nodes), tuple(self.initial.values()), nothing, out, token)

    def step(self, core: Core, groups: Groups) -> tuple[Core, bool]:
        """What becomes of a core when these are the groups now, and whether one is active."""
        group = next((group for group in groups if majority(group.nodes, core.votes)), None)
        up = group is not None
        if not up and self.noticing_halts:
            core = core._replace(halted=True)
        if group and self.matters(core, group):
            core = self.regrouped(core, group)
            core = core._replace(votes=self.renewed(core.active, core.votes))
            up = majority(group.nodes, core.votes)  # giving back may have cost it
        if self.circulating:
            core = core._replace(token=self.circulated(core.token, groups))
        return core, up

    def matters(self, core: Core, group: Group) -> bool:
        """Whether anything may change when this group is the active one."""
        if self.strategy.rule == "consensus":
            return self.rival.after == "events" or group.nodes != core.active
        return self.strategy.rule != "static" and (group.nodes != core.active or core.halted)

    def regrouped(self, core: Core, group: Group) -> Core:
        """What becomes of a core when this group is the active one now; before any reset."""
        now, before = members(group.nodes), members(core.active)
        gone = excluded_from(before, now)
        if self.rival.after == "failures" and not gone:
            return core._replace(active=group.nodes)
        votes = dict(enumerate(core.votes, 1))
        links = self.links if self.rival.after == "members" else group.links
        wishes = [
            wanted(
                self.strategy, i, votes, members(core.last[i - 1]) or before, now,
                dict(core.tables[i - 1]), returned=core.halted or i not in before,
                token=core.token or None, links=links,
            )
            for i in self.nodes
        ]  # fmt: skip
        token = core.token
        if self.rival.token == "passed" and gone and token in now and token in before:
            token = following(token, now)
        return Core(
            core.active if self.strategy.rule == "consensus" and self.rival.after == "events"
            else group.nodes,
            tuple(wish.votes for wish in wishes),
            tuple(tuple(sorted(wish.table.items())) for wish in wishes),
            self.remembered(core, group.nodes),
            token,
        )  # fmt: skip

    def remembered(self, core: Core, now: int) -> tuple[int, ...]:
        """The last groups of those who are out of this one, if they are to catch up."""
        if self.strategy.balance != "catch-up":
            return core.last
        return tuple(0 if now >> i - 1 & 1 else core.last[i - 1] or core.active for i in self.nodes)

    def renewed(self, active: int, votes: tuple[int, ...]) -> tuple[int, ...]:
        """BGS86 4.4.1: the original votes, if the threshold is hit and all are there."""
        if self.strategy.balance != "catch-up":
            return votes
        known = dict(enumerate(votes, 1))
        return tuple(reset(known, self.initial, members(active), self.rival.threshold).values())

    def circulated(self, token: int, groups: Groups) -> int:
        """The token goes round in the group of its holder, wherever that is."""
        ours = (group for group in groups if group.nodes >> token - 1 & 1)
        return next((following(token, members(group.nodes)) for group in ours), token)


def following(i: int, group: tuple[int, ...]) -> int:
    """The next node of a group, the first after the last."""
    return next((j for j in group if j > i), group[0])

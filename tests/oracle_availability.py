"""The availability of a strategy, slow and obvious: one event after the other, dictionaries, sets.

It shares with `harness.availability_*` the names of things and the policy functions, and nothing
else: events come off a heap, groups are found by walking along the links, votes are counted from
scratch each time. With `known`, a group counts the votes it knows of and not those there are:
Protocol P3's vectors V and N, one of each at every node.
"""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from random import Random

from harness.availability import Mix, Network, Rates, Rival
from nodes.policies import excluded_from, initial_votes, reset, wanted

Event = tuple[float, int]  # when, and which component: nodes first, from 0


def rates_of(network: Network, mix: Mix) -> list[Rates]:
    return [mix.of_nodes] * network.nodes + [mix.of_links] * len(network.links)


def events(rates: Sequence[Rates], until: float, chance: Random) -> Iterator[Event]:
    """Failures and repairs in the order of time."""
    up = [True] * len(rates)
    heap = [(chance.expovariate(r.fail), k) for k, r in enumerate(rates) if r.fail]
    heapify(heap)
    while heap and heap[0][0] < until:
        at, k = heappop(heap)
        yield at, k
        up[k] = not up[k]
        rate = rates[k].fail if up[k] else rates[k].repair
        if rate:
            heappush(heap, (at + chance.expovariate(rate), k))


class Simulation:
    """One run."""

    def __init__(self, network: Network, rival: Rival, known: bool = False) -> None:
        self.network, self.rival, self.known = network, rival, known
        self.nodes = list(range(1, network.nodes + 1))
        self.up = [True] * (network.nodes + len(network.links))
        self.initial = initial_votes(self.nodes, network.links)
        self.votes = dict(self.initial)
        self.vectors = {i: {k: (0, v) for k, v in self.votes.items()} for i in self.nodes}
        self.tables: dict[int, dict[int, int]] = {i: {} for i in self.nodes}
        self.active = set(self.nodes)
        self.last = {i: set(self.nodes) for i in self.nodes}
        self.away = set[int]()
        self.token = 1
        self.groups = [set(self.nodes)]
        self.running = True

    def links_up(self) -> list[tuple[int, int]]:
        return [
            (i, j)
            for k, (i, j) in enumerate(self.network.links, self.network.nodes)
            if self.up[k] and self.up[i - 1] and self.up[j - 1]
        ]

    def groups_now(self) -> list[set[int]]:
        left = {i for i in self.nodes if self.up[i - 1]}
        found = []
        while left:
            group, todo = set[int](), [min(left)]
            while todo:
                i = todo.pop()
                if i not in group:
                    group.add(i)
                    todo += [a + b - i for a, b in self.links_up() if i in (a, b)]
            found.append(group)
            left -= group
        return found

    def votes_of(self, group: set[int]) -> dict[int, int]:
        """The votes as they are, or as the group knows them: P3, b) the newest among them."""
        if not self.known:
            return self.votes
        return {k: max(self.vectors[i][k] for i in group)[1] for k in self.nodes}

    def has_majority(self, group: set[int]) -> bool:
        votes = self.votes_of(group)
        return 2 * sum(votes[i] for i in group) > sum(votes.values())

    def happens(self, component: int) -> None:
        self.up[component] = not self.up[component]
        before, self.groups = self.groups, self.groups_now()
        if self.groups == before and self.rival.strategy.rule != "consensus":
            return  # nobody notices anything
        for group in self.groups:
            newest = {k: max(self.vectors[i][k] for i in group) for k in self.nodes}
            for i in group:
                self.vectors[i] = dict(newest)
        winners = [group for group in self.groups if self.has_majority(group)]
        assert len(winners) <= 1, "two groups have a majority"
        self.running = bool(winners)
        if not winners and self.rival.after_halt == "away":
            self.away = set(self.nodes)
        if winners:
            self.regroup(winners[0])
            self.running = self.has_majority(winners[0])
        if self.rival.token == "circulating":
            for group in self.groups:
                if self.token in group:
                    self.pass_on(group)
                    break

    def pass_on(self, group: set[int]) -> None:
        self.token = min([i for i in group if i > self.token] or group)

    def regroup(self, group: set[int]) -> None:
        strategy, gone = self.rival.strategy, excluded_from(self.active, group)
        if strategy.rule == "consensus":
            unchanged = (self.rival.after == "failures" and not gone) or (
                self.rival.after == "members" and group == self.active
            )
        else:
            unchanged = group == self.active and not group & self.away
        if not unchanged:
            self.reassign(group)
        if gone and self.rival.token == "passed" and self.token in group & self.active:
            self.pass_on(group)
        self.active, self.away = group, set(self.nodes) - group
        for i in group:
            self.last[i] = group

    def reassign(self, group: set[int]) -> None:
        strategy, votes = self.rival.strategy, dict(self.votes_of(group))
        known = self.network.links if self.rival.after == "members" else self.links_up()
        links = [(i, j) for i, j in known if i in group and j in group]
        wishes = {
            i: wanted(
                strategy, i, votes, self.last[i], group, self.tables[i],
                returned=i in self.away,
                token=self.token if strategy.choice == "token" else None, links=links,
            )
            for i in (self.nodes if strategy.rule == "consensus" else sorted(group))
        }  # fmt: skip
        new = {**votes, **{i: wish.votes for i, wish in wishes.items()}}
        if strategy.balance == "catch-up":
            new = dict(reset(new, self.initial, group, self.rival.threshold))
        for i, wish in wishes.items():
            self.tables[i] = dict(wish.table)
        for k in wishes:
            if new[k] != votes[k]:
                version = max(self.vectors[i][k] for i in group)[0] + 1
                for i in group:
                    self.vectors[i][k] = (version, new[k])
            self.votes[k] = new[k]

    def uptime(self, history: Sequence[Event], until: float) -> float:
        """The fraction of the time in which a group was active."""
        total = since = 0.0
        for at, component in history:
            total += (at - since) * self.running
            since = at
            self.happens(component)
        return (total + (until - since) * self.running) / until

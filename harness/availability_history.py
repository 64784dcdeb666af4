"""A history: when which node or link fails and is repaired, and which groups there are then.

One component fails after an exponential time and is repaired after another (BGS86 5.1), each on
its own; a history is all of these events in the order of time. Rules:

- All are up at the beginning. The same seed gives the same history, and every strategy is walked
  over the same ones, so that what differs between them is not chance.
- What is up is a mask: nodes from bit 0 on, links after them.
- Groups have numbers: a `Groupings` gives each set of groups the next one when it first shows up.

Limits: networks are connected, and have `MOST` nodes and links at most.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.availability import Mix, Network, Rates
from harness.availability_cores import Group, Groups

TABLE = 1 << 20  # masks; a table of more would not stay in the cache
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class History(NamedTuple):
    """The times of the events, and what is up after each."""

    at: Floats
    up: Ints
    until: float


def components(network: Network, mix: Mix) -> list[Rates]:
    """How often each fails and is repaired, nodes first."""
    return [mix.of_nodes] * network.nodes + [mix.of_links] * len(network.links)


def expected(rates: Sequence[Rates], until: float) -> float:
    """How many events a history has on average; one that is never repaired fails once at most."""
    pairs = (until / (1 / rate.fail + 1 / rate.repair) for rate in rates if rate.fail * rate.repair)
    return 2 * sum(pairs)


def drawn(rates: Sequence[Rates], until: float, seed: Sequence[int]) -> History:
    """One history."""
    chance = np.random.default_rng(seed)
    failing = {1 << k: rate for k, rate in enumerate(rates) if rate.fail}
    often = {times for rate in failing.values() for times in rate}
    at, flipped = (as_one if len(often) == 1 else each_by_itself)(failing, until, chance)
    up = ((1 << len(rates)) - 1) ^ np.bitwise_xor.accumulate(flipped)
    return History(at, up, until)


def as_one(
    failing: Mapping[int, Rates], until: float, chance: np.random.Generator
) -> tuple[Floats, Ints]:
    """Where all fail and are repaired at one rate.

    Each is a Poisson process, whatever its state, and so are all of them together; every event is
    any component's with the same probability. There is nothing to be sorted.
    """
    often = sum(rate.fail for rate in failing.values())
    at = alternating(Rates(often, often), until, chance)
    return at, np.array(list(failing))[chance.integers(len(failing), size=len(at), dtype=np.uint8)]


def each_by_itself(
    failing: Mapping[int, Rates], until: float, chance: np.random.Generator
) -> tuple[Floats, Ints]:
    """At any rates."""
    times = [alternating(rate, until, chance) for rate in failing.values()]
    at, flipped = np.concatenate(times), np.repeat(list(failing), list(map(len, times)))
    order = np.argsort(at, kind="stable")  # runs that are sorted already are merged
    return at[order], flipped[order]


def alternating(rate: Rates, until: float, chance: np.random.Generator) -> Floats:
    """When one component fails, is repaired, fails, ..."""
    scale = np.array([1 / rate.fail, 1 / rate.repair if rate.repair else np.inf])
    pairs = until / scale.sum()
    found = np.empty(0)
    while not found.size or found[-1] < until:
        more = chance.standard_exponential((int(pairs + 4 * pairs**0.5) + 8, 2)) * scale
        found = np.concatenate([found, found[-1:].sum() + np.cumsum(more)])
    return found[: np.searchsorted(found, until)]


class Groupings:
    """Which groups there are when this and that is up, by number; `table` has them by number."""

    def __init__(self, network: Network, with_links: bool) -> None:
        self.network, self.with_links = network, with_links
        self.table: list[Groups] = []
        self.numbers: dict[Groups, int] = {}
        masks = 1 << network.nodes + len(network.links)
        self.known = np.full(masks, -1, np.int64) if masks <= TABLE else None
        self.seen: dict[int, int] = {}
        self.begun = self.number(masks - 1)  # when everything is up

    def of(self, up: Ints) -> Ints:
        """The number of the groups of each mask."""
        if self.known is None:
            masks, which = np.unique(up, return_inverse=True)
            return np.array([self.number(m) for m in masks.tolist()])[which]
        found = self.known[up]
        if (new := found < 0).any():
            for one in np.unique(up[new]).tolist():
                self.known[one] = self.number(one)
            found = self.known[up]
        return found

    def number(self, up: int) -> int:
        """The number of the groups of this mask."""
        if up not in self.seen:
            groups = groups_of(self.network, up, self.with_links)
            if groups not in self.numbers:
                self.numbers[groups] = len(self.table)
                self.table.append(groups)
            self.seen[up] = self.numbers[groups]
        return self.seen[up]


def groups_of(network: Network, up: int, with_links: bool) -> Groups:
    """The groups of a mask; their links only where they matter."""
    n = network.nodes
    links = tuple(
        (i, j)
        for k, (i, j) in enumerate(network.links)
        if up >> n + k & up >> i - 1 & up >> j - 1 & 1
    )
    groups = [1 << i for i in range(n) if up >> i & 1]
    for i, j in links:
        ends = [group for group in groups if (group >> i - 1 | group >> j - 1) & 1]
        groups = [*(group for group in groups if group not in ends), ends[0] | ends[-1]]
    return tuple(
        Group(group, tuple(link for link in links if with_links and group >> link[0] - 1 & 1))
        for group in sorted(groups)
    )

"""Every small network: a protocol on all graphs of a few nodes, and what becomes of its claims.

A network is a graph up to isomorphism, an assignment of priorities to its vertices, a seed, and
whether the nodes begin alone or as one group that the cuts then take apart. The graph stays for
longer than the bound of Assertion 4' (S00); then everything is mended. Rules:

- There are 208 graphs of 1 to 6 nodes up to isomorphism. One of each class is taken; another
  member of the class is the same graph with other priorities, and some of those are taken too.
- On the virtual engine nothing is written. What is not as it must be is run again, recorded.
- A connected network in which all were one group begins in a good state, so only time shows
  whether it stays in one: the graph stays for longer than the bound on either engine.

Limits: 6 nodes; from 7 on there are 1,044 graphs and more, and 5,040 assignments for each.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path
from random import Random

from harness.execute import execute, simulate
from harness.rules import Link
from harness.run import Run
from harness.scenario import INVITATION, Scenario, claims_of
from harness.workers import spread
from traces.expectations import EITHER
from traces.verdicts import Verdict

MOST = 6
LONGER = 1.05  # than the bound
EXPECT = {"S00-4'a": "holds", "S00-4'b": "holds", "GM82-4": EITHER,
          "S97-ALE2'": "holds", "S97-ALE2": EITHER}  # fmt: skip
AT_ONCE = 2  # real runs a core: most of the time they wait


@dataclass(frozen=True)
class Network:
    """One case. `edges` have their vertices named by priority; `graph` is the class it is of."""

    nodes: int
    graph: tuple[Link, ...]
    edges: tuple[Link, ...]
    seed: int
    as_one: bool  # whether the nodes are one group before the cuts

    @property
    def words(self) -> str:
        """`3 nodes, 1-2 2-3, seed 1, as one group`."""
        edges = " ".join(f"{a}-{b}" for a, b in self.edges) or "no edge"
        before = "as one group" if self.as_one else "alone"
        return f"{self.nodes} nodes, {edges}, seed {self.seed}, {before}"


@dataclass(frozen=True)
class Examined:
    """What became of each claim on one network, and how long it took to be settled."""

    network: Network
    results: dict[str, str]
    settled_in_ms: int
    bound_ms: int
    run: str = ""  # where it is recorded, if it is


def graphs(nodes: int) -> list[tuple[Link, ...]]:
    """One graph of each class of isomorphic ones, those with fewest edges first."""
    pairs = list(combinations(range(1, nodes + 1), 2))
    at = {pair: k for k, pair in enumerate(pairs)}
    moved = [
        [1 << at[min(p[a - 1], p[b - 1]), max(p[a - 1], p[b - 1])] for a, b in pairs]
        for p in permutations(range(1, nodes + 1))
    ]
    seen = bytearray(1 << len(pairs))
    found = []
    for graph in range(1 << len(pairs)):
        if not seen[graph]:
            edges = [k for k in range(len(pairs)) if graph >> k & 1]
            for bits in moved:
                seen[sum(bits[k] for k in edges)] = 1
            found.append(tuple(pairs[k] for k in edges))
    return sorted(found, key=lambda edges: (len(edges), edges))


def networks(most: int, priorities: int, seeds: int) -> list[Network]:
    """All of 1 to `most` nodes, each with so many assignments of priorities and seeds."""
    return [
        Network(nodes, graph, edges, seed, as_one)
        for nodes in range(1, most + 1)
        for graph in graphs(nodes)
        for edges in _relabelled(nodes, graph, priorities)
        for seed in range(1, seeds + 1)
        for as_one in (False, True)
    ]


def _relabelled(nodes: int, graph: tuple[Link, ...], count: int) -> list[tuple[Link, ...]]:
    """The graph itself and others like it, all different, at most `count`."""
    orders = list(permutations(range(1, nodes + 1)))
    Random(0).shuffle(orders)
    found = {graph: None}
    for order in orders:
        if len(found) >= count:
            break
        edges = ((order[a - 1], order[b - 1]) for a, b in graph)
        found[tuple(sorted((min(e), max(e)) for e in edges))] = None
    return list(found)


def sample(cases: list[Network], count: int) -> list[Network]:
    """So many of them, spread evenly over small and large, sparse and dense."""
    count = min(count, len(cases))
    return [cases[k * len(cases) // count] for k in range(count)]


def scenario_of(network: Network, protocol: str = INVITATION, in_full: bool = True) -> Scenario:
    """The scenario that puts this network under its nodes, for longer than the bound.

    Not in full: until the nodes have come to rest. That judges how they got there, if they began
    alone, and neither that they stay nor GM82-4.
    """
    everything = network.nodes * (network.nodes - 1) // 2

    def script(run: Run) -> None:
        if network.as_one:
            run.start()
            run.settled()
        rule = run.graph(network.edges) if len(network.edges) < everything else 0
        if not network.as_one:
            run.start()
        run.calm()
        bound_ms = run.info.settles_ms
        if in_full or network.nodes == 1:  # who is alone is at rest at once, and gets nowhere
            run.elapse(LONGER * bound_ms)
        if rule:
            run.mend(rule)

    claim = f"S00-4', S97-ALE2': {network.words}."
    expect = {name: EXPECT[name] for name in claims_of(protocol) if name in EXPECT}
    return Scenario("network", claim, script, network.nodes, protocol, expect)


def examine(case: tuple[Network, str]) -> Examined:
    """One network in virtual time."""
    network, protocol = case
    info, verdicts = simulate(scenario_of(network, protocol), network.seed)
    return examined(network, verdicts, round(info.settles_ms))


def examine_really(case: tuple[Network, str, Path]) -> Examined:
    """One network on real processes."""
    network, protocol, runs = case
    outcome = execute(scenario_of(network, protocol), seed=network.seed, runs=runs)
    found = examined(network, outcome.verdicts, round(outcome.info.settles_ms))
    return replace(found, run=str(outcome.run.path))


def examined(network: Network, verdicts: list[Verdict], bound_ms: int) -> Examined:
    """What the verdicts say of a network."""
    took = max((verdict.examined.get("settled_in_ms", 0) for verdict in verdicts), default=0)
    return Examined(network, {v.id: v.result for v in verdicts}, took, bound_ms)


def examine_all(cases: list[Network], protocol: str, workers: int) -> Iterator[Examined]:
    """All of them, in order, on so many cores."""
    return spread(examine, [(case, protocol) for case in cases], workers)


def examine_all_really(cases: list[Network], protocol: str, runs: Path) -> Iterator[Examined]:
    """All of them on real processes, some side by side: the bound of six nodes is 13 seconds."""
    workers = AT_ONCE * (os.cpu_count() or 1)
    return spread(examine_really, [(case, protocol, runs) for case in cases], workers, at_once=1)

"""From sets of nodes to the directed links a partition cuts.

Every function takes all nodes of the run first and returns the links (i, j) on which nothing
may pass; the caller puts a rule on them, usually Drop. Rules:

- Pure: no order, no chance. The same nodes give the same links.
- A node that is not in the run is an error that names it, never a cut of nothing.

Limits: a partition knows nothing of what is already cut. Two that overlap are two rules.
"""

from collections.abc import Collection, Iterable
from itertools import combinations

from harness.rules import Link

Links = frozenset[Link]
Nodes = Collection[int]


def split(nodes: Nodes, *groups: Nodes) -> Links:
    """Complete split: nothing between groups. Nodes named in none form one more group."""
    _known(nodes, *groups)
    named = [node for group in groups for node in set(group)]
    twice = sorted({node for node in named if named.count(node) > 1})
    if twice:
        raise ValueError(f"in more than one group: {_names(twice)}")
    side = {node: at for at, group in enumerate(groups) for node in group}
    return frozenset(
        (i, j) for i, j in _all_links(nodes) if side.get(i, len(groups)) != side.get(j, len(groups))
    )


def one_way(nodes: Nodes, a: Nodes, b: Nodes) -> Links:
    """Nothing from `a` reaches `b`; what `b` sends still reaches `a`."""
    _known(nodes, a, b)
    return frozenset((i, j) for i in a for j in b if i != j)


def isolate(nodes: Nodes, one: int) -> Links:
    """One node alone: nothing to it, nothing from it."""
    return split(nodes, {one})


def bridge(nodes: Nodes, one: int) -> Links:
    """Two halves (the lower and the higher ids) that share only the node `one`."""
    _known(nodes, {one})
    others = sorted(set(nodes) - {one})
    low, high = others[: len(others) // 2], others[len(others) // 2 :]
    return one_way(nodes, low, high) | one_way(nodes, high, low)


def ring_of_majorities(nodes: Nodes) -> Links:
    """Each node talks to a majority around it on a ring, and no two to the same one."""
    ring = sorted(set(nodes))
    if len(ring) < 4:
        raise ValueError(f"a ring of majorities needs at least 4 nodes, not {len(ring)}")
    # A majority is n // 2 others and oneself; half of the others on each side, rounded up.
    reach = (len(ring) // 2 + 1) // 2
    near = [
        (node, ring[(at + step) % len(ring)])
        for at, node in enumerate(ring)
        for step in range(1, reach + 1)
    ]
    return graph(nodes, near)


def overlap(nodes: Nodes, *groups: Nodes) -> Links:
    """Components that may share nodes; who is in no component is alone."""
    _known(nodes, *groups)
    return graph(nodes, [(i, j) for group in groups for i, j in combinations(sorted(group), 2)])


def graph(nodes: Nodes, edges: Iterable[Link]) -> Links:
    """Only these undirected edges stay."""
    stay = {(i, j) for a, b in edges for i, j in ((a, b), (b, a))}
    _known(nodes, {i for i, _ in stay})
    loops = sorted({i for i, j in stay if i == j})
    if loops:
        raise ValueError(f"an edge from a node to itself: {_names(loops)}")
    return _all_links(nodes) - stay


def _all_links(nodes: Nodes) -> Links:
    return frozenset((i, j) for i in nodes for j in nodes if i != j)


def _known(nodes: Nodes, *named: Nodes) -> None:
    unknown = {node for group in named for node in group} - set(nodes)
    if unknown:
        raise ValueError(f"not in this run: {_names(sorted(unknown))}")


def _names(nodes: Iterable[int]) -> str:
    return ", ".join(f"node {node}" for node in nodes)

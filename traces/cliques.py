"""Cliques of a small graph: the maximal ones, and a minimum clique cover with its certificate.

S00: a clique cover is a partition of a graph's nodes into cliques, and to find a minimum one is
NP-complete. Rules:

- The search is exact, and spends a budget of steps, not of time: the same graph gets the same
  answer on any machine. Out of budget it says so, with the best bounds it has.
- A cover is an upper bound by itself. The lower bound is shown by an independent set (each of
  its nodes needs a clique of its own, S00) or, where the largest one is smaller than the cover,
  by exhaustive search: the ring of five needs 3 cliques and has no 3 independent nodes.
- The cover is found as a colouring of the complement, branch and bound, the node with the fewest
  cliques left to join first (DSATUR). The independent nodes open the first cliques.

Limits: about half of all graphs of sixty nodes outrun the default budget, some two seconds; those
of forty do not. More than `MOST` maximal cliques are not enumerated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

BUDGET = 40_000
"""Steps of a search for a minimum clique cover."""
MOST = 10_000
"""Maximal cliques that are enumerated."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Undirected: nodes in order, and edges (i, j) with i < j."""

    nodes: tuple[int, ...]
    edges: frozenset[tuple[int, int]]

    def joined(self, i: int, j: int) -> bool:
        """Whether i and j are neighbours."""
        return ((i, j) if i < j else (j, i)) in self.edges

    def neighbours(self) -> dict[int, set[int]]:
        """The neighbours of every node."""
        found: dict[int, set[int]] = {node: set() for node in self.nodes}
        for i, j in self.edges:
            found[i].add(j)
            found[j].add(i)
        return found

    def components(self) -> dict[int, int]:
        """For every node the least node it reaches: equal for i and j iff (i, j) is in E*."""
        beside, found = self.neighbours(), dict[int, int]()
        for root in self.nodes:
            reached = [] if root in found else [root]
            for node in reached:  # which grows
                if node not in found:
                    found[node] = root
                    reached += beside[node]
        return found


@dataclass(frozen=True, slots=True)
class Cover:
    """The best cover found, the largest independent set found, and what shows the lower bound."""

    cliques: tuple[tuple[int, ...], ...]
    independent: tuple[int, ...]
    shown_by: Literal["independent set", "exhaustive search", "nothing"]

    @property
    def decided(self) -> bool:
        """Whether the cover is known to be a minimum one."""
        return self.shown_by != "nothing"

    @property
    def upper(self) -> int:
        """No minimum cover is larger."""
        return len(self.cliques)

    @property
    def lower(self) -> int:
        """No cover is smaller."""
        return self.upper if self.decided else len(self.independent)


class _Spent(Exception):  # noqa: N818 - it says what happened to the budget
    """The budget ran out."""


@lru_cache(maxsize=512)
def minimum_clique_cover(graph: Graph, budget: int = BUDGET) -> Cover:
    """A minimum clique cover, or what is known of it when the budget is spent."""
    search = _Search(graph, budget)
    finished = False
    try:
        search.grow_independent(0, search.all)
        search.open_cliques()
        finished = True
    except _Spent:
        pass
    cliques = tuple(sorted(search.names(clique) for clique in search.cover))
    independent = search.names(search.independent)
    if len(cliques) == len(independent):
        return Cover(cliques, independent, "independent set")
    return Cover(cliques, independent, "exhaustive search" if finished else "nothing")


class _Search:
    """Branch and bound over sets of nodes, which are the bits of an integer."""

    def __init__(self, graph: Graph, budget: int) -> None:
        self.graph, self.budget = graph, budget
        place = {node: k for k, node in enumerate(graph.nodes)}
        self.beside = [sum(1 << place[j] for j in joined) for joined in graph.neighbours().values()]
        self.all = (1 << len(graph.nodes)) - 1
        self.cover = self._greedy(self.all)
        self.independent = 0

    def names(self, nodes: int) -> tuple[int, ...]:
        """The nodes of a set."""
        return tuple(self.graph.nodes[k] for k in _bits(nodes))

    def _spend(self) -> None:
        if self.budget <= 0:
            raise _Spent
        self.budget -= 1

    def _greedy(self, left: int) -> list[int]:
        """Some clique cover of these nodes: none of their independent sets is larger."""
        cliques = []
        while left:
            clique, may_join = 0, left
            while may_join:
                node = may_join & -may_join
                clique |= node
                may_join &= self.beside[node.bit_length() - 1]
            cliques.append(clique)
            left &= ~clique
        return cliques

    def grow_independent(self, chosen: int, left: int) -> None:
        """Find a largest independent set: these, and the best of what is left."""
        if chosen.bit_count() > self.independent.bit_count():
            self.independent = chosen
        while left:
            most = chosen.bit_count() + len(self._greedy(left))
            if most <= self.independent.bit_count():
                return
            self._spend()
            # A node with few neighbours spoils the least.
            k = min(_bits(left), key=lambda k: (self.beside[k] & left).bit_count())
            left &= ~(1 << k)
            self.grow_independent(chosen | 1 << k, left & ~self.beside[k])

    def open_cliques(self) -> None:
        """Find a minimum cover. Independent nodes are in different cliques of any cover."""
        cliques = [1 << k for k in _bits(self.independent)]
        self._put(cliques, self.all & ~self.independent)

    def _put(self, cliques: list[int], left: int) -> None:
        """Put every node that is left into a clique, in all ways that may beat the best cover."""
        if len(cliques) >= len(self.cover):
            return
        if not left:
            self.cover = list(cliques)
            return
        self._spend()
        k, fitting = -1, [0] * (len(cliques) + 1)
        for node in _bits(left):
            fits = [at for at, it in enumerate(cliques) if not it & ~self.beside[node]]
            if len(fits) < len(fitting):
                k, fitting = node, fits
        for at in fitting:
            cliques[at] |= 1 << k
            self._put(cliques, left & ~(1 << k))
            cliques[at] &= ~(1 << k)
        cliques.append(1 << k)
        self._put(cliques, left & ~(1 << k))
        cliques.pop()


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        low = nodes & -nodes
        yield low.bit_length() - 1
        nodes ^= low


@lru_cache(maxsize=512)
def maximal_cliques(graph: Graph, most: int = MOST) -> tuple[tuple[int, ...], ...] | None:
    """Every clique that is in no larger one, in order; None if there are more than `most`."""
    beside, found = graph.neighbours(), list[tuple[int, ...]]()

    def expand(clique: set[int], may_join: set[int], seen: set[int]) -> None:
        # Bron and Kerbosch 1973, with a pivot: a maximal clique has the pivot or a node that is
        # no neighbour of it.
        if not may_join and not seen:
            found.append(tuple(sorted(clique)))
            if len(found) > most:
                raise _Spent
        if not may_join:
            return
        pivot = max(may_join | seen, key=lambda node: len(beside[node] & may_join))
        for node in sorted(may_join - beside[pivot]):
            expand(clique | {node}, may_join & beside[node], seen & beside[node])
            may_join = may_join - {node}
            seen = seen | {node}

    try:
        if graph.nodes:
            expand(set(), set(graph.nodes), set())
    except _Spent:
        return None
    return tuple(sorted(found))

"""Cliques: minimum covers with their certificates and maximal cliques, against brute force."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest

from tests.oracle_groups import fewest_cliques, largest_cliques
from traces.cliques import Cover, Graph, maximal_cliques, minimum_clique_cover

RING_OF_FIVE = frozenset(((1, 2), (2, 3), (3, 4), (4, 5), (1, 5)))


def graphs(nodes: int) -> Iterator[Graph]:
    """All graphs of so many nodes."""
    pairs = list(combinations(range(1, nodes + 1), 2))
    for chosen in range(1 << len(pairs)):
        edges = frozenset(pair for k, pair in enumerate(pairs) if chosen >> k & 1)
        yield Graph(tuple(range(1, nodes + 1)), edges)


def some_graph(rng: Random, nodes: int) -> Graph:
    density = rng.random()
    pairs = combinations(range(1, nodes + 1), 2)
    edges = frozenset(pair for pair in pairs if rng.random() < density)
    return Graph(tuple(range(1, nodes + 1)), edges)


def assert_certified(graph: Graph, cover: Cover) -> None:
    """The certificate is one: a partition into cliques, and nodes that are independent."""
    assert sorted(node for clique in cover.cliques for node in clique) == list(graph.nodes)
    assert all(graph.joined(i, j) for c in cover.cliques for i, j in combinations(c, 2))
    assert not any(graph.joined(i, j) for i, j in combinations(cover.independent, 2))
    assert cover.lower <= cover.upper
    if cover.shown_by == "independent set":
        assert len(cover.independent) == cover.upper


@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 4, 5])
def test_the_cover_of_every_small_graph_is_a_minimum_one(nodes: int) -> None:
    for graph in graphs(nodes):
        cover = minimum_clique_cover(graph)
        assert cover.decided
        assert cover.upper == cover.lower == fewest_cliques(graph.nodes, graph.edges)
        assert_certified(graph, cover)


def test_the_cover_of_random_graphs_of_six_and_seven_nodes_is_a_minimum_one() -> None:
    rng, searched = Random(1), 0
    for _ in range(250):
        graph = some_graph(rng, rng.choice((6, 7)))
        cover = minimum_clique_cover(graph)
        assert cover.upper == fewest_cliques(graph.nodes, graph.edges)
        assert_certified(graph, cover)
        searched += cover.shown_by == "exhaustive search"
    assert searched


def test_the_independent_set_is_a_largest_one() -> None:
    rng = Random(2)
    for _ in range(200):
        graph = some_graph(rng, 7)
        sizes = [
            size
            for size in range(8)
            for some in combinations(graph.nodes, size)
            if not any(graph.joined(i, j) for i, j in combinations(some, 2))
        ]
        assert len(minimum_clique_cover(graph).independent) == max(sizes)


def test_the_ring_of_five_needs_three_cliques_and_only_a_search_shows_it() -> None:
    cover = minimum_clique_cover(Graph((1, 2, 3, 4, 5), RING_OF_FIVE))
    assert (cover.upper, cover.lower, len(cover.independent)) == (3, 3, 2)
    assert cover.shown_by == "exhaustive search"


def test_a_path_of_three_needs_two_cliques_since_its_ends_are_independent() -> None:
    cover = minimum_clique_cover(Graph((1, 2, 3), frozenset(((1, 2), (2, 3)))))
    assert cover.independent == (1, 3)
    assert cover.shown_by == "independent set"
    assert cover.upper == 2


def test_out_of_budget_the_bounds_that_are_known_are_told() -> None:
    graph = Graph((1, 2, 3, 4, 5), RING_OF_FIVE)
    nothing_spent = minimum_clique_cover(graph, budget=0)
    assert not nothing_spent.decided
    assert_certified(graph, nothing_spent)
    some_spent = minimum_clique_cover(graph, budget=3)  # enough for the independent set
    assert (some_spent.lower, some_spent.upper, some_spent.decided) == (2, 3, False)


def test_the_bounds_hold_at_any_budget() -> None:
    rng, cut_short = Random(3), 0
    for _ in range(100):
        graph = some_graph(rng, 7)
        exact = fewest_cliques(graph.nodes, graph.edges)
        for budget in range(0, 30, 3):
            cover = minimum_clique_cover(graph, budget)
            assert cover.lower <= exact <= cover.upper
            assert_certified(graph, cover)
            cut_short += not cover.decided
    assert cut_short


def test_graphs_of_twenty_nodes_are_within_the_budget() -> None:
    rng = Random(4)
    for _ in range(20):
        assert minimum_clique_cover(some_graph(rng, 20)).decided


@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 4, 5])
def test_the_maximal_cliques_of_every_small_graph_are_all_of_them(nodes: int) -> None:
    for graph in graphs(nodes):
        assert maximal_cliques(graph) == tuple(largest_cliques(graph.nodes, graph.edges))


def test_the_maximal_cliques_of_random_graphs_are_all_of_them() -> None:
    rng = Random(5)
    for _ in range(100):
        graph = some_graph(rng, 7)
        assert maximal_cliques(graph) == tuple(largest_cliques(graph.nodes, graph.edges))


def test_too_many_maximal_cliques_are_not_enumerated() -> None:
    apart = Graph((1, 2, 3, 4), frozenset())
    assert maximal_cliques(apart, most=3) is None
    assert maximal_cliques(apart, most=4) == ((1,), (2,), (3,), (4,))


def test_nodes_of_one_component_reach_each_other_and_no_others() -> None:
    graph = Graph((1, 2, 3, 4, 5), frozenset(((1, 2), (2, 5), (3, 4))))
    assert graph.components() == {1: 1, 2: 1, 5: 1, 3: 3, 4: 3}

from collections.abc import Callable
from itertools import permutations

import pytest

from harness import partitions
from harness.rules import Link

FIVE = range(1, 6)


def both_ways(*pairs: Link) -> set[Link]:
    return {link for a, b in pairs for link in ((a, b), (b, a))}


def heard_by(nodes: range, cut: frozenset[Link], node: int) -> set[int]:
    return {other for other in nodes if (other, node) not in cut}


def test_a_complete_split_cuts_every_link_between_groups_and_none_within() -> None:
    cut = partitions.split(FIVE, {1, 2}, {3}, {4, 5})
    side = {1: "a", 2: "a", 3: "b", 4: "c", 5: "c"}
    assert cut == {(i, j) for i, j in permutations(FIVE, 2) if side[i] != side[j]}


def test_nodes_that_no_group_names_stay_together() -> None:
    assert partitions.split(FIVE, {1, 2}) == partitions.split(FIVE, {1, 2}, {3, 4, 5})


def test_a_node_cannot_be_on_two_sides_of_a_split() -> None:
    with pytest.raises(ValueError, match="in more than one group: node 2, node 3"):
        partitions.split(FIVE, {1, 2, 3}, {2, 3, 4})


def test_one_way_leaves_the_way_back_open() -> None:
    assert partitions.one_way(FIVE, {1, 2}, {3}) == {(1, 3), (2, 3)}


def test_one_way_from_everybody_cuts_all_links_into_a_node() -> None:
    assert partitions.one_way(FIVE, FIVE, {3}) == {(1, 3), (2, 3), (4, 3), (5, 3)}


def test_an_isolated_node_neither_hears_nor_is_heard() -> None:
    assert partitions.isolate(FIVE, 5) == both_ways((5, 1), (5, 2), (5, 3), (5, 4))


def test_a_bridge_is_all_that_two_halves_share() -> None:
    assert partitions.bridge(FIVE, 3) == both_ways((1, 4), (1, 5), (2, 4), (2, 5))


@pytest.mark.parametrize("count", range(4, 14))
def test_in_a_ring_of_majorities_all_see_a_majority_and_no_two_the_same(count: int) -> None:
    nodes = range(1, count + 1)
    cut = partitions.ring_of_majorities(nodes)
    seen = [frozenset(heard_by(nodes, cut, node)) for node in nodes]
    assert all(len(group) > count / 2 for group in seen)
    assert len(set(seen)) == count
    assert cut == {(j, i) for i, j in cut}


def test_five_nodes_on_a_ring_of_majorities_see_their_two_neighbours() -> None:
    cut = partitions.ring_of_majorities(FIVE)
    assert heard_by(FIVE, cut, 1) == {5, 1, 2}
    assert heard_by(FIVE, cut, 3) == {2, 3, 4}


def test_three_nodes_make_no_ring_of_majorities() -> None:
    with pytest.raises(ValueError, match="at least 4 nodes, not 3"):
        partitions.ring_of_majorities(range(1, 4))


def test_of_a_graph_only_the_edges_stay_both_ways() -> None:
    chain = [(1, 2), (2, 3), (3, 4), (4, 5)]
    assert partitions.graph(FIVE, chain) == set(permutations(FIVE, 2)) - both_ways(*chain)


def test_components_that_overlap_share_their_nodes_and_nothing_else() -> None:
    cut = partitions.overlap(FIVE, {1, 2, 3}, {3, 4})
    assert heard_by(FIVE, cut, 1) == {1, 2, 3}
    assert heard_by(FIVE, cut, 3) == {1, 2, 3, 4}
    assert heard_by(FIVE, cut, 4) == {3, 4}
    assert heard_by(FIVE, cut, 5) == {5}
    assert cut == {(j, i) for i, j in cut}


def test_an_edge_from_a_node_to_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="to itself: node 2"):
        partitions.graph(FIVE, [(1, 2), (2, 2)])


@pytest.mark.parametrize(
    "cut",
    [
        lambda: partitions.overlap(FIVE, {1, 9}, {8}),
        lambda: partitions.split(FIVE, {1, 9}, {2, 8}),
        lambda: partitions.one_way(FIVE, {9}, {8}),
        lambda: partitions.graph(FIVE, [(1, 8), (9, 2)]),
    ],
)
def test_unknown_nodes_are_named(cut: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="not in this run: node 8, node 9"):
        cut()


@pytest.mark.parametrize("cut", [partitions.isolate, partitions.bridge])
def test_an_unknown_node_is_named(cut: Callable[[range, int], object]) -> None:
    with pytest.raises(ValueError, match="not in this run: node 6"):
        cut(FIVE, 6)

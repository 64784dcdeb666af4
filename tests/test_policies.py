"""Policies of vote reassignment: the numbers of BGS86, its theorem by brute force, properties."""

from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.policies import (
    STRATEGIES,
    Part,
    Strategy,
    Wish,
    alliance,
    catch_up,
    consensus,
    excluded_from,
    given_back,
    hit,
    initial_votes,
    noted,
    overthrow,
    reset,
    share,
    supplanter,
    taken,
    wanted,
)

A, B, C, D = 1, 2, 3, 4
ALL = (A, B, C, D)
FIGURE_1 = {A: 1, B: 1, C: 1, D: 2}
SECTION_4_3 = {A: 6, B: 5, C: 5, D: 5}
PARTS: tuple[Part, ...] = get_args(Part)
TWICE = STRATEGIES["alliance-2v-catch-up"]
DECREASING = [name for name, one in STRATEGIES.items() if one.balance == "decrease"]
RING_OF_FIVE = [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)]

some_votes = st.lists(st.integers(0, 9), min_size=2, max_size=6).map(
    lambda values: dict(enumerate(values, 1))
)


class Net:
    """Nodes that know all votes and get what they want at once, as in BGS86 5.1."""

    def __init__(self, name: str, votes: Mapping[int, int], token: int | None = None) -> None:
        self.strategy, self.token, self.votes = STRATEGIES[name], token, dict(votes)
        self.active = tuple(votes)
        self.last = dict.fromkeys(votes, self.active)
        self.tables: dict[int, Mapping[int, int]] = {i: {} for i in votes}

    def regroup(self, *now: int) -> dict[int, int]:
        wishes = {i: self.wish(i, now) for i in self.votes}
        self.votes = {i: wish.votes for i, wish in wishes.items()}
        self.tables = {i: wish.table for i, wish in wishes.items()}
        self.active = now
        self.last |= dict.fromkeys(now, now)
        return self.votes

    def wish(self, i: int, now: tuple[int, ...]) -> Wish:
        return wanted(
            self.strategy, i, self.votes, self.last[i], now, self.tables[i],
            returned=i not in self.active, token=self.token,
        )  # fmt: skip


def majority(group: Iterable[int], votes: Mapping[int, int]) -> bool:
    return 2 * sum(votes[i] for i in group) > sum(votes.values())


# The examples of the paper.


def test_three_nodes_that_lose_the_one_with_two_votes_have_five_each() -> None:
    net = Net("alliance-2v-catch-up", FIGURE_1)
    assert not majority((A, B), net.votes)
    votes = net.regroup(A, B, C)
    assert votes == {A: 5, B: 5, C: 5, D: 2}
    assert (votes[A] + votes[B], sum(votes.values())) == (10, 17)
    assert majority((A, B), votes)


def test_two_nodes_of_three_go_on_with_fifteen_and_five_so_that_one_alone_has_a_majority() -> None:
    net = Net("alliance-2v-catch-up", FIGURE_1)
    net.regroup(A, B, C)
    assert net.regroup(A, B) == {A: 15, B: 5, C: 5, D: 2}
    assert majority((A,), net.votes)


@pytest.mark.parametrize(
    ("name", "b", "c", "d"),
    [
        ("overthrow-ranking-decrease", 17, 5, 5),
        ("overthrow-token-decrease", 17, 5, 5),
        ("alliance-2v-catch-up", 17, 17, 17),
        ("alliance-2v-decrease", 17, 17, 17),
        ("alliance-v-catch-up", 11, 11, 11),
        ("alliance-v-decrease", 11, 11, 11),
        ("alliance-2v-over-n-decrease", 9, 9, 9),
        ("group-consensus", 1, 1, 1),
        ("static", 5, 5, 5),
    ],
)
def test_each_strategy_has_its_own_votes_for_the_example(name: str, b: int, c: int, d: int) -> None:
    excluded_has = 0 if name == "group-consensus" else 6
    votes = Net(name, SECTION_4_3, token=B).regroup(B, C, D)
    assert votes == {A: excluded_has, B: b, C: c, D: d}


def test_a_node_that_returns_catches_up_to_fifty_two() -> None:
    votes = {A: 6, B: 17, C: 17, D: 17}
    votes |= {i: votes[i] + share(votes[B], 2, "2v") for i in (C, D)}
    assert votes == {A: 6, B: 17, C: 51, D: 51}
    assert catch_up(A, votes, ALL, (A, C, D), "2v") == 46
    assert wanted(TWICE, A, votes, ALL, (A, C, D), {}, returned=True) == Wish(52, {})


def test_the_example_of_catching_up_step_by_step_but_for_the_rule_of_two_nodes() -> None:
    net = Net("alliance-2v-catch-up", SECTION_4_3)
    net.regroup(B, C, D)
    assert net.regroup(C, D) == {A: 6, B: 17, C: 51, D: 17}  # D: 51 in BGS86 4.4.1
    assert net.regroup(A, C, D) == {A: 52, B: 17, C: 51, D: 17}


def test_the_nine_strategies_are_those_of_the_simulation() -> None:
    assert len(STRATEGIES) == len(set(STRATEGIES.values())) == 9
    balance = [one.balance for one in STRATEGIES.values()]
    assert balance == ["catch-up"] * 2 + ["decrease"] * 5 + ["none"] * 2
    assert [one.part for one in STRATEGIES.values()][:5] == ["2v", "v", "2v/N", "2v", "v"]


# Overthrow.


def failures_of_the_theorem(votes: Mapping[int, int], x: int, a: int, less: int) -> int:
    """Majority groups that used x and cannot be formed with a, which took `less` than it could."""
    rest = [i for i in votes if i != x]
    new = {**votes, a: votes[a] + overthrow(a, votes[x], rest, "token", token=a) - less}
    used_x = [{x, *some} for size in range(len(rest) + 1) for some in combinations(rest, size)]
    return sum(majority(g, votes) and not majority((g | {a}) - {x}, new) for g in used_x)


def test_every_majority_group_that_used_a_node_can_be_formed_with_its_supplanter() -> None:
    tried = short = 0
    for nodes, most in ((2, 6), (3, 5), (4, 3)):
        for values in product(range(most + 1), repeat=nodes):
            votes = dict(enumerate(values, 1))
            for x, a in product(votes, repeat=2):
                if x != a:
                    assert not failures_of_the_theorem(votes, x, a, less=0), (votes, x, a)
                    short += failures_of_the_theorem(votes, x, a, less=1)
                    tried += 1
    assert tried > 4_000
    assert short  # one vote less than 2 v_x is not enough


def test_one_node_only_supplants_and_it_is_the_lowest_or_the_holder_of_the_token() -> None:
    assert [overthrow(i, 6, (D, B, C), "ranking") for i in ALL] == [0, 12, 0, 0]
    assert [overthrow(i, 6, (D, B, C), "ranking", token=D) for i in ALL] == [0, 12, 0, 0]
    assert [overthrow(i, 6, (D, B, C), "token", token=D) for i in ALL] == [0, 0, 0, 12]


def test_no_node_supplants_while_the_token_is_elsewhere() -> None:
    assert supplanter((B, C, D), "token", token=A) is None
    assert supplanter((B, C, D), "token") is None
    assert supplanter((), "ranking") is None
    net = Net("overthrow-token-decrease", SECTION_4_3, token=A)
    assert net.regroup(B, C, D) == SECTION_4_3


# Alliance.


@pytest.mark.parametrize("part", PARTS)
def test_of_two_nodes_left_only_the_first_takes_votes_and_it_takes_them_twice(part: Part) -> None:
    assert [alliance(i, 7, (D, B), part) for i in ALL] == [0, 14, 0, 0]


@pytest.mark.parametrize("part", PARTS)
def test_the_last_node_takes_the_votes_twice(part: Part) -> None:
    assert [alliance(i, 7, (C,), part) for i in ALL] == [0, 0, 14, 0]


@given(v=st.integers(0, 50), left=st.integers(1, 9), part=st.sampled_from(PARTS))
def test_an_alliance_gives_out_at_least_twice_the_votes(v: int, left: int, part: Part) -> None:
    active = range(1, left + 1)
    given_out = sum(alliance(i, v, active, part) for i in active)
    assert given_out >= 2 * v
    if part == "2v/N":
        assert given_out < 2 * v + left


@given(votes=some_votes, data=st.data(), name=st.sampled_from(list(STRATEGIES)))
def test_two_nodes_that_go_at_once_are_worth_what_each_is_worth(
    votes: dict[int, int], data: st.DataObject, name: str
) -> None:
    active = data.draw(st.sets(st.sampled_from(list(votes)), min_size=1))
    gone, strategy = excluded_from(votes, active), STRATEGIES[name]
    for i in active:
        one_by_one = [taken(strategy, i, votes, [x], active, token=1) for x in gone]
        expected = {x: n for one in one_by_one for x, n in one.items()}
        assert taken(strategy, i, votes, gone, active, token=1) == expected
        if strategy.rule in ("alliance", "overthrow"):
            wish = wanted(strategy, i, votes, list(votes), active, {}, token=1)
            assert wish.votes == votes[i] + sum(expected.values())


def test_two_nodes_excluded_at_once_are_rounded_up_one_by_one() -> None:
    strategy = STRATEGIES["alliance-2v-over-n-decrease"]
    votes = {1: 1, 2: 2, 3: 1, 4: 1, 5: 1}
    assert taken(strategy, 3, votes, (1, 2), (3, 4, 5)) == {1: 1, 2: 2}
    assert wanted(strategy, 3, votes, votes, (3, 4, 5), {}) == Wish(4, {1: 1, 2: 2})


def test_a_table_has_no_line_for_a_node_that_nothing_was_taken_for() -> None:
    strategy = STRATEGIES["overthrow-ranking-decrease"]
    assert taken(strategy, B, {**SECTION_4_3, A: 0}, (A,), (B, C, D)) == {}
    assert wanted(strategy, C, SECTION_4_3, ALL, (B, C, D), {}) == Wish(5, {})


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "group-consensus"])
def test_a_node_outside_the_active_group_keeps_its_votes_and_its_table(name: str) -> None:
    wish = wanted(STRATEGIES[name], D, SECTION_4_3, ALL, (A, B), {A: 2, C: 3}, token=D)
    assert wish == Wish(5, {A: 2, C: 3})


# Balance of power.


@given(
    votes=st.lists(st.integers(0, 9), min_size=4, max_size=6),
    name=st.sampled_from(["alliance-2v-catch-up", "alliance-v-catch-up"]),
    data=st.data(),
)
def test_a_node_that_catches_up_is_as_far_from_the_others_as_it_was(
    votes: list[int], name: str, data: st.DataObject
) -> None:
    net = Net(name, dict(enumerate(votes)))
    x = data.draw(st.sampled_from(range(len(votes))))
    net.regroup(*(i for i in net.votes if i != x))
    after = net.regroup(*range(len(votes)))
    factor = 2 if net.strategy.part == "2v" else 1
    assert after == {i: v + factor * votes[x] for i, v in enumerate(votes)}


def test_a_node_catches_up_with_as_many_votes_as_any_other_took() -> None:
    votes = {A: 3, B: 1, C: 1, D: 1}
    assert catch_up(A, votes, ALL, ALL, "v") == 3  # three were left, with 3 each
    assert catch_up(A, votes, (A, B, C), ALL, "v") == 6  # two were left: one took 6
    assert catch_up(A, votes, (A, B), ALL, "v") == 6
    assert catch_up(A, votes, (A,), ALL, "v") == 0  # nobody was left


def test_a_node_that_catches_up_takes_for_the_missing_as_if_it_had_been_there() -> None:
    votes = {1: 1, 2: 4, 3: 5, 4: 1, 5: 1}
    assert catch_up(1, votes, votes, (1, 4, 5), "v") == 1 + 4 + 5
    assert catch_up(1, votes, votes, (1, 5), "v") == 1 + 8 + 10 + 2
    assert catch_up(5, votes, votes, (1, 5), "v") == 1  # of two nodes the first takes them


def test_nodes_that_stayed_neither_catch_up_nor_give_back_when_one_catches_up() -> None:
    net = Net("alliance-2v-catch-up", SECTION_4_3)
    stayed = {i: net.regroup(B, C, D)[i] for i in (B, C, D)}
    assert net.regroup(*ALL) == {A: 18, **stayed}


def test_a_node_that_returns_takes_nothing_under_decrease_for_those_who_left_meanwhile() -> None:
    net = Net("alliance-2v-decrease", {1: 1, 2: 1, 3: 1, 4: 1, 5: 1})
    net.regroup(2, 3, 4, 5)
    net.regroup(3, 4, 5)
    assert net.regroup(1, 3, 4, 5) == {1: 1, 2: 3, 3: 7, 4: 7, 5: 7}
    assert net.tables == {1: {}, 2: {1: 2}, 3: {2: 6}, 4: {2: 6}, 5: {2: 6}}


@pytest.mark.parametrize("rule", ["overthrow", "static", "consensus"])
def test_nobody_catches_up_but_to_an_alliance(rule: str) -> None:
    with pytest.raises(ValueError, match="alliances only"):
        Strategy(rule, balance="catch-up")  # type: ignore[arg-type]


def test_a_node_gives_back_exactly_what_it_took_and_for_those_who_are_back_only() -> None:
    table = {A: 12, B: 34}
    assert given_back(table, (A, C, D)) == (12, {B: 34})
    assert given_back(table, (C, D)) == (0, table)
    assert given_back(table, ALL) == (46, {})
    assert table == {A: 12, B: 34}


def test_what_is_taken_on_is_noted_beside_what_was() -> None:
    table = {A: 12}
    assert noted(table, {B: 34, A: 1}) == {A: 13, B: 34}
    assert table == {A: 12}


def test_a_node_gives_back_what_it_took_though_the_votes_of_the_other_have_changed() -> None:
    net = Net("alliance-2v-decrease", SECTION_4_3)
    net.regroup(B, C, D)
    net.votes[A] = 60
    assert net.regroup(*ALL) == {**SECTION_4_3, A: 60}


def test_a_node_may_give_back_first_and_then_ask_for_more() -> None:
    strategy, votes, table = STRATEGIES["alliance-v-decrease"], {**SECTION_4_3, B: 11}, {A: 6}
    last, now = (B, C, D), (A, B, D)
    at_once = wanted(strategy, B, votes, last, now, table)
    back, kept = given_back(table, now)
    in_steps = wanted(strategy, B, {**votes, B: votes[B] - back}, last, now, kept)
    assert at_once == in_steps == Wish(10, {C: 5})


@given(votes=some_votes, data=st.data(), name=st.sampled_from(DECREASING))
def test_once_all_are_back_under_decrease_the_votes_are_as_they_were(
    votes: dict[int, int], data: st.DataObject, name: str
) -> None:
    net = Net(name, votes, token=data.draw(st.sampled_from(list(votes))))
    groups = st.sets(st.sampled_from(list(votes)), min_size=1)
    for now in data.draw(st.lists(groups, max_size=6)):
        net.regroup(*now)
        beyond = {i: net.votes[i] - sum(net.tables[i].values()) for i in votes}
        assert beyond == votes
    assert net.regroup(*votes) == votes
    assert not any(net.tables.values())


@pytest.mark.parametrize("name", DECREASING)
def test_under_decrease_votes_do_change_while_a_node_is_away(name: str) -> None:
    assert Net(name, SECTION_4_3, token=C).regroup(B, C, D) != SECTION_4_3


# Initial votes, group consensus, threshold.


def test_a_node_starts_with_a_vote_for_each_link_and_the_best_connected_with_one_more() -> None:
    assert initial_votes(range(1, 6), RING_OF_FIVE) == {1: 3, 2: 2, 3: 2, 4: 2, 5: 2}
    assert initial_votes(range(1, 6), [*RING_OF_FIVE, (2, 4), (2, 5)]) == {
        1: 2, 2: 5, 3: 2, 4: 3, 5: 3,
    }  # fmt: skip
    assert initial_votes((3, 2, 1)) == {1: 1, 2: 1, 3: 1}
    assert initial_votes((4, 3, 2, 1)) == {1: 2, 2: 1, 3: 1, 4: 1}
    assert initial_votes((), RING_OF_FIVE) == {}


def test_consensus_gives_votes_to_the_active_group_only_and_for_the_links_within_it() -> None:
    nodes = (1, 2, 3, 4, 5)
    assert consensus(nodes, (5, 4, 3), RING_OF_FIVE) == {1: 0, 2: 0, 3: 1, 4: 3, 5: 1}
    assert consensus(nodes, (3, 4, 5)) == {1: 0, 2: 0, 3: 1, 4: 1, 5: 1}
    assert consensus(nodes, (3, 4)) == {1: 0, 2: 0, 3: 2, 4: 1, 5: 0}
    assert consensus(nodes, (5,), RING_OF_FIVE) == {1: 0, 2: 0, 3: 0, 4: 0, 5: 1}


@given(
    active=st.sets(st.integers(1, 6), min_size=1),
    links=st.none() | st.sets(st.sampled_from(list(combinations(range(1, 7), 2)))),
)
def test_consensus_leaves_an_odd_number_of_votes_and_each_node_wants_its_own(
    active: set[int], links: set[tuple[int, int]] | None
) -> None:
    votes = dict.fromkeys(range(1, 7), 9)
    decided = consensus(votes, active, links)
    assert sum(decided.values()) % 2 == 1
    assert sum(decided[i] for i in active) == sum(decided.values())
    strategy = STRATEGIES["group-consensus"]
    wishes = {i: wanted(strategy, i, votes, list(votes), active, {}, links=links) for i in votes}
    assert {i: wish.votes for i, wish in wishes.items()} == decided


def test_a_threshold_is_hit_by_one_node_that_reaches_it() -> None:
    assert hit({A: 6, B: 17}, 17)
    assert not hit({A: 6, B: 16}, 17)


def test_votes_go_back_to_what_they_were_once_the_threshold_is_hit_and_all_are_there() -> None:
    votes = {A: 52, B: 17, C: 51, D: 51}
    assert reset(votes, SECTION_4_3, ALL, threshold=52) == SECTION_4_3
    assert reset(votes, SECTION_4_3, ALL, threshold=53) == votes
    assert reset(votes, SECTION_4_3, (A, C, D), threshold=52) == votes


@given(votes=some_votes, data=st.data())
def test_static_votes_never_change(votes: dict[int, int], data: st.DataObject) -> None:
    net = Net("static", votes)
    for now in data.draw(st.lists(st.sets(st.sampled_from(list(votes))), max_size=4)):
        assert net.regroup(*now) == votes

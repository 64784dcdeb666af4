"""GM82-4 and S00-4': what is demanded, from when on, and the words a verdict is given in."""

import msgspec
import pytest

from tests.build import MS, TIMING, Trace, info
from traces.assertions import cover_in_words
from traces.cliques import BUDGET, Graph, minimum_clique_cover
from traces.events import Started
from traces.groups import merge_bound_ns
from traces.judge import judge
from traces.properties import ASYNCHRONOUS
from traces.verdicts import Verdict

C = TIMING.merges_ms(3)
PATH = ((1, 3), (3, 1))
"""What is cut where only 1-2 and 2-3 stay (S00, Figure 1)."""


def verdicts(t: Trace, budget: int = BUDGET) -> dict[str, Verdict]:
    if not t.history().closed:
        t.wait(1)
        t.close()
    about = msgspec.structs.replace(info(t.nodes), properties=ASYNCHRONOUS, budget=budget)
    return {verdict.id: verdict for verdict in judge(t.events, about)}


def results(t: Trace) -> tuple[str, str, str]:
    """GM82-4, S00-4'a, S00-4'b."""
    found = verdicts(t)
    return found["GM82-4"].result, found["S00-4'a"].result, found["S00-4'b"].result


def started(nodes: int = 3) -> Trace:
    t = Trace(nodes)
    t.start(*range(1, nodes + 1))
    return t


def one_group() -> Trace:
    t = started()
    t.group(3, 1, 2, 3, g="3.1")
    return t


def path() -> Trace:
    """S00: nodes 1 and 2 are a group, node 3 is alone, and 1 and 3 cannot reach each other."""
    t = started()
    t.cut(1, *PATH)
    t.group(1, 1, 2, g="1.2")
    t.group(3, 3, g="3.1")
    t.wait(C + 100)
    return t


# --- what is demanded ---------------------------------------------------------------------


def test_the_bound_is_c_a_timeout_a_call_and_n_rounds() -> None:
    one_round = 50 + 2 * 50 * 2 + (3 * 3 + 1) * 30
    assert merge_bound_ns(info(3)) == (100 + 30 + 3 * one_round) * MS


def test_one_group_of_all_that_lasts_satisfies_them_all() -> None:
    t = one_group()
    t.wait(C + 100)
    assert results(t) == ("holds", "holds", "holds")


def test_s00_figure_1_breaks_assertion_4_and_keeps_assertion_4_prime() -> None:
    assert results(path()) == ("violated", "holds", "holds")


def test_a_node_that_is_not_normal_breaks_4_and_4a_but_not_4b() -> None:
    t = one_group()
    t.became(2, "Reorganization", 3, g="3.1")
    t.wait(C + 100)
    assert results(t) == ("violated", "violated", "holds")


def test_a_leader_that_is_down_is_no_leader() -> None:
    t = one_group()
    t.kill(3)
    t.wait(C + 100)
    assert results(t) == ("violated", "violated", "holds")
    assert "node 1 is Normal under 3, which is Down" in verdicts(t)["S00-4'a"].because


def test_a_leader_that_has_gone_to_another_group_is_no_leader() -> None:
    t = one_group()
    t.group(3, 3, g="3.2")
    t.wait(C + 100)
    assert results(t) == ("violated", "violated", "violated")
    because = verdicts(t)["S00-4'a"].because
    assert "node 1 is Normal under 3 in group 3.1, and node 3 is in group 3.2" in because


def test_a_leader_must_be_reachable_but_need_not_be_a_neighbour() -> None:
    t = one_group()
    t.cut(1, *PATH)
    t.wait(C + 100)
    assert results(t) == ("violated", "holds", "holds")  # 1 reaches 3 by way of 2
    t = one_group()
    t.cut(1, *PATH, (2, 3), (3, 2))
    t.wait(C + 100)
    assert results(t) == ("violated", "violated", "holds")
    assert "node 1 is Normal under 3, which it cannot reach" in verdicts(t)["S00-4'a"].because


def test_more_groups_than_a_minimum_clique_cover_break_4b_alone() -> None:
    t = started()
    t.cut(1, *PATH)
    for i in (1, 2, 3):
        t.group(i, i, g=f"{i}.1")
    t.wait(C + 100)
    assert results(t) == ("violated", "holds", "violated")


def test_nodes_without_a_group_number_are_in_no_common_group() -> None:
    t = started()
    t.normal(3, 1, 2, 3)
    t.wait(C + 100)
    assert verdicts(t)["S00-4'b"].result == "violated"


def test_assertion_4_wants_the_coordinator_of_a_set_to_be_in_it() -> None:
    t = started()
    t.rule(1, "lose", (1, 3), (2, 3))  # 3 is heard, and cannot be told
    t.group(3, 1, 2, 3, g="3.1")
    t.wait(C + 100)
    assert results(t) == ("violated", "vacuous", "vacuous")


def test_a_node_that_is_suspended_is_in_no_set_and_makes_no_period_stable() -> None:
    t = started()
    t.pause(3)
    t.group(2, 1, 2, g="2.1")
    t.wait(C + 100)
    assert results(t) == ("holds", "vacuous", "vacuous")


def test_nothing_excuses_a_violation_not_even_a_cut() -> None:
    t = started()
    t.cut(1, (2, 3), (3, 2), *PATH)
    t.drop(t.send(2, 3), 1)
    t.became(1, "Election", g="2.1")
    t.wait(C + 100)
    assert results(t) == ("violated", "violated", "violated")


# --- from when on -------------------------------------------------------------------------


def test_it_must_be_reached_c_after_the_start_of_the_interval() -> None:
    for late, expected in ((-10.0, "holds"), (10.0, "violated")):
        t = started()
        t.wait(C + late)
        t.group(3, 1, 2, 3, g="3.1")
        t.wait(100)
        assert results(t) == (expected, expected, expected)


def test_an_interval_of_exactly_c_is_long_enough() -> None:
    for ns, expected in ((0, "violated"), (-1, "vacuous")):
        t = started()
        last = max(e.at for e in t.events if isinstance(e, Started))
        t.close()
        t.events[-1].at = last + merge_bound_ns(info(3)) + ns
        assert results(t) == (expected, expected, expected)


def test_the_longest_interval_may_be_one_in_which_nothing_changed() -> None:
    t = one_group()
    t.cut(1, *PATH)
    t.wait(400)
    assert verdicts(t)["GM82-4"].examined["longest_ms"] == 401


def test_it_must_remain_so_until_the_end() -> None:
    t = one_group()
    t.wait(C + 50)
    left = t.became(2, "Election", 2, g="2.1")
    t.wait(50)
    t.group(3, 2, g="3.1")
    t.wait(50)
    assert results(t) == ("violated", "violated", "violated")
    evidence = verdicts(t)["S00-4'a"].evidence[0]
    assert evidence.at == left.at
    assert [(state.node, state.s) for state in evidence.states] == [(2, "Election")]


def test_a_flip_of_a_link_gives_it_c_once_more() -> None:
    t = started()
    t.receive(t.send(1, 2))
    t.wait(C - 50)
    t.send(1, 2)  # lost
    t.wait(C - 50)
    assert results(t)[0] == "vacuous"


def test_a_short_interval_that_got_there_counts() -> None:
    t = one_group()
    found = verdicts(t)
    assert {found[name].result for name in ("GM82-4", "S00-4'a", "S00-4'b")} == {"holds"}
    assert found["S00-4'a"].examined["longest_ms"] < C


def test_a_short_one_that_did_not_get_there_says_nothing() -> None:
    t = started()
    t.wait(C / 2)
    assert results(t) == ("vacuous", "vacuous", "vacuous")
    assert "none was as long as the bound, 1780 ms" in verdicts(t)["S00-4'b"].because


def test_a_short_one_that_began_good_says_nothing() -> None:
    t = one_group()
    t.cut(1, (1, 2))  # partially connected from here on
    t.wait(5)
    t.became(2, "Election", 3, g="3.1")
    t.mend(1, (1, 2))
    t.group(3, 2, g="3.1")
    t.rule(2, "duplicate", (1, 2))
    t.became(2, "Election", 3, g="3.1")
    t.group(3, 2, g="3.1")
    judged = {name: verdict.examined.get("judged") for name, verdict in verdicts(t).items()}
    assert (judged["S00-4'a"], judged["S00-4'b"]) == (2, 2)  # the start, and after the mend


def test_a_short_one_got_there_when_both_parts_of_assertion_4_prime_hold() -> None:
    t = started()
    for i in (1, 2, 3):
        t.group(i, i, g=f"{i}.1")  # (a) holds now, and (b) does not
    t.wait(50)
    assert results(t) == ("vacuous", "vacuous", "vacuous")


def test_a_node_alone_shows_nothing_unless_it_is_alone_for_c() -> None:
    t = Trace(2)
    t.start(1)
    t.group(1, 1, g="1.1")
    assert results(t) == ("vacuous", "vacuous", "vacuous")
    t = Trace(2)
    t.start(1)
    t.wait(C)
    assert results(t) == ("violated", "violated", "holds")


# --- words --------------------------------------------------------------------------------


def test_the_evidence_against_assertion_4_is_what_s00_would_say() -> None:
    verdict = verdicts(path())["GM82-4"]
    assert verdict.because.endswith(
        "nodes 2 and 3 reach each other and are in no larger such set, but node 2 is Normal "
        "under 1 in group 1.2 and node 3 is Normal under 3 in group 3.1 (S00: {1,2} is such a "
        "set too, so Assertion 4 would force 1 and 3, which do not reach each other, into one "
        "group)"
    )
    assert [(it.node, it.c, it.g) for it in verdict.evidence[0].states] == [
        (2, 1, "1.2"),
        (3, 3, "3.1"),
    ]


def test_a_set_that_shares_no_node_with_another_needs_no_explanation() -> None:
    t = started()
    t.wait(C + 100)
    because = verdicts(t)["GM82-4"].because
    assert "nodes 1, 2 and 3 reach each other" in because
    assert "S00" not in because


def test_what_holds_names_the_groups_the_cover_and_the_independent_set() -> None:
    because = verdicts(path())["S00-4'b"].because
    assert because.endswith(
        "2 groups {1,2} {3}; a minimum clique cover has 2 ({1,2} {3}; 1 and 3 are independent)"
    )


def test_what_is_violated_names_them_too() -> None:
    t = started()
    for i in (1, 2, 3):
        t.group(i, i, g=f"{i}.1")
    t.wait(C + 100)
    verdict = verdicts(t)["S00-4'b"]
    assert verdict.because.endswith("3 groups {1} {2} {3}; a minimum clique cover has 1 ({1,2,3})")
    assert len(verdict.evidence[0].states) == 3


def test_a_cover_whose_size_only_a_search_shows_says_so() -> None:
    ring = Graph((1, 2, 3, 4, 5), frozenset(((1, 2), (2, 3), (3, 4), (4, 5), (1, 5))))
    assert cover_in_words(minimum_clique_cover(ring)) == (
        "a minimum clique cover has 3 ({1,2} {3,4} {5}; a search of all finds none with 2)"
    )


def test_what_was_examined_is_counted() -> None:
    t = started()
    t.call(1, 2, "AreYouThere")
    t.send(1, 2)
    t.became(1, "Election")
    t.wait(C + 100)
    examined = verdicts(t)["GM82-4"].examined
    assert list(examined)[:2] == ["periods", "judged"]
    assert (examined["judged"], examined["bound_ms"], examined["machine"]) == (1, C, 1)
    assert (examined["witnessed"], examined["by_rule"]) == (1, 5)  # after the flip on 1->2


# --- the budget ---------------------------------------------------------------------------


def ring_of_five(groups: dict[int, tuple[int, ...]]) -> Trace:
    t = started(5)
    apart = ((1, 3), (1, 4), (2, 4), (2, 5), (3, 5))
    t.cut(1, *(link for i, j in apart for link in ((i, j), (j, i))))
    for leader, nodes in groups.items():
        t.group(leader, *nodes, g=f"{leader}.1")
    t.wait(TIMING.merges_ms(5) + 100)
    return t


def test_out_of_budget_it_is_unknown_and_says_between_which_bounds() -> None:
    t = ring_of_five({1: (1, 2), 3: (3, 4), 5: (5,)})
    assert verdicts(t)["S00-4'b"].result == "holds"
    verdict = verdicts(t, budget=3)["S00-4'b"]
    assert verdict.result == "unknown"
    assert verdict.because.endswith(
        "3 groups {1,2} {3,4} {5}; a minimum clique cover has from 2 (1 and 3 are independent) "
        "to 3 ({1,2} {3,4} {5}), and the search gave up after 3 steps: "
        "`hustings check RUN --budget 30` goes on"
    )


@pytest.mark.parametrize(
    ("division", "result"),
    [
        ({1: (1, 2), 3: (3, 4, 5)}, "holds"),  # no more groups than independent nodes
        ({1: (1,), 2: (2,), 3: (3, 4), 5: (5,)}, "violated"),  # more than some cover has
    ],
)
def test_out_of_budget_the_bounds_may_decide(
    division: dict[int, tuple[int, ...]], result: str
) -> None:
    assert verdicts(ring_of_five(division), budget=3)["S00-4'b"].result == result


def test_a_violation_is_worse_than_what_was_not_decided_and_is_shown_first() -> None:
    t = ring_of_five({1: (1, 2), 3: (3, 4), 5: (5,)})
    t.rule(2, "duplicate", (1, 2))
    t.group(2, 2, g="2.1")
    t.wait(TIMING.merges_ms(5) + 100)
    verdict = verdicts(t, budget=3)["S00-4'b"]
    assert verdict.result == "violated"
    assert [it.result for it in verdict.evidence] == ["violated", "unknown"]


def test_too_many_maximal_sets_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traces.assertions.maximal_cliques", lambda graph: None)
    verdict = verdicts(path())["GM82-4"]
    assert verdict.result == "unknown"
    assert "too many maximal sets" in verdict.because

"""Every small network: the graphs there are, and what the Invitation Algorithm does on them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import pytest

from harness.execute import Outcome
from harness.networks import (
    Network,
    examine,
    examine_all_really,
    graphs,
    networks,
    sample,
    scenario_of,
)
from harness.scenario import INVITATION
from harness.timing import timing_for
from traces.events import Injected, Ruled
from traces.judge import judge
from traces.merge import read_trace

MS = 1_000_000


def test_there_are_as_many_graphs_as_are_known() -> None:
    """OEIS A000088."""
    assert [len(graphs(n)) for n in range(1, 7)] == [1, 2, 4, 11, 34, 156]


def test_no_two_of_them_are_isomorphic() -> None:
    for nodes in range(1, 6):
        names = range(1, nodes + 1)
        found: set[frozenset[frozenset[int]]] = set()
        for graph in graphs(nodes):
            alike = {
                frozenset(frozenset((p[a - 1], p[b - 1])) for a, b in graph)
                for p in permutations(names)
            }
            assert not alike & found
            found |= alike
        assert len(found) == 2 ** len(list(combinations(names, 2)))


def test_another_assignment_of_priorities_is_another_graph_of_the_same_class() -> None:
    path = [case for case in networks(3, priorities=6, seeds=1) if case.graph == ((1, 2), (1, 3))]
    assert {case.edges for case in path} == {((1, 2), (1, 3)), ((1, 2), (2, 3)), ((1, 3), (2, 3))}


def test_a_sample_is_spread_over_all() -> None:
    cases = networks(6, priorities=1, seeds=1)
    taken = sample(cases, 20)
    assert len(taken) == 20
    assert {case.nodes for case in taken} >= {4, 5, 6}
    assert sample(cases, 10**6) == cases


@pytest.mark.parametrize("nodes", [1, 2, 3, 4])
def test_assertion_4_prime_holds_on_every_network(nodes: int) -> None:
    cases = [case for case in networks(nodes, 24, seeds=1) if case.nodes == nodes]
    for case in cases:
        found = examine((case, INVITATION)).results
        assert (found["S00-4'a"], found["S00-4'b"]) == ("holds", "holds"), case.words
        assert {found["GM82-3a"], found["GM82-3b"]} <= {"holds", "vacuous"}, case.words


def test_a_wrong_protocol_does_not_get_away_with_it() -> None:
    square = Network(6, (), ((1, 3), (1, 4), (2, 3), (2, 4)), 1, as_one=False)
    wrong = examine((square, "tests.mutants.invitation:NeverDeclines")).results
    assert wrong["S00-4'b"] == "violated"


def real_sample() -> list[Network]:
    return sample([case for case in networks(6, 1, 1) if not case.as_one], 24)


@pytest.mark.parametrize("case", real_sample(), ids=lambda case: case.words.replace(" ", "_"))
def test_on_real_processes_it_ends_as_it_must(case: Network, run: Callable[..., Outcome]) -> None:
    outcome = run(scenario_of(case, in_full=False), engine="real", seed=case.seed)
    assert not outcome.info.gave_up
    for name in ("S00-4'a", "S00-4'b"):
        assert outcome[name] == "holds"
    for name in ("GM82-3a", "GM82-3b"):
        assert outcome[name] in ("holds", "vacuous")
    events = read_trace(outcome.run.trace)
    mends = [e.at for e in events if isinstance(e, Injected) and e.verb == "mend"]
    before = judge([e for e in events if e.at < mends[0]], outcome.info) if mends else []
    for verdict in before:
        if verdict.id in ("S00-4'a", "S00-4'b") and not verdict.examined["machine"]:
            assert verdict.result == "holds"  # of the network itself, and not of what it became


def test_who_is_alone_is_watched_for_longer_than_the_bound_also_on_a_slow_machine(
    run: Callable[..., Outcome],
) -> None:
    alone = scenario_of(Network(1, (), (), 1, as_one=False), in_full=False)
    outcome = run(replace(alone, stretch=lambda _, nodes: timing_for(nodes, 3.0)))
    assert (outcome["S00-4'a"], outcome["S00-4'b"]) == ("holds", "holds")


def test_on_real_processes_what_was_one_group_is_watched_for_longer_than_the_bound(
    tmp_path: Path,
) -> None:
    """It is good already when the links are cut: a short look would say nothing about it."""
    path = Network(3, ((1, 2), (1, 3)), ((1, 2), (1, 3)), 1, as_one=True)
    (found,) = examine_all_really([path], INVITATION, tmp_path / "runs")
    assert found.results["S00-4'b"] == "holds"
    links = [e for e in read_trace(Path(found.run) / "trace.jsonl") if isinstance(e, Ruled)]
    assert [e.on for e in links] == [True, False]
    assert links[1].at - links[0].at > found.bound_ms * MS

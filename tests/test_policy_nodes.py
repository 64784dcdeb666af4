"""Nodes that reassign votes by themselves: the paper's numbers, the pure policies, all weathers."""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import pytest

from harness.execute import Outcome
from harness.run import Run
from harness.scenario import (
    AUTONOMOUS_HARDENED_TWO,
    AUTONOMOUS_LOCKS_ONE,
    AUTONOMOUS_ONE,
    AUTONOMOUS_TWO,
    CONSENSUS,
    scenario,
)
from harness.schedule import ScheduleError
from nodes.assignment import first_votes
from nodes.policies import STRATEGIES, consensus
from scenarios.policy_storms import consensus_in_a_storm
from tests.test_policies import Net, majority
from tests.vote_weather import ended, under, under_a_policy
from traces.events import AnyEvent, Became, Stored
from traces.judge import judge
from traces.lives import History
from traces.merge import read_trace
from traces.restricted import Ledger
from traces.stores import effective

A, B, C, D = 1, 2, 3, 4
DYNAMIC = [name for name, one in STRATEGIES.items() if one.rule in ("alliance", "overthrow")]
CATCHING_UP = [name for name in DYNAMIC if STRATEGIES[name].balance == "catch-up"]
RUNNABLE = [(AUTONOMOUS_ONE, name) for name in CATCHING_UP] + [
    (AUTONOMOUS_TWO, name) for name in DYNAMIC
]


def votes_in_force(events: list[AnyEvent]) -> Iterator[tuple[int, int]]:
    """Each node's own votes, whenever they change."""
    for event in events:
        if isinstance(event, Became) and event.d:
            yield event.node, int(event.d.split()[0])


def in_the_end(events: list[AnyEvent]) -> dict[int, int]:
    return dict(sorted(dict(votes_in_force(events)).items()))


def most(events: list[AnyEvent]) -> dict[int, int]:
    found: dict[int, int] = {}
    for node, votes in votes_in_force(events):
        found[node] = max(votes, found.get(node, 0))
    return dict(sorted(found.items()))


# --- the paper's numbers --------------------------------------------------------------------


@pytest.mark.parametrize(("name", "peak", "end"), [
    ("catch-up-to-52", [52, 17, 51, 17], [52, 17, 51, 17]),
    ("fifteen-of-twenty-seven", [25, 5, 5, 2], [25, 5, 5, 2]),
    ("catch-up-to-12", [12, 11, 11, 11], [12, 11, 11, 11]),
    ("seventeen-and-back", [6, 17, 17, 17], [6, 5, 5, 5]),
    ("eleven-and-back", [6, 11, 11, 11], [6, 5, 5, 5]),
    ("nine-and-back", [6, 9, 9, 9], [6, 5, 5, 5]),
    ("supplanted-by-rank", [6, 17, 5, 5], [6, 5, 5, 5]),
    ("back-to-the-start", [18, 17, 17, 17], [6, 5, 5, 5]),
    ("static-votes", [6, 5, 5, 5], [6, 5, 5, 5]),
])  # fmt: skip
def test_the_examples_of_the_paper_come_out_to_the_number_by_themselves(
    name: str, peak: list[int], end: list[int], run: Callable[..., Outcome]
) -> None:
    outcome = run(name, engine="virtual")
    assert not outcome.info.gave_up
    events = read_trace(outcome.run.trace)
    assert list(most(events).values()) == peak
    assert list(in_the_end(events).values()) == end


def test_one_node_supplants_by_token_and_none_while_the_token_is_outside(
    run: Callable[..., Outcome],
) -> None:
    events = read_trace(run("supplanted-by-token", engine="virtual").run.trace)
    assert sorted(most(events).values()) == [5, 5, 6, 17]
    assert in_the_end(events) == {A: 6, B: 5, C: 5, D: 5}
    outcome = run("token-outside", engine="virtual")
    events = read_trace(outcome.run.trace)
    assert sorted(in_the_end(events).values()) == [5, 5, 6, 17]
    assert sum(votes == 17 for _, votes in votes_in_force(events)) == 1
    at_most_one_token(events, 4)


# --- the pure policies ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in DYNAMIC if STRATEGIES[n].choice != "token"])
def test_nodes_have_the_votes_that_the_policies_give_whoever_is_cut_off(name: str) -> None:
    """The same partitions for real nodes and for nodes that know all and get all at once."""
    moved = halted = 0
    for seed in range(10):
        rng = Random(seed)
        n = rng.choice((3, 4, 5))
        votes = [rng.randint(1, 4) for _ in range(n)]
        run = under(AUTONOMOUS_TWO, seed, n, strategy=name, votes=votes)
        net = Net(name, dict(enumerate(votes, 1)))
        run.start()
        run.elapse(0.75 * run.info.timing.check_ms)  # a roll call sees one partition, not two
        for _ in range(6):
            now = tuple(sorted(rng.sample(run.nodes, rng.randint((n + 1) // 2, n))))
            run.mend()
            if len(now) < n:
                run.split(now, *([j] for j in run.nodes if j not in now))
            run.elapse(4 * run.info.timing.check_ms)
            if majority(now, net.votes):
                moved += net.votes != net.regroup(*now)
            else:  # one of the others may have it by itself
                alone = [(j,) for j in run.nodes if majority([j], net.votes) and j not in now]
                for one in alone:
                    net.regroup(*one)
                halted += not alone
                net.active = alone[0] if alone else ()
            assert in_the_end(run.engine.events) == net.votes, (seed, now)
        ended(run)
    assert moved > 20
    assert halted


# --- crashes at every step ------------------------------------------------------------------

TAKING = [
    ("sent", {"kind": "RollCall"}),
    ("received", {"kind": "Present"}),
    ("stored", {"cell": "tried"}),
    ("sent", {"kind": "Increase"}),
    ("received", {"kind": "Vote"}),
    ("stored", {"cell": "votes"}),
    ("became", {"d": "17 votes"}),
]
GIVING_BACK = [("sent", {"kind": "Decrease"}), ("stored", {"cell": "votes"}), ("became", {})]


@pytest.mark.parametrize(
    ("back", "event", "where"),
    [(False, *step) for step in TAKING] + [(True, *step) for step in GIVING_BACK],
)
def test_who_dies_at_any_step_has_neither_taken_nor_given_back_twice(
    back: bool, event: str, where: Mapping[str, str], run: Callable[..., Outcome]
) -> None:
    @scenario(
        nodes=4, protocol=AUTONOMOUS_TWO, lateness=False,
        parameters={"strategy": "alliance-2v-decrease", "votes": [6, 5, 5, 5]},
    )  # fmt: skip
    def killed(run: Run) -> None:
        """BGS86 4.4.2: b dies as it takes votes on for a, or as it gives them back."""
        run.start()
        cut = run.isolate(A)
        if back:
            run.seen("became", node=B, d="17 votes")
            run.seen("became", node=C, d="17 votes")
            run.arm(B, event, **where)
            run.mend(cut)
        else:
            run.arm(B, event, **where)
        run.reached(B)
        run.kill(B)
        run.restart(B)
        run.elapse(4 * run.info.timing.check_ms)
        run.mend()
        run.elapse(4 * run.info.timing.check_ms)

    outcome = run(killed, engine="virtual")
    assert not outcome.info.gave_up
    assert outcome.as_expected
    assert in_the_end(read_trace(outcome.run.trace)) == {A: 6, B: 5, C: 5, D: 5}


def test_who_missed_the_way_back_to_the_start_follows_when_it_hears_of_it() -> None:
    """Node b finds the threshold hit; d is dead by then, and returns with the votes it had."""
    run = under(AUTONOMOUS_TWO, 1, 4, strategy="alliance-2v-catch-up", votes=[6, 5, 5, 5],
                threshold=18)  # fmt: skip
    for node in run.nodes:
        run.start(node)
        run.elapse(run.info.timing.t_ms / 4)  # no two Checks at once
    cut = run.isolate(A)
    for node in (B, C, D):
        run.seen("became", node=node, d="17 votes")
    run.mend(cut)
    run.seen("became", node=B, d="5 votes")
    run.kill(D)
    run.seen("became", node=A, d="6 votes")
    run.restart(D)
    run.seen("became", node=D, d="17 votes")
    run.seen("became", node=D, d="5 votes")
    cells = [e for e in ended(run) if isinstance(e, Stored) and e.cell == "votes"]
    assert {e.node: e.value["resets"] for e in cells} == dict.fromkeys(run.nodes, 1)


# --- all weathers ---------------------------------------------------------------------------


def at_most_one_token(events: list[AnyEvent], nodes: int) -> int:
    """Nobody ever has it while another has it; how often it was handed over."""
    where, numbers = {1: True}, set()
    for _, event in effective(History(events, nodes), "token"):
        where[event.node] = event.value["here"]
        assert sum(where.values()) <= 1, event
        numbers.add(event.value["number"])
    return len(numbers)


@pytest.mark.parametrize(("protocol", "strategy"), RUNNABLE)
def test_no_storm_over_a_policy_leaves_two_increments_blind_for_each_other(
    protocol: str, strategy: str
) -> None:
    increments = decrements = handed_on = 0
    for seed in range(12):
        events, info = under_a_policy(seed, protocol, strategy)
        verdicts = {v.id: v for v in judge(events, info)}
        broken = [v.id for v in verdicts.values() if v.result in ("violated", "unknown")]
        assert not set(broken) - {"BGS86-L212", "BGS86-L222"}, seed
        increments += verdicts["BGS86-MAJ"].examined["increments"]
        decrements += verdicts["BGS86-MAJ"].examined["decrements"]
        if STRATEGIES[strategy].choice == "token":
            handed_on += at_most_one_token(events, info.nodes)
    assert increments > 12
    assert bool(decrements) == (protocol == AUTONOMOUS_TWO)
    assert bool(handed_on) == (STRATEGIES[strategy].choice == "token")


WITH_LOCKS = {AUTONOMOUS_ONE: AUTONOMOUS_LOCKS_ONE, AUTONOMOUS_TWO: AUTONOMOUS_HARDENED_TWO}


@pytest.mark.parametrize(("protocol", "strategy"), RUNNABLE)
def test_no_policy_makes_two_transactions_hold_one_object(protocol: str, strategy: str) -> None:
    contended = 0
    for seed in range(6):
        events, info = under_a_policy(seed, WITH_LOCKS[protocol], strategy)
        verdicts = {v.id: v for v in judge(events, info)}
        broken = [v.id for v in verdicts.values() if v.result in ("violated", "unknown")]
        assert not set(broken) - {"BGS86-L212"}, seed
        contended += verdicts["BGS86-C22"].examined["contended"]
    assert contended > 2


def _has(run: Run, node: int, votes: int) -> None:
    run.seen("became", node=node, d=f"{votes} votes")


@scenario(nodes=7, protocol=AUTONOMOUS_TWO, lateness=False, parameters={
    "strategy": "overthrow-ranking-decrease", "votes": [1, 2, 4, 1, 1, 6, 1], "patience": 60,
}, expect={"BGS86-T221": "violated", "BGS86-L224": "violated", "BGS86-L222": "holds"})  # fmt: skip
def blind_by_policy(run: Run) -> None:
    """BGS86-T221 fails by a policy alone: nobody is asked, and votes are taken and given back.

    Node 2 supplants 1 and 6, and gives back when they return. Node 1, cut off from 7, supplants it
    meanwhile, by a vote of node 2 that is late. A roll call tells node 3 of the fewer votes of node
    2 and not of the increase of node 1; so it has a majority with 4, 5 and 6, and supplants them.
    """
    run.start()
    away, out = run.isolate(1), run.isolate(6)
    _has(run, 2, 16)
    run.mend(away)
    _has(run, 2, 14)
    back = {"last": [1, 2, 3, 4, 5, 7], "away": False, "table": [0] * 7, "resets": 0}
    votes = {"V": [1, 14, 4, 1, 1, 6, 1], "N": [0, 2, 0, 0, 0, 0, 0]}
    run.seen("stored", node=1, cell="votes", value=votes | back)
    run.arm(1, "stored", cell="tried")
    run.cut([(1, 7), (7, 1)])
    run.reached(1)
    late = run.hold([(2, 1)])
    unaware = run.cut([(1, 3), (1, 4), (1, 5)])
    run.resume(1)
    run.seen("received", node=2, src=1, kind="Increase")
    for j in (3, 4, 5):
        run.seen("dropped", src=1, dst=j)
    run.mend(unaware)
    run.arm(2, "sent", kind="Decrease")
    run.mend(out)
    run.reached(2)
    unheard = run.cut((2, j) for j in (3, 4, 5, 6))
    run.resume(2)
    for j in (3, 4, 5, 6):
        run.seen("dropped", src=2, dst=j)
    run.mend(unheard)
    told = {"V": [1, 8, 4, 1, 1, 6, 1], "N": [0, 3, 0, 0, 0, 0, 0]}
    run.seen("stored", node=3, cell="votes", value=told | back | {"last": [*run.nodes]})
    run.split({1, 2}, {3, 4, 5, 6}, {7})
    _has(run, 3, 24)
    run.release(late)
    _has(run, 1, 3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_policy_alone_breaks_theorem_2_2_1(seed: int, run: Callable[..., Outcome]) -> None:
    outcome = run(blind_by_policy, engine="virtual", seed=seed)
    assert outcome.as_expected


def test_no_storm_over_consensus_assigns_a_version_twice() -> None:
    assigned = 0
    for seed in range(10):
        run = under(CONSENSUS, seed, Random(seed).choice((3, 4, 5)))
        consensus_in_a_storm(run, 20, 20 * run.info.timing.check_ms)
        events = ended(run)
        verdicts = {v.id: v for v in judge(events, run.info)}
        broken = [v.id for v in verdicts.values() if v.result in ("violated", "unknown")]
        assert not set(broken) - {"GM82-4"}, seed
        assigned += verdicts["GM82-RO"].examined["performed"]
    assert assigned > 25


def test_consensus_gives_the_votes_to_those_who_are_there(run: Callable[..., Outcome]) -> None:
    outcome = run("votes-by-consensus", engine="virtual")
    assert not outcome.info.gave_up
    performed = Ledger(History(read_trace(outcome.run.trace), 5)).performed()
    links = [(i, j) for i, j in outcome.info.parameters["links"]]
    groups = [(1, 2, 3), (2, 3), (1, 2, 3, 4, 5), (2, 3, 4, 5)]
    made = [it.performed.value["votes"] for it in performed if it.performed]
    assert made == [list(consensus(range(1, 6), group, links).values()) for group in groups]
    assert made[1] == [0, 2, 1, 0, 0]


def test_two_coordinators_do_not_take_a_member_from_each_other_for_ever(
    run: Callable[..., Outcome],
) -> None:
    @scenario(nodes=4, protocol=CONSENSUS, lateness=False, expect={"GM82-4": "violated"})
    def between(run: Run) -> None:
        """S00-4': node 3 reaches 1 and 4, who do not reach each other."""
        run.graph([(1, 3), (3, 4), (2, 4)])
        run.start()
        run.calm()
        run.elapse(run.info.settles_ms)

    outcome = run(between, engine="virtual")
    assert not outcome.info.gave_up
    assert outcome.as_expected
    assert outcome["S00-4'a"] == outcome["S00-4'b"] == "holds"


# --- parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(("protocol", "parameters", "message"), [
    (AUTONOMOUS_ONE, {}, "strategy None is none of alliance-2v-catch-up"),
    (AUTONOMOUS_ONE, {"strategy": "alliance-2v-decrease"}, "Scenario Two: AutonomousTwo"),
    (AUTONOMOUS_ONE, {"strategy": "static", "threshold": 9}, "a threshold needs votes that are"),
    (AUTONOMOUS_TWO, {"strategy": "group-consensus"}, "is run by nodes.consensus:Consensus"),
    (AUTONOMOUS_TWO, {"strategy": "static", "patience": 0}, "patience 0"),
    (AUTONOMOUS_TWO, {"strategy": "static", "votes": [1]}, "one number for each of 3 nodes"),
    (AUTONOMOUS_TWO, {"strategy": "static", "links": [[1, 4]]}, r"\[1, 4\] is no pair of nodes"),
    (AUTONOMOUS_TWO, {"strategy": "static", "threshold": 1}, "has 1 votes to start with"),
    (CONSENSUS, {"strategy": "static"}, "Consensus runs group-consensus only"),
    (CONSENSUS, {"threshold": 9}, "a threshold is for votes that grow"),
])  # fmt: skip
def test_parameters_that_no_node_can_run_with_are_refused_in_words(
    protocol: str, parameters: dict[str, Any], message: str, run: Callable[..., Outcome]
) -> None:
    @scenario(nodes=3, protocol=protocol, parameters=parameters)
    def refused(run: Run) -> None:
        """BGS86 4."""
        run.start()

    with pytest.raises(ScheduleError, match=message):
        run(refused, engine="virtual")


def test_the_votes_to_start_with_are_as_given_or_from_the_topology() -> None:
    nodes = (1, 2, 3)
    assert first_votes({"votes": [3, 1, 1]}, nodes) == {1: 3, 2: 1, 3: 1}
    assert first_votes({"links": [[1, 2], [2, 3]]}, nodes) == {1: 1, 2: 3, 3: 1}
    assert first_votes({}, nodes) == {1: 1, 2: 1, 3: 1}
    events = ended_at_once({"strategy": "static", "links": [[1, 2], [2, 3]]})
    assert in_the_end(events) == {1: 1, 2: 3, 3: 1}
    assert any(isinstance(e, Stored) and e.value["V"] == [1, 3, 1] for e in events)


def ended_at_once(parameters: dict[str, Any]) -> list[AnyEvent]:
    run = under(AUTONOMOUS_TWO, 1, 3, **parameters)
    run.start()
    return ended(run)

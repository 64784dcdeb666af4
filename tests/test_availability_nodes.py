"""The study's histories under nodes: delay, and which votes are in force in a trace."""

from statistics import fmean

import pytest

from harness.availability import CONSENSUS, MIXES, NETWORKS, TWICE
from harness.availability_nodes import Compared, Trial, virtual
from harness.availability_votes import Assigned
from traces.events import Stored


def trials(strategy: str, pace: float) -> list[Compared]:
    of = [Trial(NETWORKS["R5"], MIXES[0], strategy, pace, 10.0, seed) for seed in range(1, 6)]
    return [virtual(trial) for trial in of]


def test_nodes_with_static_votes_are_up_exactly_as_simulated_whatever_the_pace() -> None:
    for one in trials("static", 3.0):
        assert one.nodes == pytest.approx(one.simulated, abs=1e-6)
        assert one.messages == 0


@pytest.mark.parametrize("strategy", [TWICE, CONSENSUS])
def test_the_less_reassignment_lasts_the_more_nodes_are_up_as_simulated(strategy: str) -> None:
    """Both sides have the same histories; an instant of delay can still change all that follows."""
    apart = {
        pace: fmean(abs(one.nodes - one.as_read) for one in trials(strategy, pace))
        for pace in (2.0, 100.0)
    }
    assert apart[100.0] < 0.06 < apart[2.0]


def test_nodes_that_have_time_to_agree_are_up_as_simulated_to_a_tenth_of_a_point() -> None:
    for one in trials(CONSENSUS, 300.0):
        assert one.nodes == pytest.approx(one.as_read, abs=1e-3)
        assert one.messages > 1


def known(node: int, version: int, *votes: int) -> Stored:
    """A node stores a decided assignment."""
    return Stored("datum", {"version": version, "by": 1, "votes": [*votes]}, node=node)


def test_the_newest_assignment_is_in_force_where_somebody_knows_of_it() -> None:
    """Node 1 alone has the majority of version 2, of which node 3 knows too; 2 and 3 had it before.

    Whoever is left with node 2 can go by version 1 only, which is over.
    """
    votes = Assigned()
    for event in (*(known(i, 1, 1, 1, 1) for i in (1, 2, 3)), known(1, 2, 2, 0, 1)):
        votes.take(event)
    assert votes.majority(0b001)
    assert not votes.majority(0b110)
    votes.take(known(3, 2, 2, 0, 1))
    assert not votes.majority(0b110)
    assert votes.majority(0b011)


def test_who_voted_for_an_assignment_and_does_not_know_its_end_counts_for_nothing() -> None:
    votes, next_one = Assigned(), {"version": 2, "by": 1, "votes": [0, 1, 1]}
    for event in (*(known(i, 1, 1, 1, 1) for i in (1, 2, 3)), Stored("prepared", next_one, node=2)):
        votes.take(event)
    assert not votes.majority(0b110)
    assert votes.majority(0b101)
    votes.take(Stored("prepared", next_one, node=1))  # which decides on it
    assert votes.majority(0b101)
    votes.take(Stored("prepared", None, node=2))  # it was aborted
    assert votes.majority(0b110)

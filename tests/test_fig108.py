"""CJ97 Fig. 10.8: the four cuts of an election, undisturbed, wrong, interfered with, excused."""

import pytest

from tests.build import Trace
from traces.fig108 import CUTS, check_fig108

KEPT = {"CJ97-c1": 1, "CJ97-c2": 1, "CJ97-c3": 1, "CJ97-c4": 1}


def three() -> Trace:
    t = Trace(3)
    t.start(1, 2, 3)
    return t


def halted(t: Trace, p: int, *up: int) -> None:
    """An election of p up to its election point, c2."""
    t.became(p, "Election", h=p)
    for j in up:
        t.became(j, "Election", h=p)
    t.became(p, "Reorganization", p, h=p, up=up)


def wrong(t: Trace) -> list[str]:
    return [found.cut for found in check_fig108(t.history()).found]


def test_an_undisturbed_election_reaches_the_four_cuts() -> None:
    t = three()
    t.elect(3, 2, 1)
    figure = check_fig108(t.history())
    assert figure.reached == KEPT
    assert (figure.elections, figure.completed, figure.found) == (1, 1, [])
    verdicts = t.judge()
    assert {verdicts[cut].result for cut in CUTS} == {"holds"}


def test_a_node_alone_reaches_the_four_cuts_too() -> None:
    t = Trace(3)
    t.start(2)
    t.elect(2)
    assert check_fig108(t.history()).reached == KEPT


def test_c1_is_wrong_if_a_higher_node_is_normal() -> None:
    t = three()
    t.normal(3, 3)
    t.became(2, "Election", h=2)
    assert wrong(t) == ["CJ97-c1"]
    verdict = t.judge()["CJ97-c1"]
    assert verdict.result == "violated"
    assert "node 2 was at c1 of its election, but node 3 is Normal under 3" in verdict.because


def test_c2_is_wrong_if_another_node_is_normal() -> None:
    t = three()
    t.normal(3, 1)
    halted(t, 2)
    assert wrong(t) == ["CJ97-c2"]


def test_c2_is_wrong_if_another_node_is_acting_coordinator() -> None:
    t = three()
    t.became(1, "Reorganization", 1)
    halted(t, 2)
    assert wrong(t) == ["CJ97-c2"]


def test_c3_is_wrong_if_a_member_is_not_in_reorganization_under_p() -> None:
    t = three()
    halted(t, 3, 2, 1)
    t.became(2, "Reorganization", 3, h=3)
    t.send(3, 2, "Ready")
    assert wrong(t) == ["CJ97-c3"]


def test_c4_is_wrong_if_a_member_is_not_normal_under_p() -> None:
    t = three()
    halted(t, 3, 2)
    t.became(2, "Reorganization", 3, h=3)
    t.send(3, 2, "Ready")
    t.became(3, "Normal", 3, h=3, up=(2,))
    assert wrong(t) == ["CJ97-c4"]


@pytest.mark.parametrize("what", ["crash", "restart", "pause", "halt"])
def test_a_member_that_something_happened_to_is_interference(what: str) -> None:
    t = three()
    halted(t, 3, 2, 1)
    match what:
        case "crash":
            t.kill(1)
        case "restart":
            t.kill(1)
            t.start(1)
        case "pause":
            t.pause(1)
        case "halt":
            t.became(1, "Election", h=2)
    t.became(2, "Reorganization", 3, h=3)
    t.send(3, 2, "Ready")
    figure = check_fig108(t.history())
    assert figure.found == []
    assert figure.interfered == {"CJ97-c3": 1}
    assert figure.reached["CJ97-c3"] == 0


def test_what_happened_to_a_node_before_it_was_halted_is_no_interference() -> None:
    t = three()
    t.became(3, "Election", h=3)
    t.kill(1)
    t.start(1)
    for j in (2, 1):
        t.became(j, "Election", h=3)
    t.became(3, "Reorganization", 3, h=3, up=(2, 1))
    t.send(3, 2, "Ready")
    assert wrong(t) == ["CJ97-c3"]


def test_an_election_cut_short_counts_for_the_cuts_it_reached() -> None:
    t = three()
    halted(t, 2, 1)
    t.became(2, "Election", h=3, up=(1,))
    t.became(2, "Reorganization", 3, h=3)
    t.kill(3)
    figure = check_fig108(t.history())
    assert figure.reached == {"CJ97-c1": 1, "CJ97-c2": 1}
    assert figure.completed == 0
    assert t.judge()["CJ97-c3"].result == "vacuous"


def test_an_election_that_is_restarted_begins_again_at_c1() -> None:
    t = three()
    halted(t, 3, 2, 1)
    t.kill(1)
    t.elect(3, 2)
    figure = check_fig108(t.history())
    assert figure.elections == 2
    assert (figure.reached["CJ97-c1"], figure.reached["CJ97-c4"]) == (2, 1)


def test_without_elections_the_figure_is_vacuous() -> None:
    verdicts = three().judge()
    assert {verdicts[cut].result for cut in CUTS} == {"vacuous"}


def test_under_a_cut_the_figure_is_excused() -> None:
    t = three()
    t.elect(3, 2, 1)
    t.cut(1, (2, 3), (3, 2))
    t.drop(t.send(2, 3), 1)
    t.wait(30)
    t.became(2, "Election", h=2)
    verdict = t.judge()["CJ97-c1"]
    assert verdict.result == "excused"
    assert "A8 was broken" in verdict.because

"""GM82-2: quiet periods, the bound, and what counts as settled."""

from tests.build import MS, TIMING, Trace, info
from traces.liveness import bound_ns
from traces.settled import settled_spans

BOUND = TIMING.settles_ms(3)


def settled(*up: int) -> Trace:
    t = Trace(3)
    t.start(*up)
    t.elect(max(up), *(j for j in up if j != max(up)))
    return t


def test_the_bound_is_timeout_and_two_checks_and_6n_plus_2_calls() -> None:
    assert bound_ns(info(3)) == (100 + 2 * 50 + (6 * 3 + 2) * 30) * MS


def test_a_long_quiet_period_that_settles_in_time_holds() -> None:
    t = settled(1, 2, 3)
    t.wait(BOUND + 100)
    verdict = t.judge()["GM82-2"]
    assert verdict.result == "holds"
    assert verdict.examined["judged"] == 1
    assert verdict.examined["longest_ms"] >= BOUND


def test_a_node_that_stays_in_election_beyond_the_bound_violates() -> None:
    t = settled(1, 2, 3)
    t.became(2, "Election", h=3)
    t.wait(BOUND + 100)
    verdict = t.judge()["GM82-2"]
    assert verdict.result == "violated"
    assert [state.s for state in verdict.evidence[0].states] == ["Normal", "Election", "Normal"]


def test_settling_later_than_the_bound_violates() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.wait(BOUND + 10)
    t.elect(3, 2, 1)
    t.wait(100)
    assert t.judge()["GM82-2"].result == "violated"


def test_a_settled_system_that_does_not_stay_so_violates() -> None:
    t = settled(1, 2, 3)
    t.wait(BOUND + 10)
    t.became(1, "Election", h=2)
    t.wait(100)
    assert t.judge()["GM82-2"].result == "violated"


def test_a_coordinator_that_is_down_is_none() -> None:
    t = settled(1, 2, 3)
    t.kill(3)
    t.wait(BOUND + 10)
    verdict = t.judge()["GM82-2"]
    assert verdict.result == "violated"
    assert verdict.evidence[0].states[2].s == "Down"


def test_nodes_that_follow_two_coordinators_are_not_settled() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.normal(3, 3, 1)
    t.normal(2, 2)
    assert settled_spans(t.history()) == []


def test_a_short_period_that_settled_shows_that_eventually_has_come() -> None:
    t = settled(1, 2, 3)
    verdict = t.judge()["GM82-2"]
    assert verdict.result == "holds"
    assert verdict.examined["longest_ms"] < BOUND


def test_without_a_period_that_settled_or_was_long_enough_it_is_vacuous() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.wait(BOUND / 2)
    t.kill(1)
    t.wait(BOUND / 2)
    assert t.judge()["GM82-2"].result == "vacuous"


def test_a_period_in_which_no_node_is_up_says_nothing() -> None:
    t = Trace(3)
    t.start(1)
    t.kill(1)
    t.wait(2 * BOUND)
    assert t.judge()["GM82-2"].result == "vacuous"


def cut_for(ms: float) -> Trace:
    t = settled(1, 2, 3)
    t.cut(1, (3, 1), (1, 3))
    t.drop(t.send(3, 1), 1)
    t.became(1, "Election", h=1)
    t.wait(ms)
    t.mend(1, (3, 1), (1, 3))
    return t


def test_a_long_period_under_a_cut_is_excused_by_it() -> None:
    t = cut_for(BOUND + 10)
    t.elect(3, 2, 1)
    verdict = t.judge()["GM82-2"]
    assert verdict.result == "excused"
    assert "A8 was broken" in verdict.because
    assert "rule 1 (cut 3->1 1->3)" in verdict.because


def test_a_system_that_a_break_left_split_is_still_in_its_shadow() -> None:
    t = cut_for(50)
    t.became(1, "Reorganization", c=1, h=1)
    t.normal(1, 1)
    t.wait(BOUND + 10)
    verdicts = t.judge()
    assert verdicts["GM82-1a"].result == "excused"
    assert verdicts["GM82-2"].result == "excused"


def test_a_system_that_is_not_split_has_no_excuse_for_never_settling_after_the_mend() -> None:
    t = cut_for(50)
    t.wait(BOUND + 10)
    assert t.judge()["GM82-2"].result == "violated"


def test_once_settled_after_the_mend_nothing_excuses_a_system_that_does_not_stay_so() -> None:
    t = cut_for(50)
    t.elect(3, 2, 1)
    t.became(2, "Election", h=3)
    t.wait(BOUND + 10)
    assert t.judge()["GM82-2"].result == "violated"


def test_a_paused_node_excuses_the_period_of_its_pause() -> None:
    t = settled(1, 2, 3)
    t.pause(3)
    t.normal(2, 1, 2)
    t.wait(BOUND + 10)
    t.resume(3)
    t.elect(3, 2, 1)
    verdict = t.judge(lateness=False)["GM82-2"]
    assert verdict.result == "excused"
    assert "node 3 was paused" in verdict.because


def test_a_pause_converted_into_a_crash_needs_no_excuse() -> None:
    t = settled(1, 2, 3)
    since = t.now
    t.pause(3)
    t.elect(2, 1)
    t.wait(BOUND + 10)
    t.resume(3)
    t.overslept(3, since)
    t.elect(3, 2, 1)
    assert t.judge()["GM82-2"].result == "holds"


def test_each_fault_begins_a_new_period() -> None:
    t = settled(1, 2, 3)
    for _ in range(4):
        t.wait(BOUND / 2)
        t.kill(3)
        t.wait(BOUND / 2)
        t.start(3)
    assert t.judge()["GM82-2"].examined["longest_ms"] < BOUND

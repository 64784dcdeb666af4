"""The report of what S97 is about: stages of an election, suspicions, and what was true."""

from pathlib import Path

import pytest

from harness.execute import execute
from harness.scenario import Scenario
from reports.terminal import render_text
from reports.words import token
from scenarios.stoller import bully_fd, paused_leader_is_one_of_two, split_and_heal_by_norm
from tests.build import Trace, stoller
from traces.events import Became, encoder
from traces.judge import judge
from traces.merge import read_trace
from traces.run import RunDir, RunInfo
from traces.verdicts import decode


def report(scenario: Scenario, place: Path) -> str:
    run = execute(scenario, engine="virtual", runs=place).run
    return render_text(run, decode(run.verdicts.read_bytes()), width=100)


def by_hand(t: Trace, place: Path, about: RunInfo) -> str:
    t.wait(1)
    t.close()
    run = RunDir(place)
    run.write_info(about)
    run.trace.write_bytes(encoder.encode_lines(t.events))
    return render_text(run, judge(read_trace(run.trace), about), width=100)


@pytest.mark.parametrize(
    ("status", "word"), [("Elec1", "e3b"), ("Elec2", "E3b"), ("Wait", "W3b"), ("Normal", "N1b")]
)
def test_a_stage_is_a_letter_with_who_started_the_election(status: str, word: str) -> None:
    assert token(Became(s=status, c=1, g="3.1.0"), {"3.1.0": "b"}) == word


def test_the_timeline_shows_stages_and_says_what_they_are(tmp_path: Path) -> None:
    shown = report(bully_fd, tmp_path)
    assert "e1a E1a N1a" in shown
    assert "e3c Elec1, E3c Elec2 and W3c Wait (election c, started by 3)" in shown
    assert "elections: a 1.1.0, b 2.1.0" in shown
    assert "tau_FD = 205 ms, delta = T_m + T_p = 35 ms, tau = 100 ms" in shown


def test_who_suspects_whom_is_told_with_the_truth(tmp_path: Path) -> None:
    shown = report(bully_fd, tmp_path)
    assert "2-5 suspect 1 (down)" in shown
    assert "falsely" not in shown
    assert "suspected by 2-3,5 after 49.9 ms, 2-5 after 50.0 ms" in shown


def test_a_false_suspicion_says_so_and_the_cut_shows_both_leaders(tmp_path: Path) -> None:
    shown = report(paused_leader_is_one_of_two, tmp_path)
    assert "2-5 falsely suspect 1 (up)" in shown
    assert "falsely suspected by 2-5 from" in shown
    assert "S97-SLE1 excused: two nodes with status Norm agree on the leader" in shown
    assert "≠ coordinator c" in shown
    assert "is told that 1 is down" in shown


def test_a_suspicion_lasts_until_the_next_start_fd(tmp_path: Path) -> None:
    shown = report(split_and_heal_by_norm, tmp_path)
    assert shown.index("3-5 falsely suspect 1 (up)") < shown.index("3-5 monitor 1 again")


def test_a_node_that_plays_dead_is_suspected_but_not_falsely(tmp_path: Path) -> None:
    t = Trace(2)
    t.start(1, 2)
    t.watch(2, 1)
    t.play(1, 2)
    t.wait(40)
    t.suspect(2, 1)
    shown = by_hand(t, tmp_path, stoller(2, asynchronous=True))
    assert "2 suspects 1 (plays dead)" in shown
    assert "suspected by 2 from 40.0 ms on" in shown
    assert "falsely" not in shown


def test_a_crash_that_nobody_was_told_of_has_a_row_that_says_so(tmp_path: Path) -> None:
    t = Trace(2)
    t.start(1, 2)
    t.watch(2, 1)
    t.wait(5)
    t.kill(1)
    t.wait(100)
    shown = by_hand(t, tmp_path, stoller(2))
    assert "down from 5.0 ms on" in shown
    assert "nobody was told" in shown

"""Margins and verdicts on cuts that were never recorded: what a run shows, and what it excuses."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.execute import execute
from reports.terminal import render_text
from scenarios.locks import lock_of_votes_given_back
from tests.build import MS, TIMING, Trace, info
from tests.oracle_cuts import Lattice
from traces import margins
from traces.causality import Place
from traces.events import Closed, decode, encoder
from traces.judge import judge_run
from traces.margins import Scope
from traces.merge import read_trace
from traces.run import RunDir
from traces.timeouts import time_edges
from traces.verdicts import RECORDED, Margin, Verdict

NONE = None, "messages and time-outs"


def normal_in_turn(told: bool, ms: float = 5.0) -> Trace:
    """Node 1 is Normal under itself until node 2 has been so for `ms`; was 2 told of the end?"""
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1, d="mine")
    t.became(1, "Election", h=2)
    if told:
        t.tell(1, 2)
    t.wait(ms)
    t.normal(2, 2, 1, d="mine")
    t.wait(TIMING.t_ms)
    return t


def agreed(t: Trace, scope: Scope | None = None) -> Verdict:
    return t.judge(scope=scope or Scope())["GM82-1a"]


def margin_of(t: Trace) -> tuple[int | None, str]:
    margin = agreed(t).margin
    assert margin is not None
    return margin.eps_ns, margin.order


def test_what_no_message_put_in_order_is_broken_on_a_cut_that_was_never_recorded() -> None:
    t = normal_in_turn(told=False)
    ended = next(e.at for e in t.events if getattr(e, "s", "") == "Election")
    began = t.events[-2].at
    verdict = agreed(t)
    assert verdict.result == "violated"
    assert verdict.margin == Margin(began - ended, "messages and time-outs")
    assert verdict.evidence[0].eps_ns == began - ended
    assert "never recorded" in verdict.because
    assert {state.c for state in verdict.evidence[0].states} == {1, 2}


def test_what_a_message_put_in_order_is_broken_nowhere() -> None:
    assert agreed(normal_in_turn(told=True)).result == "holds"
    assert margin_of(normal_in_turn(told=True)) == NONE


def test_it_is_broken_from_its_margin_on_and_not_before() -> None:
    eps = margin_of(normal_in_turn(told=False))[0]
    assert eps is not None
    for within, result in (
        (RECORDED, "holds"),
        (0, "holds"),
        (eps - 1, "holds"),
        (eps, "violated"),
    ):
        t = normal_in_turn(told=False)
        verdict = agreed(t, Scope(within))
        assert verdict.result == result
        assert verdict.margin == Margin(eps, NONE[1])  # whatever was asked for


def test_what_is_broken_on_a_recorded_cut_has_the_margin_recorded() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1)
    t.normal(2, 2)
    assert margin_of(t) == (RECORDED, NONE[1])


# --- what a time-out knows --------------------------------------------------------------------


def edges_of(t: Trace) -> dict[Place, Place]:
    return time_edges(t.history(), TIMING)


def crashed(when_ms: float) -> Trace:
    """Node 2 asks node 1, which crashes so long after the request; T later 2 is Normal."""
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1)
    if when_ms < 0:
        t.kill(1)
        t.wait(-when_ms)
    sent = t.send(2, 1)
    t.wait(max(when_ms, 0))
    if when_ms >= 0:
        t.kill(1)
    t.wait(TIMING.t_ms - max(when_ms, 0))
    t.gave_up(sent)
    t.normal(2, 2)
    t.start(1)
    t.normal(2, 1)
    return t


def test_the_orders_of_a_large_run_are_compared_where_that_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(margins, "COMPARED", 1)
    alarms = "false_alarms_by_messages"
    assert alarms not in agreed(crashed(1)).examined
    assert agreed(crashed(1), Scope(counted=1000)).examined[alarms] == 1
    assert margin_of(crashed(1)) == NONE


def test_a_time_out_knows_of_the_crash_that_explains_it() -> None:
    for when_ms in (-500, 1, TIMING.t_m_ms - 0.1):
        assert margin_of(crashed(when_ms)) == NONE
        assert agreed(crashed(when_ms)).examined["false_alarms_by_messages"] == 1


def test_a_time_out_knows_nothing_of_a_crash_that_came_after_the_request_was_due() -> None:
    t = crashed(TIMING.t_m_ms + 0.1)
    assert not edges_of(t)
    assert agreed(t).result == "excused"  # A8 was broken: it should have received the request


def test_of_several_crashes_a_time_out_knows_the_first_it_can_mean() -> None:
    t = Trace(2)
    t.start(1, 2)
    sent = t.send(2, 1)
    first = 2 * t.events.index(t.kill(1)) + 1
    t.start(1)
    t.normal(1, 1)
    t.kill(1)
    t.wait(TIMING.t_ms)
    t.gave_up(sent)
    assert list(edges_of(t).values()) == [(first, 1)]


def test_a_time_out_knows_that_who_had_received_the_request_was_gone() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.kill(1)
    t.start(1)
    sent = t.send(2, 1)
    t.receive(sent)
    second = 2 * t.events.index(t.kill(1)) + 1
    t.wait(TIMING.t_ms)
    t.gave_up(sent)
    assert list(edges_of(t).values()) == [(second, 1)]


def test_an_answer_of_the_next_life_is_none_of_the_one_that_was_asked() -> None:
    t = Trace(2)
    t.start(1, 2)
    sent = t.send(2, 1)
    t.receive(sent)
    for _ in range(4):
        t.became(1, "Election")
    first = 2 * t.events.index(t.kill(1)) + 1
    t.start(1)
    t.answer(t.receive(sent))
    t.became(1, "Election")
    t.wait(TIMING.t_ms)
    t.gave_up(sent)
    assert list(edges_of(t).values()) == [(first, 1)]


def test_a_request_that_only_the_next_life_received_was_not_received() -> None:
    t = Trace(2)
    t.start(1, 2)
    first = 2 * t.events.index(t.kill(1)) + 1
    sent = t.send(2, 1)  # the relay holds it
    t.wait(TIMING.t_ms)
    t.gave_up(sent)
    t.start(1)
    t.receive(sent)
    t.kill(1)
    assert list(edges_of(t).values()) == [(first, 1)]


def test_an_answer_that_came_too_late_is_no_sign_of_a_crash() -> None:
    t = Trace(2)
    t.start(1, 2)
    sent = t.send(2, 1)
    t.answer(t.receive(sent))
    t.became(1, "Election")  # so the answer was sent indeed
    t.kill(1)
    t.wait(TIMING.t_ms)
    t.gave_up(sent)
    assert not edges_of(t)


def test_a_time_out_may_be_explained_by_a_pause_longer_than_t_p() -> None:
    for ms, known in ((TIMING.t_p_ms / 2, 0), (TIMING.t_p_ms * 2, 1)):
        t = Trace(2)
        t.start(1, 2)
        sent = t.send(2, 1)
        stopped = t.pause(1)
        t.wait(ms)
        t.resume(1)
        t.wait(TIMING.t_ms)
        t.gave_up(sent)
        assert [place[0] // 2 for place in edges_of(t).values()] == [
            t.events.index(stopped)
        ] * known


@pytest.mark.parametrize(
    ("owed", "killed"),
    [("receipt", False), ("receipt", True), ("answer", False), ("nothing", False)],
)
def test_a_pause_that_began_after_all_was_due_explains_no_time_out(owed: str, killed: bool) -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1)
    t.became(1, "Election", h=2)
    sent = t.send(2, 1)
    if owed != "receipt":
        request = t.receive(sent)
        if owed == "nothing":
            t.answer(request)
            t.became(1, "Election")  # so the answer was sent indeed
    t.wait(TIMING.t_m_ms + 0.1)
    t.pause(1)
    t.wait(2 * TIMING.t_p_ms)
    if killed:
        t.kill(1)
    t.gave_up(sent)
    t.normal(2, 2)
    assert not edges_of(t)
    assert agreed(t).margin != Margin(*NONE)


def test_a_report_of_a_failure_detector_knows_of_the_first_crash_since_start_fd() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.kill(1)
    t.start(1)
    t.watch(2, 1)
    second = 2 * t.events.index(t.kill(1)) + 1
    t.suspect(2, 1)
    assert list(edges_of(t).values()) == [(second, 1)]


def test_a_false_report_knows_nothing() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.kill(1)
    t.start(1)
    t.watch(2, 1)
    t.suspect(2, 1)
    assert not edges_of(t)


# --- excuses ------------------------------------------------------------------------------------


def test_a_shadow_between_the_two_states_excuses_them_and_one_before_or_after_does_not() -> None:
    def judged(broken: str) -> str:
        t = Trace(2)
        t.start(1, 2)
        for now in ("before", "between", "after"):
            if now == "between":
                t.normal(1, 1, d="mine")
                t.became(1, "Election", h=2)
            if now == broken:
                t.pause(2)
                t.wait(3 * TIMING.t_p_ms)
                t.resume(2)
            t.wait(200)
            if now == "before":  # settled again, on one task
                t.elect(2, 1)
                t.became(1, "Election", h=2)
                t.became(2, "Election", h=2)
                t.tell(2, 1)
            if now == "between":
                t.normal(2, 2, d="mine")
        return agreed(t).result

    assert [judged(when) for when in ("before", "between", "after")] == [
        "violated", "excused", "violated",
    ]  # fmt: skip


def test_a_program_that_writes_no_time_out_is_judged_on_recorded_cuts() -> None:
    t = normal_in_turn(told=False)
    about = replace(info(2), command=("/usr/bin/node",))
    verdict = t.judge_as(about)["GM82-1a"]
    assert (verdict.result, verdict.margin) == ("holds", None)
    t = normal_in_turn(told=False)
    t.start(2)
    t.silence(1, 2)
    assert t.judge_as(about)["GM82-1a"].margin is not None


# --- a stored run -----------------------------------------------------------------------------


def stored(t: Trace, place: Path) -> RunDir:
    """The run as `hustings run` leaves it."""
    if not isinstance(t.events[-1], Closed):
        t.close()
    run = RunDir(place)
    place.mkdir()
    run.write_info(info(t.nodes))
    run.trace.write_bytes(encoder.encode_lines(t.events))
    return run


def check(run: RunDir, *args: str, command: str = "check") -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "harness", command, str(run.path), *args]
    return subprocess.run(words, capture_output=True, text=True)


def test_the_report_draws_the_cut_that_was_never_recorded(tmp_path: Path) -> None:
    run = stored(normal_in_turn(told=False), tmp_path / "run")
    text = render_text(run, judge_run(run))
    assert re.search(r"GM82-1a +\d\.\d\d\d ms +messages and time-outs", text)
    assert "on a cut that was never recorded" in text
    drawn = re.findall(r"≠ node (\d) +(\d+) +\d+\.\d+ +node \1 is Normal under \1", text)
    assert [node for node, _ in drawn] == ["1", "2"]
    lines = run.trace.read_text().splitlines()
    assert [decode(lines[int(line) - 1]).node for _, line in drawn] == [1, 2]


def test_a_node_that_never_said_it_started_is_drawn_as_down() -> None:
    t = Trace(3)
    t.start(1, 2)
    t.inc[3] = 1
    t.tell(3, 1)
    t.normal(1, 1)
    t.became(1, "Election", h=2)
    t.normal(2, 2)
    (drawn,) = (front for front in agreed(t).evidence[0].cut if front.node == 3)
    assert drawn.says == "node 3 is Down"


def test_check_judges_the_cuts_that_are_asked_for_and_counts_them(tmp_path: Path) -> None:
    run = stored(normal_in_turn(told=False), tmp_path / "run")
    found = {}
    for args in (("--all-cuts",), ("--eps", "-1"), ("--eps", "1")):
        done = check(run, "--json", *args)
        (verdict,) = (it for it in json.loads(done.stdout) if it["id"] == "GM82-1a")
        found[args] = verdict["result"], verdict["examined"].get("consistent_cuts", 0)
        assert done.returncode == (verdict["result"] == "violated")
        assert verdict["margin"]["eps_ns"] > 1 * MS
    cuts = len(set(Lattice(normal_in_turn(told=False).events, 2).cuts(from_start=True)))
    assert found == {
        ("--all-cuts",): ("violated", cuts),
        ("--eps", "-1"): ("holds", 0),
        ("--eps", "1"): ("holds", found["--eps", "1"][1]),
    }
    assert 0 < found["--eps", "1"][1] < cuts


def test_check_counts_the_cuts_that_locks_were_judged_on(tmp_path: Path) -> None:
    outcome = execute(lock_of_votes_given_back, engine="virtual", runs=tmp_path / "runs")
    done = check(outcome.run, "--all-cuts", "--json")
    (verdict,) = (it for it in json.loads(done.stdout) if it["id"] == "BGS86-C22")
    lattice = Lattice(read_trace(outcome.run.trace), outcome.info.nodes)
    cuts = len(set(lattice.cuts(from_start=True)))
    assert verdict["examined"]["consistent_cuts"] == cuts
    assert f"other cut consistent with messages (of {cuts:,} in all)" in verdict["because"]


def test_check_says_what_it_looked_at_also_where_it_found_something(tmp_path: Path) -> None:
    run = stored(normal_in_turn(told=False), tmp_path / "run")
    every = r"GM82-1a .*; looked at 10 recorded cuts, .* \(of 24 in all\); margin"
    nothing = r"GM82-1a .* told node 2; margin"
    for args, words in (((), nothing), (("--all-cuts",), every), (("--eps", "1e308"), every)):
        done = check(run, *args)
        assert done.returncode == 1
        assert re.search(words, done.stdout), done.stdout


def test_what_met_on_unrecorded_cuts_alone_says_nothing_of_the_recorded_ones(
    tmp_path: Path,
) -> None:
    t = Trace(2)
    t.start(1, 2)
    t.normal(1, 1)
    t.became(1, "Election", h=2)
    t.normal(2, 2)
    run = stored(t, tmp_path / "run")
    for eps, result in (("-1", "vacuous"), ("-1e-9", "vacuous"), ("1", "violated")):
        done = check(run, "--json", f"--eps={eps}")
        (verdict,) = (it for it in json.loads(done.stdout) if it["id"] == "GM82-1a")
        assert (verdict["result"], verdict["margin"]["eps_ns"]) == (result, 1000)


def test_it_fails_at_the_margin_that_is_printed() -> None:
    for eps_ns in (0, 1, 999, 1000, 1001, 123_456_789):
        words = Margin(eps_ns, "messages").words
        assert eps_ns <= round(float(words.removesuffix(" ms")) * 1e6) < eps_ns + 1000


@pytest.mark.parametrize("args", ["--eps nan", "--eps 1 --all-cuts"])
def test_an_eps_that_is_none_is_refused(tmp_path: Path, args: str) -> None:
    done = check(stored(normal_in_turn(told=False), tmp_path / "run"), *args.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "--all-cuts" in done.stderr

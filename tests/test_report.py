"""The terminal report, on runs that the virtual engine made."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.execute import Outcome, execute
from harness.run import Run
from harness.scenario import Scenario, scenario
from nodes.bully import Bully
from nodes.protocol import ELECTION, NORMAL, REORGANIZATION, Call, Procedure, immediate
from reports.picture import picture
from reports.terminal import render, render_text
from reports.words import letters
from scenarios.beyond import paused_coordinator, paused_coordinator_fails_itself
from scenarios.crashes import coordinator_crash
from scenarios.groups import split_and_heal
from scenarios.points import killed_at_the_election_point
from scenarios.restricted import divergent_branches
from scenarios.topologies import appendix_a
from traces.judge import judge_run
from traces.words import links_in_words, numbers


class RudeBully(Bully):
    """Wrong: does not ask whether a node of higher priority is up."""

    def election(self) -> Procedure:
        self.stop()
        self.become(s=ELECTION, h=self.i, up=())
        for j in (j for j in reversed(self.nodes) if j < self.i):
            yield Call(j, "Halt")
            self.become(up=(*self.state.up, j))
        self.become(c=self.i, s=REORGANIZATION)
        for j in self.state.up:
            yield Call(j, "NewCoordinator")
        self.become(d=self.task())
        for j in self.state.up:
            yield Call(j, "Ready", (self.state.d,))
        self.become(s=NORMAL)


class InventiveBully(Bully):
    """Wrong: every node makes up its own task."""

    @immediate("Ready")
    def ready(self, j: int, x: str) -> None:
        if self.state.c == j and self.state.s == REORGANIZATION:
            self.become(d=f"{x} as {self.i} likes it", s=NORMAL)


@scenario(protocol=f"{__name__}:RudeBully")
def rude_return(run: Run) -> None:
    """A node of low priority returns."""
    run.start()
    run.settled()
    run.kill(3)
    run.restart(3)


@scenario()
def idle_cut(run: Run) -> None:
    """A link is cut that nobody uses [before it is mended]."""
    run.start()
    run.settled()
    run.mend(run.cut([(1, 2)]))


@scenario()
def split(run: Run) -> None:
    """Three nodes are cut off from two for a moment."""
    run.start()
    run.settled()
    rule = run.split([1, 2])
    run.mend(rule)


@scenario()
def long_run(run: Run) -> None:
    """A node comes and goes, again and again."""
    run.start()
    run.settled()
    for _ in range(30):
        run.kill(5)
        run.settled()
        run.restart(5)
        run.settled()


def made(wanted: Scenario, runs: Path, nodes: int = 5) -> Outcome:
    return execute(wanted, engine="virtual", nodes=nodes, runs=runs)


def report(wanted: Scenario, runs: Path, width: int = 80, nodes: int = 5) -> str:
    outcome = made(wanted, runs, nodes)
    return render_text(outcome.run, outcome.verdicts, width)


def section(text: str, title: str) -> list[str]:
    """The lines of one section, without its title."""
    return next(part for part in text.split("\n\n") if part.startswith(title)).splitlines()[1:]


def row(text: str, *words: str) -> str:
    """The first line with all these words."""
    return next(line for line in text.splitlines() if all(word in line for word in words))


# --- at a glance ----------------------------------------------------------------------------


def test_the_first_line_says_that_all_is_as_expected(tmp_path: Path) -> None:
    assert report(coordinator_crash, tmp_path).startswith("✓ AS EXPECTED  coordinator-crash\n")


def test_the_first_line_says_what_is_violated_and_what_was_expected(tmp_path: Path) -> None:
    first = report(rude_return, tmp_path, width=120).splitlines()[0]
    assert first.startswith("✗ VIOLATED  rude-return  GM82-1a, GM82-1b")
    assert first.endswith("violated, expected holds")


def test_a_verdict_that_is_merely_different_is_inconclusive(tmp_path: Path) -> None:
    stricter = replace(coordinator_crash, expect={"GM82-1a": "excused"})
    first = report(stricter, tmp_path).splitlines()[0]
    assert first == "? INCONCLUSIVE  coordinator-crash  GM82-1a holds, expected excused"


def test_a_scenario_that_gave_up_is_inconclusive_and_says_why(tmp_path: Path) -> None:
    @scenario()
    def impatient(run: Run) -> None:
        """It waits for what never comes."""
        run.start()
        run.seen("became", within_ms=1, s="Bored")

    found = made(impatient, tmp_path)
    console = Console(file=io.StringIO(), width=80, record=True)
    render(found.run, found.verdicts, console)
    text = console.export_text()
    assert text.startswith("? INCONCLUSIVE  impatient")
    assert "gave up: seen became" in " ".join(text.split())


@pytest.mark.parametrize(
    "wanted", [coordinator_crash, rude_return, paused_coordinator], ids=lambda s: s.name
)
def test_the_headline_is_the_exit_code_in_words(wanted: Scenario, tmp_path: Path) -> None:
    found = made(wanted, tmp_path)
    word = {0: "✓ AS EXPECTED", 1: "✗ VIOLATED", 3: "? INCONCLUSIVE"}[found.code]
    assert render_text(found.run, found.verdicts).startswith(word)


def test_the_header_says_what_was_run_and_for_how_long(tmp_path: Path) -> None:
    text = report(coordinator_crash, tmp_path)
    assert "5 nodes of Bully, virtual engine, seed 1" in text
    assert "T = 2 T_m + T_p" in text
    assert "3 elections" in text


# --- tables ---------------------------------------------------------------------------------


def test_an_excused_verdict_names_the_assumption_what_broke_it_and_when(tmp_path: Path) -> None:
    text = " ".join(report(paused_coordinator, tmp_path).split())
    assert "~ GM82-1a, GM82-1b, GM82-2, CJ97-c1, CJ97-c2 excused: A9 was broken from" in text
    assert "ms: node 5 was paused for 402.5 ms" in text
    assert "✗ A9 violated, as expected" in text


def test_obligations_that_are_kept_share_one_row(tmp_path: Path) -> None:
    assert "A3-9" in report(coordinator_crash, tmp_path)
    assert "A3-8" in report(paused_coordinator, tmp_path)


def test_a_fault_that_touched_nothing_is_called_idle(tmp_path: Path) -> None:
    text = report(idle_cut, tmp_path)
    assert "IDLE" in row(text, "cut 1>2")
    assert "IDLE" not in report(coordinator_crash, tmp_path)


def test_square_brackets_are_words_and_not_markup(tmp_path: Path) -> None:
    assert "[before it is mended]" in report(idle_cut, tmp_path)


def test_a_partition_is_named_by_its_sides(tmp_path: Path) -> None:
    assert "cut 1-2 | 3-5" in report(split, tmp_path)


def test_links_and_nodes_are_named_shortly() -> None:
    assert numbers([4, 1, 2, 3, 7]) == "1-4,7"
    assert links_in_words([(5, 4)]) == "5>4"
    assert links_in_words([(1, 2), (2, 3), (3, 4), (4, 5)]) == "4 links"


# --- timeline -------------------------------------------------------------------------------


def test_an_election_takes_one_row_with_its_cause_and_its_messages(tmp_path: Path) -> None:
    lines = section(report(coordinator_crash, tmp_path, width=100), "TIMELINE")
    at = next(i for i, line in enumerate(lines) if "4 Timeout: 5 silent" in line)
    assert lines[at].split()[1:13] == ["E4", "R4", "N4"] * 4
    assert "4>1-3 Halt, NewCoordinator, Ready" in lines[at + 1]


def test_a_crash_and_the_silence_after_it_are_shown(tmp_path: Path) -> None:
    lines = section(report(coordinator_crash, tmp_path), "TIMELINE")
    at = next(i for i, line in enumerate(lines) if line.endswith("kill 5"))
    assert lines[at].split() == ["3.9", "│", "│", "│", "│", "✗", "kill", "5"]
    assert "ms without a change" in lines[at + 1]


def test_the_last_row_says_where_every_node_stands(tmp_path: Path) -> None:
    lines = section(report(coordinator_crash, tmp_path), "TIMELINE")
    assert next(line for line in lines if line.endswith("end")).split()[1:6] == ["N5"] * 5


def test_a_node_that_overslept_is_paused_then_crashed_then_elected(tmp_path: Path) -> None:
    text = report(paused_coordinator_fails_itself, tmp_path)
    assert "‖" in row(text, "pause 5", "│")
    assert "▶ ✗" in row(text, "resume 5", "▶")
    assert "5 was late by" in text


def test_a_node_killed_at_a_trace_point_stays_paused_until_it_is_killed(tmp_path: Path) -> None:
    text = report(killed_at_the_election_point, tmp_path)
    assert "E4 R4 ‖" in text
    assert "✗" in row(text, "kill 4", "│")


def test_a_broken_property_is_marked_in_the_row_where_it_breaks(tmp_path: Path) -> None:
    text = report(rude_return, tmp_path)
    assert row(text, "GM82-1a, CJ97-c2 violated", "│").split()[1:4] == ["R3"] * 3


def test_a_long_run_leaves_rows_out_and_says_how_to_see_them(tmp_path: Path) -> None:
    text = report(long_run, tmp_path)
    lines = section(text, "TIMELINE")
    assert any("rows left out" in line for line in lines)
    assert len(lines) < 80
    assert any(line.lstrip().startswith("every change: jq") for line in lines)
    assert "41 left out" in text


@pytest.mark.parametrize("nodes", [1, 10, 50])
def test_any_number_of_nodes_fits_into_eighty_columns(nodes: int, tmp_path: Path) -> None:
    lines = section(report(coordinator_crash if nodes > 1 else idle(), tmp_path, 80, nodes), "TIM")
    assert max(map(len, lines)) <= 80
    assert len(lines) < 40


def test_a_violation_among_fifty_nodes_is_told_briefly(tmp_path: Path) -> None:
    text = report(rude_return, tmp_path, nodes=50)
    assert len(text.splitlines()) < 175
    assert "1-3 N3, 4-50 N50" in row(text, "end")


def test_fifty_nodes_are_named_together(tmp_path: Path) -> None:
    text = report(coordinator_crash, tmp_path, nodes=50)
    assert "1-50 N50" in row(text, "end")


def test_where_assertion_4_fails_the_report_says_why_its_correction_holds(tmp_path: Path) -> None:
    """S97 App. A, S00: both in one report, each with its words."""
    words = " ".join(report(appendix_a, tmp_path, nodes=3).split())
    assert "✗ GM82-4 violated, as expected: at" in words
    assert "nodes 2 and 3 reach each other and are in no larger such set, but node 2" in words
    assert "✓ S00-4'a holds: in" in words
    assert "✓ S00-4'b holds: in" in words
    assert "2 groups {1,2} {3}; a minimum clique cover has 2 ({1,2} {3}; 1 and 3 are" in words


def idle() -> Scenario:
    @scenario()
    def alone(run: Run) -> None:
        """One node is its own coordinator."""
        run.start()
        run.settled()

    return alone


# --- cuts -----------------------------------------------------------------------------------


def test_a_violation_shows_both_state_vectors_and_marks_the_difference(tmp_path: Path) -> None:
    text = report(rude_return, tmp_path)
    cut = section(text, "✗ GM82-1a violated: two active")
    assert cut[1].split() == ["at", "the", "first", "cut", "node", "3", "node", "4"]
    assert row(text, "≠ coordinator c").split()[-2:] == ["3", "5"]
    assert row(text, "status s").split()[-2:] == ["Reorganization", "Normal"]


def test_nodes_that_disagree_on_the_task_only_are_shown_by_their_tasks(tmp_path: Path) -> None:
    inventive = replace(coordinator_crash, protocol=f"{__name__}:InventiveBully")
    text = report(inventive, tmp_path, width=140)
    assert text.startswith("✗ VIOLATED  coordinator-crash  GM82-1b violated, expected holds")
    assert "as 3 likes it" in row(text, "≠ task d")
    assert "GM82-1a violated" not in text


def test_what_led_to_a_cut_comes_with_its_lines_in_the_trace(tmp_path: Path) -> None:
    found = made(rude_return, tmp_path)
    text = render_text(found.run, found.verdicts)
    trace = found.run.trace.read_text().splitlines()
    number = int(row(text, "starts life 2").split()[0])
    assert '"e":"started"' in trace[number - 1]
    assert "fault: restart 3" in text
    assert "Ready from 5: Normal, d=5.1.1" in text


def test_other_violations_print_their_evidence_with_lines(tmp_path: Path) -> None:
    text = " ".join(report(rude_return, tmp_path).split())
    assert "✗ CJ97-c1 violated: when p halts itself no higher node is Normal at" in text
    assert "(trace.jsonl: " in text


# --- wherever it is read --------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 120])
def test_a_pipe_gets_plain_lines_that_fit(width: int, tmp_path: Path) -> None:
    for wanted in (coordinator_crash, rude_return, paused_coordinator):
        text = report(wanted, tmp_path, width)
        assert "\x1b" not in text
        lines = text.splitlines()
        assert [line for line in lines if line != line.rstrip()] == []
        paths = ("evidence", "next", "hustings", "closer:", "every change:")
        prose = [line for line in lines if not line.lstrip().startswith(paths)]
        assert max(map(len, prose)) <= width


def test_commands_to_type_are_never_wrapped(tmp_path: Path) -> None:
    found = made(rude_return, tmp_path)
    text = render_text(found.run, found.verdicts, 40)
    assert f"hustings check {found.run.path}\n" in text
    assert f"--schedule {found.run.schedule}\n" in text


def test_colours_are_an_addition_and_not_the_message(tmp_path: Path) -> None:
    found = made(rude_return, tmp_path)
    console = Console(file=io.StringIO(), force_terminal=True, width=80, record=True)
    render(found.run, found.verdicts, console)
    assert console.export_text() == render_text(found.run, found.verdicts, 80)


def test_an_invalid_trace_is_reported_without_a_timeline(tmp_path: Path) -> None:
    found = made(coordinator_crash, tmp_path)
    lines = found.run.trace.read_bytes().splitlines(keepends=True)
    found.run.trace.write_bytes(b"".join(lines[:40] + lines[41:]))
    text = render_text(found.run, judge_run(found.run))
    assert text.startswith("? INCONCLUSIVE")
    assert "the trace is invalid" in text
    assert "TIMELINE" not in text


def test_the_picture_is_the_report_as_svg(tmp_path: Path) -> None:
    found = made(coordinator_crash, tmp_path)
    svg = picture(found.run, found.verdicts)
    assert svg.startswith("<svg")
    assert "hustings&#160;report" in svg


def test_a_group_has_a_letter_and_the_footer_tells_its_number(tmp_path: Path) -> None:
    outcome = execute(split_and_heal, engine="virtual", runs=tmp_path)
    text = render_text(outcome.run, outcome.verdicts)
    assert re.search(r"^ +0\.0 N1a +N2b +N3c +N4d +N5e +start 1-5$", text, re.MULTILINE)
    assert "N5f" in text
    assert "groups: a 1.1, b 2.1, c 3.1, d 4.1, e 5.1, f 5.2" in text
    assert "(coordinator 5, group c)" in " ".join(text.split())
    assert all(len(line) <= 80 for line in text.partition("evidence")[0].splitlines())


def test_there_is_a_letter_for_every_group() -> None:
    found = list(letters([str(k) for k in range(800)]).values())
    assert found[:2] + found[25:28] == ["a", "b", "z", "aa", "ab"]
    assert len(set(found)) == 800


def test_the_history_of_groups_is_a_tree_with_its_branches(tmp_path: Path) -> None:
    outcome = execute(divergent_branches, engine="virtual", runs=tmp_path)
    text = render_text(outcome.run, outcome.verdicts)
    assert "GROUPS" in text
    assert re.search(r"^└── 2\.3  1-2 under 2$", text, re.MULTILINE)
    assert "joined 2 branches, apart since group 5.2:" in text

"""The judge: excuses and their shadows, evidence, stored runs, invalid and cut-short traces."""

from pathlib import Path

import msgspec

from tests.build import MS, Trace, info
from tests.test_merge import a_run, files_of
from tests.trace_strategies import random_trace
from traces.events import Received, TimedOut
from traces.judge import PROPERTIES, judge, judge_run
from traces.margins import Scope
from traces.properties import (
    ASYNCHRONOUS,
    LOCKING_ONE,
    LOCKING_TWO,
    RESTRICTED,
    RESTS_ON,
    SCENARIO_ONE,
    SCENARIO_TWO,
    STOLLER_ASYNCHRONOUS,
    STOLLER_SYNCHRONOUS,
    SYNCHRONOUS,
)
from traces.settled import Shadows, settled_spans
from traces.verdicts import BEST_TO_WORST, RECORDED, Break, Verdict, decode, encode, worst

ALL = {"violated", "unknown", "vacuous", "excused", "holds"}


def settled() -> Trace:
    t = Trace(3)
    t.start(1, 2, 3)
    t.elect(3, 2, 1)
    return t


def two_coordinators(t: Trace) -> None:
    t.became(2, "Reorganization", 2, h=2)
    t.became(1, "Normal", 2, h=2, d="other")
    t.wait(5)
    t.elect(3, 2, 1)


def test_the_worst_result_wins() -> None:
    assert set(BEST_TO_WORST) == ALL
    assert worst(["holds", "excused", "vacuous"]) == "vacuous"
    assert worst(["excused", "unknown", "vacuous"]) == "unknown"
    assert worst(["unknown", "violated", "holds"]) == "violated"
    assert worst([]) == "holds"


def test_a_good_run_holds_in_everything() -> None:
    assert {v.result for v in settled().judge().values()} == {"holds"}


def test_every_property_claimed_has_a_verdict_in_order_with_its_claim() -> None:
    papers = (
        SYNCHRONOUS, ASYNCHRONOUS, RESTRICTED, STOLLER_SYNCHRONOUS, STOLLER_ASYNCHRONOUS,
        SCENARIO_ONE, SCENARIO_TWO, LOCKING_ONE, LOCKING_TWO,
    )  # fmt: skip
    for claimed in papers:
        verdicts = grouped(settled(), claimed)
        assert [(v.id, v.claim) for v in verdicts] == [(n, PROPERTIES[n]) for n in claimed]
    assert {name for claimed in papers for name in claimed} == set(PROPERTIES) == set(RESTS_ON)


def grouped(t: Trace, claimed: tuple[str, ...] = ASYNCHRONOUS) -> list[Verdict]:
    return judge(t.events, msgspec.structs.replace(info(t.nodes), properties=claimed))


def test_assertion_3_is_about_one_group_and_no_pause_and_no_cut_excuses_it() -> None:
    def split(groups: tuple[str, str]) -> Verdict:
        t = settled()
        t.pause(1)
        t.wait(500)  # breaks A9: Assertion 1 would be excused from here on
        t.became(2, "Normal", 2, d="x", g=groups[0])
        t.became(3, "Normal", 3, d="x", g=groups[1])
        t.resume(1)
        t.close()
        return grouped(t)[0]

    assert split(("2.1", "3.1")).result == "holds"
    broken = split(("2.1", "2.1"))
    assert (broken.id, broken.result, broken.evidence[0].nodes) == ("GM82-3a", "violated", (2, 3))


def test_two_coordinators_without_a_broken_assumption_are_a_violation() -> None:
    t = settled()
    two_coordinators(t)
    verdicts = t.judge()
    assert verdicts["GM82-1a"].result == "violated"
    assert verdicts["GM82-1b"].result == "violated"


def test_without_two_active_nodes_assertion_1_is_vacuous() -> None:
    t = Trace(3)
    t.start(1, 2)
    t.became(2, "Reorganization", 2)
    verdicts = t.judge()
    assert verdicts["GM82-1a"].result == "vacuous"
    assert verdicts["GM82-1b"].result == "vacuous"


def test_the_evidence_shows_both_state_vectors_and_what_led_there() -> None:
    t = settled()
    led = t.put(2, TimedOut(to=3, call=1, kind="AreYouThere"))
    became = t.became(2, "Reorganization", 2, h=2)
    evidence = t.judge()["GM82-1a"].evidence[0]
    a, b = evidence.states
    assert {(a.node, a.s, a.c), (b.node, b.s, b.c)} == {
        (2, "Reorganization", 2),
        (1, "Normal", 3),
    }
    assert (2, 1, led.n) in evidence.events
    assert (2, 1, became.n) in evidence.events
    assert evidence.at == became.at


def excused_by_a_cut(t: Trace) -> None:
    t.cut(1, (2, 3))
    t.drop(t.send(2, 3), 1)
    t.wait(30)


def test_a_violation_while_a_cut_lasts_is_excused_and_says_by_what_and_when() -> None:
    t = settled()
    excused_by_a_cut(t)
    two_coordinators(t)
    verdict = t.judge()["GM82-1a"]
    assert verdict.result == "excused"
    assert "A8 was broken from 1" not in verdict.because  # ms since the run began
    assert "AreYouThere 2->3 was dropped by rule 1 (cut 2->3)" in verdict.because


def test_the_shadow_of_a_break_lasts_until_the_system_has_settled_again() -> None:
    t = settled()
    excused_by_a_cut(t)
    t.became(1, "Election", h=2)
    t.mend(1, (2, 3))
    t.wait(200)
    two_coordinators(t)
    assert t.judge()["GM82-1a"].result == "excused"


def test_once_settled_after_the_mend_nothing_is_excused() -> None:
    t = settled()
    excused_by_a_cut(t)
    t.became(1, "Election", h=2)
    t.mend(1, (2, 3))
    t.elect(3, 2, 1)
    t.wait(20)
    two_coordinators(t)
    assert t.judge()["GM82-1a"].result == "violated"


def test_a_violation_before_the_break_is_not_excused() -> None:
    t = settled()
    two_coordinators(t)
    excused_by_a_cut(t)
    assert t.judge()["GM82-1a"].result == "violated"


def test_one_violation_that_is_not_excused_is_enough() -> None:
    t = settled()
    two_coordinators(t)
    t.wait(20)
    excused_by_a_cut(t)
    two_coordinators(t)
    verdict = t.judge(scope=Scope(RECORDED))["GM82-1a"]
    assert verdict.result == "violated"
    assert sorted(e.result for e in verdict.evidence) == ["excused", "violated"]
    assert verdict.evidence[0].result == "violated"


def test_a_paused_coordinator_excuses_its_rival() -> None:
    t = settled()
    t.pause(3)
    t.wait(100)
    t.elect(2, 1)
    t.resume(3)
    t.elect(3, 2, 1)
    verdicts = t.judge(lateness=False)
    assert verdicts["GM82-1a"].result == "excused"
    assert verdicts["A9"].result == "violated"
    assert "node 3 was paused" in verdicts["GM82-1a"].because


def test_a_paused_coordinator_that_fails_itself_needs_no_excuse() -> None:
    t = settled()
    since = t.now
    t.pause(3)
    t.wait(100)
    t.silence(2, 3)
    t.elect(2, 1, d="next")
    t.resume(3)
    t.overslept(3, since)
    t.elect(3, 2, 1, d="last")
    assert {v.result for v in t.judge().values()} == {"holds"}


def test_a_broken_obligation_excuses_nothing() -> None:
    t = settled()
    sent = t.send(1, 2)
    t.receive(sent)
    t.receive(sent)
    two_coordinators(t)
    verdicts = t.judge()
    assert verdicts["A7"].result == "violated"
    assert verdicts["GM82-1a"].result == "violated"


def test_the_longest_shadow_decides() -> None:
    t = settled()
    (span,) = settled_spans(t.history())
    key, at = 2 * len(t.events), t.now + 50 * MS
    for end, excused in ((at, True), (span.start, False)):
        short = Break("A8", 0, 1, "a short one")
        long = Break("A9", 0, end, "a long one")
        cause = Shadows([long, short], [span]).excuse(key, at)
        assert (cause is long) is excused


def test_an_invalid_trace_is_unknown_in_everything() -> None:
    t = settled()
    two_coordinators(t)
    t.put(2, Received(src=1, sinc=1, m=99, kind="Halt"))
    verdicts = t.judge()
    assert {v.result for v in verdicts.values()} == {"unknown"}
    assert "datagram 99 of node 1 life 1" in verdicts["GM82-1a"].because


def test_a_run_that_was_cut_short_is_judged_as_far_as_it_goes_and_says_so() -> None:
    t = settled()
    t.call(3, 1, "AreYouNormal")
    verdicts = judge(t.events, info(3))
    assert {v.result for v in verdicts} == {"holds"}
    assert all("the run was cut short" in v.because for v in verdicts)


def test_a_stored_run_is_merged_judged_and_its_verdicts_stored(tmp_path: Path) -> None:
    t = settled()
    t.close()
    rundir = a_run(tmp_path, files_of(t.events))
    rundir.write_info(info(3))
    verdicts = judge_run(rundir)
    assert verdicts == judge(t.events, info(3))
    assert decode(rundir.verdicts.read_bytes()) == verdicts
    assert rundir.trace.exists()


def test_a_stored_run_with_a_torn_line_is_unknown(tmp_path: Path) -> None:
    rundir = a_run(tmp_path, files_of(settled().events))
    rundir.write_info(info(3))
    (rundir.parts / "0.jsonl").write_bytes(b'{"e":"open\n')
    verdicts = judge_run(rundir)
    assert {v.result for v in verdicts} == {"unknown"}
    assert "0.jsonl:1: not an event" in verdicts[0].because


def test_the_same_trace_gives_the_same_verdicts_whatever_happened_in_it() -> None:
    results: set[str] = set()
    for seed in range(300):
        t = random_trace(seed)
        verdicts = judge(t.events, info(t.nodes))
        assert encode(verdicts) == encode(judge(t.events, info(t.nodes)))
        results.update(v.result for v in verdicts)
    assert results == ALL - {"unknown"}

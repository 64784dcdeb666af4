"""Exports, by the rules their readers publish: ShiViz's parser, the Trace Event Format, DOT."""

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.execute import execute
from harness.scenario import Scenario
from reports import excerpt, past, perfetto, shiviz
from scenarios.beyond import paused_coordinator
from scenarios.crashes import cascading_crashes
from scenarios.groups import split_and_heal
from tests.build import Trace, info
from tests.cut_traces import cut_trace
from tests.test_margins import check, normal_in_turn, stored
from traces.causality import least_cut
from traces.events import Became, Counted, Received, Sent
from traces.judge import judge
from traces.lives import History
from traces.merge import read_trace
from traces.run import RunInfo
from traces.verdicts import Verdict

Run = tuple[History, RunInfo, list[Verdict]]
SCENARIOS = [cascading_crashes, paused_coordinator, split_and_heal]


def made(wanted: Scenario, place: Path) -> Run:
    outcome = execute(wanted, engine="virtual", runs=place)
    events = read_trace(outcome.run.trace)
    return History(events, outcome.info.nodes), outcome.info, outcome.verdicts


def by_hand(t: Trace) -> Run:
    return t.history(), info(t.nodes), judge(t.events, info(t.nodes))


# --- ShiViz -----------------------------------------------------------------------------------

Entry = tuple[str, str, dict[str, int]]


def read_by_shiviz(text: str) -> list[Entry]:
    """The events of a log: what its parser takes from it, and the rules its graph insists on."""
    pattern = re.compile(r"^(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})$", re.M)
    found = [(m["event"], m["host"], json.loads(m["clock"])) for m in pattern.finditer(text)]
    assert 2 * len(found) == len(text.splitlines())  # it skips what does not match
    own = Counter[str]()
    for _, host, clock in found:
        own[host] += 1
        assert clock[host] == own[host]  # "must increase monotonically by 1", from 1
    at = {(host, clock[host]): clock for _, host, clock in found}
    for _, host, clock in found:
        for other, count in clock.items():
            assert 1 <= count <= own[other]  # "an unrecognized host", "an invalid clock value"
            if other != host:  # and it knows what that one knew
                assert all(clock.get(k, 0) >= n for k, n in at[other, count].items())
    return found


@pytest.mark.parametrize("wanted", SCENARIOS, ids=lambda it: it.name)
@pytest.mark.parametrize("before", [40, 10_000])
def test_shiviz_takes_the_log_and_knows_of_every_message_and_crash(
    wanted: Scenario, before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excerpt, "BEFORE", before)
    history, about, verdicts = made(wanted, tmp_path)
    log = read_by_shiviz(shiviz.export(history, about, verdicts))
    shown = excerpt.span(history, verdicts)
    events = [history.events[i] for i in shown if history.events[i].node]
    assert sum(words.endswith(" crashed") for words, _, _ in log) == sum(
        crash.index in shown for crash in history.crashes
    )
    lines = [entry for entry in log if not entry[0].endswith(" crashed")]
    sent: dict[tuple[int, int, int, int], Entry] = {}
    for event, line in zip(events, lines, strict=True):
        if isinstance(event, Sent):
            sent[event.node, event.inc, event.to, event.m] = line
        elif isinstance(event, Received):
            source = sent.get((event.src, event.sinc, event.node, event.m))
            assert source is not None or before < 10_000
            if source is not None:
                assert line[2][source[1]] >= source[2][source[1]]


def test_a_time_out_knows_of_the_crash_in_the_log_and_a_new_life_of_the_old(tmp_path: Path) -> None:
    log = read_by_shiviz(shiviz.export(*made(cascading_crashes, tmp_path)))
    crashed = {host: clock[host] for words, host, clock in log if words.endswith(" crashed")}
    silent = [clock for words, _, clock in log if "no answer from 5 to AreYouThere" in words]
    assert silent
    assert all(clock["node5.1"] == crashed["node5.1"] for clock in silent)
    for _, host, clock in log:
        node, _, life = host.partition(".")
        if int(life) > 1:
            assert clock[f"{node}.{int(life) - 1}"] == crashed[f"{node}.{int(life) - 1}"]


def test_random_traces_are_taken_too() -> None:
    for seed in range(100):
        read_by_shiviz(shiviz.export(*by_hand(cut_trace(seed))))


def test_what_the_nodes_did_last_is_shown_however_much_the_harness_wrote_after_it() -> None:
    t = normal_in_turn(told=True)
    for _ in range(excerpt.BEFORE + excerpt.AFTER):  # as the relay of fifty nodes does
        t.relay(Counted(src=1, dst=2))
    log = read_by_shiviz(shiviz.export(*by_hand(t)))
    assert len(log) == sum(event.node > 0 for event in t.events)


# --- Perfetto ---------------------------------------------------------------------------------

REQUIRED: dict[str, dict[str, tuple[type, ...]]] = {
    "M": {"args": (dict,)},
    "X": {"ts": (int, float), "dur": (int, float), "tid": (int,), "args": (dict,)},
    "i": {"ts": (int, float), "tid": (int,), "s": (str,)},
    "s": {"ts": (int, float), "tid": (int,), "id": (int,), "cat": (str,)},
    "f": {"ts": (int, float), "tid": (int,), "id": (int,), "cat": (str,), "bp": (str,)},
}
"""The Trace Event Format: what an event of each phase must have besides ph, name and pid."""


@pytest.mark.parametrize("wanted", SCENARIOS, ids=lambda it: it.name)
def test_perfetto_gets_tracks_states_arrows_and_faults(wanted: Scenario, tmp_path: Path) -> None:
    history, about, verdicts = made(wanted, tmp_path)
    document = json.loads(perfetto.export(history, about, verdicts))
    entries: list[dict[str, Any]] = document["traceEvents"]
    for entry in entries:
        for name, types in {"name": (str,), "pid": (int,), **REQUIRED[entry["ph"]]}.items():
            assert isinstance(entry[name], types), entry
        assert entry.get("ts", 0) >= 0
        assert entry.get("dur", 0) >= 0
        assert entry["ph"] != "i" or entry["s"] in "gpt"
    named = {e["pid"]: e["args"]["name"] for e in entries if e["name"] == "process_name"}
    assert named == {0: "harness", **{node: f"node {node}" for node in history.lives}}
    for node in history.lives:  # one state at a time, until the end
        spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in entries
                       if e["ph"] == "X" and e["pid"] == node)  # fmt: skip
        assert all(a[1] == pytest.approx(b[0]) for a, b in pairwise(spans))
        assert spans[-1][1] == pytest.approx((history.ended - history.began) / 1000)
    starts, ends = ({e["id"]: e for e in entries if e["ph"] == phase} for phase in "sf")
    assert starts.keys() == ends.keys()
    assert len(ends) == sum(isinstance(event, Received) for event in history.events)
    assert all(starts[k]["ts"] <= ends[k]["ts"] for k in starts)
    injected = [e["name"] for e in entries if e["ph"] == "i" and e["pid"] == 0]
    assert any(name.startswith(("kill", "pause", "cut", "split")) for name in injected)


def test_perfetto_gets_a_track_of_its_own_for_each_rule_and_each_node_that_paused() -> None:
    t = Trace(50)
    t.start(*range(1, 51))
    for node in range(1, 51):
        t.pause(node)
        t.cut(node, (node, node % 50 + 1))
    for node in range(1, 51):
        t.mend(node, (node, node % 50 + 1))
        t.resume(node)
    entries = json.loads(perfetto.export(*by_hand(t)))["traceEvents"]
    lasting = [entry["tid"] for entry in entries if entry["ph"] == "X" and entry["pid"] == 0]
    assert len(lasting) == len(set(lasting)) == 100
    named = {e["tid"]: e["args"]["name"] for e in entries
             if e["name"] == "thread_name" and e["pid"] == 0}  # fmt: skip
    assert named.keys() == {1, *lasting}


# --- DOT --------------------------------------------------------------------------------------


def test_the_past_of_a_violation_is_what_came_before_its_two_states(tmp_path: Path) -> None:
    history, about, verdicts = made(paused_coordinator, tmp_path)
    graph = past.export(history, about, verdicts)
    nodes = {(int(m[2]), int(m[1])) for m in re.finditer(r"^ +n(\d+)_(\d+) \[label", graph, re.M)}
    arrows = re.findall(r"^  n(\d+)_(\d+) -> n(\d+)_(\d+) \[(.*)\];$", graph, re.M)
    framed = [
        (int(key), int(node)) for node, key in re.findall(r"n(\d)_(\d+) .*peripheries=2", graph)
    ]
    assert len(framed) == 2
    assert all(isinstance(history.events[key // 2], Became) for key, _ in framed)
    last = least_cut(history, framed, excerpt.edges_of(history, about))
    assert all(key <= last[node] for key, node in nodes)
    for a, i, b, j, how in arrows:
        assert {(int(i), int(a)), (int(j), int(b))} <= nodes
        if "label" in how:
            sent, got = history.events[int(i) // 2], history.events[int(j) // 2]
            assert isinstance(sent, Sent)
            assert isinstance(got, Received)
            assert (sent.to, sent.m, sent.inc) == (got.node, got.m, got.sinc)
    assert any("label" in how for *_, how in arrows)
    # The others gave up because node 5 was paused: what it did before that led to it.
    assert {a for a, *_, how in arrows if how == "style=dashed"} == {"5"}


# --- the command ------------------------------------------------------------------------------


def test_export_writes_a_stored_run_and_refuses_what_it_cannot(tmp_path: Path) -> None:
    bad = stored(normal_in_turn(told=False), tmp_path / "bad")
    good = stored(normal_in_turn(told=True), tmp_path / "good")
    assert read_by_shiviz(check(bad, "--format", "shiviz", command="export").stdout)
    drawn = check(bad, "--format", "dot", command="export")
    assert drawn.stdout.startswith("digraph past {")
    assert drawn.stdout.count("peripheries=2") == 2
    refused = check(good, "--format", "dot", command="export")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "its nodes agreed" in refused.stderr
    refused = check(stored(Trace(2), tmp_path / "none"), "--format", "shiviz", command="export")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "its nodes wrote nothing" in refused.stderr

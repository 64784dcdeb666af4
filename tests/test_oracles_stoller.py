"""What S97 claims, of elections and of detectors, against slow obvious oracles."""

from collections import Counter
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings

from harness.scenario import claims_of, latency_of
from tests.build import MS, Trace, stoller
from tests.oracle_detectors import Scene
from tests.oracle_groups import Network, judged
from tests.oracle_liveness import judge_periods
from tests.oracle_runs import bend, random_run
from tests.oracle_settled import is_excused
from tests.oracle_stoller import disagreeing, scenes_of
from tests.stoller_traces import build_stoller, stoller_traces
from traces import verdicts
from traces.chapters import NORM
from traces.cliques import BUDGET
from traces.cuts import Swept, sweep
from traces.detection import (
    check_completeness,
    check_stable_accuracy,
    false_alarms,
    stable_stretches,
)
from traces.detectors import detectors
from traces.events import AnyEvent
from traces.groups import check_groups, demanded
from traces.judge import judge
from traces.liveness import bound_ns
from traces.lives import History
from traces.margins import Scope
from traces.rulings import Case
from traces.run import RunInfo
from traces.verdicts import RECORDED

TAU_MS = 20.0
Found = Counter[str]


@pytest.fixture(autouse=True)
def _show_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "SHOWN", 1 << 30)


def result_of(examined: bool, wrong: bool) -> str:
    return "violated" if wrong else "holds" if examined else "vacuous"


# --- elections ----------------------------------------------------------------------------


def swept_cuts(swept: Swept, events: int) -> set[tuple[int, bool]]:
    """The cuts that the analyzer says are broken."""
    keys = (
        key
        for it in swept.found
        for key in range(it.start, 2 * events if it.end is None else it.end)
    )
    return {(key // 2, bool(key % 2)) for key in keys}


def agreed_alike(events: list[AnyEvent], nodes: int) -> Found:
    """SLE1 and ALE1 by the analyzer and the oracle alike."""
    found: Found = Counter()
    for name, by_group in (("SLE1", False), ("ALE1", True)):
        swept, _ = sweep(History(events, nodes), by_group, NORM)
        expected = disagreeing(events, nodes, by_group)
        assert swept_cuts(swept, len(events)) == expected, name
        found[f"{name} {result_of(bool(swept.pairs), bool(expected))}"] += 1
    return found


def excused_alike(events: list[AnyEvent], about: RunInfo) -> Found:
    """The verdicts on SLE1 and SLE2, with their excuses."""
    case, seen = Case(events, about), scenes_of(events, about.nodes)
    t_p = round(about.timing.t_p_ms * 1e6)
    alarms = [events[k].at for k in Scene(events, about).false_alarms()]
    breaks = [(b.start, b.end) for b in case.environment.breaks] + [(at, at) for at in alarms]
    shades = [(b.start, max(b.end, b.felt)) for b in case.environment.breaks]
    shades += [(at, at + t_p) for at in alarms]
    recorded = judge(events, about, Scope(RECORDED))
    found = {verdict.id: verdict for verdict in recorded}
    swept, _ = sweep(case.history, False, NORM)
    excused = [
        is_excused(it.at, (it.start // 2, bool(it.start % 2)), shades, seen) for it in swept.found
    ]
    if swept.pairs:
        worst = "holds" if not excused else "excused" if all(excused) else "violated"
        assert found["S97-SLE1"].result == worst
    expected = judge_periods(events, bound_ns(about), breaks, shades, seen)
    sle2 = found["S97-SLE2"]
    assert (sle2.examined["periods"], sle2.examined["judged"]) == (expected.all, expected.judged)
    unsettled = [(it.at, it.result == "excused") for it in sle2.evidence]
    assert sorted(unsettled) == sorted(expected.unsettled)
    assert sle2.result == expected.result
    return Counter([f"SLE1 case {found['S97-SLE1'].result}", f"SLE2 {expected.result}"])


def grouped_alike(events: list[AnyEvent], about: RunInfo, bound: int) -> Found:
    """ALE2 and ALE2'."""
    case, network, found = Case(events, about), Network(events, about), Found()
    intervals = case.connectivity.intervals
    for name in ("S97-ALE2", "S97-ALE2'"):
        expected = judged(network, name, bound)
        groups = check_groups(case.history, intervals, bound, partial(demanded, name, BUDGET))
        assert groups.judged == expected.judged, name
        assert [(it.start, it.at) for it in groups.found] == expected.wrong, name
        found[f"{name} {result_of(bool(expected.judged), bool(expected.wrong))}"] += 1
    return found


# --- detectors ----------------------------------------------------------------------------


def detected_alike(events: list[AnyEvent], about: RunInfo) -> Found:
    """FD1, FD2 and FD2'."""
    case, scene, found = Case(events, about), Scene(events, about), Found()
    asked, tau = detectors(case.history), round(about.tau_fd_ms * MS)
    stretches = stable_stretches(case.history, case.connectivity.intervals)
    for name, some in (("FD1", None), ("FD1 where stable", stretches)):
        mine, expected = (
            check_completeness(case.history, asked, tau, some),
            scene.owed(asynchronous=some is not None),
        )
        assert mine.failures == len(expected.counted), name
        assert sorted(mine.latencies) == sorted(expected.latencies), name
        wrong = sorted((it.watch.node, it.watch.peer, it.start) for it in mine.found)
        assert wrong == sorted(expected.wrong), name
        found[f"{name} {result_of(bool(mine.failures), bool(wrong))}"] += 1
    false = [alarm.index for alarm in false_alarms(asked)]
    assert false == scene.false_alarms()
    found[f"FD2 {result_of(bool(asked.alarms), bool(false))}"] += 1
    accuracy, (count, lines) = check_stable_accuracy(asked, tau, stretches), scene.stable_alarms()
    assert (accuracy.judged, [alarm.index for alarm, _ in accuracy.found]) == (count, lines)
    found[f"FD2' {result_of(bool(count), bool(lines))}"] += 1
    return found


def judged_alike(t: Trace) -> Found:
    """What was found in a trace made by hand, by the analyzer and the oracle alike."""
    about = stoller(t.nodes, tau_fd_ms=TAU_MS)
    found = agreed_alike(t.events, t.nodes) + excused_alike(t.events, about)
    return found + grouped_alike(t.events, about, 60 * MS) + detected_alike(t.events, about)


def test_what_s97_claims_is_judged_as_the_oracle_says() -> None:
    found: Found = Counter()
    for seed in range(300):
        try:
            found += judged_alike(build_stoller(Random(seed)))
        except AssertionError as differs:
            raise AssertionError(f"seed {seed}: {differs}") from differs
    for name in ("SLE1", "ALE1", "SLE2", "S97-ALE2", "S97-ALE2'", "FD1", "FD1 where stable",
                 "FD2", "FD2'"):  # fmt: skip
        for result in ("holds", "violated", "vacuous"):
            assert found[f"{name} {result}"] > 10, (name, result)
    assert found["SLE1 case excused"] > 10
    assert found["SLE2 excused"] > 10


@given(stoller_traces())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_what_s97_claims_is_judged_as_the_oracle_says_of_what_hypothesis_draws(t: Trace) -> None:
    judged_alike(t)


# --- runs of the algorithms ---------------------------------------------------------------

BULLY_FD = ("BullyFD", "BullyFDHeartbeat", "BullyFDRing")
ASYNC_BULLY = ("AsyncBully", "AsyncBullyPing", "AsyncBullyRing")


def a_run(seed: int, protocol: str, steps: int = 8) -> tuple[list[AnyEvent], RunInfo]:
    """A random run of one of S97's algorithms, with what is claimed of it."""
    events, about = random_run(
        seed, protocol=protocol, lateness=bool(seed % 3), steps=steps, nodes=4
    )
    about.properties = claims_of(protocol)
    about.tau_fd_ms = latency_of(protocol, about.timing, about.nodes)
    return events, about


def test_runs_of_s97s_algorithms_are_judged_as_the_oracle_says() -> None:
    found: Found = Counter()
    for seed in range(60):
        synchronous = seed % 2 == 0
        name = (BULLY_FD if synchronous else ASYNC_BULLY)[seed % 3]
        module = "bully_fd" if synchronous else "async_bully"
        events, about = a_run(seed, f"nodes.{module}:{name}", steps=6)
        if seed % 4 > 1:
            bend(events, Random(seed))
        if len(events) > 700:
            continue
        try:
            found += agreed_alike(events, about.nodes) + detected_alike(events, about)
            if synchronous:
                found += excused_alike(events, about)
            else:
                found += grouped_alike(events, about, 300 * MS)
        except AssertionError as differs:
            raise AssertionError(f"seed {seed}: {differs}") from differs
    for what in ("SLE1 case excused", "SLE2 holds", "S97-ALE2' holds", "FD1 holds", "FD2 violated"):
        assert found[what] > 3, what


@pytest.mark.parametrize("name", BULLY_FD)
def test_whatever_happens_to_bully_fd_it_has_an_excuse(name: str) -> None:
    for seed in range(100):
        for verdict in judge(*a_run(seed, f"nodes.bully_fd:{name}", steps=12)):
            if verdict.id.startswith("S97"):
                assert verdict.result != "violated", (seed, verdict.because)


@pytest.mark.parametrize("name", ASYNC_BULLY)
def test_nothing_breaks_the_safety_of_the_asynchronous_bully_nor_its_detector(name: str) -> None:
    for seed in range(100):
        for verdict in judge(*a_run(seed, f"nodes.async_bully:{name}", steps=12)):
            if verdict.id in ("S97-ALE1", "S97-FD1", "S97-FD2'"):
                assert verdict.result != "violated", (seed, verdict.because)

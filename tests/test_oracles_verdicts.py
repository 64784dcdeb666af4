"""Settled instants, excuses, GM82-2 and Fig. 10.8 against slow obvious oracles."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings

from tests.build import MS, Trace, info
from tests.oracle_corpus import corpus
from tests.oracle_fig108 import figure_of
from tests.oracle_liveness import bound_of, periods_of
from tests.oracle_settled import Scene, is_excused, scenes
from tests.trace_strategies import build_elections, build_trace, election_traces, traces
from traces import rulings, verdicts
from traces.cuts import sweep
from traces.events import AnyEvent
from traces.fig108 import CUTS, check_fig108
from traces.liveness import bound_ns
from traces.rulings import Case
from traces.run import RunInfo
from traces.settled import settled_spans
from traces.verdicts import Verdict

BY_HAND = 600
Stored = tuple[list[AnyEvent], RunInfo]


def closed(t: Trace, seed: int) -> Stored:
    """End a run made by hand, some of them only after the bound of GM82-2."""
    t.wait(30 if seed % 3 else 1000)
    t.close()
    return t.events, info(t.nodes)


def runs() -> Iterator[tuple[str, Stored]]:
    """Runs of the Bully and its mutants, elections by hand, and traces without any protocol."""
    for case in corpus()[::2]:
        yield f"corpus {case.seed}", (case.events, case.info)
    for seed in range(BY_HAND):
        yield f"election {seed}", closed(build_elections(Random(seed)), seed)
        if seed % 3 == 0:
            yield f"trace {seed}", closed(build_trace(Random(seed)), seed)


@pytest.fixture(autouse=True)
def _show_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "SHOWN", 1 << 30)


def liveness(case: Case) -> Verdict:
    return next(verdict for verdict in rulings.rule(case) if verdict.id == "GM82-2")


# --- settled, excused, GM82-2 -------------------------------------------------------------


def judged_alike(stored: Stored) -> Counter[str]:
    """How often what was found, by the analyzer and the oracle alike."""
    events, about = stored
    case, seen = Case(events, about), scenes(events, about.nodes)
    breaks = [(b.start, b.end) for b in case.environment.breaks]
    shades = [(b.start, max(b.end, b.felt)) for b in case.environment.breaks]
    assert settled_in(case, seen) == [s.cut for s in lasting(seen) if s.settled]
    found: Counter[str] = Counter()
    for name, swept in zip(("1a", "1b"), sweep(case.history), strict=True):
        for it in swept.found:
            excused = is_excused(it.at, (it.start // 2, bool(it.start % 2)), shades, seen)
            assert (case.shadows.excuse(it.start, it.at) is not None) == excused
            found[f"{name} {'excused' if excused else 'violated'}"] += 1
    expected, verdict = periods_of(events, about, breaks, shades), liveness(case)
    assert verdict.result == expected.result
    assert verdict.examined["periods"] == expected.all
    assert verdict.examined["judged"] == expected.judged
    unsettled = [(it.at, it.result == "excused") for it in verdict.evidence]
    assert sorted(unsettled) == sorted(expected.unsettled)
    found[f"2 {expected.result}"] += 1
    return found


def lasting(seen: list[Scene]) -> list[Scene]:
    """The cuts that were the present one for more than an instant."""
    return [scene for scene in seen if scene.end > scene.start]


def settled_in(case: Case, seen: list[Scene]) -> list[tuple[int, bool]]:
    """The lasting cuts that the analyzer's settled spans cover."""
    return [
        s.cut
        for s in lasting(seen)
        if any(
            it.key <= 2 * s.cut[0] + s.cut[1] and it.start <= s.start < it.end for it in case.spans
        )
    ]


def test_settled_excused_and_gm82_2_are_as_the_oracle_says() -> None:
    found: Counter[str] = Counter()
    for name, stored in runs():
        try:
            found += judged_alike(stored)
        except AssertionError as differs:
            raise AssertionError(f"{name}: {differs}") from differs
    for what in ("1a violated", "1a excused", "1b violated", "1b excused"):
        assert found[what] > 100, what
    for result in ("holds", "violated", "vacuous", "excused"):
        assert found[f"2 {result}"] > 40, result


@given(traces())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_settled_and_gm82_2_are_as_the_oracle_says_of_what_hypothesis_draws(t: Trace) -> None:
    judged_alike(closed(t, len(t.events)))


@pytest.mark.parametrize("last", [1, 2])
def test_two_nodes_that_crash_after_the_same_event_do_so_at_their_own_instants(last: int) -> None:
    t = Trace(2)
    t.start(2, 1)
    t.normal(2, 2)
    t.became(1, "Election")  # the last line of node 1, and so when it died
    dead = t.now
    t.wait(1)
    if last == 2:
        t.died(1)
    t.overslept(2, since=dead + MS // 2)
    if last == 1:
        t.died(1)
    stored = closed(t, 1)
    judged_alike(stored)
    alone = [(it.start, it.end) for it in Case(*stored).spans if it.coordinator == 2]
    assert alone[-1] == (dead, dead + MS // 2)


def test_nodes_left_on_an_old_task_are_settled_but_have_not_healed() -> None:
    t = Trace(3)
    t.start(1, 2, 3)
    t.elect(3, 1, 2, d="old")
    healed = settled_spans(t.history(), on_one_task=True)
    t.elect(3, 2, d="new")  # 1 was missed, and nobody will ever ask it for its task
    assert len(settled_spans(t.history())) == 2
    assert [it.start for it in settled_spans(t.history(), on_one_task=True)] == [
        it.start for it in healed
    ]


def test_a_period_that_began_settled_shows_no_settling() -> None:
    t = Trace(2)
    t.start(1, 2)
    t.elect(2, 1)
    t.cut(1, (1, 2))
    t.became(1, "Election", h=2)
    t.elect(2, 1)
    events, about = closed(t, 1)
    assert liveness(Case(events, about)).examined["judged"] == 1


def test_the_bound_is_the_one_the_documentation_derives() -> None:
    for case in corpus()[:20]:
        assert bound_ns(case.info) == bound_of(case.info)


# --- CJ97 Fig. 10.8 -----------------------------------------------------------------------


def test_a_member_that_never_started_is_down_and_so_wrong_at_c3_and_c4() -> None:
    t = Trace(3)
    t.start(2, 3)
    t.became(3, "Election", h=3)
    t.became(2, "Election", h=3)
    t.became(3, "Reorganization", 3, h=3, up=(1, 2))
    t.became(2, "Reorganization", 3, h=3)
    t.send(3, 2, "Ready")
    t.normal(3, 2)
    t.became(3, "Normal", 3, h=3, up=(1, 2), d="task")
    assert figures_alike(closed(t, 1))[1] == {"CJ97-c3", "CJ97-c4"}


def figures_alike(stored: Stored) -> tuple[set[str], set[str]]:
    """The cuts reached and those that were wrong, by the analyzer and the oracle alike."""
    events, about = stored
    found, expected = check_fig108(Case(events, about).history), figure_of(events, about.nodes)
    assert found.reached == Counter(name for name, _, _ in expected.reached)
    assert found.interfered == Counter(name for name, _, _ in expected.disturbed)
    assert {(it.cut, it.mine.node, it.key // 2) for it in found.found} == expected.wrong
    reached, wrong = ({it[0] for it in cuts} for cuts in (expected.reached, expected.wrong))
    return reached, wrong


def test_the_four_cuts_of_an_election_are_as_the_oracle_says() -> None:
    reached, wrong = Counter[str](), Counter[str]()
    for name, stored in runs():
        try:
            both = figures_alike(stored)
        except AssertionError as differs:
            raise AssertionError(f"{name}: {differs}") from differs
        reached.update(both[0])
        wrong.update(both[1])
    for cut in CUTS:
        assert 0.02 < wrong[cut] / reached[cut] < 0.7, cut


@given(election_traces())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_the_four_cuts_are_as_the_oracle_says_of_what_hypothesis_draws(t: Trace) -> None:
    figures_alike(closed(t, len(t.events)))

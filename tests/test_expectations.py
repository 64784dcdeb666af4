"""What a run as a whole comes to, and what happens when the machine spoils it."""

import os
import signal
from collections.abc import Callable

import pytest

from harness.execute import Outcome
from harness.real import RealEngine
from harness.run import Run
from harness.scenario import scenario
from traces.expectations import outcome, surprises
from traces.verdicts import Result, Verdict


def verdicts(**results: Result) -> list[Verdict]:
    return [Verdict(name, "", result, {}, "") for name, result in results.items()]


def test_what_is_named_must_match_and_what_is_not_must_not_be_violated() -> None:
    expect = {"X": "excused"}
    assert outcome(verdicts(X="excused", Y="vacuous"), expect) == "as expected"
    assert outcome(verdicts(X="holds"), expect) == "inconclusive"
    assert outcome(verdicts(X="excused", Y="unknown"), expect) == "inconclusive"
    assert outcome(verdicts(X="excused", Y="violated"), expect) == "violated"
    assert outcome(verdicts(X="violated"), {"X": "violated"}) == "as expected"


def test_where_either_will_do_it_must_still_be_decided() -> None:
    for result in ("holds", "violated", "vacuous"):
        assert outcome(verdicts(X=result), {"X": "either"}) == "as expected"
    assert surprises(verdicts(X="unknown"), {"X": "either"}) == ["X: expected either, got unknown"]
    assert surprises([], {"X": "either"}) == ["X: not judged"]


def test_a_property_that_was_not_judged_is_a_surprise() -> None:
    assert surprises([], {"X": "holds"}) == ["X: not judged"]


def test_a_run_that_gave_up_is_inconclusive() -> None:
    assert outcome(verdicts(X="holds"), {}, gave_up=True) == "inconclusive"


@pytest.mark.parametrize("name", ["A8", "A9"])
def test_an_environment_that_was_not_as_needed_is_never_held_against_a_protocol(name: str) -> None:
    assert outcome([Verdict(name, "", "violated", {}, "")], {}) == "inconclusive"


def hiccup(run: Run, attempts: int) -> None:
    """Stop a node behind the harness's back, as a busy machine would."""
    run.start()
    run.settled()
    assert isinstance(run.engine, RealEngine)
    if run.info.attempt <= attempts:
        pid = run.engine._nursery.pid(2)
        os.kill(pid, signal.SIGSTOP)
        run.elapse(5 * run.info.timing.t_p_ms)
        os.kill(pid, signal.SIGCONT)
        run.elapse(50)


@scenario(nodes=3, lateness=False)
def hiccup_once(run: Run) -> None:
    """A9: the machine stops a node in the first attempt."""
    hiccup(run, 1)


@scenario(nodes=3, lateness=False)
def hiccup_always(run: Run) -> None:
    """A9: the machine stops a node in every attempt."""
    hiccup(run, 3)


@scenario(nodes=3)
def hiccup_with_lateness(run: Run) -> None:
    """A9: the machine stops a node, which fails itself; that needs no second attempt."""
    hiccup(run, 3)


def test_a_run_that_the_machine_spoilt_is_repeated_with_longer_times_and_says_so(
    run: Callable[..., Outcome],
) -> None:
    result = run(hiccup_once)
    assert result.as_expected
    assert [path.name for path in result.attempts] == ["hiccup-once-1", "hiccup-once-2"]
    assert result.info.timing.t_p_ms >= 40
    assert "attempt 1 does not count: the machine itself broke A9" in result.info.notes


def test_a_machine_that_never_lets_up_is_inconclusive_after_three_attempts(
    run: Callable[..., Outcome],
) -> None:
    result = run(hiccup_always)
    assert len(result.attempts) == 3
    assert result.code == 3


def test_lateness_turned_into_a_crash_spoils_nothing(run: Callable[..., Outcome]) -> None:
    result = run(hiccup_with_lateness)
    assert len(result.attempts) == 1
    assert result.as_expected
    assert result["A9"] == "holds"

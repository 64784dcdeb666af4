"""The verdicts on what S97 claims: of Bully_FD, of the Asynchronous Bully, of their detectors.

Rules:

- S97-SLE1 and SLE2 rest on A8, A9 and an accurate detector. A case in the shadow of a broken A8
  or A9 (traces.settled) is excused by that; else one in the shadow of a false alarm by that, and
  then S97-FD2 is broken itself. A false alarm has been acted on T_p later.
- SLE2 is excused wherever such a shadow lies, not only where nodes disagree as with GM82-2:
  nothing in S97 sends a lost Ack or Ldr again, so both its ends may wait for ever.
- S97-FD1 and FD2 rest on A8 and A9. A case is excused if one of them was broken in the last
  tau_FD: so far back goes what a detector decides by.
- In an asynchronous run nothing is excused: S97-ALE1 rests on unique election ids, the others are
  about stable intervals.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from traces.chapters import NORM, Crash, State
from traces.connectivity import Interval
from traces.detection import (
    Failure,
    check_completeness,
    check_stable_accuracy,
    false_alarms,
    quantile,
    stable_stretches,
)
from traces.detectors import Alarm, Detectors, detectors
from traces.elected import elected_spans
from traces.events import Became
from traces.liveness import Unsettled, bound_ns, check_liveness
from traces.margins import look_at
from traces.settled import Shadows
from traces.shared_rulings import agreement, grouped, liveness
from traces.shots import in_words, states_at
from traces.validity import event_id
from traces.verdicts import Break, Evidence, Verdict, many, verdict_of

if TYPE_CHECKING:
    from traces.rulings import Case


def rule_stoller(case: "Case") -> Iterator[Verdict]:
    """A verdict for every property of S97 that is claimed of the protocol."""
    asked = detectors(case.history)
    if "S97-ALE1" in case.info.properties:
        yield from _asynchronous(case, asked)
    else:
        yield from _synchronous(case, asked)


def _synchronous(case: "Case", asked: Detectors) -> Iterator[Verdict]:
    false = false_alarms(asked)
    broken = [_broken(case, asked, alarm) for alarm in false]
    environment = Shadows(case.environment.breaks, case.spans)
    alarms = Shadows(broken, case.spans)
    by_leader, by_task = look_at(case, active=NORM)

    def excuse(key: int, at: int, until: int | None) -> Break | None:
        return environment.excuse(key, at, until) or alarms.excuse(key, at, until)

    yield agreement(case, "S97-SLE1", by_leader, "nodes with status Norm", excuse)
    if "GM82-1b" in case.info.properties:
        yield agreement(case, "GM82-1b", by_task, "Normal nodes", excuse)
    yield _elected(case, environment, alarms)
    yield _completeness(case, asked, None)
    yield _accuracy(case, asked, false)


def _asynchronous(case: "Case", asked: Detectors) -> Iterator[Verdict]:
    by_leader, by_task = look_at(case, by_group=True, active=NORM)
    yield agreement(case, "S97-ALE1", by_leader, "nodes with status Norm in one group")
    if "GM82-3b" in case.info.properties:
        yield agreement(case, "GM82-3b", by_task, "Normal nodes of one group")
    bound = bound_ns(case.info)
    good = "every node was Norm in the group of a leader that was up"
    yield grouped(case, "S97-ALE2'", bound, "stable period", good)
    yield grouped(case, "S97-ALE2", bound, "stable period", f"{good}, in few enough groups")
    intervals = case.connectivity.intervals
    yield _completeness(case, asked, intervals)
    yield _stable_accuracy(case, asked, intervals)


# --- elections ----------------------------------------------------------------------------


def _elected(case: "Case", environment: Shadows, alarms: Shadows) -> Verdict:
    """S97-SLE2, with c_S for its constant; a false alarm begins a new period."""
    every = Shadows([*environment.breaks, *alarms.breaks], case.spans)

    def excuse(found: Unsettled) -> Break | None:
        return found.excuse or environment.over(found.at) or alarms.over(found.at)

    bound = bound_ns(case.info)
    live = check_liveness(case.history, elected_spans(case.history), every, bound)
    return liveness(case, "S97-SLE2", live, bound, _not_elected, excuse)


def _not_elected(states: list[State]) -> str:
    """Who is not Norm, or under a leader that is not up."""
    up = {state.node for state in states if not isinstance(state, Crash)}
    wrong = []
    for state in (state for state in states if state.node in up):
        if not (isinstance(state, Became) and state.s in NORM):
            wrong.append(in_words(state))
        elif state.c not in up:
            wrong.append(f"{in_words(state)}, which is Down")
    return "no leader was elected: " + " and ".join(wrong)


# --- detectors ----------------------------------------------------------------------------


def _broken(case: "Case", asked: Detectors, alarm: Alarm) -> Break:
    """A false alarm as a broken assumption; what comes of it is done within T_p."""
    by = f"DownSig of {alarm.peer} at {alarm.node} at {case.history.ms(alarm.at)} ms, though "
    by += f"node {alarm.peer} was {_truth(asked, alarm)}"
    felt = alarm.at + round(case.info.timing.t_p_ms * 1e6)
    event = event_id(case.history.events[alarm.index])
    return Break("S97-FD2", alarm.at, alarm.at, by, (alarm.node, alarm.peer), events=[event],
                 felt=felt)  # fmt: skip


def _truth(asked: Detectors, alarm: Alarm) -> str:
    return "up" if asked.truth(alarm) == "up" else "not monitored"


def _latency(case: "Case") -> int:
    return round(case.info.tau_fd_ms * 1e6)


def _completeness(case: "Case", asked: Detectors, intervals: list[Interval] | None) -> Verdict:
    """S97-FD1; with intervals, in the stable ones only."""
    history, latency = case.history, _latency(case)
    stretches = None if intervals is None else stable_stretches(history, intervals)
    found = check_completeness(history, asked, latency, stretches)
    cases = []
    for failure in found.found:
        evidence = _case(case, failure.start + latency, failure.watch.node, failure.watch.peer,
                         _unreported(case, failure))  # fmt: skip
        if stretches is None:
            case.excuse(evidence, _in_force(case, failure.start, failure.start + latency))
        cases.append(evidence)
    examined = {"failures": found.failures, "monitored": len(asked.watches)}
    for name, ns in (("p50", quantile(found.latencies, 0.5)),
                     ("p99", quantile(found.latencies, 0.99)),
                     ("max", max(found.latencies, default=0)), ("bound", latency)):  # fmt: skip
        examined[f"{name}_ms"] = round(ns / 1e6)
    slowest, bound = max(found.latencies, default=0) / 1e6, latency / 1e6
    fine = f"{many(found.failures, 'failure')} reported within {slowest:.1f} ms of {bound:g} ms"
    none = "no monitored node failed" if asked.watches else "no node was monitored"
    return verdict_of("S97-FD1", examined, cases, fine, "" if found.failures else none)


def _unreported(case: "Case", failure: Failure) -> str:
    watch, history = failure.watch, case.history
    start, since = history.ms(failure.start), history.ms(watch.start)
    who = f"node {watch.node}, which monitored node {watch.peer} since {since} ms, was not told"
    when = "" if failure.told is None else f" before {history.ms(failure.told)} ms"
    return f"{who}{when} that it was {failure.how} from {start} ms on"


def _accuracy(case: "Case", asked: Detectors, false: list[Alarm]) -> Verdict:
    """S97-FD2."""
    cases = []
    for alarm in false:
        says = f"DownSig of {alarm.peer} at {alarm.node}, though node {alarm.peer} was "
        says += _truth(asked, alarm)
        if alarm.watch is not None:
            says += f" since Start_FD at {case.history.ms(alarm.watch.start)} ms"
        evidence = _case(case, alarm.at, alarm.node, alarm.peer, says, alarm)
        case.excuse(evidence, _in_force(case, alarm.at - _latency(case), alarm.at))
        cases.append(evidence)
    alarms, watches = len(asked.alarms), len(asked.watches)
    examined = {"suspicions": alarms, "monitored": watches, "false": len(false)}
    fine = f"{many(alarms, 'suspicion')}, each of a node that was monitored and down since"
    none = "" if alarms else "nobody was suspected, and no monitored node was down"
    if any(_was_down(asked, watch.peer, watch.start, watch.end) for watch in asked.watches):
        none = ""
    if not (alarms or watches):
        none = "no node was monitored"
    return verdict_of("S97-FD2", examined, cases, fine, none)


def _was_down(asked: Detectors, peer: int, start: int, end: int) -> bool:
    return any(it.start < end and it.end > start for it in asked.down[peer])


def _stable_accuracy(case: "Case", asked: Detectors, intervals: list[Interval]) -> Verdict:
    """S97-FD2'."""
    history, latency = case.history, _latency(case)
    found = check_stable_accuracy(asked, latency, stable_stretches(history, intervals))
    cases = []
    for alarm, stretch in found.found:
        span = f"{history.ms(stretch.start)} to {history.ms(stretch.end)} ms"
        says = (f"DownSig of {alarm.peer} at {alarm.node}, though node {alarm.peer} was up and "
                f"connected to it all the last {latency / 1e6:g} ms, in the stable period from "
                f"{span}")  # fmt: skip
        cases.append(_case(case, alarm.at, alarm.node, alarm.peer, says, alarm))
    examined = {"suspicions": len(asked.alarms), "judged": found.judged,
                "monitored": len(asked.watches), "false": len(false_alarms(asked)),
                "bound_ms": round(latency / 1e6)}  # fmt: skip
    fine = (
        f"{many(found.judged, 'suspicion')} of nodes that were down, disconnected or playing dead"
    )
    none = "" if found.judged else "nobody was suspected tau_FD or more into a stable period"
    return verdict_of("S97-FD2'", examined, cases, fine, none)


def _in_force(case: "Case", start: int, end: int) -> Break | None:
    """A break of A8 or A9 that has an instant in [start, end]."""
    return case.shadows.in_force(start - 1, end + 1)


def _case(case: "Case", at: int, i: int, j: int, says: str, alarm: Alarm | None = None) -> Evidence:
    """One case against a detector: the states of both nodes at that instant."""
    states = [state for state in states_at(case.history, at) if state.node in (i, j)]
    key = 2 * (alarm.index if alarm else len(case.history.events) - 1)
    evidence = case.evidence(key, at, says, states)
    if alarm is not None:
        evidence.events.append(event_id(case.history.events[alarm.index]))
    return evidence

"""From what the checks found to verdicts.

Rules: a violation of a protocol's property is excused if it lies in the shadow of a broken A8
or A9 (traces.settled); a broken assumption is not excused by anything, nor is a property that
rests on A1-A7 alone. A verdict with several cases is the worst of them, and shows the worst first.
"""

from collections.abc import Callable, Iterator
from functools import cached_property

from traces.assumptions import Finding, check_a3, check_a4, check_a5, check_a6, check_a7
from traces.causality import Place
from traces.chapters import State
from traces.connectivity import Connectivity, connectivity
from traces.environment import look
from traces.events import AnyEvent
from traces.fig108 import CUTS, Fig108, check_fig108
from traces.groups import merge_bound_ns
from traces.liveness import Unsettled, bound_ns, check_liveness
from traces.lives import History
from traces.margins import EVERY_CUT, Looked, Scope, look_at
from traces.restricted_rulings import rule_restricted
from traces.run import RunInfo
from traces.settled import Shadows, settled_spans
from traces.shared_rulings import agreement, grouped, liveness
from traces.shots import in_words, led_to, shot
from traces.stoller_rulings import rule_stoller
from traces.timeouts import time_edges
from traces.traffic import Traffic
from traces.verdicts import Break, Evidence, Verdict, many, verdict_of
from traces.vote_rulings import rule_votes

_OBLIGATIONS: dict[str, Callable[[History, Traffic], Finding]] = {
    "A3": check_a3,
    "A4": check_a4,
    "A5": check_a5,
    "A6": check_a6,
    "A7": check_a7,
}
_GROUPS = {
    "GM82-4": ("period", "every maximal set of nodes that reach each other was one group"),
    "S00-4'a": ("stable period", "every node was Normal under a leader of its group"),
    "S00-4'b": ("stable period", "there were few enough groups"),
}
"""The intervals each of them is about, and what is good in them."""


class Case:
    """One valid trace with everything the checks share."""

    def __init__(self, events: list[AnyEvent], info: RunInfo, scope: Scope = EVERY_CUT) -> None:
        self.info, self.scope = info, scope
        self.history = History(events, info.nodes)
        self.traffic = Traffic(events)
        self.environment = look(self.history, self.traffic, info.timing)
        self.spans = settled_spans(self.history)
        healed = settled_spans(self.history, on_one_task=True)
        self.shadows = Shadows(self.environment.breaks, healed)

    @cached_property
    def connectivity(self) -> Connectivity:
        """Who could reach whom, and when; only where the claims are about that."""
        return connectivity(self.history, self.traffic, self.info.timing)

    @cached_property
    def time_edges(self) -> dict[Place, Place]:
        """What each time-out knows of; only where the claims rest on that."""
        return time_edges(self.history, self.info.timing)

    def evidence(self, key: int, at: int, says: str, states: list[State]) -> Evidence:
        """The states at a cut, and what led to them."""
        return Evidence(
            at=at,
            ms=self.history.ms(at),
            says=says,
            nodes=tuple(state.node for state in states),
            states=[shot(self.history, state) for state in states],
            events=led_to(self.history, key, *states),
        )

    def excuse(self, evidence: Evidence, cause: Break | None) -> None:
        """Say which assumption was broken, by what and when."""
        if cause is not None:
            start, end = self.history.ms(cause.start), self.history.ms(cause.end)
            when = f" from {start} to {end} ms" if cause.end > cause.start else ""
            evidence.result = "excused"
            evidence.says += f" (excused: {cause.assumption} was broken{when}: {cause.by})"


def rule(case: Case) -> Iterator[Verdict]:
    """A verdict for every property that is claimed of the protocol."""
    claimed = case.info.properties
    if "GM82-3a" in claimed:
        yield from _asynchronous(case)
    elif "S97-FD1" in claimed:
        yield from rule_stoller(case)
    elif "BGS86-MAJ" in claimed:
        yield from rule_votes(case)
    else:
        yield from _synchronous(case)
    if "A8" in claimed:
        yield _messages(case)
        yield _answers(case)
    for name, check in _OBLIGATIONS.items():
        yield _obligation(name, check(case.history, case.traffic))


def _asynchronous(case: Case) -> Iterator[Verdict]:
    """What is claimed where only A1-A7 hold: nothing is excused."""
    by_coordinator, by_task = look_at(case, by_group=True)
    yield agreement(case, "GM82-3a", by_coordinator, "active nodes of one group")
    yield agreement(case, "GM82-3b", by_task, "Normal nodes of one group")
    for name, (kind, good) in _GROUPS.items():
        if name in case.info.properties:
            yield grouped(case, name, merge_bound_ns(case.info), kind, good)
    if "GM82-RO" in case.info.properties:
        yield from rule_restricted(case)


def _synchronous(case: Case) -> Iterator[Verdict]:
    """What is claimed where A8 and A9 hold."""
    by_coordinator, by_task = look_at(case)
    yield agreement(case, "GM82-1a", by_coordinator, "active nodes", case.shadows.excuse)
    yield agreement(case, "GM82-1b", by_task, "Normal nodes", case.shadows.excuse)
    yield _liveness(case, by_coordinator)
    figure = check_fig108(case.history)
    for cut in CUTS:
        yield _figure(case, cut, figure)


def _liveness(case: Case, agreed: Looked) -> Verdict:
    """GM82-2: excused while a break is in force, or where its shadow left the nodes split."""

    def excuse(found: Unsettled) -> Break | None:
        split = any(d.at <= found.at < (d.until or found.at + 1) for d in agreed.swept.found)
        return found.excuse or (case.shadows.over(found.at) if split else None)

    bound = bound_ns(case.info)
    live = check_liveness(case.history, case.spans, case.shadows, bound)
    return liveness(case, "GM82-2", live, bound, lambda _: "the nodes were not settled", excuse)


def _figure(case: Case, cut: str, figure: Fig108) -> Verdict:
    cases = []
    for found in (found for found in figure.found if found.cut == cut):
        wrong = ", ".join(in_words(state) for state in found.wrong)
        says = f"node {found.mine.node} was at {cut[-2:]} of its election, but {wrong}"
        at = case.history.events[found.key // 2].at
        evidence = case.evidence(found.key, at, says, [found.mine, *found.wrong])
        case.excuse(evidence, case.shadows.excuse(found.key, at))
        cases.append(evidence)
    reached, interfered = figure.reached[cut], figure.interfered[cut]
    examined = {"elections": figure.elections, "reached": reached, "interfered": interfered}
    fine = f"true at {many(reached, 'undisturbed cut')} of {many(figure.elections, 'election')}"
    vacuous = "" if reached else "no election reached this cut undisturbed"
    return verdict_of(cut, examined, cases, fine, vacuous)


def _obligation(name: str, finding: Finding) -> Verdict:
    examined = finding.examined
    fine = "kept by " + ", ".join(f"{count:,} {what}" for what, count in examined.items())
    vacuous = "" if any(examined.values()) else f"no {' or '.join(examined)} to look at"
    return verdict_of(name, examined, finding.cases, fine, vacuous)


def _messages(case: Case) -> Verdict:
    environment, t_m = case.environment, case.info.timing.t_m_ms
    examined = {"messages": environment.messages, "machine": environment.by_machine("A8")}
    fine = f"{many(environment.messages, 'message')} delivered within {t_m:g} ms if owed"
    vacuous = "" if environment.messages else "no message was sent"
    return verdict_of("A8", examined, _broken(case, "A8"), fine, vacuous)


def _answers(case: Case) -> Verdict:
    environment, t_p = case.environment, case.info.timing.t_p_ms
    examined = {
        "requests": environment.requests,
        "time_outs": environment.time_outs,
        "pauses": environment.pauses,
        "converted": environment.converted,
        "machine": environment.by_machine("A9"),
    }
    fine = f"{many(environment.requests, 'request')} answered within {t_p:g} ms"
    if environment.converted:
        times = many(environment.converted, "time")
        fine += f"; {times} a node that was late failed itself, as Assumption 9 demands"
    nothing = not (environment.requests or environment.pauses or environment.converted)
    vacuous = "no request was received and nothing paused" if nothing else ""
    return verdict_of("A9", examined, _broken(case, "A9"), fine, vacuous)


def _broken(case: Case, assumption: str) -> list[Evidence]:
    return [
        Evidence(
            at=found.start,
            ms=case.history.ms(found.start),
            says=found.by + (f" ({found.count:,} cases)" if found.count > 1 else ""),
            nodes=found.nodes,
            events=found.events,
            until_ms=case.history.ms(found.end),
        )
        for found in case.environment.of(assumption)
    ]

"""The verdicts that several claims share: agreement, bounded liveness, groups.

GM82-1, GM82-3, S97-SLE1 and S97-ALE1 are agreements; GM82-2 and S97-SLE2 settle within a bound;
GM82-4, S00-4', S97-ALE2 and ALE2' are about who is in which group.

Rule: what excuses a case is for the caller to say; without that nothing does.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from traces.chapters import State
from traces.groups import check_groups, demanded
from traces.liveness import Liveness, Unsettled
from traces.margins import Excuse, Looked, cases
from traces.shots import in_words, states_at
from traces.verdicts import Break, Verdict, many, verdict_of

if TYPE_CHECKING:
    from traces.rulings import Case

_ON = {"GM82-1b": "the task", "GM82-3b": "the task", "S97-SLE1": "the leader",
       "S97-ALE1": "the leader"}  # fmt: skip


def agreement(
    case: "Case", name: str, looked: Looked, who: str, excuse: Excuse | None = None
) -> Verdict:
    """Whether `who` agreed at every consistent cut; a cut and its stamp may have an excuse."""
    what = _ON.get(name, "the coordinator")

    def says(a: State, b: State) -> str:
        tasks = f" on {a.d!r} and {b.d!r}" if what == "the task" else ""  # type: ignore[union-attr]
        return f"{in_words(a)} while {in_words(b)}{tasks}"

    found = []
    for it in looked.swept.found:
        a, b = sorted(it.states, key=lambda state: state.node)
        evidence = case.evidence(it.start, it.at, says(a, b), [a, b])
        if it.until is not None:
            evidence.until_ms = case.history.ms(it.until)
        if excuse is not None:
            case.excuse(evidence, excuse(it.start, it.at, None))
        found.append(evidence)
    others, more = cases(case, looked, excuse, says)
    recorded_only = case.scope.eps_ns is not None and case.scope.eps_ns < 0
    met = looked.swept.pairs if recorded_only else looked.pairs
    vacuous = "" if met else f"there were no two {who} at once"
    reach = many(looked.swept.cuts, "recorded cut")
    if looked.others is None:
        reach += "; of other cuts nothing is known, since the program writes no time-outs"
    else:
        reach += at_others(case, looked.order, looked.counts)
    fine = f"{who} agreed on {what} at {reach}"
    verdict = verdict_of(name, looked.examined, [*found, *others], fine, vacuous, more)
    if verdict.evidence and case.scope.counted:
        verdict.because += f"; looked at {reach}"
    verdict.margin = looked.margin if looked.pairs else None
    return verdict


def at_others(case: "Case", order: str, counts: Mapping[str, int]) -> str:
    """Which other cuts were looked at."""
    eps_ns = case.scope.eps_ns
    if eps_ns is not None and eps_ns < 0:
        return ""
    within = "" if eps_ns is None else f" within {eps_ns / 1e6:g} ms"
    count = counts.get("consistent_cuts")
    number = f" (of {count:,} in all)" if count else ""
    if "consistent_cuts_more_than" in counts:
        number = f" (of more than {case.scope.counted:,} in all)"
    return f", and at every other cut{within} consistent with {order}{number}"


def liveness(
    case: "Case",
    name: str,
    live: Liveness,
    bound: int,
    words: Callable[[list[State]], str],
    excuse: Callable[[Unsettled], Break | None],
) -> Verdict:
    """Whether the nodes settled within the bound; `words` say what was wrong with the states."""
    history, cases = case.history, []
    for found in live.found:
        states = states_at(history, found.at)
        period = f"{history.ms(found.start)} to {history.ms(found.end)} ms"
        says = f"{words(states)}, in the quiet period from {period}"
        evidence = case.evidence(2 * (len(history.events) - 1), found.at, says, states)
        case.excuse(evidence, excuse(found))
        cases.append(evidence)
    examined = {"periods": live.periods, "judged": live.judged}
    for what, ns in (("bound", bound), ("longest", live.longest), ("settled_in", live.slowest)):
        examined[f"{what}_ms"] = round(ns / 1e6)
    within = f"within {live.slowest / 1e6:,.0f} ms (the bound is {bound / 1e6:,.0f} ms)"
    fine = f"in {many(live.judged, 'quiet period')} settled {within}"
    none = f"no quiet period settled, and none was as long as the bound, {bound / 1e6:.0f} ms"
    return verdict_of(name, examined, cases, fine, "" if live.judged else none)


def grouped(case: "Case", name: str, bound: int, kind: str, good: str) -> Verdict:
    """Whether the groups were `good` in each interval of this `kind`.

    No excuses, since these claims rest on A1-A7 alone.
    """
    history = case.history
    intervals, machine = case.connectivity.intervals, case.connectivity.machine
    groups = check_groups(history, intervals, bound, partial(demanded, name, case.info.budget))
    cases = []
    for found in groups.found:
        span = f"{history.ms(found.start)} to {history.ms(found.end)} ms"
        says = f"in the {kind} from {span} (c is {bound / 1e6:,.0f} ms): {found.says}"
        states = [state for state in states_at(history, found.at) if state.node in found.nodes]
        key = 2 * (bisect_right(history.events, found.at, key=lambda event: event.at) - 1)
        evidence = case.evidence(key, found.at, says, states)
        evidence.result = "unknown" if found.undecided else "violated"
        cases.append(evidence)
    examined = {"periods": groups.periods, "judged": groups.judged}
    for what, ns in (("bound", bound), ("longest", groups.longest), ("settled_in", groups.slowest)):
        examined[f"{what}_ms"] = round(ns / 1e6)
    examined |= {"witnessed": groups.witnessed, "by_rule": groups.by_rule, "machine": machine}
    within = f"within {groups.slowest / 1e6:,.0f} ms (c is {bound / 1e6:,.0f} ms)"
    fine = f"in {many(groups.judged, kind)} {good} {within}: {groups.shown[1]}"
    none = f"no {kind} got there, and none was as long as the bound, {bound / 1e6:.0f} ms"
    return verdict_of(name, examined, cases, fine, "" if groups.judged else none)

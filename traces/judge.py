"""The judge: one verdict for every property of a run, from the stored run alone.

Rules: an invalid trace makes every verdict `unknown`. A run that was cut short is judged as far
as it goes, and says so. One that does not fit into memory is a MemoryError before it is read. How
each verdict is found is in traces.rulings.

Limits: the same trace gives the same verdicts; nothing else is looked at but run.json.
"""

import errno

from traces.events import AnyEvent
from traces.margins import EVERY_CUT, Scope
from traces.memory import JUDGED, must_fit, uncollected
from traces.merge import merge_run, read_trace, write_whole
from traces.properties import PROPERTIES
from traces.rulings import Case, rule
from traces.run import RunDir, RunInfo
from traces.validity import problems_of
from traces.verdicts import SHOWN, Evidence, InvalidTrace, Verdict, encode

__all__ = ["PROPERTIES", "judge", "judge_run", "unknown"]


def judge(events: list[AnyEvent], info: RunInfo, scope: Scope = EVERY_CUT) -> list[Verdict]:
    """The verdicts on a merged trace, one for each property claimed of its protocol.

    Agreement is judged on every consistent cut, or on those in scope (traces.margins).
    """
    with uncollected():
        return _judge(events, info, scope)


def _judge(events: list[AnyEvent], info: RunInfo, scope: Scope) -> list[Verdict]:
    problems = problems_of(events, info.nodes)
    if problems:
        return unknown(problems, info)
    case = Case(events, info, scope)
    found = {verdict.id: verdict for verdict in rule(case)}
    verdicts = [found[name] for name in info.properties]
    if not case.history.closed:
        for verdict in verdicts:
            verdict.because += "; the run was cut short, and is judged as far as it goes"
    return verdicts


def judge_run(rundir: RunDir, budget: int = 0, scope: Scope = EVERY_CUT) -> list[Verdict]:
    """Judge a stored run, merging its parts if need be, and store the verdicts with it."""
    info = rundir.read_info()
    info.budget = budget or info.budget
    try:
        if not rundir.trace.exists():
            merge_run(rundir)
        must_fit(rundir.trace, JUDGED * rundir.trace.stat().st_size)
        with uncollected():
            verdicts = judge(read_trace(rundir.trace), info, scope)
    except InvalidTrace as invalid:
        verdicts = unknown(invalid.problems, info)
    _store(rundir, verdicts)
    return verdicts


def _store(rundir: RunDir, verdicts: list[Verdict]) -> None:
    """With the run, unless it may only be read: it can be judged all the same."""
    try:
        write_whole(rundir.verdicts, encode(verdicts))
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EROFS):
            raise


def unknown(problems: list[str], info: RunInfo) -> list[Verdict]:
    """An invalid trace: nothing is said about the protocol."""
    shown = "; ".join(problems[:3]) + (" ..." if len(problems) > 3 else "")
    because = f"the trace is invalid: {shown}"
    evidence = [Evidence(0, 0.0, problem, result="unknown") for problem in problems[:SHOWN]]
    return [
        Verdict(name, PROPERTIES[name], "unknown", {"problems": len(problems)}, because,
                evidence, len(problems))
        for name in info.properties
    ]  # fmt: skip

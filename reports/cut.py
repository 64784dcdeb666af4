"""A cut at which two nodes disagree: their state vectors side by side, and what led there.

Rules: for GM82-1, GM82-3, S97-SLE1 and S97-ALE1, the first case of the verdict; the component they
disagree on is marked. What led there comes with its lines in the trace (reports.backstory). A cut
that was never recorded is drawn node by node, with the last line of each that is in it. Of any
other violated property the evidence is printed in words, with its lines.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.backstory import Step, backstory
from reports.words import COLOURS, SYMBOLS, bulleted, command, indented, shortened
from traces.lives import History
from traces.run import RunDir
from traces.validity import event_id
from traces.verdicts import Evidence, StateShot, Verdict, many
from traces.words import numbers

DISAGREE_ON = {
    "GM82-1a": "c", "GM82-1b": "d", "GM82-3a": "c", "GM82-3b": "d", "S97-SLE1": "c",
    "S97-ALE1": "c",
}  # fmt: skip
MOST_CASES, MOST_LINES, MOST_WORDS = 3, 6, 450


def cuts(run: RunDir, verdicts: list[Verdict], history: History) -> Iterator[RenderableType]:
    """A section for every verdict that needs one."""
    for verdict in verdicts:
        if verdict.id in DISAGREE_ON and verdict.result in ("violated", "excused"):
            yield Group(_title(verdict), *_cut(run, verdict, history))
        elif verdict.result == "violated":
            yield Group(_title(verdict), *_cases(run, verdict, history))


def _title(verdict: Verdict) -> Table:
    style = COLOURS[verdict.result]
    words = Text.assemble((f"{verdict.id} {verdict.result}", style), f": {verdict.claim}")
    return bulleted(SYMBOLS[verdict.result], style, words)


def _cut(run: RunDir, verdict: Verdict, history: History) -> Iterator[RenderableType]:
    case = verdict.evidence[0]
    a, b = case.states
    more = f"; {many(verdict.count - 1, 'more case')} in verdicts.json" if verdict.count > 1 else ""
    yield indented(f"not so {_when(case)}{more}")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    which = "at the first cut" if case.eps_ns is None else "at the least cut"
    table.add_column(which, justify="right", no_wrap=True)
    table.add_column(f"node {a.node}", ratio=1)
    table.add_column(f"node {b.node}", ratio=1)
    _add_vectors(table, a, b, DISAGREE_ON[verdict.id])
    table.add_row("")
    table.add_row(Text("line         ms", style="bold"), Text("what led there", style="bold"))
    for (line, ms), steps in groupby(_steps(case, history, (a.node, b.node)), _where):
        words = {step.node: step.in_words() for step in steps}
        sides = (Text(words.get(node, "")) for node in (a.node, b.node))
        table.add_row(f"{line:>5} {ms:10.3f}", *sides)
    yield table
    if case.cut:
        yield _fronts(case, history)
    asks = f".node=={a.node} or .node=={b.node}"
    yield command(f"closer: jq -c 'select({asks})' {run.trace}")


def _when(case: Evidence) -> str:
    if case.eps_ns is not None:
        return f"on a cut that was never recorded, {case.eps_ns / 1e6:,.3f} ms from a recorded one"
    until = f"to {case.until_ms:.3f} ms" if case.until_ms is not None else "to the end"
    return f"from {case.ms:.3f} ms {until}"


def _fronts(case: Evidence, history: History) -> Table:
    """The cut: how far it reaches on each node."""
    lines = {event_id(event): i for i, event in enumerate(history.events, 1)}
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for head in ("the cut", "last line", "ms", "state"):
        table.add_column(head, justify="left" if head == "state" else "right", no_wrap=True)
    for front in case.cut:
        mark = "≠ " if front.node in case.nodes else ""
        line, ms = f"{lines[front.event]}", f"{front.ms:.3f}"
        table.add_row(f"{mark}node {front.node}", line, ms, front.says)
    return table


def _steps(case: Evidence, history: History, nodes: tuple[int, int]) -> list[Step]:
    """What led both nodes to the cut, and nothing that is outside it."""
    if not case.cut:
        end = bisect_right(history.events, case.at, key=lambda event: event.at) - 1
        return backstory(history, end, nodes)
    ends = {event_id(event): i for i, event in enumerate(history.events)}
    fronts = {front.node: ends[front.event] for front in case.cut}
    told = (step for node in nodes for step in backstory(history, fronts[node], (node,)))
    return sorted(told, key=lambda step: step.line)


def _where(step: Step) -> tuple[int, float]:
    return step.line, step.ms


def _add_vectors(table: Table, a: StateShot, b: StateShot, on: str) -> None:
    """S(i) of both, component by component."""
    rows = [("status s", "s"), ("coordinator c", "c"), ("halter h", "h"), ("Up", "up")]
    rows += [("group g", "g")] if a.g or b.g else []
    for label, name in (*rows, ("task d", "d")):
        style = "bold red" if name == on else ""
        mark = "≠ " if name == on else ""
        values = [_component(state, name) for state in (a, b)]
        short = [shortened(value, 100) for value in values]
        if name != on or short[0] != short[1]:
            values = short
        table.add_row(Text(mark + label, style=style), *(Text(v, style=style) for v in values))
    table.add_row("since", *(f"{state.since_ms:.3f} ms, life {state.inc}" for state in (a, b)))


def _component(state: StateShot, name: str) -> str:
    value = getattr(state, name)
    return (numbers(value) if name == "up" else str(value or "")) or "-"


def _cases(run: RunDir, verdict: Verdict, history: History) -> Iterator[RenderableType]:
    for case in verdict.evidence[:MOST_CASES]:
        says = shortened(case.says, MOST_WORDS)
        yield indented(f"at {case.ms:.3f} ms {says}{_lines(history, case)}")
    if verdict.count > MOST_CASES:
        yield indented(f"and {many(verdict.count - MOST_CASES, 'more case')} in {run.verdicts}")


def _lines(history: History, case: Evidence) -> str:
    wanted = set(case.events)
    lines = [str(i) for i, event in enumerate(history.events, 1) if event_id(event) in wanted]
    more = " ..." if len(lines) > MOST_LINES else ""
    return f" (trace.jsonl: {' '.join(lines[:MOST_LINES])}{more})" if lines else ""

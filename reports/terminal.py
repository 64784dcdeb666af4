"""The terminal report of a stored run: verdicts, margins, faults, timeline, tables, cuts.

Rules: the first line tells the outcome. It reads at 80 columns, in a pipe and without colour.
What a run directory holds is all it needs: run.json, trace.jsonl and the verdicts.

Limits: an invalid trace has no timeline, because nothing in it can be trusted; the report then
says what is wrong with it.
"""

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from reports.cut import cuts
from reports.detector_table import detector_table
from reports.fault_table import fault_table
from reports.group_tree import group_tree
from reports.header import header, surprises_of
from reports.lock_table import lock_table
from reports.margin_table import margin_table
from reports.story import Story
from reports.timeline import timeline
from reports.verdict_table import verdict_table
from reports.vote_graph import vote_table
from reports.words import Trimmed, command
from traces.expectations import outcome
from traces.lives import History
from traces.locks import LockRecord
from traces.merge import read_trace
from traces.run import RunDir, RunInfo
from traces.validity import problems_of
from traces.verdicts import InvalidTrace, Verdict
from traces.vote_record import VoteRecord


def render(
    run: RunDir,
    verdicts: list[Verdict],
    console: Console,
) -> None:
    """Print the report to the console."""
    info = run.read_info()
    story = _story(run, info, verdicts)
    reasons = surprises_of(verdicts, info.expect)
    reasons += [f"gave up: {info.gave_up}"] if info.gave_up else []
    reasons += [f"broke off: {info.broke_off}"] if info.broke_off else []
    word = outcome(verdicts, info.expect, bool(reasons))
    parts: list[RenderableType] = [header(info, word, reasons, story)]
    parts.append(verdict_table(verdicts, info.expect))
    if margins := margin_table(verdicts):
        parts.append(_titled("margins", margins))
    if story is not None:
        parts.append(_titled("faults", fault_table(story.history)))
        parts.append(_titled("timeline", timeline(run, info, story, console.width)))
        if story.detectors.watches:
            least_ns = round(info.timing.t_ms * 1e6)
            table = detector_table(story.history, story.detectors, least_ns)
            parts.append(_titled("detectors", table))
        if "GM82-GH" in info.properties and (tree := group_tree(story.history)):
            parts.append(_titled("groups", tree))
        if "BGS86-MAJ" in info.properties:
            versions = "BGS86-T221" in info.properties
            parts.append(_titled("votes", vote_table(VoteRecord(story.history, versions))))
            if (locks := LockRecord(story.history, versions)).asked:
                parts.append(_titled("locks", lock_table(story.history, locks)))
        parts += cuts(run, verdicts, story.history)
    parts.append(Group(*_next(run, info, word)))
    for i, part in enumerate(parts):
        if i:
            console.print()
        console.print(Trimmed(part), crop=False, end="")


def render_text(run: RunDir, verdicts: list[Verdict], width: int = 80) -> str:
    """The report as plain text."""
    out = io.StringIO()
    render(run, verdicts, Console(file=out, width=width, no_color=True, force_terminal=False))
    return out.getvalue()


def _story(run: RunDir, info: RunInfo, verdicts: list[Verdict]) -> Story | None:
    """What happened, if the trace can be trusted."""
    try:
        events = read_trace(run.trace)
    except (InvalidTrace, FileNotFoundError):
        return None
    if not events or problems_of(events, info.nodes):
        return None
    return Story(History(events, info.nodes), verdicts)


def _titled(title: str, part: RenderableType) -> Group:
    return Group(Text(title.upper(), style="bold"), part)


def _next(run: RunDir, info: RunInfo, word: str) -> Iterator[Text]:
    """Where the evidence is, and what to type next."""
    yield command(f"evidence  {run.path}", 0)
    again = info.again or f"hustings run {info.scenario}"
    if again.startswith("hustings"):
        again += f" --engine {info.engine}"
        again += (
            f" --seed {info.seed + 1}" if word == "as expected" else f" --schedule {run.schedule}"
        )
    if word != "as expected":
        yield command(f"next      hustings check {run.path}", 0)
        yield command(f"          {again}", 0)
    else:
        yield command(f"next      {again}", 0)

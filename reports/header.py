"""The head of the report: the outcome at a glance (traces.expectations), then what was run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.text import Text

from reports.story import Story
from reports.words import indented
from traces.expectations import differs
from traces.run import RunInfo
from traces.verdicts import Verdict, many

OUTCOMES = {
    "as expected": ("✓", "bold green"),
    "violated": ("✗", "bold red"),
    "inconclusive": ("?", "bold magenta"),
}


def surprises_of(verdicts: Sequence[Verdict], expect: Mapping[str, str]) -> list[str]:
    """The verdicts that are not as expected, in words; what is violated first."""
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for verdict in sorted(verdicts, key=lambda v: v.result != "violated"):
        instead = differs(verdict, expect)
        if instead:
            ids[f"{verdict.result}, expected {instead}"].append(verdict.id)
    judged = {verdict.id for verdict in verdicts}
    missing = [f"{name} not judged" for name in expect if name not in judged]
    return [f"{', '.join(names)} {words}" for words, names in ids.items()] + missing


def header(info: RunInfo, word: str, reasons: Sequence[str], story: Story | None) -> Group:
    """The first lines: outcome, scenario, what differs; then the setting of the run."""
    symbol, style = OUTCOMES[word]
    first = Text.assemble((f"{symbol} {word.upper()}", style), "  ", (info.scenario, "bold"))
    setting = [Text(info.claim, style="italic"), *map(Text, _setting(info, story))]
    notes = [Text(f"note: {note}", style="dim") for note in _notes(info)]
    if reasons:
        first.append(f"  {reasons[0]}", style=style)
    others = [Text(reason, style=style) for reason in reasons[1:]]
    return Group(first, *(indented(line) for line in [*others, *setting, *notes]))


def _setting(info: RunInfo, story: Story | None) -> list[str]:
    times = info.timing
    protocol = " ".join(info.command) or info.protocol.rpartition(":")[2]
    lines = [
        f"{many(info.nodes, 'node')} of {protocol}, {info.engine} engine, seed {info.seed}",
        f"T = 2 T_m + T_p = 2 x {times.t_m_ms:g} + {times.t_p_ms:g} = {times.t_ms:g} ms",
    ]
    if info.tau_fd_ms:
        delta = f"delta = T_m + T_p = {times.delta_ms:g} ms, tau = {times.check_ms:g} ms"
        lines.append(f"tau_FD = {info.tau_fd_ms:g} ms, {delta}")
    if story is not None:
        history = story.history
        took = f"{history.ms(history.ended):,.0f} ms"
        elections = f", {many(story.elections, 'election')}" if info.elects else ""
        lines.append(f"{took}, {many(len(history.events), 'event')}{elections}")
    return lines


def _notes(info: RunInfo) -> list[str]:
    repeated = [f"this is attempt {info.attempt}"] if info.attempt > 1 else []
    return [*repeated, *info.notes]

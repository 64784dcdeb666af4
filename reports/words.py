"""The words, symbols and colours all parts of the report share.

Rule: whatever a colour says a symbol or a word says too. Nodes, links and faults are named as
the narration of a run names them (traces.words).
"""

import re
import textwrap
from collections.abc import Iterable, Mapping

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from traces.chapters import State
from traces.events import Became, Overslept, Started

SYMBOLS = {"holds": "✓", "excused": "~", "vacuous": "○", "unknown": "?", "violated": "✗"}
COLOURS = {
    "holds": "green", "excused": "yellow", "vacuous": "cyan", "unknown": "magenta",
    "violated": "bold red",
}  # fmt: skip
CRASHED, PAUSED, RESUMED = "✗", "‖", "▶"
TOKEN_COLOURS = {
    "D": "dim", "E": "yellow", "e": "yellow", "R": "cyan", "W": "cyan", "N": "green",
    CRASHED: "bold red", PAUSED: "magenta", RESUMED: "magenta",
}  # fmt: skip
NO_GROUPS: Mapping[str, str] = {}
SIGNS = f"{CRASHED} crashed, {PAUSED} paused, {RESUMED} runs again, │ no change"
LEGEND = (
    "D Down, E5 Election (halted by 5), R5 Reorganization and N5 Normal (coordinator 5), " + SIGNS
)
VOTING = "D Down, 5 its votes, 5+x with object x locked, " + SIGNS
GROUPED = "E5c Election, R5c Reorganization and N5c Normal (coordinator 5, group c), " + SIGNS
VOTES = re.compile(r"\d+ votes(, holds .*)?")
"""S(i).d of a node that votes (BGS86 2, 3)."""
STAGES = {"Elec1": "e", "Elec2": "E", "Wait": "W"}
"""S97 4: the statuses of an election; its id begins with the node that started it."""
STAGED = (
    "e3c Elec1, E3c Elec2 and W3c Wait (election c, started by 3), N3c Norm (leader 3, elected "
    "by c), " + SIGNS
)


def letters(groups: Iterable[str]) -> dict[str, str]:
    """A letter for each group number, in the order they appear: a, b, ... z, aa, ab."""
    found: dict[str, str] = {}
    for group in groups:
        if group and group not in found:
            found[group] = _letter(len(found))
    return found


def _letter(k: int) -> str:
    last = chr(ord("a") + k % 26)
    return last if k < 26 else _letter(k // 26 - 1) + last


def token(state: State, groups: Mapping[str, str] = NO_GROUPS) -> str:
    """A state in one word: `N5`, or `N5c` in group c.

    In an election of the Bully the halter counts, c is of the past; where there are groups, c is
    the coordinator of the one that is being made. In S97 it is who started the election. Where
    nodes vote it is their votes, and what they hold (BGS86 3).
    """
    if isinstance(state, Became):
        if voting := VOTES.match(state.d):
            return "+".join(voting[0].replace(" votes", "").replace(", holds", "").split())
        if state.s in STAGES:
            return f"{STAGES[state.s]}{state.g.partition('.')[0]}{groups.get(state.g, '')}"
        whom = state.h if state.s == "Election" and not state.g else state.c
        group = groups.get(state.g, "")
        return "D" if state.s == "Down" else f"{state.s[:1]}{whom or ''}{group}"
    return "D" if isinstance(state, Started) else CRASHED


def lateness(event: Overslept) -> str:
    """What a node does that finds itself late (GM82 II, Assumption 9)."""
    return f"was late by {event.late / 1e6:.0f} ms: fails itself"


def examined_in_words(examined: dict[str, int]) -> str:
    """The two counts that say most: `303 cuts, 79 pairs`; or, of a bound, what it took of it."""
    if examined.get("judged") and "settled_in_ms" in examined:
        times = f"{examined.get('settled_in_ms', 0):,} of {examined['bound_ms']:,} ms"
        return f"{examined['judged']:,} judged, {times}"
    if examined.get("failures") and "p99_ms" in examined:
        times = f"p50 {examined['p50_ms']:,}, p99 {examined['p99_ms']:,}"
        return f"{examined['failures']:,} failures, {times} of {examined['bound_ms']:,} ms"
    counts = list(examined.items())[:2]
    words = (name.replace("_", "-") for name, _ in counts)
    return ", ".join(
        f"{count:,} {word[:-1] if count == 1 and word.endswith('s') else word}"
        for word, (_, count) in zip(words, counts, strict=True)
        if count or word == "judged" or len(counts) == 1
    )


def shortened(words: str, length: int = 300) -> str:
    """Not longer than that, and not cut within a word."""
    return textwrap.shorten(words, length, placeholder=" ...")


def command(words: str, indent: int = 2) -> Text:
    """Something to type: on one line, however narrow the terminal."""
    return Text(" " * indent + words, no_wrap=True, overflow="ignore")


def bulleted(symbol: str, style: str, words: Text) -> Table:
    """A paragraph that hangs from its symbol."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_row(Text(symbol, style=style), words)
    return table


def indented(words: str | Text) -> Padding:
    """A paragraph under a title."""
    return Padding(Text(words) if isinstance(words, str) else words, (0, 0, 0, 2))


class Trimmed:
    """A renderable without the blanks that tables leave at the ends of lines."""

    def __init__(self, inner: RenderableType) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Line by line, each cut after its last mark; a command stays whole."""
        for line in Segment.split_lines(console.render(self.inner, options)):
            kept = list(line)
            while kept and not kept[-1].text.strip():
                kept.pop()
            if kept:
                kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
            yield from kept
            yield Segment.line()

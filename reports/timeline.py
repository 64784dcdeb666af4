"""The timeline: time downwards, one column a node, and what happened in words.

Rules: a cell shows what its node became in the row; a line goes on where nothing changed,
broken while the node is paused, absent while it is not up. The last row says where each node
stands. When the columns do not fit the width, nodes with the same history in a row are named
together (`1-49 E50 R50 N50`), however many they are.
"""

from collections import defaultdict
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reports.rows import Gap, Row, rows_of, shown
from reports.story import Story
from reports.words import (
    COLOURS,
    CRASHED,
    GROUPED,
    LEGEND,
    PAUSED,
    STAGED,
    TOKEN_COLOURS,
    VOTING,
    command,
    indented,
    shortened,
)
from traces.run import RunDir, RunInfo
from traces.words import numbers

CLOCK, WORDS = 7, 22
LONGEST_SEQUENCE, MOST_GROUPS = 16, 6


def timeline(run: RunDir, info: RunInfo, story: Story, width: int) -> Group:
    """The whole section, fitted to `width` columns."""
    word = len(f"N{info.nodes}") + max(map(len, story.groups.values()), default=0)
    cell = min((width - CLOCK - WORDS - 2) // info.nodes - 1, len("E R N") + 3 * (word - 1))
    fits = cell >= word
    room = cell if fits else LONGEST_SEQUENCE
    rows = shown(rows_of(story.moments, round(info.timing.t_m_ms * 1e6), room))
    drawing = _Columns(info.nodes, cell) if fits else _Groups(info.nodes)
    table = drawing.table()
    _draw(table, drawing, rows, story, quiet_ns=round(4 * info.timing.t_ms * 1e6))
    left_out = any(isinstance(row, Gap) for row in rows)
    return Group(table, *_footer(run, left_out, story))


def _draw(
    table: Table, drawing: "_Drawing", rows: list[Row | Gap], story: Story, quiet_ns: int
) -> None:
    before: dict[int, str] = {}
    last, history = rows[0].at if rows else 0, story.history
    for row in rows:
        if row.at - last > quiet_ns and isinstance(row, Row):
            quiet = f"{(row.at - last) / 1e6:.0f} ms without a change"
            table.add_row("⋮", *drawing.standing({}), Text(quiet, style="dim"))
        if isinstance(row, Gap):
            words = Text(f"{row.rows} rows left out", style="bold")
            table.add_row("⋮", *drawing.standing(row.after), words)
        else:
            cells = drawing.cells(row, before)
            table.add_row(f"{history.ms(row.at):.1f}", *cells, _what_happened(row))
        before, last = row.after, row.last
    end = f"{history.ms(history.horizon):.1f}"
    table.add_row(end, *drawing.standing(before), Text("end", style="dim"))


def _footer(run: RunDir, left_out: bool, story: Story) -> Iterator[RenderableType]:
    groups = story.groups
    legend = STAGED if story.staged else GROUPED if groups else LEGEND
    legend = VOTING if story.voting else legend
    yield indented(Text(legend, style="dim"))
    if groups:
        numbers_of = ", ".join(f"{letter} {group}" for group, letter in groups.items())
        what = "elections" if story.staged else "groups"
        yield indented(Text(shortened(f"{what}: {numbers_of}"), style="dim"))
    if left_out:
        events = '.e=="became" or .e=="injected"'
        yield command(f"every change: jq -c 'select({events})' {run.trace}")


class _Columns:
    """One column a node."""

    def __init__(self, nodes: int, cell: int) -> None:
        self.nodes, self.cell = range(1, nodes + 1), cell

    def table(self) -> Table:
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold", pad_edge=False)
        table.add_column("ms", justify="right", min_width=CLOCK, no_wrap=True)
        for node in self.nodes:
            table.add_column(str(node), width=self.cell, no_wrap=True)
        table.add_column("what happened", ratio=1)
        return table

    def cells(self, row: Row, before: dict[int, str]) -> list[RenderableType]:
        return [
            _coloured(row.cells[node]) if node in row.cells else _lifeline(before.get(node))
            for node in self.nodes
        ]

    def standing(self, now: dict[int, str]) -> list[RenderableType]:
        return [_coloured([now[node]]) if node in now else Text() for node in self.nodes]


class _Groups:
    """One column for all nodes: those with the same cell together."""

    def __init__(self, nodes: int) -> None:
        self.nodes = range(1, nodes + 1)

    def table(self) -> Table:
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold", pad_edge=False)
        table.add_column("ms", justify="right", min_width=CLOCK, no_wrap=True)
        table.add_column(f"nodes 1-{len(self.nodes)}", ratio=3)
        table.add_column("what happened", ratio=2)
        return table

    def cells(self, row: Row, before: dict[int, str]) -> list[RenderableType]:
        return [_grouped(row.cells)]

    def standing(self, now: dict[int, str]) -> list[RenderableType]:
        return [_grouped({node: [word] for node, word in now.items()})]


_Drawing = _Columns | _Groups


def _what_happened(row: Row) -> Text:
    marks = [Text(mark, style=COLOURS[mark.split()[-1]]) for mark in row.marks]
    return Text("\n").join([*marks, *map(Text, row.phrases())])


def _grouped(cells: dict[int, list[str]]) -> Text:
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for node, tokens in cells.items():
        groups[tuple(tokens)].append(node)
    text = Text()
    for sequence, nodes in list(groups.items())[:MOST_GROUPS]:
        text.append(", " if text else "")
        text.append(f"{numbers(nodes)} ", style="bold").append_text(_coloured(list(sequence)))
    if len(groups) > MOST_GROUPS:
        text.append(f", {len(groups) - MOST_GROUPS} more groups")
    return text


def _coloured(tokens: list[str]) -> Text:
    return Text(" ").join(Text(word, style=TOKEN_COLOURS.get(word[:1], "")) for word in tokens)


def _lifeline(word: str | None) -> Text:
    if word is None or word == CRASHED:
        return Text()
    return Text("┆" if word == PAUSED else "│", style="dim")

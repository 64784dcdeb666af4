"""Rows of the timeline: moments close together, one cell a node.

Rules:

- A row goes on while moments follow each other within T_m; a fault or a broken property opens
  a new one, so what a row shows before and after it is true.
- A cell is the sequence of its node's states within the row. When it is full, a new row begins.
- Every life begins Down; D is shown only if the node is still Down when the row ends.
- A long run keeps its first and last rows and those around each broken property.

Limits: within a row the order between nodes is not shown; the trace has it.
"""

from dataclasses import dataclass, field

from reports.story import Bid, Doubt, Message, Moment, Words
from traces.words import numbers

EDGE, BEFORE, AFTER, MOST_PHRASES = 10, 5, 3, 8


@dataclass(slots=True)
class Row:
    """One row; `after` is every node's word when it ends."""

    at: int
    last: int
    cells: dict[int, list[str]] = field(default_factory=dict)
    words: list[Words] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    after: dict[int, str] = field(default_factory=dict)

    def add(self, moment: Moment) -> None:
        """Take in one more moment."""
        self.last = moment.at
        if moment.marked:
            self.marks.append(str(moment.words))
        elif moment.words:
            self.words.append(moment.words)
        if moment.token:
            self.cells[moment.node] = self._cell_with(moment)

    def has_room(self, moment: Moment, room: int) -> bool:
        """Whether the moment's word still fits into its cell."""
        cell = self._cell_with(moment)
        return not moment.token or len(cell) == 1 or len(" ".join(cell)) <= room

    def _cell_with(self, moment: Moment) -> list[str]:
        cell = self.cells.get(moment.node, [])
        return [*(cell[:-1] if cell[-1:] == ["D"] else cell), moment.token]

    def phrases(self) -> list[str]:
        """The last column: `4 Timeout: 5 silent`, `4>1-3 Halt, NewCoordinator, Ready`."""
        said = [word for word in self.words if isinstance(word, str)]
        found = [*said, *_doubts(self.words), *_bids(self.words), *_messages(self.words)]
        more = len(found) - MOST_PHRASES
        return [*found[:MOST_PHRASES], *([f"and {more} more"] if more > 0 else [])]


@dataclass(slots=True)
class Gap:
    """Rows left out, from `at` to `last`; `after` is as in the last of them."""

    rows: int
    at: int
    last: int
    after: dict[int, str]


def rows_of(moments: list[Moment], near_ns: int, room: int) -> list[Row]:
    """All rows; `room` is the width of a cell."""
    rows: list[Row] = []
    now: dict[int, str] = {}
    for moment in moments:
        fits = rows and moment.at - rows[-1].last <= near_ns and rows[-1].has_room(moment, room)
        # What several verdicts or faults say at one instant stays together.
        if not fits or (moment.opens and (rows[-1].cells or not rows[-1].marks)):
            rows.append(Row(moment.at, moment.at))
        rows[-1].add(moment)
        if moment.token:
            now[moment.node] = moment.token
        rows[-1].after = dict(now)
    return rows


def shown(rows: list[Row]) -> list[Row | Gap]:
    """The rows worth showing, and a gap for each stretch of the others."""
    keep = {i for i in range(len(rows)) if min(i, len(rows) - 1 - i) < EDGE}
    for i in [i for i, row in enumerate(rows) if row.marks][:3]:
        keep.update(range(max(0, i - BEFORE), min(len(rows), i + AFTER + 1)))
    result: list[Row | Gap] = []
    for i, row in enumerate(rows):
        if i in keep:
            result.append(row)
        elif result and isinstance(result[-1], Gap):
            gap = result[-1]
            gap.rows, gap.last, gap.after = gap.rows + 1, row.last, row.after
        else:
            result.append(Gap(1, row.at, row.last, row.after))
    return result


def _bids(words: list[Words]) -> list[str]:
    """Same reason: one phrase."""
    nodes: dict[str, list[int]] = {}
    for bid in (word for word in words if isinstance(word, Bid) and word.why):
        nodes.setdefault(bid.why, []).append(bid.node)
    return [f"{numbers(found)} {why}" for why, found in nodes.items()]


def _doubts(words: list[Words]) -> list[str]:
    """Same node, same truth: one phrase."""
    nodes: dict[tuple[int, str], list[int]] = {}
    for doubt in (word for word in words if isinstance(word, Doubt)):
        nodes.setdefault((doubt.peer, doubt.truth), []).append(doubt.node)
    found = []
    for (peer, truth), who in nodes.items():
        s = "s" if len(set(who)) == 1 else ""
        if truth == "trusted":
            found.append(f"{numbers(who)} monitor{s} {peer} again")
        else:
            falsely = "falsely " if truth == "up" else ""
            found.append(f"{numbers(who)} {falsely}suspect{s} {peer} ({truth})")
    return found


def _messages(words: list[Words]) -> list[str]:
    """Same sender, same receivers: one phrase."""
    to: dict[tuple[int, str], set[int]] = {}
    for message in (word for word in words if isinstance(word, Message)):
        to.setdefault((message.src, message.kind), set()).add(message.dst)
    kinds: dict[tuple[int, str], list[str]] = {}
    for (src, kind), dsts in to.items():
        kinds.setdefault((src, numbers(dsts)), []).append(kind)
    return [f"{src}>{dsts} {', '.join(names)}" for (src, dsts), names in kinds.items()]

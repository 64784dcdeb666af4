"""What the failure detectors said of each node, beside what was true of it (S97 2).

Rules: a row is a time at which a node was down, and who was told so, how long after it was down
and they monitored it. What was said of a node that was up has rows of its own: that it was down
before, that it played dead, or that it is false; what follows within T is one row. Where nobody
was told of a time of T or more at which it was down, the row says so.

Limits: a node that was not monitored is not shown; of many rows the first ones are.
"""

from collections import defaultdict
from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reports.words import COLOURS, indented
from traces.detectors import Absence, Alarm, Detectors
from traces.lives import History
from traces.words import numbers

MOST = 12
Line = tuple[float, int, str, str, str]
"""When, who, the truth, who was told, and the colour of that."""


def detector_table(history: History, asked: Detectors, least_ns: int) -> Group:
    """The table, in the order of time; `least_ns` is T."""
    lines = sorted([*_down(history, asked, least_ns), *_up(history, asked, least_ns)])
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("node", justify="right")
    table.add_column("truth", no_wrap=True)
    table.add_column("what was said", ratio=1)
    for _, node, truth, said, style in lines[:MOST]:
        table.add_row(str(node), truth, Text(said, style=style))
    watches, alarms = len(asked.watches), len(asked.alarms)
    words = f"{watches} calls of Start_FD for a node, {alarms} suspicions"
    words += f"; {len(lines) - MOST} more rows" if len(lines) > MOST else ""
    return Group(table, indented(Text(words, style="dim")))


def _down(history: History, asked: Detectors, least_ns: int) -> Iterator[Line]:
    """A row for each time a node was down while somebody monitored it."""
    for node, absences in asked.down.items():
        for absence in absences:
            watches = [
                it for it in asked.watches
                if it.peer == node and it.start < min(absence.end, history.horizon)
                and it.end > absence.start
            ]  # fmt: skip
            if not watches or absence.start >= history.horizon:
                continue
            start = history.ms(absence.start)
            truth = f"down from {start:.1f} ms on"
            if absence.end < history.horizon:
                truth = f"down {start:.1f} to {history.ms(absence.end):.1f} ms"
            told = [it for it in asked.alarms if it.peer == node and _within(it, absence)]
            if not told and min(absence.end, history.horizon) - absence.start < least_ns:
                continue
            said = "suspected by " + _told(told, absence) if told else "nobody was told"
            yield start, node, truth, said, ""


def _within(alarm: Alarm, absence: Absence) -> bool:
    return absence.start <= alarm.at < absence.end


def _told(alarms: list[Alarm], absence: Absence) -> str:
    """`2 after 48.1 ms, 3-5 after 50.0 ms`, from the later of crash and Start_FD."""
    after: defaultdict[str, list[int]] = defaultdict(list)
    for alarm in alarms:
        since = max(absence.start, alarm.watch.start if alarm.watch else absence.start)
        after[f"{(alarm.at - since) / 1e6:.1f} ms"].append(alarm.node)
    return ", ".join(f"{numbers(nodes)} after {ms}" for ms, nodes in after.items())


def _up(history: History, asked: Detectors, near_ns: int) -> Iterator[Line]:
    """A row for those who were told of a node that was up, at about the same time."""
    rows: defaultdict[tuple[int, str], list[list[Alarm]]] = defaultdict(list)
    for alarm in asked.alarms:
        same = rows[alarm.peer, asked.truth(alarm)]
        if not same or alarm.at - same[-1][0].at > near_ns:
            same.append([])
        same[-1].append(alarm)
    for (peer, truth), told in rows.items():
        for alarms in told if truth != "down" else ():
            at = history.ms(alarms[0].at)
            how = "falsely suspected" if truth == "up" else "suspected"
            style = COLOURS["violated"] if truth == "up" else ""
            said = f"{how} by {numbers(it.node for it in alarms)} from {at:.1f} ms on"
            yield at, peer, truth, said, style

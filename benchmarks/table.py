"""One row a ratio: what was measured, against what, and whether it reaches its target.

Rules: both sides of a ratio are measured in turn, round by round, and the ratio is the median
over the rounds, because the speed of a shared machine drifts. CPU-bound work is timed by the
CPU time of its process, so that other people's work is not counted.

Limits: a missed target is a finding, not an error; on a busy machine look at it twice.
"""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

from rich.console import Console
from rich.table import Table


@dataclass
class Row:
    """One line of the table; `ok` is None where there is no target to reach."""

    what: str
    against: str
    measured: str
    reach: str
    ok: bool | None


def in_turn(rounds: int, *measures: Callable[[], float]) -> list[list[float]]:
    """What each measure gave, round by round."""
    figures: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for mine, measure in zip(figures, measures, strict=True):
            mine.append(measure())
    return figures


def ratio(these: Sequence[float], those: Sequence[float]) -> float:
    """The median of the ratios of each round."""
    return median(a / b for a, b in zip(these, those, strict=True))


def cpu_s(work: Callable[[], object]) -> float:
    """The CPU seconds of this process that some work takes."""
    began = process_time()
    work()
    return process_time() - began


def machine() -> str:
    """What this was measured on, in a line."""
    load = " ".join(f"{one:.2f}" for one in os.getloadavg())
    return (
        f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()}, load {load}"
    )


def show(rows: Sequence[Row], console: Console) -> None:
    """Print the table, then which targets were missed."""
    words = {True: "ok", False: "[bold red]missed[/]", None: "-"}
    table = Table(box=None, pad_edge=False, show_edge=False)
    for head in ("what", "against", "measured", "reach", ""):
        table.add_column(head, no_wrap=head in ("reach", ""))
    for row in rows:
        table.add_row(row.what, row.against, row.measured, row.reach, words[row.ok])
    console.print(table)
    missed = [f"{row.what.strip()} / {row.against}" for row in rows if row.ok is False]
    console.print("", f"missed {len(missed)}:" if missed else "every target was reached", sep="\n")
    for what in missed:
        console.print(f"  {what}")

"""`hustings availability --engine`: the study's histories under nodes that run the policies.

One row a strategy: messages for each failure or repair, the uptime of the nodes by pace, and that
of the simulation of the same histories. Progress goes to stderr, the table to stdout.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from harness.availability import CONSENSUS, RIVALS, TWICE, Mix, Network
from harness.availability_nodes import Compared, Trial, real, virtual
from harness.availability_pictures import drawn
from harness.availability_study import Estimate, estimate
from harness.crews import crew
from harness.progress import shown

RUNS = Path("runs")
LENGTH = 20.0  # of a history, in mean times to a failure
PACES, HISTORIES = (3, 10, 30, 100), 48
REAL_PACE, REAL_HISTORIES = 10, 4
ENOUGH = 10  # histories for an interval
REAL = ("static", "overthrow-ranking-decrease", "alliance-2v-decrease", TWICE, CONSENSUS)


class Line(NamedTuple):
    """One row."""

    strategy: str
    messages: float
    nodes: dict[str, float]
    """By pace, in percent; where they are real, on the virtual engine too."""
    as_read: float
    simulated: float
    late: Estimate
    """What the slowest pace leaves between nodes and simulation, history by history; points."""


def command(args: argparse.Namespace, network: Network, mix: Mix) -> int:
    """Run it, and print it."""
    on_processes = args.engine == "real"
    paces = (REAL_PACE,) if on_processes else PACES
    seeds = range(args.seed, args.seed + (REAL_HISTORIES if on_processes else HISTORIES))
    trials = [
        Trial(network, mix, strategy, pace, LENGTH, seed)
        for strategy in (REAL if on_processes else RIVALS)
        for pace in paces
        for seed in seeds
    ]
    with crew(virtual, args.scheduler) as done:
        found = list(shown(done(trials), len(trials), "virtual"))
    lines = {line.strategy: line for line in map(line_of, _by_strategy(found))}
    if on_processes:
        found = list(shown(map(partial(real, runs=RUNS), trials), len(trials), "real"))
        for row in map(line_of, _by_strategy(found)):
            row.nodes["virtual"] = lines[row.strategy].nodes[f"{REAL_PACE}"]
            lines[row.strategy] = row
    rows = [*lines.values()]
    pictures: list[Path] = []
    try:
        pictures += [] if on_processes else _drawn(rows, network, mix)
    finally:  # what was measured is told, whatever the disk says
        if args.json:
            _print_json(rows)
        else:
            _print(rows, network, mix, args.engine, pictures)
    return 0


def _print_json(rows: Sequence[Line]) -> None:
    import msgspec

    value = [{**row._asdict(), "late": row.late._asdict()} for row in rows]
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def _by_strategy(found: Iterable[Compared]) -> Iterable[list[Compared]]:
    rows: dict[str, list[Compared]] = {}
    for one in found:
        rows.setdefault(one.trial.strategy, []).append(one)
    return rows.values()


def line_of(found: Sequence[Compared]) -> Line:
    """All trials of one strategy in a row."""
    paces = sorted({one.trial.pace for one in found})
    slowest = [one for one in found if one.trial.pace == paces[-1]]
    late = [100 * (one.nodes - one.as_read) for one in slowest]
    return Line(
        found[0].trial.strategy,
        _mean(slowest, lambda one: one.messages),
        {
            f"{pace:g}": 100
            * _mean([o for o in found if o.trial.pace == pace], lambda one: one.nodes)
            for pace in paces
        },
        100 * _mean(slowest, lambda one: one.as_read),
        100 * _mean(slowest, lambda one: one.simulated),
        estimate(late) if len(late) >= ENOUGH else Estimate(fmean(late), inf),
    )


def _mean(some: Sequence[Compared], what: Callable[[Compared], float]) -> float:
    return sum(map(what, some)) / len(some)


def _print(
    lines: Sequence[Line], network: Network, mix: Mix, engine: str, pictures: Sequence[Path]
) -> None:
    console = Console(highlight=False)
    title = f"{network.name}, mix {mix.name}, nodes on the {engine} engine: % uptime"
    table = Table(
        box=None, pad_edge=False, collapse_padding=True, title=title, title_justify="left"
    )  # fmt: skip
    table.add_column("strategy", no_wrap=True)
    for head in ("sent", *lines[0].nodes, "at once", "late by", "study"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in lines:
        table.add_row(
            row.strategy, f"{row.messages:.1f}", *(f"{up:.1f}" for up in row.nodes.values()),
            f"{row.as_read:.1f}", _late(row.late), f"{row.simulated:.1f}",
        )  # fmt: skip
    console.print(table)
    console.print(
        "sent: messages for each failure or repair, without those of every Check, which ask who is "
        "there or hand on a token; columns by the mean time to a failure, in Checks; at "
        "once: the same histories simulated as these nodes read the strategy; late by: what the "
        "slowest pace still lacks, history by history; study: simulated as the study reads it"
    )
    for path in pictures:
        console.print(f"picture  {path}")


def _late(it: Estimate) -> str:
    return f"{it.mean:+.1f}" + (f"±{it.half:.1f}" if it.half < inf else "")


def _drawn(lines: Sequence[Line], network: Network, mix: Mix) -> list[Path]:
    """Uptime by pace."""
    return drawn(
        RUNS / "availability-delay",
        f"{network.name}, mix {mix.name}: % uptime of nodes",
        "mean time to a failure, in Checks",
        {row.strategy: [*row.nodes.values(), row.as_read] for row in lines},
        [*lines[0].nodes, "at once"],
    )

"""`hustings messages`: counts beside what S97 7 claims, as a table and a picture.

Progress goes to stderr, the table to stdout, the picture to runs/messages.svg. Exit code 0 when it
was measured: a coefficient that differs from the paper's is a finding, not a failure.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from loguru import logger
from rich.console import Console
from rich.table import Table

from harness.messages import (
    ALGORITHMS,
    Case,
    Counts,
    Curve,
    Fit,
    curves,
    measure,
    measure_real,
)
from harness.progress import shown
from harness.schedule import ScheduleError
from harness.workers import spread

RUNS = Path("runs")
LEAST = 3
TWICE, ONCE = "2(N-1)", "N-1"
CLAIMS: dict[tuple[str, str], tuple[str, Fit]] = {
    ("Invitation", "quiet"): (TWICE, Fit(0, 2, -2)),
    ("Invitation", "crash"): ("N^2", Fit(1, 0, 0)),
    ("Invitation", "worst crash"): ("2 N^2", Fit(2, 0, 0)),
    ("Async. Bully", "quiet"): (TWICE, Fit(0, 2, -2)),
    ("  Stop_FD by the leader", "quiet"): (TWICE, Fit(0, 2, -2)),
    ("  piggybacked", "quiet"): (ONCE, Fit(0, 1, -1)),
    **{
        (name, what): claim
        for name in ("Async. Bully", "  Stop_FD by the leader", "  piggybacked")
        for what, claim in (
            ("crash", ("N^2/2", Fit(0.5, 0, 0))),
            ("worst crash", ("N^2", Fit(1, 0, 0))),
        )
    },
}
WHY = (
    "Why it differs from S97 7. Async. Bully, quiet: by Fig. 3 a leader never calls Stop_FD for "
    'the nodes it halted, so N-1 "I\'m alive" go to it as well; section 7 counts as if it did.',
    "Async. Bully, crash: section 7 lets half of the nodes call StartStage2, each for its own "
    "crash report. But a node that was halted by an earlier candidate follows that one, and the "
    "report about the old leader means nothing to it any more. Only a node of higher priority than "
    "all before it starts an election: of N in random order about ln N do, not N/2.",
    "Invitation, crash: AreYouCoordinator and its answers are nearly all of it, as section 7 says. "
    "But node n-1 is not done when it calls Check: its question to the dead node takes T, its "
    "merge T more, and meanwhile others come to their Check, some for the second time.",
)


def command(args: argparse.Namespace) -> int:
    """Measure, and print it."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{message}", colorize=False)
    virtual = args.engine == "virtual"
    most, seeds = args.most or (40 if virtual else 15), args.seeds or (10 if virtual else 1)
    if most < LEAST:
        raise ScheduleError(f"--most {most}: there is nothing to count with fewer than 3 nodes")
    cases = [
        Case(name, nodes, seed)
        for name in ALGORITHMS
        for nodes in range(LEAST, most + 1)
        for seed in range(1, seeds + 1)
    ]
    if virtual:
        counts: Iterable[Counts] = spread(measure, cases, os.cpu_count() or 1)
    else:
        counts = (measure_real(case, RUNS) for case in cases)
    found = curves(shown(counts, len(cases), "messages"))
    picture = _drawn(found, most)
    if args.json:
        _print_json(found)
    else:
        _print(found, most, picture)
    return 0


def _print(found: list[Curve], most: int, picture: Path) -> None:
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for head in ("algorithm", "messages in a", f"N={most}", "fit c2, c1, c0", "S97 7", "ratio"):
        table.add_column(
            head, justify="left" if head in ("algorithm", "messages in a") else "right"
        )
    for curve in found:
        words, claim = CLAIMS[curve.algorithm, curve.what]
        fit, (n, last) = curve.fit, curve.points[-1]
        table.add_row(
            curve.algorithm,
            "period" if curve.what == "quiet" else curve.what,
            f"{last:,.0f}",
            f"{fit.c2:.2f} {fit.c1:+.1f} {fit.c0:+.0f}",
            words,
            f"{last / claim.at(n):.2f}",
        )
    console.print(table)
    console.print(f"ratio: measured by claimed, at N={most}")
    for words in (*_most_of(found), *WHY):
        console.print(words)
    console.print(f"picture  {picture}")


def _most_of(found: list[Curve]) -> Iterator[str]:
    """Which messages an election is made of, at the largest N."""
    for curve in found:
        if curve.what == "crash" and (total := sum(curve.kinds.values())):
            kinds = ", ".join(f"{k} {100 * c / total:.0f}%" for k, c in curve.kinds.most_common(5))
            yield f"{curve.algorithm.strip()}, crash: {kinds}"


def _drawn(found: list[Curve], most: int) -> Path:
    """Crash messages by N, measured and claimed."""
    curves_ = import_module("reports.curves")
    sizes = range(LEAST, most + 1)
    lines = [
        curves_.Line(f"{curve.algorithm.strip()}, {curve.what}", curve.points)
        for curve in found
        if curve.what != "quiet" and curve.algorithm in ("Invitation", "Async. Bully")
    ]
    for words, fit in {w: f for (_, what), (w, f) in CLAIMS.items() if what != "quiet"}.items():
        lines.append(curves_.Line(f"S97: {words}", [(n, fit.at(n)) for n in sizes], claim=True))
    RUNS.mkdir(exist_ok=True)
    path = RUNS / "messages.svg"
    path.write_text(curves_.chart("Messages for the crash of a leader", "nodes", lines))
    return path


def _print_json(found: list[Curve]) -> None:
    import msgspec

    value = [
        {
            "algorithm": curve.algorithm.strip(),
            "what": curve.what,
            "points": curve.points,
            "fit": [curve.fit.c2, curve.fit.c1, curve.fit.c0],
            "claim": CLAIMS[curve.algorithm, curve.what][0],
            "kinds": curve.kinds,
        }
        for curve in found
    ]
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")

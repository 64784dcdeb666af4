"""`hustings networks`: a protocol on every small network, as one table.

Progress goes to stderr, the table to stdout. Exit code 0 if every claim came out as it must on
every network, 1 if one was violated somewhere, 3 if one was not decided. What is not as it must
be is recorded as a run of its own, and named with what to type.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from loguru import logger
from rich.console import Console
from rich.table import Table

from harness.execute import AS_EXPECTED, INCONCLUSIVE, VIOLATED, execute
from harness.networks import (
    Examined,
    Network,
    examine_all,
    examine_all_really,
    networks,
    sample,
    scenario_of,
)
from harness.progress import shown
from harness.scenario import claims_of
from harness.schedule import ScheduleError
from traces.verdicts import Result, many, worst

SHOWN = 5
RUNS = Path("runs")


@dataclass(frozen=True)
class Claims:
    """What is asked of a protocol: safety, liveness, and what its paper says does not hold."""

    safety: str
    liveness: str
    flawed: str
    parts: dict[str, tuple[str, ...]]
    why: str
    none: str = ""

    def results(self, case: Examined) -> dict[str, str]:
        """Claim by claim, the worse of its parts."""
        return {
            name: worst(cast(Result, case.results[part]) for part in parts)
            for name, parts in self.parts.items()
        }

    def wrong(self, case: Examined) -> dict[str, str]:
        """What must hold and does not; two nodes of one group there are not in every network."""
        fine = {self.safety: ("holds", "vacuous"), self.liveness: ("holds",)}
        results = self.results(case)
        return {name: results[name] for name in fine if results[name] not in fine[name]}


GARCIA_MOLINA = Claims(
    "GM82-3", "S00-4'", "GM82-4",
    {"GM82-3": ("GM82-3a", "GM82-3b"), "S00-4'": ("S00-4'a", "S00-4'b"), "GM82-4": ("GM82-4",)},
    "through no fault of the algorithm (S00)",
)  # fmt: skip
STOLLER = Claims(
    "ALE1", "ALE2'", "ALE2",
    {"ALE1": ("S97-ALE1",), "ALE2'": ("S97-ALE2'",), "ALE2": ("S97-ALE2",)},
    "as S97 7 expects of some",
    "; S97's example of six nodes is no counterexample (hustings run triangle-with-pendants)",
)  # fmt: skip


def command(args: argparse.Namespace) -> int:
    """Do it and print it; the exit code."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{message}", colorize=False)
    claims = _claims(args.protocol)
    cases = networks(args.nodes, args.priorities, args.seeds)
    if args.sample or args.engine == "real":
        cases = sample(cases, args.sample or 20)
    found = list(shown(_examined(cases, args), len(cases), "networks"))
    wrong = [case for case in found if claims.wrong(case)]
    evidence = [_recorded(case, args) for case in wrong[:SHOWN]]
    (_print_json if args.json else _print)(claims, found, wrong, evidence)
    if any("violated" in claims.wrong(case).values() for case in wrong):
        return VIOLATED
    return INCONCLUSIVE if wrong else AS_EXPECTED


def _claims(protocol: str) -> Claims:
    claimed = claims_of(protocol)
    for claims in (GARCIA_MOLINA, STOLLER):
        if set(claims.parts[claims.liveness]) <= set(claimed):
            return claims
    raise ScheduleError(f"{protocol} claims neither S00-4' nor S97-ALE2'; it needs a whole network")


def _examined(cases: list[Network], args: argparse.Namespace) -> Iterator[Examined]:
    if args.engine == "virtual":
        return examine_all(cases, args.protocol, os.cpu_count() or 1)
    return examine_all_really(cases, args.protocol, RUNS)


def _recorded(case: Examined, args: argparse.Namespace) -> str:
    """Run it once more, so that there is something to look at; a real run is there already."""
    if case.run:
        return case.run
    scenario = scenario_of(case.network, args.protocol)
    outcome = execute(scenario, engine="virtual", seed=case.network.seed, runs=RUNS)
    return str(outcome.run.path)


def _print(
    claims: Claims, found: list[Examined], wrong: list[Examined], evidence: list[str]
) -> None:
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for head in ("nodes", "graphs", "runs", *claims.parts, "settled in", "bound c"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in _rows(claims, found):
        table.add_row(
            *(f"{row[key]:,}" for key in ("nodes", "graphs", "runs")),
            *(_in_words(row["results"][name]) for name in claims.parts),
            f"{row['settled_in_ms']:,} ms",
            f"{row['bound_ms']:,} ms",
        )
    console.print(table)
    if not wrong:
        console.print(_flaw(claims, found))
    for case, path in zip(wrong, evidence, strict=False):
        words = ", ".join(f"{name} {result}" for name, result in claims.wrong(case).items())
        console.print(f"✗ {case.network.words}: {words}; hustings report {path}")
    if len(wrong) > len(evidence):
        console.print(f"✗ and {len(wrong) - len(evidence):,} more")
    if not wrong:
        names = f"{claims.safety} and {claims.liveness}"
        console.print(f"✓ {names} hold in all {len(found):,} runs")


def _flawed(claims: Claims, found: list[Examined]) -> list[Examined]:
    return [case for case in found if claims.results(case)[claims.flawed] == "violated"]


def _flaw(claims: Claims, found: list[Examined]) -> str:
    broken = _flawed(claims, found)
    if not broken:
        return f"{claims.flawed} was broken on none{claims.none}"
    classes = {(case.network.nodes, case.network.graph) for case in broken}
    return (f"{claims.flawed} (as published) was broken on {many(len(classes), 'graph')}, "
            f"{claims.why}; the smallest: {broken[0].network.words}")  # fmt: skip


def _in_words(results: Counter[str]) -> str:
    """`holds` when all of them do; else how many do not, and how."""
    if len(results) == 1:
        return next(iter(results))
    others = ((count, result) for result, count in sorted(results.items()) if result != "holds")
    return ", ".join(f"{count:,} {result}" for count, result in others)


def _rows(claims: Claims, found: list[Examined]) -> list[dict[str, Any]]:
    """One row a size."""
    rows = []
    for nodes in sorted({case.network.nodes for case in found}):
        cases = [case for case in found if case.network.nodes == nodes]
        results = [claims.results(case) for case in cases]
        rows.append({
            "nodes": nodes,
            "graphs": len({case.network.graph for case in cases}),
            "runs": len(cases),
            "results": {name: Counter(result[name] for result in results) for name in claims.parts},
            "settled_in_ms": max(case.settled_in_ms for case in cases),
            "bound_ms": max(case.bound_ms for case in cases),
        })  # fmt: skip
    return rows


def _print_json(
    claims: Claims, found: list[Examined], wrong: list[Examined], evidence: list[str]
) -> None:
    import msgspec

    value = {
        "rows": _rows(claims, found),
        "wrong": [
            {"network": case.network, "results": case.results, "run": path}
            for case, path in zip(wrong, [*evidence, *[""] * len(wrong)], strict=False)
        ],
        "flawed": sorted({case.network.words for case in _flawed(claims, found)}),
    }
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")

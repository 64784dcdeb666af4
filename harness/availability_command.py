"""`hustings availability`: the study of BGS86 5 as tables, pictures, a CSV file, and claims.

Progress goes to stderr, tables to stdout, pictures and figures to runs/. Exit code 0 when it was
measured: a sentence of the paper that is not confirmed is a finding, not a failure.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from importlib import util
from pathlib import Path
from typing import Any

from loguru import logger
from rich.console import Console
from rich.table import Table

from harness.availability import (
    CONSENSUS,
    MIXES,
    NETWORKS,
    OTHERWISE,
    RIVALS,
    TIME,
    Mix,
    Network,
    Rates,
    graph,
)
from harness.availability_claims import Finding, findings
from harness.availability_cores import Game
from harness.availability_exact import of_chain, of_static_votes
from harness.availability_history import components, expected
from harness.availability_pictures import drawn
from harness.availability_study import Cell, Rivals, Setting, replicate, study
from harness.crews import crew
from harness.progress import shown
from harness.schedule import ScheduleError

RUNS = Path("runs")
WIDTH = 1.0  # of a 95% interval, in points; BGS86 5.1 has 10
EVENTS = 3e7  # in a run, at most: some gigabytes
STATES = 1 << 15  # of a static network, for which the exact answer is looked for
MARKS = {"confirmed": "✓", "not confirmed": "✗", "depends on the variant": "~"}
WHERE = {"1": "Nodes and links fail", "2": "Only nodes fail", "3": "Only links fail"}
Exact = dict[tuple[str, str, str], float]


def command(args: argparse.Namespace) -> int:
    """Measure, and print it."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{message}", colorize=False)
    RUNS.mkdir(exist_ok=True)  # or nothing is measured
    if args.engine:
        return _with_nodes(args)
    settings = [
        Setting(network, mix, _rivals(args), args.time or TIME, args.seed)
        for network in _networks(args)  # all mixes of a network together: what is kept serves them
        for mix in _mixes(args)
    ]
    for setting in settings:
        _refuse_endless(setting)
    with crew(replicate, args.scheduler) as done:
        cells = study(settings, (args.width or WIDTH) / 100, done, shown)
    with crew(_exact, None) as done_here:
        exact: Exact = dict(
            pair for some in shown(done_here(settings), len(settings), "exact") for pair in some
        )
    complete = [setting[:2] for setting in settings] == _everything()
    claims = findings(cells) if complete else []
    files: list[Path] = []
    try:
        files += _kept(cells, exact)
    finally:  # what was measured is told, whatever the disk says
        if args.json:
            _print_json(cells, exact, claims)
        else:
            _print(cells, exact, claims, files)
    return 0


def _with_nodes(args: argparse.Namespace) -> int:
    """One network and mix: the first of all, unless told otherwise."""
    for name in ("node-rates", "link-rates", "time", "width", "readings"):
        if getattr(args, name.replace("-", "_")):
            raise ScheduleError(f"--engine has histories of its own, and no --{name}")
    networks = _networks(args)
    if args.networks and len(networks) > 1:
        raise ScheduleError("--engine is for one network at a time")
    import harness.availability_nodes_command as nodes

    return nodes.command(args, networks[0], _mixes(args)[0])


# --- what is asked for ----------------------------------------------------------------------


def _networks(args: argparse.Namespace) -> list[Network]:
    if args.graph is not None:
        try:
            return [graph(args.graph)]
        except ValueError as error:
            raise ScheduleError(f"--graph: {error}") from None
    names = list(NETWORKS) if args.networks is None else args.networks.split(",")
    if unknown := [name for name in names if name not in NETWORKS]:
        raise ScheduleError(
            f"no network {unknown[0]!r}; there are {', '.join(NETWORKS)}, or --graph"
        )
    return [NETWORKS[name] for name in dict.fromkeys(names)]


def _refuse_endless(setting: Setting) -> None:
    """A run is drawn as a whole, into memory."""
    events = expected(components(setting.network, setting.mix), setting.until)
    if events > EVENTS:
        raise ScheduleError(
            f"a run would have {events:.1g} failures and repairs, and may have {EVENTS:.0g}: "
            f"shorten it with --time (it is {setting.until:g})"
        )


def _mixes(args: argparse.Namespace) -> list[Mix]:
    if args.node_rates or args.link_rates:
        never = Rates(0.0, 0.0)
        mix = Mix("given", args.node_rates or never, args.link_rates or never)
        if not mix.of_nodes.fail and not mix.of_links.fail:
            raise ScheduleError(
                "nothing ever fails; --node-rates or --link-rates must say how often"
            )
        return [mix]
    return [mix for mix in MIXES if args.mix in (None, mix.name)]


def _rivals(args: argparse.Namespace) -> Rivals:
    return tuple({**RIVALS, **(OTHERWISE if args.readings else {})}.items())


def _everything() -> list[tuple[Network, Mix]]:
    return [(network, mix) for network in NETWORKS.values() for mix in MIXES]


def _exact(setting: Setting) -> list[tuple[tuple[str, str, str], float]]:
    """What is known without chance: static votes, and consensus where its chain is small."""
    network, mix, rivals, *_ = setting
    found = []
    failing = network.nodes * bool(mix.of_nodes.fail) + len(network.links) * bool(mix.of_links.fail)
    for name, rival in rivals:
        if name == "static" and 1 << failing <= STATES:
            votes = Game(network, rival).start.votes
            found.append(
                ((network.name, mix.name, name), float(of_static_votes(network, mix, votes)))
            )
        elif (
            name == CONSENSUS
            and failing <= 10
            and (up := of_chain(network, mix, rival)) is not None
        ):
            found.append(((network.name, mix.name, name), up))
    return found


# --- what is told ---------------------------------------------------------------------------


def _print(cells: list[Cell], exact: Exact, claims: list[Finding], files: list[Path]) -> None:
    console = Console(highlight=False)
    for mix in dict.fromkeys(cell.setting.mix for cell in cells):
        console.print(_table([cell for cell in cells if cell.setting.mix == mix], exact))
        console.print()
    runs, events = sum(len(cell.uptimes) for cell in cells), sum(cell.events for cell in cells)
    half = max(cell.uptime(name).half for cell in cells for name, _ in cell.setting.rivals)
    console.print(
        f"% of the time in which some group was active; 95% intervals of ±{100 * half:.2f} points "
        f"at most, from {runs:,} runs with {events:,} events, each under every strategy"
        + ("; exact: over all time" if exact else "")
    )
    if claims:
        console.print(_claims_table(claims))
    for path in files:
        console.print(f"{'figures' if path.suffix == '.csv' else 'picture'}  {path}")
    if not util.find_spec("matplotlib"):
        console.print("PNG too: pip install 'hustings[png]'", markup=False)


def _table(cells: list[Cell], exact: Exact) -> Table:
    mix = cells[0].setting.mix
    title = f"mix {mix.name}: {WHERE[mix.name]}" if mix.name in WHERE else "the rates given"
    table = Table(
        box=None, pad_edge=False, collapse_padding=True, title=title, title_justify="left"
    )  # fmt: skip
    table.add_column("strategy", no_wrap=True)
    for cell in cells:
        table.add_column(cell.setting.network.name, justify="right")
    for name, _ in cells[0].setting.rivals:
        table.add_row(name, *(f"{100 * cell.uptime(name).mean:.1f}" for cell in cells))
        known = [exact.get((cell.setting.network.name, mix.name, name)) for cell in cells]
        if any(up is not None for up in known):
            words = ("-" if up is None else f"{100 * up:.1f}" for up in known)
            table.add_row("  exact", *words, style="dim")
    return table


def _claims_table(claims: list[Finding]) -> Table:
    legend = ", ".join(f"{mark} {result}" for result, mark in MARKS.items())
    table = Table(
        box=None, pad_edge=False, title=f"What BGS86 5.2 says: {legend}", title_justify="left"
    )
    table.add_column("")
    table.add_column("mix")
    table.add_column("claim", ratio=3)
    table.add_column("leads in points, * where it is not so", ratio=3)
    for found in claims:
        table.add_row(MARKS[found.result], found.claim.mix, found.claim.words, _figures(found))
    return table


def _figures(found: Finding) -> str:
    """`R5 +4.1, I1 +0.2*; otherwise if ...`."""
    pieces = (f"{p.network} {p.lead.mean:+.1f}{'' if p.holds else '*'}" for p in found.pieces)
    other = f"; otherwise: {'; '.join(found.otherwise)}" if found.otherwise else ""
    return ", ".join(pieces) + other


def _drawn(cells: Sequence[Cell], mix: Mix) -> list[Path]:
    """Uptime by network."""
    here = [cell for cell in cells if cell.setting.mix == mix]
    if len(here) < 2:
        return []  # a curve has two points
    uptimes = {
        name: [100 * cell.uptime(name).mean for cell in here]
        for name, _ in here[0].setting.rivals
        if name in RIVALS
    }
    title = f"{WHERE.get(mix.name, 'The rates given')}: mean % uptime"
    names = [cell.setting.network.name for cell in here]
    return drawn(RUNS / f"availability-{mix.name}", title, "network", uptimes, names)


def _rows(cells: list[Cell], exact: Exact) -> Iterator[dict[str, Any]]:
    for cell in cells:
        network, mix = cell.setting.network.name, cell.setting.mix.name
        for name, _ in cell.setting.rivals:
            up = cell.uptime(name)
            yield {
                "mix": mix,
                "network": network,
                "strategy": name,
                "uptime": round(up.mean, 6),
                "half_width": round(up.half, 6),
                "exact": exact.get((network, mix, name)),
                "runs": len(cell.uptimes),
                "events": cell.events,
            }


def _kept(cells: list[Cell], exact: Exact) -> list[Path]:
    """The files: pictures by mix, and all figures."""
    mixes = dict.fromkeys(cell.setting.mix for cell in cells)
    files = [path for mix in mixes for path in _drawn(cells, mix)]
    rows, path = list(_rows(cells, exact)), RUNS / "availability.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return [*files, path]


def _print_json(cells: list[Cell], exact: Exact, claims: list[Finding]) -> None:
    import msgspec

    value = {
        "uptimes": list(_rows(cells, exact)),
        "claims": [
            {
                "mix": found.claim.mix,
                "claim": found.claim.words,
                "result": found.result,
                "pieces": [
                    {
                        "network": p.network,
                        "holds": p.holds,
                        "lead": p.lead.mean,
                        "half": p.lead.half,
                    }
                    for p in found.pieces
                ],
                "otherwise": found.otherwise,
            }
            for found in claims
        ],
    }
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")

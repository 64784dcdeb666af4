"""What can be typed: the commands, their arguments, and what each argument may be."""

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import MOST_NODES

EXPORTS = ("shiviz", "perfetto", "dot")
Command = Callable[[argparse.Namespace], int]


def parser_of(functions: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The command line; each command has its function."""
    parser = argparse.ArgumentParser(
        prog="hustings",
        description="Fault injection for leader election: real processes, one trace, a verdict.",
        epilog="exit codes: 0 as expected, 1 violated, 2 usage, 3 inconclusive, "
        "4 harness fault, 130 interrupted",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run scenarios, judge, report")
    run.add_argument("names", nargs="+", metavar="NAME|FILE", help="a scenario, FILE or FILE::NAME")
    run.add_argument("--engine", choices=("real", "virtual"), default="real")
    run.add_argument("--seed", type=int, default=1, help="of chance: losses, jitter, targets")
    run.add_argument("--nodes", type=_up_to(MOST_NODES), help="how many (default: the scenario's)")
    run.add_argument("--protocol", metavar="MODULE:CLASS", help="instead of the scenario's")
    run.add_argument("--schedule", type=Path, metavar="FILE", help="drive the run from this file")
    run.add_argument("--json", action="store_true", help="results as JSON")
    run.add_argument("--keep", action="store_true", help="keep each process's files (parts/)")
    check = commands.add_parser("check", help="judge a stored run again")
    report = commands.add_parser("report", help="print the report of a stored run")
    export = commands.add_parser("export", help="a stored run for another tool, on stdout")
    for command in (check, report, export):
        command.add_argument("run", type=Path, metavar="RUN", help="runs/<scenario>-<n>")
    export.add_argument("--format", choices=EXPORTS, required=True,
                        help="shiviz: the log around a violation; perfetto: the run as Trace "
                             "Event JSON; dot: the causal past of a violation")  # fmt: skip
    report.add_argument("--dot", action="store_true", help="only its vote graph, for Graphviz")
    check.add_argument("--json", action="store_true", help="verdicts as JSON")
    check.add_argument("--budget", type=_up_to(10**12), default=0, metavar="STEPS",
                       help="for the clique cover (S00-4'b) and for counting cuts")  # fmt: skip
    cuts = check.add_mutually_exclusive_group()
    suppressed: dict[str, Any] = {"dest": "eps", "default": argparse.SUPPRESS}
    help_ = "judge only the cuts within MS, and count them; below 0: the recorded ones"
    cuts.add_argument("--eps", type=_milliseconds, metavar="MS", help=help_, **suppressed)
    help_ = "judge every consistent cut, as without it, and count them"
    cuts.add_argument("--all-cuts", action="store_const", const=None, help=help_, **suppressed)
    _add_networks(commands.add_parser("networks", help="a protocol on every small network"))
    _add_messages(commands.add_parser("messages", help="messages counted, beside S97's claims"))
    _add_availability(commands.add_parser("availability", help="voting strategies, as in BGS86 5"))
    lister = commands.add_parser("list", help="scenarios, protocols, properties")
    lister.add_argument("--json", action="store_true")
    for name, function in functions.items():
        commands.choices[name].set_defaults(command=function)
    return parser


def _add_networks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=_up_to(6), default=6, help="the most nodes (default 6)")
    parser.add_argument("--priorities", type=_up_to(720), default=6, help="assignments for each")
    parser.add_argument("--seeds", type=_up_to(1000), default=2, help="seeds for each")
    parser.add_argument("--engine", choices=("virtual", "real"), default="virtual")
    parser.add_argument("--sample", type=_up_to(10**6), help="only so many (real: 20)")
    parser.add_argument("--protocol", metavar="MODULE:CLASS", default="nodes.invitation:Invitation")
    parser.add_argument("--json", action="store_true", help="results as JSON")


def _add_messages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=_up_to(100), help="the most nodes (default 40, real 15)")
    parser.add_argument("--seeds", type=_up_to(1000), help="runs for each N (default 10, real 1)")
    parser.add_argument("--engine", choices=("virtual", "real"), default="virtual")
    parser.add_argument("--json", action="store_true", help="results as JSON")


def _add_availability(parser: argparse.ArgumentParser) -> None:
    graphs = parser.add_mutually_exclusive_group()
    graphs.add_argument("--networks", metavar="NAME,...", help="R5,C5, ... (default: all eight)")
    graphs.add_argument("--graph", metavar="LINKS", help="another network, as in '1-2 2-3 1-3'")
    parser.add_argument("--mix", choices=("1", "2", "3"), help="nodes and links fail, nodes, links")
    for what in ("node", "link"):
        parser.add_argument(f"--{what}-rates", type=_rates, metavar="FAIL,REPAIR",
                            help=f"of each {what}; what has no rates never fails")  # fmt: skip
    parser.add_argument("--time", type=_above_0, help="length of a run (default 200)")
    parser.add_argument("--width", type=_above_0, metavar="POINTS",
                        help="of the 95%% intervals, at most (default 1)")  # fmt: skip
    parser.add_argument("--readings", action="store_true", help="other readings of some strategies")
    parser.add_argument("--seed", type=_up_to(2**32), default=1, help="of all histories")
    parser.add_argument("--engine", choices=("virtual", "real"),
                        help="nodes that run the policies; one network (R5), mix (1)")  # fmt: skip
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that does it")
    parser.add_argument("--json", action="store_true", help="results as JSON")


def _above_0(text: str) -> float:
    """A number, not infinite, above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def _rates(text: str) -> Any:
    """`FAIL,REPAIR`; what never fails has 0,0."""
    from harness.availability import Rates

    words = text.split(",")
    if words == ["0", "0"]:
        return Rates(0.0, 0.0)
    if len(words) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not two rates, as in 20,20")
    return Rates(*map(_above_0, words))


def _up_to(most: int) -> Callable[[str], int]:
    """A whole number from 1 to this."""

    def number(text: str) -> int:
        if not text.isdigit() or not 1 <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {most:,}")
        return int(text)

    return number


def _milliseconds(text: str) -> int | None:
    """A time as whole nanoseconds; None if it is without end."""
    try:
        ms = float(text)
    except ValueError:
        ms = math.nan
    if math.isnan(ms):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of milliseconds")
    ns = ms * 1e6
    return -1 if ms < 0 else None if ns == math.inf else round(ns)

"""The command line: results on stdout, narration and progress on stderr.

    hustings run NAME|FILE...   run scenarios, judge, report
    hustings check RUN          judge a stored run again
    hustings report RUN         print its report
    hustings export RUN         hand it to another tool
    hustings networks           a protocol on every small network
    hustings messages           messages counted, beside what S97 claims
    hustings availability       nine voting strategies compared, beside what BGS86 claims
    hustings list               scenarios, protocols, properties

Exit codes: 0 as expected, 1 violated, 2 usage, 3 inconclusive, 4 harness fault,
130 interrupted. rich, loguru and the engines are imported where they are used, so that --help
and a wrong name answer at once.
"""

import argparse
import errno
import io
import math
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from harness import MOST_NODES

if TYPE_CHECKING:
    from harness.execute import Outcome
    from traces.margins import Scope
    from traces.run import RunDir
    from traces.verdicts import Verdict

USAGE, INCONCLUSIVE, HARNESS_FAULT, INTERRUPTED = 2, 3, 4, 130

EXPORTS = {"shiviz": "reports.shiviz", "perfetto": "reports.perfetto", "dot": "reports.past"}


# Left to Python they would end with 1, which is a verdict, or with what exit() was told.
_BUGS = (Exception, SystemExit)


class UsageError(Exception):
    """What the user typed cannot be done; the message says why and what to type."""


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    _outlive_the_reader()
    args = _parser().parse_args(argv)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, _interrupt)
    try:
        code = int(args.command(args))
        print(end="", flush=True)
        return code
    except UsageError as error:
        return _fail(str(error), USAGE)
    except MemoryError as error:
        return _fail(str(error) or "there is not enough memory for this run", INCONCLUSIVE)
    except KeyboardInterrupt as stop:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # it is on its way out
        where = getattr(stop, "__notes__", [])
        return _fail("; ".join(["interrupted; every process is gone", *where]), INTERRUPTED)
    except _BUGS as error:
        if isinstance(error, OSError) and error.errno in _HINTS:
            return _fail(_with_notes(error), HARNESS_FAULT)
        traceback.print_exc()
        return _fail(f"{type(error).__name__}: {error}", HARNESS_FAULT)


class _Stdout(io.FileIO):
    """Standard output. If its reader leaves, the rest goes nowhere: the verdict stands."""

    def write(self, b: Any, /) -> int:
        try:
            return super().write(b)
        except OSError as error:  # what is left is not to fail once more as Python ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                return len(b)
            raise


def _outlive_the_reader() -> None:
    if (old := sys.__stdout__) is not None and old is sys.stdout:
        out = io.BufferedWriter(_Stdout(old.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(out, old.encoding, old.errors, line_buffering=old.isatty())


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _fail(words: str, code: int) -> int:
    with suppress(OSError):  # a terminal that was closed
        print(f"hustings: {words}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
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
    run.set_defaults(command=_run)
    check = commands.add_parser("check", help="judge a stored run again")
    report = commands.add_parser("report", help="print the report of a stored run")
    for command, function in ((check, _check), (report, _report)):
        command.add_argument("run", type=Path, metavar="RUN", help="runs/<scenario>-<n>")
        command.set_defaults(command=function)
    export = commands.add_parser("export", help="a stored run for another tool, on stdout")
    export.add_argument("run", type=Path, metavar="RUN", help="runs/<scenario>-<n>")
    export.add_argument("--format", choices=tuple(EXPORTS), required=True,
                        help="shiviz: the log around a violation; perfetto: the run as Trace "
                             "Event JSON; dot: the causal past of a violation")  # fmt: skip
    export.set_defaults(command=_export)
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
    lister.set_defaults(command=_list)
    return parser


def _add_networks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=_up_to(6), default=6, help="the most nodes (default 6)")
    parser.add_argument("--priorities", type=_up_to(720), default=6, help="assignments for each")
    parser.add_argument("--seeds", type=_up_to(1000), default=2, help="seeds for each")
    parser.add_argument("--engine", choices=("virtual", "real"), default="virtual")
    parser.add_argument("--sample", type=_up_to(10**6), help="only so many (real: 20)")
    parser.add_argument("--protocol", metavar="MODULE:CLASS", default="nodes.invitation:Invitation")
    parser.add_argument("--json", action="store_true", help="results as JSON")
    parser.set_defaults(command=_networks)


def _add_messages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=_up_to(100), help="the most nodes (default 40, real 15)")
    parser.add_argument("--seeds", type=_up_to(1000), help="runs for each N (default 10, real 1)")
    parser.add_argument("--engine", choices=("virtual", "real"), default="virtual")
    parser.add_argument("--json", action="store_true", help="results as JSON")
    parser.set_defaults(command=_messages)


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
    parser.set_defaults(command=_availability)


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


# --- run ------------------------------------------------------------------------------------


def _run(args: argparse.Namespace) -> int:
    from harness.catalog import UnknownName, find
    from harness.schedule import ScheduleError, read_schedule

    try:
        with redirect_stdout(sys.stderr):  # what a script prints is narration
            scenarios = [scenario for name in args.names for scenario in find(name)]
        schedule = read_schedule(args.schedule) if args.schedule else None
    except (UnknownName, ScheduleError) as error:
        raise UsageError(str(error)) from None
    if schedule and not args.nodes:
        args.nodes = schedule.nodes
    if args.protocol:
        scenarios = [_with_protocol(scenario, args.protocol) for scenario in scenarios]
    codes, results = [], []
    for scenario in scenarios:
        code, outcome = _one(scenario, schedule, args)
        codes.append(code)
        if outcome:
            results.append(outcome)
            if not args.json:
                _print_report(outcome.run, outcome.verdicts)
    if args.json:
        _print_json([_as_json(outcome) for outcome in results])
    elif len(scenarios) > 1:
        _print_summary([scenario.name for scenario in scenarios], codes)
    return max(codes, key=(0, 3, 1, 2, 4).index)


def _with_protocol(scenario: Any, protocol: str) -> Any:
    """The scenario with this protocol in place of its own; what both claim is expected of it."""
    from dataclasses import replace

    from harness.scenario import claims_of, expected_of

    claims = claims_of(_known(protocol))
    kept = {name: result for name, result in scenario.expect.items() if name in claims}
    again = f"{scenario.again or f'hustings run {scenario.name}'} --protocol {protocol}"
    return replace(
        scenario, protocol=protocol, expect={**expected_of(protocol), **kept}, again=again
    )


def _known(protocol: str) -> str:
    from harness.catalog import UnknownName, protocol_named

    try:
        return protocol_named(protocol)
    except UnknownName as error:
        raise UsageError(str(error)) from None


def _networks(args: argparse.Namespace) -> int:
    args.protocol = _known(args.protocol)
    return _whole(args, "networks")


def _messages(args: argparse.Namespace) -> int:
    return _whole(args, "messages")


def _availability(args: argparse.Namespace) -> int:
    if args.mix and (args.node_rates or args.link_rates):
        raise UsageError("--mix and rates of your own: only one of them")
    return _whole(args, "availability")


def _whole(args: argparse.Namespace, name: str) -> int:
    """A command of many runs, in a module of its own."""
    from harness.execute import ENGINE_FAULTS
    from harness.schedule import ScheduleError

    try:
        return int(import_module(f"harness.{name}_command").command(args))
    except ScheduleError as error:
        raise UsageError(str(error)) from None
    except ENGINE_FAULTS as error:
        return _fail(f"{name}: {_with_notes(error)}", HARNESS_FAULT)


def _print_summary(names: list[str], codes: list[int]) -> None:
    words = {0: "as expected", 1: "VIOLATED", 2: "refused", 3: "inconclusive", 4: "harness fault"}
    print()
    for name, code in zip(names, codes, strict=True):
        print(f"{words[code]:13}  {name}")


def _one(scenario: Any, schedule: Any, args: argparse.Namespace) -> tuple[int, "Outcome | None"]:
    from harness.execute import ENGINE_FAULTS, execute
    from harness.progress import Progress
    from harness.schedule import ScheduleError

    with Progress(scenario.name) as progress, redirect_stdout(sys.stderr):
        try:
            outcome = execute(
                scenario,
                engine=args.engine,
                seed=args.seed,
                nodes=args.nodes,
                schedule=schedule,
                keep=args.keep,
                watch=progress.show,
            )
        except ScheduleError as error:
            return _fail(f"{scenario.name}: {error}", USAGE), None
        except ENGINE_FAULTS as error:
            return _fail(f"{scenario.name}: {_with_notes(error)}", HARNESS_FAULT), None
        except MemoryError as error:
            return _fail(f"{scenario.name}: {error}", INCONCLUSIVE), None
        except _BUGS as error:  # in the scenario, the protocol or here: never a verdict
            traceback.print_exc()
            words = f"{type(error).__name__}: {_with_notes(error)}"
            return _fail(f"{scenario.name}: {words}", HARNESS_FAULT), None
    return outcome.code, outcome


def _with_notes(error: BaseException) -> str:
    words, hints = str(error), list[str]()
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
        hints = [hint for number, hint in _HINTS.items() if number == error.errno]
    return "; ".join([words, *getattr(error, "__notes__", []), *hints])


_HINTS = {
    errno.EACCES: "run it in a folder that you may write to",
    errno.EROFS: "run it in a folder that you may write to",
    errno.EEXIST: "runs are kept in a folder of this name: rename what is there",
    errno.ENOSPC: "make room on that disk and run it again",
    errno.EMFILE: "allow more open files (ulimit -n) and run it again",
}


def _as_json(outcome: "Outcome") -> dict[str, Any]:
    return {
        "scenario": outcome.info.scenario,
        "engine": outcome.info.engine,
        "seed": outcome.info.seed,
        "nodes": outcome.info.nodes,
        "run": str(outcome.run.path),
        "attempts": [str(path) for path in outcome.attempts],
        "code": outcome.code,
        "surprises": outcome.surprises,
        "gave_up": outcome.info.gave_up,
        "verdicts": outcome.verdicts,
    }


def _print_json(value: Any) -> None:
    import msgspec

    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def _print_report(run: "RunDir", verdicts: "list[Verdict]") -> None:
    from rich.console import Console

    import_module("reports.terminal").render(run, verdicts, Console())


# --- check and report -----------------------------------------------------------------------


def _stored(path: Path) -> "RunDir":
    from traces.run import RunDir

    run = RunDir(path)
    if not run.info.is_file():
        near = sorted(p.name for p in path.parent.glob("*") if (p / "run.json").is_file())
        hint = f"there are {', '.join(near[-5:])}" if near else "`hustings run NAME` makes one"
        raise UsageError(f"{path} is no run; {hint}")
    return run


def _judge(
    path: Path, budget: int = 0, scope: "Scope | None" = None
) -> "tuple[RunDir, list[Verdict]]":
    import msgspec

    from traces.judge import judge_run
    from traces.margins import EVERY_CUT

    run = _stored(path)
    try:
        return run, judge_run(run, budget, scope or EVERY_CUT)
    except (msgspec.MsgspecError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _check(args: argparse.Namespace) -> int:
    from harness.execute import code
    from traces.lattice import BUDGET
    from traces.margins import Scope

    scope = Scope()
    if "eps" in args:
        scope = Scope(args.eps, args.budget or BUDGET)
    run, verdicts = _judge(args.run, args.budget, scope)
    if args.json:
        _print_json(verdicts)
    else:
        for verdict in verdicts:
            margin = f"; margin {verdict.margin.words}" if verdict.margin else ""
            print(f"{verdict.id:10} {verdict.result:9} {verdict.because}{margin}")
    info = run.read_info()
    for what, why in (("gave up", info.gave_up), ("broke off", info.broke_off)):
        if why:
            print(f"hustings: {run.path} {what}: {why}", file=sys.stderr)
    return code(verdicts, info)


def _report(args: argparse.Namespace) -> int:
    from harness.execute import code

    run, verdicts = _judge(args.run)
    if args.dot:
        print(_dot(run, verdicts), end="")
    else:
        _print_report(run, verdicts)
    return code(verdicts, run.read_info())


def _export(args: argparse.Namespace) -> int:
    from traces.lives import History
    from traces.merge import read_trace

    run, verdicts = _judge(args.run)
    info = run.read_info()
    if any("problems" in verdict.examined for verdict in verdicts):
        raise UsageError(f"{run.path} cannot be exported: {verdicts[0].because}")
    history = History(read_trace(run.trace), info.nodes)
    text: str = import_module(EXPORTS[args.format]).export(history, info, verdicts)
    if not text:
        lacks = "no violation to draw the past of: its nodes agreed"
        if args.format != "dot":
            lacks = "nothing to show: its nodes wrote nothing"
        raise UsageError(f"{run.path} has {lacks}")
    print(text, end="")
    return 0


def _dot(run: "RunDir", verdicts: "list[Verdict]") -> str:
    """The vote graph, of a run that has one and a trace that can be trusted."""
    from traces.lives import History
    from traces.merge import read_trace
    from traces.vote_record import VoteRecord

    info = run.read_info()
    if "BGS86-MAJ" not in info.properties:
        raise UsageError(f"{run.path} has no vote graph: its nodes have no votes")
    if any("problems" in verdict.examined for verdict in verdicts):
        raise UsageError(f"{run.path} has no vote graph: {verdicts[0].because}")
    record = VoteRecord(History(read_trace(run.trace), info.nodes), "BGS86-T221" in info.properties)
    drawn: str = import_module("reports.vote_graph").dot(record)
    return drawn


# --- list -----------------------------------------------------------------------------------


def _list(args: argparse.Namespace) -> int:
    from harness.catalog import built_in, protocols
    from traces.judge import PROPERTIES

    found = {
        "scenarios": {name: s.claim for name, s in built_in().items()},
        "protocols": {name: _first_line(p.__doc__) for name, p in protocols().items()},
        "properties": {name: str(claim) for name, claim in PROPERTIES.items()},
    }
    if args.json:
        _print_json(found)
        return 0
    from rich.console import Console
    from rich.table import Table

    for title, rows in found.items():
        table = Table(title=title, title_justify="left", box=None, show_header=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for name, line in rows.items():
            table.add_row(name, line)
        Console().print(table)
    return 0


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0] if text else ""

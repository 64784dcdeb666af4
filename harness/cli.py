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
import signal
import sys
import traceback
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from harness.arguments import parser_of
from harness.stdout import outlive_the_reader

if TYPE_CHECKING:
    from harness.execute import Outcome
    from traces.margins import Scope
    from traces.run import RunDir
    from traces.verdicts import Verdict

USAGE, INCONCLUSIVE, HARNESS_FAULT, INTERRUPTED = 2, 3, 4, 130

_EXPORTS = {"shiviz": "reports.shiviz", "perfetto": "reports.perfetto", "dot": "reports.past"}


# Left to Python they would end with 1, which is a verdict, or with what exit() was told.
_BUGS = (Exception, SystemExit)


class UsageError(Exception):
    """What the user typed cannot be done; the message says why and what to type."""


def main(argv: list[str] | None = None) -> int:
    """Do what the command line says; return the exit code."""
    outlive_the_reader()
    args = parser_of(_COMMANDS).parse_args(argv)
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


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _fail(words: str, code: int) -> int:
    with suppress(OSError):  # a terminal that was closed
        print(f"hustings: {words}", file=sys.stderr)
    return code


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
    text: str = import_module(_EXPORTS[args.format]).export(history, info, verdicts)
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


_COMMANDS = {
    "run": _run, "check": _check, "report": _report, "export": _export, "networks": _networks,
    "messages": _messages, "availability": _availability, "list": _list,
}  # fmt: skip

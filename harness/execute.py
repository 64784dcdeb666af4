"""From a scenario to a verdict: one run directory, one engine, one judgement.

The trace is judged from the disk, after every process is gone. A run in which the machine by
itself broke A8 or A9 says nothing about the protocol: it is repeated with longer times, at most
three times in all, and says so.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from loguru import logger

from harness.checks import check_parameters
from harness.engine import Engine, EngineError
from harness.nursery_client import NurseryGone, ProcessGone
from harness.real import RealEngine
from harness.relay_client import RelayError
from harness.run import GaveUp, Run
from harness.scenario import Scenario, claims_of, latency_of
from harness.schedule import Schedule, ScheduleError, write_schedule
from harness.timing import calibrated, timing_for
from harness.virtual import VirtualEngine
from traces.events import Injected, Opened, decode_lines, encoder
from traces.expectations import outcome, surprises
from traces.judge import judge, judge_run
from traces.merge import merge_run
from traces.properties import ENVIRONMENT
from traces.run import RunDir, RunInfo
from traces.verdicts import InvalidTrace, Verdict

ATTEMPTS = 3
AS_EXPECTED, VIOLATED, USAGE, INCONCLUSIVE, HARNESS_FAULT, INTERRUPTED = 0, 1, 2, 3, 4, 130
CODES = {"as expected": AS_EXPECTED, "violated": VIOLATED, "inconclusive": INCONCLUSIVE}
NOT_CLOSED = "it was never closed: it is under way, or was killed, or could not be stored"
ENGINE_FAULTS = (EngineError, NurseryGone, ProcessGone, RelayError, TimeoutError, OSError)


@dataclass
class Outcome:
    """What came of a run."""

    run: RunDir
    info: RunInfo
    verdicts: list[Verdict]
    took_s: float = 0.0
    attempts: list[Path] = field(default_factory=list)

    @property
    def surprises(self) -> list[str]:
        """Where a verdict differs from what the scenario expects, in words."""
        return surprises(self.verdicts, self.info.expect)

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the one the scenario expects."""
        return self.code == AS_EXPECTED

    def __getitem__(self, name: str) -> str:
        """The result for one property, by id."""
        return next(verdict.result for verdict in self.verdicts if verdict.id == name)

    @property
    def code(self) -> int:
        """The exit code: 0 as expected, 1 violated, 3 inconclusive."""
        return code(self.verdicts, self.info)


def code(verdicts: list[Verdict], info: RunInfo) -> int:
    """The exit code these verdicts deserve."""
    return CODES[outcome(verdicts, info.expect, bool(info.gave_up or info.broke_off))]


def execute(
    scenario: Scenario,
    *,
    engine: str = "real",
    seed: int = 1,
    nodes: int | None = None,
    runs: Path = Path("runs"),
    schedule: Schedule | None = None,
    keep: bool = False,
    watch: Callable[[Run], None] = lambda _: None,
) -> Outcome:
    """Run a scenario, or a schedule in its setting, and judge it."""
    attempts: list[Path] = []
    notes: list[str] = []
    while True:
        recorder = Recorder(
            scenario,
            engine=engine,
            seed=seed,
            nodes=nodes,
            runs=runs,
            attempt=len(attempts) + 1,
            notes=notes,
            watch=watch,
        )
        attempts.append(recorder.dir.path)
        try:
            recorder.record(schedule)
            result = recorder.judge(keep)
        except BaseException as error:
            error.add_note(f"evidence in {recorder.dir.path}")
            raise
        result.attempts = attempts
        blamed = "" if result.as_expected else machine_broke(result)
        if not blamed or len(attempts) == ATTEMPTS:
            return result
        logger.warning("{}: the machine broke {}; again with longer times", scenario.name, blamed)
        notes.append(f"attempt {len(attempts)} does not count: the machine itself broke {blamed}")


def machine_broke(result: Outcome) -> str:
    """What no fault of the run explains, and so the machine itself did, if that spoilt the run."""
    if result.info.engine != "real":
        return ""
    spoilt = (verdict.id for verdict in result.verdicts if verdict.examined.get("machine", 0))
    # Where a property has found it, it was messages that came late, or a node that answered late.
    return " and ".join(dict.fromkeys(i if i in ENVIRONMENT else "A8 or A9" for i in spoilt))


class Log:
    """The narration beside the trace: a full disk costs it words, and those of the trace count."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", errors="replace", buffering=1)

    def write(self, message: str) -> None:
        """A line, if there is room."""
        with suppress(OSError):
            self._file.write(message)

    def stop(self) -> None:
        """No more of it."""
        with suppress(OSError):
            self._file.close()


class Recorder:
    """One attempt: its directory, its engine, its files."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        engine: str,
        runs: Path,
        seed: int = 1,
        nodes: int | None = None,
        attempt: int = 1,
        notes: Sequence[str] = (),
        watch: Callable[[Run], None] = lambda _: None,
        make: type[Run] = Run,
    ) -> None:
        if engine not in ("real", "virtual"):
            raise ScheduleError(f"no engine {engine!r}; there are real and virtual")
        if scenario.command and engine == "virtual":
            raise ScheduleError("a program of its own cannot run in virtual time; --engine real")
        self.scenario, self.began = scenario, monotonic()
        self.info = info_of(scenario, engine, seed, nodes or scenario.nodes, attempt, notes)
        if not scenario.command:
            check_parameters(scenario.protocol, scenario.parameters, range(1, self.info.nodes + 1))
        self.dir = new_run(runs, scenario.name)
        self.dir.parts.mkdir()
        self.info.broke_off = NOT_CLOSED
        self.dir.write_info(self.info)  # a run that is killed must still be readable
        self._sink = logger.add(Log(self.dir.log), level="DEBUG", colorize=False)
        try:
            self.engine = self._engine(lambda: watch(self.run))
            self.dir.write_info(self.info)
            self.run = make(self.info, self.engine, lambda words: logger.info("{}", words))
        except BaseException:
            logger.remove(self._sink)
            raise
        self.engine.record(Opened(scenario=scenario.name, engine=engine, nodes=self.info.nodes))

    def _engine(self, pulse: Callable[[], None]) -> Engine:
        if self.info.engine == "virtual":
            return VirtualEngine(self.info)
        return RealEngine(self.info, self.dir.parts, pulse)

    def record(self, schedule: Schedule | None = None) -> None:
        """The whole run, from its first step until every process is gone."""
        with self.closing():
            self._drive(schedule)

    def _drive(self, schedule: Schedule | None) -> None:
        """Let the scenario, or the schedule, do its work, and mend what it left broken."""
        try:
            if schedule is None:
                self.scenario.script(self.run)
            else:
                self.run.drive(schedule)
        except GaveUp as reason:
            self.info.gave_up = str(reason)
            logger.warning("gave up: {}", reason)
        self.run.finish()

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Close at the end of it, however it ends; the stored run says if it was an error."""
        why = ""
        try:
            yield
        except BaseException as error:
            why = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise
        finally:
            self.close(why)

    def close(self, why: str) -> None:
        """End every process and put the trace together, whatever happened."""
        run = self.run
        try:
            run.live.catch_up()
            with suppress(OSError):  # a full disk must not keep the processes alive
                alive = tuple(sorted(run.live.up))
                self.engine.record(Injected(step=run.next_step, verb="end", nodes=alive))
            self.engine.close(why or self.info.gave_up)
            steps = Schedule(self.info.scenario, self.info.nodes, self.info.seed, run.steps)
            write_schedule(self.dir.schedule, steps)
            if isinstance(self.engine, VirtualEngine):
                self.engine.save(self.dir.trace)
            else:
                with suppress(InvalidTrace):  # the judge will say what is wrong with it
                    merge_run(self.dir)
            self.info.broke_off = why
            self.dir.write_info(self.info)  # last: what failed before leaves it as not closed
        finally:
            logger.remove(self._sink)

    def judge(self, keep: bool = False) -> Outcome:
        """Judge the stored run; its parts are merged and no longer needed."""
        verdicts = judge_run(self.dir)
        if not keep and self.dir.trace.exists():
            shutil.rmtree(self.dir.parts)
        return Outcome(self.dir, self.info, verdicts, monotonic() - self.began)


def simulate(scenario: Scenario, seed: int = 1) -> tuple[RunInfo, list[Verdict]]:
    """Run it in virtual time and judge it; nothing is written anywhere."""
    info = info_of(scenario, "virtual", seed, scenario.nodes)
    engine = VirtualEngine(info)
    engine.record(Opened(scenario=scenario.name, engine="virtual", nodes=info.nodes))
    run = Run(info, engine)
    try:
        scenario.script(run)
    except GaveUp as reason:
        info.gave_up = str(reason)
    run.finish()
    engine.record(Injected(step=run.next_step, verb="end", nodes=tuple(sorted(run.live.up))))
    engine.close()
    # As a stored trace is read: JSON knows no tuples, and a cell is loaded as it was written.
    return info, judge(decode_lines(encoder.encode_lines(engine.events)), info)


def info_of(
    scenario: Scenario,
    engine: str,
    seed: int,
    nodes: int,
    attempt: int = 1,
    notes: Sequence[str] = (),
) -> RunInfo:
    """What is known of a run before it begins; on the real engine the machine is asked."""
    timing, note = timing_for(nodes), ""
    if engine == "real":
        timing, note = calibrated(nodes, patience=2.0 ** (attempt - 1))
    timing = scenario.stretch(timing, nodes)
    return RunInfo(
        scenario=scenario.name,
        claim=scenario.claim,
        protocol=scenario.protocol,
        engine=engine,
        seed=seed,
        nodes=nodes,
        timing=timing,
        lateness=scenario.lateness,
        command=scenario.command,
        parameters=dict(scenario.parameters),
        expect=dict(scenario.expect),
        properties=claims_of(scenario.protocol),
        tau_fd_ms=latency_of(scenario.protocol, timing, nodes),
        attempt=attempt,
        notes=[*notes, *([note] if note else [])],
        again=_again(scenario, nodes),
        began=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _again(scenario: Scenario, nodes: int) -> str:
    """What to type to run it again, where its name is not enough."""
    if nodes == scenario.nodes:
        return scenario.again
    return f"{scenario.again or f'hustings run {scenario.name}'} --nodes {nodes}"


def new_run(runs: Path, name: str) -> RunDir:
    """A fresh directory runs/<name>-<n>, also when two ask at once; `latest` points to it."""
    runs.mkdir(parents=True, exist_ok=True)
    taken = [int(p.name[len(name) + 1 :]) for p in runs.glob(f"{name}-*") if _number(p, name)]
    number = max(taken, default=0) + 1
    while True:
        path = runs / f"{name}-{number}"
        try:
            path.mkdir()
            break
        except FileExistsError:
            number += 1
    link = runs / f".latest-{path.name}"
    link.symlink_to(path.name)
    link.replace(runs / "latest")
    return RunDir(path)


def _number(path: Path, name: str) -> bool:
    return path.name[len(name) + 1 :].isdigit()

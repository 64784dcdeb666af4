"""Messages counted (S97 7): in a quiet period, and for the crash of a leader, by the nodes N.

One run is one measurement. The nodes start at different instants of one period, so that what they
do periodically is out of step ("in the average case, half of the nodes call procedure Check before
node n-1 calls it"). When they are one group a few quiet periods are counted; then the leader
crashes, and what is sent until the others are one group again. Rules:

- "We assume that the interval between calls to procedure Check is greater than or equal to NT":
  tau is N T here, for every algorithm, and Timeout comes after two and a half of them.
- Of a crash the messages of the election count, as in the paper: not those of a failure detector,
  nor Norm? and its answer, which go on as in any period.
- A curve c2 N^2 + c1 N + c0 is fitted to the averages over the seeds, and to the worst of them.

Limits: the worst case found is the worst of the seeds tried, not the worst there is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import mean

import msgspec
from loguru import logger

from harness.engine import EngineError
from harness.execute import ATTEMPTS, execute, info_of
from harness.run import Run
from harness.scenario import INVITATION, Scenario
from harness.virtual import VirtualEngine
from traces.events import AnyEvent, Became, Died, Sent, Waited
from traces.merge import read_trace
from traces.run import Timing

PERIODS = 4  # quiet ones that are counted
DETECTION = frozenset(("AreYouAlive", "IAmAlive", "Watch", "Unwatch", "Token", "Norm?", "NotNorm"))
ALGORITHMS = {
    "Invitation": INVITATION,
    "Async. Bully": "nodes.async_bully:AsyncBully",
    "  Stop_FD by the leader": "nodes.async_bully:AsyncBullyThrifty",
    "  piggybacked": "nodes.async_bully:AsyncBullyPiggyback",
}


@dataclass(frozen=True)
class Case:
    """One run."""

    algorithm: str
    nodes: int
    seed: int


@dataclass(frozen=True)
class Counts:
    """What it sent: a quiet period on average, and the election after a crash, by kind."""

    case: Case
    quiet: float
    election: dict[str, int]
    disturbed: bool = False  # whether a state changed in what should have been quiet

    @property
    def crash(self) -> int:
        """All messages of the election."""
        return sum(self.election.values())


@dataclass
class Fit:
    """c2 N^2 + c1 N + c0, the best in the sense of least squares."""

    c2: float
    c1: float
    c0: float

    def at(self, n: float) -> float:
        """The curve."""
        return self.c2 * n * n + self.c1 * n + self.c0


@dataclass
class Curve:
    """One quantity of one algorithm, for each N."""

    algorithm: str
    what: str
    points: list[tuple[int, float]] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)  # of the largest N

    @property
    def fit(self) -> Fit:
        """The curve through its points."""
        return fitted(self.points)


def wide(timing: Timing, nodes: int) -> Timing:
    """S97 7: the interval between two Checks is at least N T."""
    period = nodes * timing.t_ms
    return msgspec.structs.replace(timing, check_ms=period, timeout_ms=2.5 * period)


def scenario_of(case: Case) -> Scenario:
    """The script of one measurement; where the counting begins and ends is in the schedule."""

    def script(run: Run) -> None:
        period = run.info.timing.check_ms
        chance = Random(case.seed)
        start = sorted((chance.uniform(0, period), node) for node in run.nodes)
        for at, node in start:
            run.until(at)
            run.start([node])
        run.settled()
        run.calm(period)
        run.elapse(PERIODS * period)
        run.kill("coordinator")
        run.settled()

    claim = f"S97 7: messages of {case.algorithm.strip()}, {case.nodes} nodes."
    name, protocol = "messages", ALGORITHMS[case.algorithm]
    return Scenario(name, claim, script, case.nodes, protocol, stretch=wide)


def measure(case: Case) -> Counts:
    """In virtual time; nothing is written anywhere."""
    scenario = scenario_of(case)
    info = info_of(scenario, "virtual", case.seed, case.nodes)
    engine = VirtualEngine(info)
    run = Run(info, engine)
    scenario.script(run)
    return counted(case, engine.events, info.timing)


def measure_real(case: Case, runs: Path) -> Counts:
    """On real processes; once more where the machine itself broke the quiet, or kept it broken."""
    for attempt in range(ATTEMPTS):
        outcome = execute(scenario_of(case), engine="real", seed=case.seed, runs=runs)
        if not outcome.info.gave_up:
            found = counted(case, read_trace(outcome.run.trace), outcome.info.timing)
            if not found.disturbed or attempt == ATTEMPTS - 1:
                return found
        logger.warning("{} nodes of {}: not quiet; once more", case.nodes, case.algorithm.strip())
    raise EngineError(f"{outcome.info.gave_up}; evidence in {outcome.run.path}")


def counted(case: Case, events: list[AnyEvent], timing: Timing) -> Counts:
    """Count by the controller's own marks: the wait before the crash, and the one after it."""
    waits = [event for event in events if isinstance(event, Waited)]
    long_ms = PERIODS * timing.check_ms
    quiet_end = next(e.at for e in waits if e.what == "elapse" and e.args["ms"] >= long_ms)
    settled = next(e.at for e in waits if e.what == "settled" and e.at > quiet_end)
    crash = next(e.at for e in events if isinstance(e, Died) and e.at > quiet_end)
    quiet_start = quiet_end - round(long_ms * 1e6)
    sent = [event for event in events if type(event) is Sent]
    quiet = sum(quiet_start <= event.at < quiet_end for event in sent) / PERIODS
    election = Counter(
        _kind(e) for e in sent if crash <= e.at <= settled and e.kind not in DETECTION
    )
    disturbed = any(isinstance(e, Became) and quiet_start <= e.at < quiet_end for e in events)
    return Counts(case, quiet, dict(election), disturbed)


def _kind(event: Sent) -> str:
    return f"{event.kind} answer" if event.ack else event.kind


def curves(found: Iterable[Counts]) -> list[Curve]:
    """Three for each algorithm: a quiet period, a crash on average, and the worst one found."""
    by: defaultdict[str, defaultdict[int, list[Counts]]] = defaultdict(lambda: defaultdict(list))
    for counts in found:
        by[counts.case.algorithm][counts.case.nodes].append(counts)
    made = []
    for algorithm, sizes in by.items():
        quiet, average, worst = (Curve(algorithm, w) for w in ("quiet", "crash", "worst crash"))
        for nodes, counts_of in sorted(sizes.items()):
            quiet.points.append((nodes, mean(c.quiet for c in counts_of)))
            average.points.append((nodes, mean(c.crash for c in counts_of)))
            worst.points.append((nodes, max(c.crash for c in counts_of)))
            kinds = sum((Counter(c.election) for c in counts_of), Counter[str]())
            average.kinds = worst.kinds = kinds
        made += [quiet, average, worst]
    return made


def fitted(points: Sequence[tuple[float, float]]) -> Fit:
    """Least squares by the normal equations; fewer than three sizes give a curve through zero."""
    powers = (2, 1, 0)[-min(3, len({n for n, _ in points})) :]
    rows = [
        [sum(n ** (p + q) for n, _ in points) for q in powers] + [sum(y * n**p for n, y in points)]
        for p in powers
    ]
    size = len(rows)
    for k in range(size):  # Gauss and Jordan, with the largest pivot
        best = max(range(k, size), key=lambda r: abs(rows[r][k]))
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(size):
            if r != k:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k], strict=True)]
    found = dict(zip(powers, (row[-1] for row in rows), strict=True))
    return Fit(*(found.get(p, 0.0) for p in (2, 1, 0)))

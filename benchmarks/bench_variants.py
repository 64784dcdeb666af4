"""The variants of the Invitation Algorithm that CJ97 10.2.2 names, against the plain one.

Virtual time: nine nodes start, merge into one group, lose their coordinator and merge again. Both
sides run the same seeds, so a ratio is one of the algorithms and of nothing else.
"""

from collections.abc import Iterator
from statistics import mean

from benchmarks.table import Row
from harness.execute import info_of
from harness.run import Run
from harness.scenario import INVITATION, Scenario
from harness.virtual import VirtualEngine
from traces.events import Sent

NODES, SEEDS = 9, range(1, 41)
VARIANTS = {
    "asker noted (Noting)": "nodes.variants:Noting",
    "old peers invited (Regrouping)": "nodes.variants:Regrouping",
    "both (Quick)": "nodes.variants:Quick",
}


def measured(protocol: str) -> tuple[float, float, float, float]:
    """Mean ms and messages: from the start to one group, from a crash to one group again."""
    figures = [_once(protocol, seed) for seed in SEEDS]
    return tuple(mean(column) for column in zip(*figures, strict=True))


def _once(protocol: str, seed: int) -> tuple[float, float, float, float]:
    scenario = Scenario("bench", "", lambda _: None, NODES, protocol)
    engine = VirtualEngine(info_of(scenario, "virtual", seed, NODES))
    run = Run(info_of(scenario, "virtual", seed, NODES), engine)
    run.start()
    run.settled()
    started_ms, started = run.passed_ms, _sent(engine)
    run.elapse(seed * 7)  # another instant between two Checks each time
    began_ms, before = run.passed_ms, _sent(engine)
    run.kill("coordinator")
    run.settled()
    return started_ms, started, run.passed_ms - began_ms, _sent(engine) - before


def _sent(engine: VirtualEngine) -> int:
    return sum(type(event) is Sent for event in engine.events)


def rows() -> Iterator[Row]:
    """Each variant as a multiple of the plain algorithm."""
    plain = measured(INVITATION)
    for name, protocol in VARIANTS.items():
        mine = measured(protocol)
        times = [a / b for a, b in zip(mine, plain, strict=True)]
        yield Row(
            f"Invitation, {name}",
            f"plain: start {plain[0]:.0f} ms, crash {plain[2]:.0f} ms",
            f"start {times[0]:.2f} of the time, {times[1]:.2f} of the messages; "
            f"crash {times[2]:.2f}, {times[3]:.2f}",
            "",
            None,
        )

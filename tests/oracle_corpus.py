"""The traces that analyzer and oracles are compared on: made once, looked at by every test."""

from functools import cache
from random import Random
from typing import NamedTuple

from tests.oracle_runs import BULLY, bend, random_run
from traces.events import AnyEvent
from traces.run import RunInfo
from traces.validity import problems_of

SIZE = 400
MUTANTS = (
    "OneStep", "AnyHalter", "NoFifo", "NeverDown", "ForgetfulCalls", "EagerReady", "HalfMade",
    "ChangedTask", "DeadCandidate", "SurvivingElection", "HastyTimeout",
)  # fmt: skip
PROTOCOLS = [BULLY] * 4 + [f"tests.mutants.bully:{name}" for name in MUTANTS]


class Case(NamedTuple):
    """One valid trace."""

    seed: int
    events: list[AnyEvent]
    info: RunInfo


@cache
def corpus() -> list[Case]:
    """Short runs of a few nodes under every fault; of two one is bent afterwards."""
    return [_case(seed) for seed in range(SIZE)]


def _case(seed: int) -> Case:
    protocol = PROTOCOLS[seed % len(PROTOCOLS)]
    events, info = random_run(seed, protocol=protocol, lateness=bool(seed % 3), steps=10, nodes=4)
    if seed % 2:
        rng = Random(seed)
        bend(events, rng, rng.randint(1, 6))
    assert not problems_of(events, info.nodes)
    return Case(seed, events, info)

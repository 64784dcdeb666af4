"""Storms over voting nodes under virtual time: random nodes, votes, requests and faults."""

from random import Random
from typing import Any

from harness.run import Run
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from nodes.config import load_protocol
from scenarios.vote_storms import LOCKING, storm
from traces.events import AnyEvent, Opened, decode_lines, encoder
from traces.run import RunInfo


def in_a_storm(seed: int, protocol: str, **parameters: Any) -> tuple[list[AnyEvent], RunInfo]:
    """A storm over a random number of nodes with random votes, under virtual time."""
    rng = Random(seed)
    n = rng.choice((2, 3, 3, 4, 5, 6))
    votes = [rng.randint(1, 4) for _ in range(n)]
    votes[0] = 1
    made = load_protocol(protocol)
    settings = {"votes": votes, "patience": rng.choice((0, 0.02, 0.5, 4))} | parameters
    info = RunInfo("storm", "", protocol, "virtual", seed, n, timing_for(n), False,
                   properties=made.claims, parameters=settings)  # fmt: skip
    run = Run(info, VirtualEngine(info))
    run.engine.record(Opened(scenario="storm", engine="virtual", nodes=n))
    locks, down = "Lock" in made.requests, "Decrease" in made.requests
    requests = LOCKING if locks else ("Increase", "Increase") if down else ("Increase",)
    storm(run, requests + (("Decrease",) if down else ()), rng.randint(5, 60 if locks else 40))
    run.finish()
    run.engine.close()
    return decode_lines(encoder.encode_lines(run.engine.events)), info

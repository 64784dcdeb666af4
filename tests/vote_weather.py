"""Storms over voting nodes under virtual time: random nodes, votes, requests and faults.

`python -m tests.vote_weather [RUNS] [PROTOCOL...]` counts what so many storms break, protocol by
protocol; without names, of locks as published and hardened, in both Scenarios.
"""

import os
import sys
from collections import Counter
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from harness.run import Run
from harness.scenario import HARDENED_ONE, HARDENED_TWO, LOCKS_ONE, LOCKS_TWO
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from harness.workers import spread
from nodes.config import load_protocol
from scenarios.vote_storms import LOCKING, storm
from traces.events import AnyEvent, Opened, decode_lines, encoder
from traces.judge import judge
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


def broken_by(case: tuple[str, int]) -> Counter[str]:
    """What one storm breaks, and what happened in it."""
    protocol, seed = case
    verdicts = {v.id: v for v in judge(*in_a_storm(seed, protocol))}
    found = Counter(v.id for v in verdicts.values() if v.result in ("violated", "unknown"))
    found["increments"] = verdicts["BGS86-MAJ"].examined["increments"]
    if "BGS86-C22" in verdicts:
        found.update({k: verdicts["BGS86-C22"].examined[k] for k in ("taken", "contended")})
    return found


def main(runs: int, protocols: tuple[str, ...]) -> None:
    """One row a protocol."""
    table = Table(
        "protocol", "storms", "increments", "locks", "contended", "broken, in how many storms",
        box=None, pad_edge=False,
    )  # fmt: skip
    errors = Console(stderr=True)
    for protocol in protocols:
        found: Counter[str] = Counter()
        cases = [(protocol, seed) for seed in range(runs)]
        storms = spread(broken_by, cases, os.cpu_count() or 1)
        for it in track(storms, protocol, runs, console=errors, disable=not errors.is_terminal):
            found += it
        broken = ", ".join(f"{k} {found[k]}" for k in sorted(found) if k.startswith("BGS86"))
        counts = (f"{found[k]:,}" for k in ("increments", "taken", "contended"))
        table.add_row(protocol.partition(":")[2], f"{runs:,}", *counts, broken or "nothing")
    Console().print(table)


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    main(many, tuple(sys.argv[2:]) or (LOCKS_ONE, HARDENED_ONE, LOCKS_TWO, HARDENED_TWO))

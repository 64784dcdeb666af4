"""Storms over voting nodes under virtual time: random nodes, votes, requests and faults.

`python -m tests.vote_weather [RUNS] [PROTOCOL...]` counts what so many storms break, protocol by
protocol; without names, of locks as published and hardened, in both Scenarios, and on the votes of
nodes that run policies.
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
from harness.scenario import (
    AUTONOMOUS_HARDENED_TWO,
    AUTONOMOUS_LOCKS_ONE,
    AUTONOMOUS_LOCKS_TWO,
    HARDENED_ONE,
    HARDENED_TWO,
    LOCKS_ONE,
    LOCKS_TWO,
)
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from harness.workers import spread
from nodes.config import load_protocol
from nodes.policies import STRATEGIES
from scenarios.policy_storms import policy_storm
from scenarios.vote_storms import LOCKING, storm
from traces.events import AnyEvent, Opened, decode_lines, encoder
from traces.judge import judge
from traces.run import RunInfo

GIVING_BACK = [name for name, it in STRATEGIES.items() if it.balance == "decrease"]
POLICIES = {
    AUTONOMOUS_LOCKS_ONE: [n for n, it in STRATEGIES.items() if it.balance == "catch-up"],
    AUTONOMOUS_LOCKS_TWO: GIVING_BACK,
    AUTONOMOUS_HARDENED_TWO: GIVING_BACK,
}
"""Who runs which policies."""


def under(protocol: str, seed: int, nodes: int, **parameters: Any) -> Run:
    """A run under virtual time, not yet begun."""
    info = RunInfo("storm", "", protocol, "virtual", seed, nodes, timing_for(nodes), False,
                   properties=load_protocol(protocol).claims, parameters=parameters)  # fmt: skip
    run = Run(info, VirtualEngine(info))
    run.engine.record(Opened(scenario="storm", engine="virtual", nodes=nodes))
    return run


def ended(run: Run) -> list[AnyEvent]:
    """What it left, as it is read."""
    run.finish()
    run.engine.close()
    return decode_lines(encoder.encode_lines(run.engine.events))


def in_a_storm(seed: int, protocol: str, **parameters: Any) -> tuple[list[AnyEvent], RunInfo]:
    """A storm over a random number of nodes with random votes."""
    rng = Random(seed)
    n = rng.choice((2, 3, 3, 4, 5, 6))
    votes = [1, *[rng.randint(1, 4) for _ in range(n)][1:]]
    settings = {"votes": votes, "patience": rng.choice((0, 0.02, 0.5, 4))} | parameters
    run = under(protocol, seed, n, **settings)
    offered = load_protocol(protocol).requests
    locks, down = "Lock" in offered, "Decrease" in offered
    requests = LOCKING if locks else ("Increase", "Increase") if down else ("Increase",)
    storm(run, requests + (("Decrease",) if down else ()), rng.randint(5, 40))
    return ended(run), run.info


def under_a_policy(seed: int, protocol: str, strategy: str) -> tuple[list[AnyEvent], RunInfo]:
    """The same, where nodes change their votes by themselves, and clients ask for locks only."""
    rng, made = Random(seed), load_protocol(protocol)
    n = rng.choice((3, 4, 5, 6))
    votes = [*(rng.randint(1, 4) for _ in range(n - 1)), 1]
    threshold = {"threshold": 20} if seed % 2 and getattr(made, "gives_back", False) else {}
    patience = rng.choice((0.02, 0.5, 4))
    run = under(protocol, seed, n, strategy=strategy, votes=votes, patience=patience, **threshold)
    requests = ("Lock", "Lock", "Unlock") if "Lock" in made.requests else ()
    policy_storm(run, rng.randint(5, 25), requests)
    return ended(run), run.info


def broken_by(case: tuple[str, int]) -> Counter[str]:
    """What one storm breaks, and what happened in it."""
    protocol, seed = case
    if protocol in POLICIES:
        storm = under_a_policy(seed, protocol, POLICIES[protocol][seed % len(POLICIES[protocol])])
    else:
        storm = in_a_storm(seed, protocol)
    verdicts = {v.id: v for v in judge(*storm)}
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
        found_in = spread(broken_by, cases, os.cpu_count() or 1)
        for it in track(found_in, protocol, runs, console=errors, disable=not errors.is_terminal):
            found += it
        broken = ", ".join(f"{k} {found[k]}" for k in sorted(found) if k.startswith("BGS86"))
        counts = (f"{found[k]:,}" for k in ("increments", "taken", "contended"))
        table.add_row(protocol.partition(":")[2], f"{runs:,}", *counts, broken or "nothing")
    Console().print(table)


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    named = (LOCKS_ONE, HARDENED_ONE, LOCKS_TWO, HARDENED_TWO, *POLICIES)
    main(many, tuple(sys.argv[2:]) or named)

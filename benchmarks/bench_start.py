"""How fast many real nodes are ready, and what one weighs.

Through the real engine, relay and all. A node is ready when its Started is in its file. It is
started in two ways from the same config file: as a fork of the nursery, which has everything
imported, and as `python -m nodes CONFIG`, an interpreter of its own. The nursery and the relay
are up before the clock starts. T is long, so that elections do not compete with the starts.
Rules, so that processes are measured and nothing else:

- Both ways find their modules compiled; an interpreter may have been told not to keep them.
- The files are in memory where the system has a place for it: on ext4 each new file looks
  through the inodes that were freed in the last minute, and a few rounds free thousands.
"""

import compileall
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import psutil

from benchmarks.table import Row, in_turn, ratio
from harness.real import RealEngine
from harness.timing import timing_for
from traces.events import Started
from traces.run import RunInfo

NODES, MANY, ROUNDS = 50, 100, 9
SLOWNESS = 20.0
ROOT, MEMORY = Path(__file__).resolve().parent.parent, Path("/dev/shm")
INTERPRETER = (sys.executable, "-m", "nodes")


@contextmanager
def engine_of(
    nodes: int, command: tuple[str, ...] = (), slowness: float = SLOWNESS
) -> Iterator[tuple[RealEngine, RunInfo]]:
    """A real engine that has started nothing yet."""
    info = RunInfo(
        scenario="bench",
        claim="",
        protocol="nodes.bully:Bully",
        engine="real",
        seed=1,
        nodes=nodes,
        timing=timing_for(nodes, slowness),
        lateness=False,
        command=command,
    )
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as parts:
        engine = RealEngine(info, Path(parts))
        try:
            yield engine, info
        finally:
            engine.close()


def ready_s(nodes: int, command: tuple[str, ...] = ()) -> float:
    """The time from asking for them to the Started of the last."""
    with engine_of(nodes, command) as (engine, _):
        return spawn_s(engine, nodes)


def many(nodes: int) -> tuple[float, float]:
    """The time until all are ready, and the mean weight of a node in megabytes."""
    with engine_of(nodes) as (engine, _):
        took = spawn_s(engine, nodes)
        pids = [event.pid for event in engine.events if isinstance(event, Started)]
        return took, mean(psutil.Process(pid).memory_full_info().pss for pid in pids) / 1e6


def spawn_s(engine: RealEngine, nodes: int) -> float:
    """Start all nodes, and tell how long it took."""
    began = perf_counter()
    engine.spawn(dict.fromkeys(range(1, nodes + 1), 1))
    return perf_counter() - began


def rows() -> Iterator[Row]:
    """Speed, number and weight."""
    for room in ("nodes", "traces"):
        compileall.compile_dir(ROOT / room, quiet=1)
    forked, apart = in_turn(ROUNDS, lambda: ready_s(NODES), lambda: ready_s(NODES, INTERPRETER))
    times = ratio(apart, forked)
    yield Row(
        f"{NODES} nodes ready",
        f"{NODES} interpreter starts",
        f"{times:.1f}x faster ({median(forked) * 1e3:.0f} / {median(apart) * 1e3:.0f} ms)",
        ">= 12",
        times >= 12,
    )
    took, pss_mb = many(MANY)
    links = f"{MANY * (MANY - 1):,} links"
    yield Row(f"{MANY} nodes ready, {links}", "-", f"{took * 1e3:.0f} ms", "work", True)
    yield Row("PSS a node", "-", f"{pss_mb:.2f} MB", "<= 4 MB", pss_mb <= 4)

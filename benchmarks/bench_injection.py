"""How far from its planned instant a fault is injected.

Five real nodes run; one is paused and resumed in turn, each time at an instant planned ahead.
The actual instant is the stamp of the Injected event, right before the signal. The median and
the 99th percentile count; on a machine that is not idle the tail is the machine's.
"""

from collections.abc import Iterator

from benchmarks.bench_start import engine_of, spawn_s
from benchmarks.table import Row
from harness.run import Run
from traces.events import Injected

NODES, FAULTS, AHEAD_NS, REACH_US = 5, 500, 4_000_000, 500


def errors_us() -> list[float]:
    """How late each fault was, in order of size."""
    with engine_of(NODES, slowness=1.0) as (engine, info):
        run = Run(info, engine)
        spawn_s(engine, NODES)
        run.settled()
        planned = []
        for k in range(FAULTS):
            planned.append(engine.now() + AHEAD_NS)
            engine.advance(None, planned[-1])
            if k % 2:
                run.resume(1)
            else:
                run.pause(1)
        actual = [event.at for event in engine.events if isinstance(event, Injected)]
    return sorted((a - p) / 1e3 for a, p in zip(actual, planned, strict=True))


def rows() -> Iterator[Row]:
    """Both figures."""
    late = errors_us()
    p50, p99 = late[FAULTS // 2], late[FAULTS * 99 // 100]
    yield Row(
        "injection error, p50 and p99",
        "the planned instant",
        f"{p50:.0f} us and {p99:.0f} us",
        "p99 < 0.5 ms",
        p99 < REACH_US,
    )

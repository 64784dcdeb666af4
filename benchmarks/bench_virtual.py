"""The virtual engine with its trace, against a bare loop without one.

Both run five nodes, one of them dead, for the same virtual time: the coordinator asks the
others again and again, three answer, one times out. An event is a send, a receipt or a
time-out, on both sides. The engine keeps its trace and writes it to a file; that is timed too.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.bare_loop import BareLoop
from benchmarks.table import Row, cpu_s, in_turn, ratio
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from traces.events import Received, Sent, TimedOut
from traces.run import RunInfo

NODES, DEAD, ROUNDS = 5, 1, 15
SETTLED_NS, SECONDS = 2_000_000_000, 500
COUNTED = (Sent, Received, TimedOut)


def engine_rate(place: Path) -> float:
    """Events a second through the virtual engine and into the file."""
    info = RunInfo("bench", "", "nodes.bully:Bully", "virtual", 1, NODES, timing_for(NODES))
    engine = VirtualEngine(info)

    def work() -> None:
        engine.spawn(dict.fromkeys(range(1, NODES + 1), 1))
        engine.advance(None, SETTLED_NS)
        engine.kill(DEAD)
        engine.advance(None, SECONDS * 1_000_000_000)
        engine.save(place)

    took = cpu_s(work)
    return sum(type(event) in COUNTED for event in engine.events) / took


def bare_rate() -> float:
    """Events a second through the bare loop."""
    loop = BareLoop(tuple(range(1, NODES + 1)), 1, timing_for(NODES))

    def work() -> None:
        loop.run(SETTLED_NS)
        loop.up.discard(DEAD)
        loop.run(SECONDS * 1_000_000_000)

    took = cpu_s(work)
    return loop.events / took


def rows() -> Iterator[Row]:
    """The ratio, and how much faster than the clock on the wall it is."""
    with tempfile.TemporaryDirectory() as place:
        trace = Path(place) / "trace.jsonl"
        engine, bare = in_turn(ROUNDS, lambda: engine_rate(trace), bare_rate)
    times, per_virtual_s = ratio(engine, bare), _events_a_second()
    yield Row(
        "virtual engine, traced",
        "bare heap-and-generator loop",
        f"{times:.2f} ({median(engine) / 1e3:.0f}k / {median(bare) / 1e3:.0f}k events/s)",
        ">= 0.4",
        times >= 0.4,
    )
    yield Row("virtual seconds a second", "-", f"{median(engine) / per_virtual_s:,.0f}", "", None)


def _events_a_second() -> float:
    """How many events there are in a virtual second, as the bare loop counts them."""
    loop = BareLoop(tuple(range(1, NODES + 1)), 1, timing_for(NODES))
    loop.up.discard(DEAD)
    loop.run(SECONDS * 1_000_000_000)
    return loop.events / SECONDS

"""The recorded-cut check of GM82-1a and GM82-1b, against the bare typed decode of the file.

The trace has a million events: a Bully of five under virtual time whose coordinator crashes
and returns without end, so that the Normal intervals are many. The check is the history of the
run, read from its decoded events, and the sweep over every recorded cut.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.table import Row, cpu_s, in_turn, ratio
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from traces.cuts import sweep
from traces.events import AnyEvent, Became, Injected, decode_lines
from traces.judge import uncollected
from traces.lives import History
from traces.run import RunInfo

NODES, EVENTS, ROUNDS = 5, 1_000_000, 5
MS = 1_000_000


def crashes_without_end() -> bytes:
    """EVENTS lines: the coordinator dies, the next is elected, it comes back and wins."""
    info = RunInfo("bench", "", "nodes.bully:Bully", "virtual", 1, NODES, timing_for(NODES))
    engine, life = VirtualEngine(info), 1
    engine.spawn(dict.fromkeys(range(1, NODES + 1), 1))
    while len(engine.events) < EVENTS:
        normal = _Normals(engine, NODES)
        engine.advance(normal.all, engine.now() + 10_000 * MS)
        engine.record(Injected(step=life, verb="kill", nodes=(NODES,)))
        engine.kill(NODES)
        life += 1
        engine.spawn({NODES: life})
    del engine.events[EVENTS:]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "trace.jsonl"
        engine.save(path)
        return path.read_bytes()


class _Normals:
    """Whether all nodes have become Normal since now."""

    def __init__(self, engine: VirtualEngine, nodes: int) -> None:
        self.events, self.seen, self.missing = engine.events, len(engine.events), nodes

    def all(self) -> bool:
        for event in self.events[self.seen :]:
            self.missing -= type(event) is Became and event.s == "Normal"
        self.seen = len(self.events)
        return self.missing <= 0


def rows() -> Iterator[Row]:
    """Both ratios."""
    data = crashes_without_end()
    events: list[AnyEvent] = decode_lines(data)
    normal = sum(type(event) is Became and event.s == "Normal" for event in events)

    def check(given: list[AnyEvent]) -> None:
        with uncollected():  # as the judge does it
            for swept in sweep(History(given, NODES)):
                if swept.found:
                    raise RuntimeError("a correct Bully was accused")

    def decode_and_check() -> None:
        with uncollected():
            check(decode_lines(data))

    decode_s, check_s, both_s = in_turn(
        ROUNDS,
        lambda: cpu_s(lambda: decode_lines(data)),
        lambda: cpu_s(lambda: check(events)),
        lambda: cpu_s(decode_and_check),
    )
    alone, whole = ratio(check_s, decode_s), ratio(both_s, decode_s)
    yield Row(
        f"recorded-cut check, {len(events):,} events, {normal:,} times Normal",
        "bare typed decode",
        f"{alone:.2f}x ({median(check_s):.2f} / {median(decode_s):.2f} s)",
        "<= 1.0",
        alone <= 1.0,
    )
    yield Row(
        "  the same, decode included", "bare typed decode", f"{whole:.2f}x", "<= 2.0", whole <= 2.0
    )

"""Agreement on recorded cuts and on all consistent cuts, against the bare typed decode of the file.

The traces have a million events: a Bully of 5, 20 or 50 under virtual time whose coordinator
crashes and returns without end, so that the Normal intervals are many; every other time its
successor is elected meanwhile, by way of time-outs. Each check begins with the decoded events, and
the history of the run is read from them. "In full" is all that the verdicts on GM82-1a and 1b rest
on: the sweep over the recorded cuts, the time edges, the clocks and every pair they leave open.
Where the cheap test decides, the nodes run the Invitation Algorithm, and no group had two
coordinators or tasks.

Memory is the peak of a process of its own that reads the file and judges the whole run, every
other claim and the assumptions included, less what the interpreter takes with the same imports. A
walk of the lattice, as the tests do it, stands beside on a trace that it gets done in a few
seconds, for one of the two properties.

Limit: no crash is like the next in a real run; here all are alike.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.table import Row, cpu_s, in_turn, ratio
from harness.scenario import BULLY, INVITATION
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from tests.oracle_cuts import Lattice, disagreements
from traces.concurrent import unrecorded
from traces.cuts import sweep
from traces.events import AnyEvent, Became, Injected, decode_lines
from traces.lives import History
from traces.memory import uncollected
from traces.run import RunInfo
from traces.timeouts import time_edges

EVENTS, ROUNDS = 1_000_000, 3
MS = 1_000_000
REACH = {5: 1.5, 20: 3.0, 50: 4.0}
BYTES = 600
WALKED, REPEATED = 1000, 50  # events of the trace that is walked; checks for each walk


def crashes_without_end(nodes: int, events: int = EVENTS, protocol: str = BULLY) -> bytes:
    """So many lines: the coordinator dies, the next is elected, it comes back and wins."""
    engine, life = VirtualEngine(info_of(nodes, protocol)), 1
    engine.spawn(dict.fromkeys(range(1, nodes + 1), 1))
    while len(engine.events) < events:
        _all_normal(engine, nodes)
        engine.record(Injected(step=life, verb="kill", nodes=(nodes,)))
        engine.kill(nodes)
        life += 1
        if life % 2:
            _all_normal(engine, nodes - 1)
        engine.spawn({nodes: life})
    del engine.events[events:]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "trace.jsonl"
        engine.save(path)
        return path.read_bytes()


def info_of(nodes: int, protocol: str = BULLY) -> RunInfo:
    """What is known of such a run."""
    return RunInfo("bench", "", protocol, "virtual", 1, nodes, timing_for(nodes))


def _all_normal(engine: VirtualEngine, nodes: int) -> None:
    engine.advance(_Normals(engine, nodes).all, engine.now() + 10_000 * MS)


class _Normals:
    """Whether all nodes have become Normal since now."""

    def __init__(self, engine: VirtualEngine, nodes: int) -> None:
        self.events, self.seen, self.missing = engine.events, len(engine.events), nodes

    def all(self) -> bool:
        for event in self.events[self.seen :]:
            self.missing -= type(event) is Became and event.s == "Normal"
        self.seen = len(self.events)
        return self.missing <= 0


# --- what is measured -----------------------------------------------------------------------------


def recorded(events: list[AnyEvent], nodes: int) -> None:
    """Every recorded cut."""
    for swept in sweep(History(events, nodes)):
        _must_hold(not swept.found)


def in_full(events: list[AnyEvent], nodes: int) -> None:
    """Every consistent cut."""
    history = History(events, nodes)
    both = sweep(history)
    others = unrecorded(history, both, time_edges(history, timing_for(nodes)))
    _must_hold(not any(some.found for some in both) and not any(some.found for some in others))


def false_alarms(events: list[AnyEvent], nodes: int) -> int:
    """How many pairs messages alone would have accused."""
    history = History(events, nodes)
    return sum(it.pairs for some in unrecorded(history, sweep(history), {}) for it in some.found)


def cheaply(events: list[AnyEvent], nodes: int) -> None:
    """Every consistent cut, of groups that never had two coordinators."""
    history = History(events, nodes)
    both = sweep(history, by_group=True)
    others = unrecorded(history, both, {})
    _must_hold(not any(some.clocks for some in others))


def _must_hold(good: bool) -> None:
    if not good:
        raise RuntimeError("a correct protocol was accused, or the cheap test did not decide")


def against_decode(data: bytes, check: Callable[[list[AnyEvent]], object]) -> tuple[float, str]:
    """The ratio, and both times in words."""
    with uncollected():  # as the judge does it
        events: list[AnyEvent] = decode_lines(data)
        decode_s, check_s = in_turn(
            ROUNDS,
            lambda: cpu_s(lambda: decode_lines(data)),
            lambda: cpu_s(lambda: check(events)),
        )
    times = ratio(check_s, decode_s)
    return times, f"{times:.2f}x ({median(check_s):.2f} / {median(decode_s):.2f} s)"


def peak_bytes(path: Path, nodes: int) -> int:
    """What reading and judging this file takes at its peak, in a process of its own."""
    program = (
        "import sys; from pathlib import Path; from benchmarks import bench_cuts as b; "
        "from traces.judge import judge; from traces.merge import read_trace\n"
        "def peak():\n"  # ru_maxrss would count the parent that forked too
        "    status = Path('/proc/self/status').read_text()\n"
        "    return int(status.split('VmHWM:')[1].split()[0]) * 1024\n"
        "before = peak(); path, nodes = sys.argv[1:]\n"
        "with b.uncollected(): judge(read_trace(Path(path)), b.info_of(int(nodes)))\n"
        "print(peak() - before)"
    )
    command = [sys.executable, "-c", program, str(path), str(nodes)]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def rows() -> Iterator[Row]:
    """Each check against the decode of the same file."""
    yield from _bully_rows()
    data = crashes_without_end(5, protocol=INVITATION)
    times, words = against_decode(data, partial(cheaply, nodes=5))
    what = "all cuts where the cheap test decides, 5 nodes"
    yield Row(what, "bare typed decode", words, "<= 1.2", times <= 1.2)
    yield from _curve()
    yield _walk()


def _bully_rows() -> Iterator[Row]:
    for nodes, reach in REACH.items():
        data = crashes_without_end(nodes)
        events = decode_lines(data)
        normal = sum(type(event) is Became and event.s == "Normal" for event in events)
        alarms = false_alarms(events, nodes)
        del events
        times, words = against_decode(data, partial(recorded, nodes=nodes))
        what = f"recorded cuts, {nodes} nodes, {EVENTS:,} events, {normal:,} times Normal"
        yield Row(what, "bare typed decode", words, "<= 1.0", times <= 1.0)
        times, words = against_decode(data, partial(in_full, nodes=nodes))
        what = f"  all consistent cuts in full ({alarms:,} false alarms by messages alone)"
        yield Row(what, "bare typed decode", words, f"<= {reach}", times <= reach)
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "trace.jsonl"
            path.write_bytes(data)
            each = peak_bytes(path, nodes) / EVENTS
        yield Row("  peak memory of reading and judging it all", "an event", f"{each:.0f} bytes",
                  f"<= {BYTES}", each <= BYTES)  # fmt: skip


def _curve() -> Iterator[Row]:
    """How the cost grows with events and with nodes."""
    for nodes, events in ((20, 125_000), (20, 250_000), (20, 500_000), (5, 250_000), (10, 250_000),
                          (50, 250_000), (100, 250_000)):  # fmt: skip
        data = crashes_without_end(nodes, events)
        decoded = decode_lines(data)
        with uncollected():
            took = min(cpu_s(partial(in_full, decoded, nodes)) for _ in range(3))
        what = f"all consistent cuts in full, {nodes} nodes, {events:,} events"
        yield Row(what, "an event", f"{took / events * 1e6:.2f} us", "", None)


def _walk() -> Row:
    """The lattice, on a trace that it can walk."""
    events = decode_lines(crashes_without_end(5, WALKED))
    lattice = Lattice(events, 5)
    cuts = sum(1 for _ in lattice.cuts())

    def walk() -> None:
        disagreements(lattice, ("Normal", "Reorganization"), "c", False)

    def check() -> None:
        for _ in range(REPEATED):
            in_full(events, 5)

    walk_s, check_s = in_turn(ROUNDS, lambda: cpu_s(walk), lambda: cpu_s(check))
    times = REPEATED * ratio(walk_s, check_s)
    what = f"a walk of the lattice, 5 nodes, {WALKED} events, {cuts:,} cuts"
    took = f"{median(walk_s):.1f} s / {median(check_s) / REPEATED * 1e3:.1f} ms"
    return Row(what, "all consistent cuts in full", f"{times:,.0f}x ({took})", "", None)

"""One global order out of one trace file a process.

Rules:

- Events are ordered by (at, node, inc, n). Each file keeps its own order: stamps within a file
  never step back. Of events with the same stamp a receipt comes after its send.
- An unterminated last line is dropped: stamp, write, then act, so its effect never happened.
  Anything torn elsewhere, a gap in the numbers or a stamp that steps back is an InvalidTrace.
- Lines are copied, not encoded again; the trace appears whole or not at all (rename).

Limits: the whole run is held in memory. Whether every receipt has a send is for
traces.validity, which looks at the merged trace.
"""

import heapq
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import msgspec

from traces.events import AnyEvent, Received, Sent, decode, decode_lines
from traces.memory import MERGED, must_fit
from traces.run import RunDir
from traces.verdicts import InvalidTrace

BLOCK = 1 << 21  # bytes: a file and its events need not be in memory both
_at = attrgetter("at")


def merge(parts: Iterable[list[AnyEvent]]) -> list[AnyEvent]:
    """All events in the global order; each part is one process's, in its own order."""
    files = sorted((part for part in parts if part), key=lambda part: _timeline(part[0]))
    events = [event for part in files for event in part]
    events.sort(key=_at)  # stable, so (node, inc, n) decides between equal stamps
    for start, end in _ties(events):
        if _may_be_crossed(events[start:end]):
            events[start:end] = _untangle(events[start:end])
    return events


def merge_run(rundir: RunDir) -> Path:
    """Merge parts/*.jsonl into trace.jsonl and return its path."""
    lines: dict[int, bytes] = {}
    parts: list[list[AnyEvent]] = []
    problems: list[str] = []
    files = sorted(rundir.parts.glob("*.jsonl"))
    must_fit(rundir.parts, MERGED * sum(path.stat().st_size for path in files))
    for path in files:
        part, raw, wrong = read_part(path)
        parts.append(part)
        problems += wrong
        lines.update(zip(map(id, part), raw, strict=True))
    if problems:
        raise InvalidTrace(problems)
    write_whole(rundir.trace, b"".join([lines[id(event)] for event in merge(parts)]))
    return rundir.trace


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    scratch = path.with_name(path.name + ".tmp")
    scratch.write_bytes(data)
    scratch.replace(path)


def read_part(path: Path) -> tuple[list[AnyEvent], list[bytes], list[str]]:
    """The events of one file, their lines, and what is wrong with it."""
    data = path.read_bytes()
    data = data[: data.rfind(b"\n") + 1]
    raw = data.splitlines(keepends=True)
    try:
        events = decode_lines(data)
    except msgspec.DecodeError:
        return [], [], [_torn_line(path, raw)]
    if len(events) != len(raw):
        return [], [], [_torn_line(path, raw)]
    return events, raw, _misnumbered(path, events)


def read_trace(path: Path) -> list[AnyEvent]:
    """A merged trace as it was stored, decoded block by block."""
    events: list[AnyEvent] = []
    try:
        for block in _blocks(path):
            events += decode_lines(block)
    except msgspec.DecodeError:
        problem = _torn_line(path, path.read_bytes().splitlines(keepends=True))
        raise InvalidTrace([problem]) from None
    return events


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces of whole lines."""
    rest = b""
    with path.open("rb") as file:
        while data := file.read(BLOCK):
            whole, newline, rest = (rest + data).rpartition(b"\n")
            yield whole + newline
    yield rest


def _timeline(event: AnyEvent) -> tuple[int, int]:
    return event.node, event.inc


def _torn_line(path: Path, raw: list[bytes]) -> str:
    for number, line in enumerate(raw, 1):
        try:
            decode(line)
        except msgspec.DecodeError as error:
            return f"{path.name}:{number}: not an event ({error}): {line[:60]!r}"
    return f"{path.name}: some line does not hold exactly one event"


def _misnumbered(path: Path, events: list[AnyEvent]) -> list[str]:
    problems = []
    if events and events[0].n != 0:
        problems.append(f"{path.name}:1: begins with number {events[0].n}, not 0")
    for line, (a, b) in enumerate(pairwise(events), 2):
        if b.n != a.n + 1:
            problems.append(f"{path.name}:{line}: number {b.n} follows {a.n}")
        if b.at < a.at:
            problems.append(f"{path.name}:{line}: the stamp steps back by {a.at - b.at} ns")
    return problems


# --- equal stamps -------------------------------------------------------------------------


def _ties(events: list[AnyEvent]) -> Iterator[tuple[int, int]]:
    """Every maximal run of two or more events with one stamp, as [start, end)."""
    stamps = [event.at for event in events]
    equal = [i for i, (a, b) in enumerate(pairwise(stamps)) if a == b]
    at = 0
    while at < len(equal):
        start = end = equal[at]
        while at < len(equal) and equal[at] == end:
            end, at = end + 1, at + 1
        yield start, end + 1


def _may_be_crossed(tied: list[AnyEvent]) -> bool:
    """Whether some receipt precedes a send here; only then can the order be wrong."""
    kinds = [type(event) for event in tied]
    return Received in kinds and Sent in kinds[kinds.index(Received) :]


def _untangle(tied: list[AnyEvent]) -> list[AnyEvent]:
    """Order a tie so that files keep their order and a receipt follows its send."""
    sends = {(e.node, e.inc, e.to, e.m): i for i, e in enumerate(tied) if type(e) is Sent}
    last_of: dict[int, int] = {}
    after: list[list[int]] = [[] for _ in tied]
    waits = [0] * len(tied)
    for i, event in enumerate(tied):
        # A node's lives follow each other; the three processes of node 0 do not.
        timeline = event.node if event.node else -event.inc
        before = [last_of[timeline]] if timeline in last_of else []
        if type(event) is Received:
            send = sends.get((event.src, event.sinc, event.node, event.m))
            before += [send] if send is not None else []
        for j in before:
            after[j].append(i)
        waits[i], last_of[timeline] = len(before), i
    free = [i for i, count in enumerate(waits) if not count]
    order: list[AnyEvent] = []
    while free:
        i = heapq.heappop(free)
        order.append(tied[i])
        for j in after[i]:
            waits[j] -= 1
            if not waits[j]:
                heapq.heappush(free, j)
    return order if len(order) == len(tied) else tied

"""What it costs to write an event, against all of that but the write.

Both sides make a typical event, stamp and number it, and encode its line; one of them then
hands the line to the operating system. A file in a temporary directory takes it.

Limit: a write to a file is a system call that costs several times msgspec's `encode`, whatever
this program does; the ratio to that call alone is printed beside, without a target.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.table import Row, cpu_s, in_turn, ratio
from traces.events import Received, Sent, encoder
from traces.writer import Writer

EVENTS, ROUNDS = 20_000, 15


class Unwritten(Writer):
    """A writer that stops short of the file."""

    def flush(self) -> None:
        """Encode what is staged, and forget it."""
        encoder.encode_lines(self._staged)
        self._staged.clear()


def through(writer: Writer) -> Callable[[], None]:
    """A message a time, as a node writes it: its receipt and the answer to it, then the act."""
    stage, flush = writer.stage, writer.flush

    def work() -> None:
        for m in range(1, EVENTS // 2 + 1):
            stage(Received(src=5, sinc=1, m=m, kind="AreYouNormal", call=m))
            stage(Sent(to=5, m=m, kind="AreYouNormal", ack=True, call=m, args=(True,)))
            flush()

    return work


def encoding() -> None:
    """msgspec's call alone, on events that are there."""
    encode, into = encoder.encode_into, bytearray(512)
    asked = Received(at=1 << 50, node=1, inc=1, n=1, src=5, sinc=1, m=1, kind="AreYouNormal")
    answered = Sent(at=1 << 50, node=1, inc=1, n=1, to=5, m=1, kind="AreYouNormal", ack=True)
    for _ in range(EVENTS // 2):
        encode(asked, into)
        encode(answered, into)


def rows() -> Iterator[Row]:
    """The ratio."""
    with tempfile.TemporaryDirectory() as place:
        written = Writer(Path(place) / "trace.jsonl", 1, 1)
        unwritten = Unwritten(Path(os.devnull), 1, 1)
        write_s, make_s, encode_s = in_turn(
            ROUNDS,
            lambda: cpu_s(through(written)),
            lambda: cpu_s(through(unwritten)),
            lambda: cpu_s(encoding),
        )
        written.close()
        unwritten.close()
    times, bare = ratio(write_s, make_s), ratio(write_s, encode_s)
    us = [median(figures) / EVENTS * 1e6 for figures in (write_s, make_s, encode_s)]
    yield Row(
        "trace write per event",
        "the same without the write",
        f"{times:.2f}x ({us[0]:.2f} / {us[1]:.2f} us)",
        "<= 3",
        times <= 3,
    )
    yield Row(
        "  the same, no target", "msgspec's encode call", f"{bare:.1f}x ({us[2]:.2f} us)", "", None
    )

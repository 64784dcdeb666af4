"""One process's part of the trace: stamp, write, then let the caller act.

Nothing is kept back once it can have had an effect, so that a SIGKILL loses nothing that had
one. Events that have none of their own (a receipt, before its answer is sent) may be staged and
written together with the next one that does: one `write` an effect. A write that comes back
short (a full disk) ends the process: an event that is not in the file must have no effect.
"""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns

from traces.events import Event, encoder


class Writer:
    """Appends events to one file, numbered and stamped."""

    def __init__(
        self, path: str | Path, node: int, inc: int, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self.node, self.inc, self.n, self.clock = node, inc, 0, clock
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._lines = bytearray()
        self._encode = encoder.encode_into

    def write(self, event: Event) -> int:
        """Stamp and write one event; return its stamp."""
        at = self.stage(event)
        self.flush()
        return at

    def stage(self, event: Event) -> int:
        """Stamp an event that has no effect before the next `flush`; return its stamp."""
        event.at = at = self.clock()
        event.node, event.inc, event.n = self.node, self.inc, self.n
        self.n += 1
        self._encode(event, self._lines, -1)
        self._lines.append(10)
        return at

    def flush(self) -> None:
        """Write what is staged, in one piece."""
        lines = self._lines
        if lines:
            if os.write(self._fd, lines) != len(lines):
                raise OSError(errno.ENOSPC, "the trace could not be written whole")
            lines.clear()

    def fileno(self) -> int:
        """The file behind it (an inherited copy must be closed after a fork)."""
        return self._fd

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

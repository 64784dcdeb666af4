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

encode_lines, write = encoder.encode_lines, os.write


class Writer:
    """Appends events to one file, numbered and stamped."""

    def __init__(
        self, path: str | Path, node: int, inc: int, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self.node, self.inc, self.n, self.clock = node, inc, 0, clock
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._staged: list[Event] = []

    def write(self, event: Event) -> int:
        """Stamp and write one event; return its stamp."""
        at = self.stage(event)
        self.flush()
        return at

    def stage(self, event: Event) -> int:
        """Stamp an event that has no effect before the next `flush`; return its stamp."""
        event.node = self.node
        event.inc = self.inc
        return self.put(event)

    def put(self, event: Event) -> int:
        """The same for one that has its node and life in it."""
        event.at = at = self.clock()
        event.n = n = self.n
        self.n = n + 1
        self._staged.append(event)
        return at

    def flush(self) -> None:
        """Write what is staged, in one piece."""
        staged = self._staged
        if staged:
            lines = encode_lines(staged)
            if write(self._fd, lines) != len(lines):
                raise OSError(errno.ENOSPC, "the trace could not be written whole")
            staged.clear()

    def fileno(self) -> int:
        """The file behind it (an inherited copy must be closed after a fork)."""
        return self._fd

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

"""Standard output that outlives its reader: an exit code is a verdict, whoever reads the words."""

import io
import os
import sys
from typing import Any


class Stdout(io.FileIO):
    """Standard output. If its reader leaves, the rest goes nowhere: the verdict stands."""

    def write(self, b: Any, /) -> int:
        """What is left after that is not to fail once more as Python ends."""
        try:
            return super().write(b)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                return len(b)
            raise


def outlive_the_reader() -> None:
    """Put it in the place of Python's own, unless somebody else has."""
    if (old := sys.__stdout__) is not None and old is sys.stdout:
        out = io.BufferedWriter(Stdout(old.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(out, old.encoding, old.errors, line_buffering=old.isatty())

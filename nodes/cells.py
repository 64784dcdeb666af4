"""Safe cells: storage that survives any crash (GM82 II, Assumption 4).

A cell is replaced atomically: the new value goes to a file of its own, is forced to the disk,
and takes the old one's name. A kill at any instant leaves the old value or the new one.

Marks, which change with every message, are cells of eight bytes in a shared mapping: one store,
which a kill cannot halve and the kernel keeps. They survive any crash of the node, not one of
the machine; nor does the node.
"""

import mmap
import os
from pathlib import Path
from typing import Any

import msgspec


class SafeCells:
    """The cells of one node: one small JSON file each."""

    def __init__(self, directory: str | Path) -> None:
        self._directory = str(directory)

    def load(self) -> dict[str, Any]:
        """All cells as they are; none before the first was stored."""
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            os.makedirs(self._directory)
            return {}
        cells = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return {cell: self._read(cell) for cell in cells}

    def _read(self, cell: str) -> Any:
        with open(f"{self._directory}/{cell}.json", "rb", buffering=0) as file:
            return msgspec.json.decode(file.read())

    def store(self, cell: str, value: Any) -> None:
        """Replace one cell; when this returns, the new value is safe."""
        fresh = f"{self._directory}/{cell}.new"
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            data = msgspec.json.encode(value)
            if os.write(fd, data) != len(data):
                raise OSError(f"safe cell {cell} could not be written whole")
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(fresh, f"{self._directory}/{cell}.json")

    def marks(self, count: int) -> memoryview:
        """So many numbers, as any life of this node left them."""
        fd = os.open(f"{self._directory}/marks", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.ftruncate(fd, 8 * count)
            return memoryview(mmap.mmap(fd, 8 * count)).cast("Q")
        finally:
            os.close(fd)

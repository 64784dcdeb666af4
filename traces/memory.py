"""Memory: whether a run fits, asked before it is read; and no looking for garbage among its events.

Linux gives out memory that it does not have, and then ends the process that uses it: no error
could be caught and no word said. So what reading and judging takes is estimated from the size of
the file (`make bench` measures it), and compared with what is free.

Limits: an estimate. Other processes may take the memory meanwhile. Of control groups only the
process's own is looked at.
"""

import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

JUDGED, MERGED = 6, 7  # bytes for each byte of the trace, or of its parts, at the peak


def must_fit(what: Path, needed: int) -> None:
    """Raise a MemoryError that says how much is missing, if the run will not fit."""
    free = free_bytes()
    if needed > free:
        raise MemoryError(
            f"{what} needs about {needed / 1e9:,.1f} GB of memory to be judged, and "
            f"{free / 1e9:,.1f} GB are free: judge it on a larger machine, or record a shorter run"
        )


def free_bytes() -> int:
    """What this process may still take: of the machine's, its group's and its own limit."""
    return min(_of_the_machine(), _of_the_group(), _of_the_process())


def _of_the_machine() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, value, *_ = line.split()
        if name == "MemAvailable:":
            return int(value) * 1024
    return 1 << 62


def _of_the_group() -> int:
    """memory.max of a version 2 control group, less what is used."""
    own = Path("/proc/self/cgroup").read_text().rpartition("::/")[2].strip()
    group = Path("/sys/fs/cgroup") / own
    try:
        most = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except OSError:
        return 1 << 62
    return 1 << 62 if most == "max" else int(most) - used


def _of_the_process() -> int:
    """ulimit -v, less what is mapped."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return 1 << 62
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return most - pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def uncollected() -> Iterator[None]:
    """A million events are no garbage, and looking for some among them doubles the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()

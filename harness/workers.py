"""Work spread over cores: processes that end with whoever they work for.

Rule: whoever is interrupted is the one that spreads; its workers are born deaf to SIGINT and
SIGTERM, and are killed with it, whatever kills it.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

from harness.linux import die_with_parent

A = TypeVar("A")
B = TypeVar("B")


def spread(
    work: Callable[[A], B], cases: Sequence[A], workers: int, at_once: int = 8
) -> Iterator[B]:
    """What came of each case, in order; a worker is given so many at once."""
    pool = ProcessPoolExecutor(workers, initializer=die_with_parent, initargs=(os.getpid(),))
    try:
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
        found = pool.map(work, cases, chunksize=at_once)
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        yield from found
    finally:
        pool.shutdown(cancel_futures=True)

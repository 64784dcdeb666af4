"""Work spread over cores: processes that end with whoever they work for.

Rule: whoever is interrupted is the one that spreads; its workers are born deaf to SIGINT, SIGTERM
and SIGHUP, and are killed with it, whatever kills it, and when nobody wants any more of what they
do. While it kills them it is deaf as well: who presses Ctrl-C twice would otherwise leave it
waiting for workers that nobody ends.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import active_children
from typing import TypeVar

from harness.linux import die_with_parent

A = TypeVar("A")
B = TypeVar("B")


def spread(
    work: Callable[[A], B], cases: Sequence[A], workers: int, at_once: int = 8
) -> Iterator[B]:
    """What came of each case, in order; a worker is given so many at once."""
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, initializer=die_with_parent, initargs=(os.getpid(),))
    try:
        heard = _deaf()
        chunks = [cases[k : k + at_once] for k in range(0, len(cases), at_once)]
        futures = [pool.submit(_each, work, chunk) for chunk in chunks]
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        for future in futures:
            yield from future.result()
    except BaseException:
        heard = _deaf()
        for worker in set(active_children()) - others:
            worker.kill()  # and nothing is cancelled: the pool stumbles over what was
        pool.shutdown()
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        raise
    pool.shutdown()


def _each(work: Callable[[A], B], cases: Sequence[A]) -> list[B]:
    return [work(case) for case in cases]


def _deaf() -> set[int | signal.Signals]:
    """To interruptions, from now on; what was not heard before."""
    return signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

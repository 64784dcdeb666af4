"""Who does the work: the cores of this machine, or a Dask cluster.

Rule: nothing of Dask is imported unless a scheduler is named. Its workers need Hustings
installed, and do the same work as a process here; what is found does not depend on who did it.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

from harness.schedule import ScheduleError
from harness.workers import spread

A = TypeVar("A")
B = TypeVar("B")
PATIENCE_S = 10


@contextmanager
def crew(
    work: Callable[[A], B], scheduler: str | None
) -> Iterator[Callable[[Sequence[A]], Iterator[B]]]:
    """A function that does all cases and gives what came of each, in order."""
    if scheduler is None:
        yield lambda cases: spread(work, cases, os.cpu_count() or 1, at_once=1)
        return
    try:
        distributed = import_module("distributed")
        client = distributed.Client(scheduler, timeout=PATIENCE_S)
    except ImportError:
        raise ScheduleError("--scheduler needs Dask: pip install 'hustings[cluster]'") from None
    except (OSError, ValueError) as error:
        raise ScheduleError(f"--scheduler {scheduler}: no scheduler answers ({error})") from None
    with client:

        def everywhere(cases: Sequence[A]) -> Iterator[B]:
            futures = client.map(work, cases, pure=False)
            try:
                for future in futures:
                    yield future.result()
            except ImportError as error:
                raise ScheduleError(f"--scheduler {scheduler}: its workers: {error}") from None
            finally:
                client.cancel(futures)

        yield everywhere

"""What a person sees while a run is under way: one line on a terminal, log lines elsewhere."""

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from types import TracebackType
from typing import TypeVar

from loguru import logger
from rich import progress
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.status import Status

from harness.run import Run
from harness.schedule import FAULTS

EVERY_S = 0.1


class Progress:
    """Shows phase, elections seen, faults injected and time. No thread: `show` redraws."""

    def __init__(self, name: str) -> None:
        self._name, self._began, self._shown = name, monotonic(), 0.0
        self._console = Console(stderr=True)
        self._status: Status | None = None
        logger.remove()
        if self._console.is_terminal:
            self._status = Status(name, console=self._console)
            logger.add(self._line, level="INFO", format="{message}")
        else:
            logger.add(sys.stderr, level="INFO", format="{time:HH:mm:ss.SSS} {message}",
                       colorize=False)  # fmt: skip

    def _line(self, message: str) -> None:
        self._console.print(f"[dim]{monotonic() - self._began:6.2f} s[/]  {message.rstrip()}")

    def __enter__(self) -> "Progress":
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()
        logger.remove()

    def show(self, run: Run) -> None:
        """Redraw, at most ten times a second."""
        now = monotonic()
        if self._status and now - self._shown >= EVERY_S:
            self._shown = now
            phase = run.steps[-1].verb if run.steps else "start"
            faults = sum(step.verb in FAULTS and step.verb != "start" for step in run.steps)
            self._status.update(
                f"{self._name}: {phase}  ·  {run.live.elections} elections  ·  {faults} faults"
                f"  ·  {now - self._began:.1f} s"
            )


T = TypeVar("T")


def shown(found: Iterable[T], total: int, name: str) -> Iterator[T]:
    """The same, with a bar on stderr while it goes on, if there is a terminal to draw it."""
    console = Console(stderr=True)
    bar = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with progress.Progress(*bar, console=console, disable=not console.is_terminal) as drawn:
        task = drawn.add_task(name, total=total)
        for one in found:
            yield one
            drawn.advance(task)

"""What a person sees while a run is under way: one line on a terminal, log lines elsewhere."""

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from types import TracebackType
from typing import TypeVar

from loguru import logger
from rich import progress
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.spinner import Spinner
from rich.text import Text

from harness.run import Run
from harness.schedule import FAULTS

EVERY_S = 0.1


class Progress:
    """Shows phase, elections seen, faults injected and time.

    `show` redraws. No thread of rich's does: it would hold up the injections of this process.
    """

    def __init__(self, name: str) -> None:
        self._name, self._began, self._shown = name, monotonic(), 0.0
        self._console = Console(stderr=True)
        self._spinner = Spinner("dots", name, style="status.spinner")
        self._drawn: Live | None = None
        logger.remove()
        if self._console.is_terminal:
            self._drawn = Live(
                self._spinner, console=self._console, auto_refresh=False, transient=True
            )
            logger.add(self._line, level="INFO", format="{message}")
        else:
            logger.add(sys.stderr, level="INFO", format="{time:HH:mm:ss.SSS} {message}",
                       colorize=False)  # fmt: skip

    def _line(self, message: str) -> None:
        stamp = f"{monotonic() - self._began:6.2f} s", "dim"
        self._console.print(Text.assemble(stamp, f"  {message.rstrip()}"))

    def __enter__(self) -> "Progress":
        if self._drawn:
            self._drawn.start(refresh=True)
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._drawn:
            self._drawn.stop()
        logger.remove()

    def show(self, run: Run) -> None:
        """Redraw, at most ten times a second."""
        now = monotonic()
        if self._drawn and now - self._shown >= EVERY_S:
            self._shown = now
            phase = run.steps[-1].verb if run.steps else "start"
            faults = sum(step.verb in FAULTS and step.verb != "start" for step in run.steps)
            counts = f"elections {run.live.elections}  ·  faults {faults}"
            words = f"{self._name}: {phase}  ·  {counts}  ·  {now - self._began:.1f} s"
            self._spinner.update(text=words)
            self._drawn.refresh()


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

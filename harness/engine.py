"""What an engine is: the few things a run needs done, whoever does them.

`real` does them to processes and sockets, `virtual` to the same protocol objects under a
virtual clock. Both keep `events`, the trace as far as it is known, in the order it was seen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from harness.rules import Link, Rule
from nodes.config import Ask, Point
from traces.events import AnyEvent


class EngineError(Exception):
    """The harness itself failed; never a verdict about a protocol."""


class Engine(Protocol):
    """The verbs of a run, on resolved targets. Each returns when its effect is seen."""

    name: str
    events: list[AnyEvent]

    def now(self) -> int:
        """This engine's clock, in nanoseconds."""

    def record(self, event: AnyEvent) -> int:
        """Write an event of the controller; return its stamp."""

    def spawn(self, lives: Mapping[int, int]) -> None:
        """Start these nodes, each in the given incarnation."""

    def kill(self, node: int) -> None:
        """Crash it, whatever state it is in."""

    def suspend(self, node: int) -> None:
        """Stop it where it stands."""

    def resume(self, node: int) -> None:
        """Let it go on."""

    def arm(self, node: int, points: Sequence[Point]) -> None:
        """It will stop itself at the first event that matches one of these."""

    def ask(self, node: int, ask: Ask) -> None:
        """Ask something of it, as a client would; it has taken it up, and may not be done."""

    def install(self, rule_id: int, rule: Rule, links: Iterable[Link]) -> None:
        """Put a rule on these links, at one instant."""

    def remove(self, rule_id: int) -> None:
        """Take it off; what it held goes on."""

    def witness(self, step: int, node: int) -> None:
        """Record what can be read of the process from outside."""

    def advance(self, done: Callable[[], bool] | None, until: int) -> bool:
        """Let time pass until `done` or the instant `until`; say whether it was done."""

    def close(self, why: str = "") -> None:
        """End every process; leave nothing behind but the trace, and close that."""

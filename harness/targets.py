"""Whom a fault is meant for: a node, some nodes, or a symbol that the trace gives its meaning.

`all` is every node of the run. The others are looked up among the nodes that run now:
`coordinator` (of most Normal nodes), `highest`, `lowest`, `one` and `majority` (drawn by the
run's seed). A schedule keeps what a symbol stood for, never the symbol.
"""

from collections.abc import Callable, Collection, Iterable
from random import Random

from harness.live import Live
from harness.schedule import ScheduleError

Target = int | str | Collection[int]


def resolve(target: Target, nodes: tuple[int, ...], live: Live, random: Random) -> tuple[int, ...]:
    """The nodes a target names, against the trace as it is now."""
    if isinstance(target, int):
        return (target,)
    if not isinstance(target, str):
        return tuple(sorted(set(target)))
    if target == "all":
        return nodes
    running = sorted(live.running)
    most = min(len(nodes) // 2 + 1, len(running))
    symbols: dict[str, Callable[[], Iterable[int]]] = {
        "coordinator": lambda: [c for c in [live.coordinator()] if c],
        "highest": lambda: running[-1:],
        "lowest": lambda: running[:1],
        "one": lambda: random.sample(running, min(1, len(running))),
        "majority": lambda: random.sample(running, most),
    }
    if target not in symbols:
        known = ", ".join(["all", *symbols])
        raise ScheduleError(f"no target {target!r}; there are node numbers and {known}")
    found = tuple(sorted(symbols[target]()))
    if not found:
        raise ScheduleError(f"there is no {target} now: no node of the kind is running")
    return found

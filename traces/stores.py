"""The stores of safe cells that reached their cells.

Rule: a store that was the last line of its life may never have reached its cell. It counts if the
next life loads it, and if there is no next life it does not: nothing after it had an effect.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from traces.events import Loaded, Stored
from traces.lives import History


def effective(history: History, *cells: str) -> Iterator[tuple[int, Stored]]:
    """Every store of these cells that did, with its place in the trace."""
    lives = (life for of_node in history.lives.values() for life in of_node if life.crash)
    last = {history.last_event(life) for life in lives}
    loads: defaultdict[tuple[int, str], list[tuple[int, Any]]] = defaultdict(list)
    stores: list[tuple[int, Stored]] = []
    for i, event in enumerate(history.events):
        if type(event) is Stored:
            if event.cell in cells:
                stores.append((i, event))
        elif type(event) is Loaded:
            loads[event.node, event.cell].append((i, event.value))
    for i, event in stores:
        if i in last:
            later = [value for k, value in loads[event.node, event.cell] if k > i]
            if later[:1] != [event.value]:
                continue
        yield i, event

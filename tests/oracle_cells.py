"""The obvious way to judge A4: for every load and store, all that the cell may hold by then.

Shares no code with the analyzer. What a cell may hold is found by reading its past backwards: a
load says what it holds; a store says it too, unless it was the last line of a life that crashed,
for then the cell may as well hold what it held before (GM82 II, Assumption 4).
"""

from typing import Any

from tests.oracle_lives import all_lives, last_line
from traces.events import AnyEvent, Became, Loaded, Sent, Stored
from traces.validity import event_id
from traces.verdicts import EventId


def broken_cells(events: list[AnyEvent], nodes: int) -> list[EventId]:
    """The loads and stores that break A4, and the calls numbered again."""
    lasts = [
        last_line(events, life)
        for lives in all_lives(events, nodes).values()
        for life in lives
        if life.down is not None
    ]
    broken = []
    touches = [e for e in events if isinstance(e, Loaded | Stored | Became)]
    for i, event in enumerate(touches):
        may = _may_hold([e for e in touches[:i] if _cell(e) == _cell(event)], lasts)
        if isinstance(event, Loaded):
            wrong = bool(may) and event.value not in may
        else:  # integers never go back
            value = _value(event)
            wrong = bool(may) and all(type(v) is int for v in [value, *may]) and value < min(may)
        if wrong:
            broken.append(event_id(event))
    return broken + _used_again(events)


def _may_hold(past: list[AnyEvent], lasts: list[AnyEvent]) -> list[Any]:
    """Every value the cell may hold after this past; empty: nothing is known of it."""
    if not past:
        return []
    last = past[-1]
    if isinstance(last, Loaded) or last not in lasts:
        return [_value(last)]
    # A life that stores without having loaded found nothing there.
    return [_value(last), *(_may_hold(past[:-1], lasts) or [None])]


def _used_again(events: list[AnyEvent]) -> list[EventId]:
    """Calls whose number does not exceed that of every call of the node before."""
    calls = [e for e in events if isinstance(e, Sent) and e.call and not e.ack]
    return [
        event_id(b)
        for k, b in enumerate(calls)
        if any(a.node == b.node and a.call >= b.call for a in calls[:k])
    ]


def _cell(event: AnyEvent) -> tuple[int, str]:
    return event.node, event.cell if isinstance(event, Loaded | Stored) else "S"


def _value(event: AnyEvent) -> Any:
    if isinstance(event, Loaded | Stored):
        return event.value
    assert isinstance(event, Became)
    return {"s": event.s, "c": event.c, "h": event.h, "up": list(event.up),
            "d": event.d, "g": event.g}  # fmt: skip

"""The obvious way to judge A5, A6 and A7: every event against all that came before it.

Shares no code with the analyzer.
"""

from tests.oracle_lives import all_lives, last_line
from traces.events import AnyEvent, Became, Died, Overslept, Received, Sent, Started
from traces.validity import event_id
from traces.verdicts import EventId


def broken_lives(events: list[AnyEvent]) -> list[EventId]:
    """A5: written by a life that had not begun, was over, or did not begin Down or alone."""
    broken = []
    for node, inc in sorted({(e.node, e.inc) for e in events if e.node}):
        lines = [(i, e) for i, e in enumerate(events) if (e.node, e.inc) == (node, inc)]
        over = _over(events, node, inc, lines[0][0])
        late = [e for i, e in lines if i > over and getattr(e, "why", "") != "down"]
        states = [e for i, e in lines[1:] if i <= over and isinstance(e, Became)]
        wrong = [e for e in states[:1] if e.s != "Down" and (not e.g or e.c != node or e.up)]
        unborn = [e for _, e in lines[:1] if not isinstance(e, Started)]
        broken += [event_id(e) for e in (*unborn, *wrong, *late)]
    return broken


def _over(events: list[AnyEvent], node: int, inc: int, first: int) -> int:
    """Where the life ends: at its Overslept, or where its process dies while it is the newest."""
    for i in range(first + 1, len(events)):
        event = events[i]
        if isinstance(event, Overslept) and (event.node, event.inc) == (node, inc):
            return i
        newest = isinstance(event, Died) and max(
            (e.inc for e in events[:i] if e.node == event.target), default=0
        )
        if isinstance(event, Died) and event.target == node and event.life <= inc == newest:
            return i
    return len(events)


def broken_contents(events: list[AnyEvent]) -> list[EventId]:
    """A6: receipts that differ from their send."""
    sends = [e for e in events if isinstance(e, Sent)]
    return [
        event_id(b)
        for b in events
        if isinstance(b, Received)
        for a in sends
        if a.m == b.m
        and (a.node, a.inc, a.to) == (b.src, b.sinc, b.node)
        and (a.kind, a.ack, a.call, a.args) != (b.kind, b.ack, b.call, b.args)
    ]


def broken_order(events: list[AnyEvent], nodes: int) -> list[EventId]:
    """A7: receipts handled after one that was sent later, or after themselves.

    GM82 II speaks of nodes, not of lives. What a life wrote last may never have been handled.
    """
    lasts = [
        event_id(last_line(events, life))
        for lives in all_lives(events, nodes).values()
        for life in lives
        if life.down is not None
    ]
    handled = [e for e in events if isinstance(e, Received) and event_id(e) not in lasts]
    return [
        event_id(b)
        for k, b in enumerate(handled)
        if any(
            (a.src, a.node) == (b.src, b.node) and (a.sinc, a.m) >= (b.sinc, b.m)
            for a in handled[:k]
        )
    ]

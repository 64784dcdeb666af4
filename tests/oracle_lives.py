"""Lives, pauses and states, the obvious way: every question reads the whole trace again.

Shares no code with the analyzer. The other oracles stand on this one and on tests.oracle, which
says from which cut on a node is Down.
"""

from dataclasses import dataclass

from tests.oracle import Cut, dated_downs, down_intervals
from traces.events import (
    AnyEvent,
    Became,
    Closed,
    Continued,
    Counted,
    Died,
    Discarded,
    Injected,
    Overslept,
    Started,
    Suspended,
)


@dataclass(frozen=True)
class LifeSpan:
    """Up from `start` until `down` (None: it never crashed); written from event `first` on."""

    node: int
    inc: int
    first: int
    start: int
    down: int | None

    def up_during(self, a: int, b: int) -> bool:
        return self.start <= a and (self.down is None or self.down > b)


@dataclass(frozen=True)
class Stop:
    """A node did not run from `start` to `end`; `how` is resumed, killed, overslept or open."""

    node: int
    start: int
    end: int
    how: str
    seen: AnyEvent
    resumed: bool


def lives_of(events: list[AnyEvent], node: int) -> list[LifeSpan]:
    """Every life of a node. One begins where the one before has ended."""
    found = []
    for i, event in enumerate(events):
        if isinstance(event, Started) and event.node == node:
            ends = [(k, e) for k, e in enumerate(events) if k > i and _ends(e, node)]
            down = _down_at(events, node, *ends[0]) if ends else None
            down = None if down is None else max(down, event.at)
            found.append(LifeSpan(node, event.inc, i, event.at, down))
    return found


def all_lives(events: list[AnyEvent], nodes: int) -> dict[int, list[LifeSpan]]:
    return {node: lives_of(events, node) for node in range(1, nodes + 1)}


def _ends(event: AnyEvent, node: int) -> bool:
    return (isinstance(event, Died) and event.target == node) or (
        isinstance(event, Overslept) and event.node == node
    )


def _down_at(events: list[AnyEvent], node: int, end: int, event: AnyEvent) -> int:
    """The instant from which on the node is Down, by its Died or its Overslept."""
    if isinstance(event, Overslept):
        asked = [e.at for e in events[:end] if _pauses(e, node) and e.at >= event.since]
        return max([event.since, *asked])
    ((start, _),) = [it for it in down_intervals(events[: end + 1], node) if it[0][0] >= 0][-1:]
    return events[start[0]].at


def last_line(events: list[AnyEvent], life: LifeSpan) -> AnyEvent:
    """What the life wrote last; not what it found in its socket once it knew itself Down."""
    ends = [k for k, e in enumerate(events) if k > life.first and _ends(e, life.node)]
    lines = [
        e
        for e in events[: min([len(events), *ends])]
        if (e.node, e.inc) == (life.node, life.inc)
        and not (isinstance(e, Discarded) and e.why == "down")
    ]
    return lines[-1]


def horizon_of(events: list[AnyEvent]) -> int:
    """From here on nothing is expected to arrive any more."""
    ends = [e.at for e in events if isinstance(e, Counted)]
    ends += [e.at for e in events if isinstance(e, Injected) and e.verb == "end"]
    return min([events[-1].at, *ends])


def is_closed(events: list[AnyEvent]) -> bool:
    return any(isinstance(e, Closed) for e in events)


def stops_of(events: list[AnyEvent], node: int) -> list[Stop]:
    """Every pause of a node, from the request (or from where it stopped itself)."""
    return [
        _stop(events, node, i, event)
        for i, event in enumerate(events)
        if isinstance(event, Suspended) and event.target == node
    ]


def _stop(events: list[AnyEvent], node: int, i: int, seen: AnyEvent) -> Stop:
    turns = [k for k, e in enumerate(events[:i]) if _turns(e, node)]
    asks = [e.at for e in events[max([0, *turns]) : i] if _pauses(e, node)]
    start = asks[-1] if asks else seen.at
    after = [e for e in events[i + 1 :] if _turns(e, node)]
    resumed = bool(after) and isinstance(after[0], Continued)
    end = after[0].at if after else events[-1].at
    how = "open" if not after else "resumed" if resumed else "killed"
    for k, e in enumerate(events):
        if k > i and isinstance(e, Overslept) and e.node == node:
            born = max(x.at for x in events[:k] if isinstance(x, Started) and x.node == node)
            if max(_down_at(events, node, k, e), born) <= end:
                how = "overslept"
    return Stop(node, start, end, how, seen, resumed)


def _turns(event: AnyEvent, node: int) -> bool:
    return _ends(event, node) or (isinstance(event, Continued) and event.target == node)


def _pauses(event: AnyEvent, node: int) -> bool:
    return isinstance(event, Injected) and event.verb == "pause" and node in event.nodes


# --- states -------------------------------------------------------------------------------

Moment = tuple[Cut, int]
"""A cut and the instant from which on it is the present one."""


def moments(events: list[AnyEvent], nodes: int) -> list[Moment]:
    """All recorded cuts at which something may have changed, in order."""
    found = {((i, False), e.at) for i, e in enumerate(events)}
    for lives in all_lives(events, nodes).values():
        for life in lives:
            if life.down is not None:
                before = max(i for i, e in enumerate(events) if e.at <= life.down)
                found.add(((before, True), life.down))
    return sorted(found)


class States:
    """S(i) at any moment: of a node's changes up to there the last one counts."""

    def __init__(self, events: list[AnyEvent], nodes: int) -> None:
        self.nodes = range(1, nodes + 1)
        self.changes: dict[int, list[tuple[Cut, Became | None, bool]]] = {}
        self.instants: dict[int, dict[Cut, int]] = {}
        for node in self.nodes:
            downs = dated_downs(events, node)
            found: list[tuple[Cut, Became | None, bool]] = [
                (start, None, False) for start, _, _ in downs
            ]
            for i, e in enumerate(events):
                hidden = any(start <= (i, False) < end for start, end, _ in downs)
                if e.node == node and isinstance(e, Became | Started) and not hidden:
                    found.append(((i, False), e if isinstance(e, Became) else None, True))
            self.changes[node] = sorted(found, key=lambda change: change[0])
            self.instants[node] = {start: at for start, _, at in downs}

    def at(self, cut: Cut, instant: int = 1 << 62) -> dict[int, Became | None]:
        """The state of every node that is up; None: it has just started.

        Several nodes may crash after the same event; `instant` tells which of them have.
        """
        found = {}
        for node in self.nodes:
            past = [
                change
                for change in self.changes[node]
                if change[0] < cut
                or (change[0] == cut and self.instants[node].get(cut, instant) <= instant)
            ]
            if past and past[-1][2]:
                found[node] = past[-1][1]
        return found

"""Whether a merged trace can be trusted.

Rules (each one a problem, naming the event): stamps never step back; the numbers of a process
have no gaps; every receipt comes after its send; no receipt without a send; the numbers of a
life's datagrams to a node grow; no node that the run does not have. A trace with a problem is
invalid, which is never a verdict about a protocol.

Limits: a process whose whole file is missing is noticed only if somebody received from it.
"""

from itertools import pairwise

from traces.events import AnyEvent, Received, Sent
from traces.verdicts import EventId


def problems_of(events: list[AnyEvent], nodes: int) -> list[str]:
    """What is wrong with the trace, each with its event; empty if it is valid."""
    return _steps_back(events) + _gaps(events, nodes) + _orphans(events) + _twins(events)


def event_id(event: AnyEvent) -> EventId:
    """How evidence names an event."""
    return event.node, event.inc, event.n


def name_of(event: AnyEvent) -> str:
    """The event in words: `Received #17 of node 2 life 1`."""
    return f"{type(event).__name__} #{event.n} of node {event.node} life {event.inc}"


def _steps_back(events: list[AnyEvent]) -> list[str]:
    return [
        f"{name_of(b)}: the stamp steps back by {a.at - b.at} ns"
        for a, b in pairwise(events)
        if b.at < a.at
    ]


def _gaps(events: list[AnyEvent], nodes: int) -> list[str]:
    problems = []
    due: dict[tuple[int, int], int] = {}
    for event in events:
        life = event.node, event.inc
        number = due.get(life)
        if number is None:
            if event.node > nodes:
                problems.append(f"{name_of(event)}: the run has only {nodes} nodes")
            # A life that began by oversleeping goes on with the numbers of the one before.
            number = due.get((event.node, event.inc - 1), 0) if event.n else 0
        if event.n != number:
            problems.append(f"{name_of(event)}: number {number} was due")
        due[life] = event.n + 1
    return problems


def _orphans(events: list[AnyEvent]) -> list[str]:
    return [
        f"{name_of(event)}: datagram {event.m} of node {event.src} life {event.sinc} "
        "was received before or without being sent"
        for event in orphans(events)
    ]


def _twins(events: list[AnyEvent]) -> list[str]:
    """Sends that cannot be told apart: which of them a receipt is of, nobody could say."""
    problems = []
    last: dict[tuple[int, int, int], int] = {}
    for event in events:
        if type(event) is Sent:
            link = event.node, event.inc, event.to
            if event.m <= last.get(link, -1):
                problems.append(f"{name_of(event)}: datagram {event.m} to {event.to} again")
            last[link] = event.m
    return problems


def orphans(events: list[AnyEvent]) -> list[Received]:
    """Receipts that no earlier send explains."""
    sent = set()
    found = []
    for event in events:
        kind = type(event)
        if kind is Sent:
            sent.add((event.node, event.inc, event.to, event.m))  # type: ignore[union-attr]
        elif kind is Received and (event.src, event.sinc, event.node, event.m) not in sent:  # type: ignore[union-attr]
            found.append(event)
    return found  # type: ignore[return-value]

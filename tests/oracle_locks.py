"""The obvious way to judge BGS86-C22 and the votes of locks: every prefix of the trace, rebuilt.

Shares no code with the analyzer. After each line all cells are put together again from the
beginning, and all pairs of nodes are compared.
"""

from itertools import combinations
from typing import Any

from tests.oracle_lives import last_line, lives_of
from traces.events import AnyEvent, Asked, Loaded, Received, Sent, Stored

Cells = dict[int, Any]


def cells_after(events: list[AnyEvent], stores: list[Stored], cell: str, nodes: int) -> Cells:
    """What this cell of each node holds at the end of these events."""
    now: Cells = {}
    for i in range(1, nodes + 1):
        mine = [e for e in events if e.node == i and _sets(e, stores, cell)]
        if mine:
            now[i] = mine[-1].value  # type: ignore[union-attr]
    return now


def overlaps(events: list[AnyEvent], nodes: int) -> set[frozenset[str]]:
    """Pairs of transactions that held one object at once after some line."""
    stores = in_effect(events)
    found = set()
    for k, event in enumerate(events):
        if not _sets(event, stores, "held"):
            continue
        held = cells_after(events[: k + 1], stores, "held", nodes)
        pairs = combinations([(T, x) for mine in held.values() for T, x in mine.items()], 2)
        found |= {frozenset((T, other)) for (T, x), (other, y) in pairs if x == y and other != T}
    return found


def hidden(events: list[AnyEvent], nodes: int) -> set[tuple[str, str]]:
    """(a, b): b was taken after a was given up, at another node, and no message path told of it."""
    spans: list[tuple[str, str, int, int, int]] = []  # name, object, node, taken, given up
    open_at: dict[tuple[int, str], tuple[str, int]] = {}
    stores = in_effect(events)
    for k, e in enumerate(events):
        if not _sets(e, stores, "held"):
            continue
        assert isinstance(e, Stored | Loaded)
        for (i, name), (x, start) in list(open_at.items()):
            if i == e.node and name not in e.value:
                spans.append((name, x, i, start, k))
                del open_at[i, name]
        for name, x in e.value.items():
            open_at.setdefault((e.node, name), (x, k))
    spans += [(name, x, i, start, len(events)) for (i, name), (x, start) in open_at.items()]
    return {
        (a[0], b[0])
        for a in spans
        for b in spans
        if a[1] == b[1] and a[2] != b[2] and a[0] != b[0] and a[4] <= b[3]
        and not _told(events, a[4], b[3])
    }  # fmt: skip


def _told(events: list[AnyEvent], start: int, end: int) -> bool:
    """Whether a path of steps and messages leads from one line to the other."""
    reached = {events[start].node}
    sent = set()
    for e in events[start : end + 1]:
        if isinstance(e, Received) and (e.src, e.sinc, e.node, e.m) in sent:
            reached.add(e.node)
        if isinstance(e, Sent) and e.node in reached:
            sent.add((e.node, e.inc, e.to, e.m))
    return events[end].node in reached


def minorities(events: list[AnyEvent], nodes: int, versions: bool) -> set[str]:
    """Transactions that took a lock without the votes of a majority, by P1 or P3."""
    stores = in_effect(events)
    found: set[str] = set()
    for k, event in enumerate(events):
        if not _sets(event, stores, "held"):
            continue
        assert isinstance(event, Stored | Loaded)
        before = cells_after(events[:k], stores, "held", nodes).get(event.node, {})
        for name in event.value.keys() - before.keys():
            if not _majority(events[:k], stores, name, event.node, nodes, versions):
                found.add(name)
    return found


def asked_twice_and_taken(events: list[AnyEvent]) -> set[str]:
    """Objects that two transactions could have contended for."""
    wanted = [e.args["object"] for e in events if isinstance(e, Asked) and e.kind == "Lock"]
    held = [e.value for e in in_effect(events) if e.cell == "held"]
    return {x for x in wanted if wanted.count(x) > 1 and any(x in v.values() for v in held)}


def _majority(
    past: list[AnyEvent], stores: list[Stored], name: str, i: int, nodes: int, versions: bool
) -> bool:
    asks = [
        k for k, e in enumerate(past)
        if isinstance(e, Sent) and e.kind == "LockRequest" and e.args[0] == name
    ]  # fmt: skip
    now = cells_after(past, stores, "votes", nodes)[i]
    cast = cells_after(past[: asks[0]], stores, "votes", nodes)[i] if asks else now
    given = {i: cast}
    for e in past[asks[0] :] if asks else []:
        if isinstance(e, Received) and e.kind == "Yes" and e.args[0] == name:
            given[e.src] = e.args[1]
    total = mine = 0
    for k in range(1, nodes + 1):
        if k in given:
            mine += given[k]["V"][k - 1]
            total += given[k]["V"][k - 1]
        else:
            known = [now, *given.values()]
            key = "N" if versions else "V"
            total += max((v[key][k - 1], v["V"][k - 1]) for v in known)[1]
    return mine > total / 2


def in_effect(events: list[AnyEvent]) -> list[Stored]:
    """The stores that reached their cells, as far as the trace can tell."""
    return [e for e in events if isinstance(e, Stored) and _reached(events, e)]


def _reached(events: list[AnyEvent], e: Stored) -> bool:
    (life,) = (it for it in lives_of(events, e.node) if it.inc == e.inc)
    if life.down is None or last_line(events, life) is not e:
        return True
    later = [
        o for o in events
        if isinstance(o, Loaded) and (o.node, o.cell) == (e.node, e.cell) and o.at > e.at
    ]  # fmt: skip
    return bool(later) and later[0].value == e.value


def _sets(e: AnyEvent, stores: list[Stored], cell: str) -> bool:
    if isinstance(e, Stored):
        return e.cell == cell and any(e is o for o in stores)
    return isinstance(e, Loaded) and e.cell == cell

"""A3 to A7 (GM82 II): what the platform of a node owes it.

These are obligations: a broken one accuses the node's platform, and excuses nothing. Rules:

- A3: every message accepted was sent earlier, by the life it names.
- A4: a safe cell is loaded as it was last stored. If that store was the last event of its
  life, the crash may have come between the line and the cell: then the value before is right
  too, and whichever was loaded is the truth from there on. Integers never go back. The state
  vector is a safe cell too, named S: each Became stores it. Call numbers come from a safe cell
  and grow for ever (GM82 App. I): no life uses one again.
- A5: a dead life writes nothing more; a life begins with Started, and its first state is Down.
- A6: what is received is what was sent.
- A7: of the messages from one node to another none is handled after a later one, or twice,
  whichever of their lives sent and handled them. A receipt that was the last event of its life
  may never have been handled, and does not count.

Limits: A1 and A2 cannot be seen in a trace. A receipt without a send makes the trace invalid
(traces.validity) before A3 is asked, so A3 is `unknown` there and can only be broken when it is
checked on its own.
"""

from typing import Any, cast

from traces.events import (
    AnyEvent,
    Became,
    Died,
    Discarded,
    Loaded,
    Overslept,
    Received,
    Sent,
    Started,
    Stored,
)
from traces.lives import History
from traces.traffic import Traffic
from traces.validity import event_id, name_of
from traces.verdicts import Evidence


class Finding:
    """What a check examined, and each case where it failed."""

    def __init__(self, history: History, **examined: int) -> None:
        self.history = history
        self.examined = examined
        self.cases: list[Evidence] = []

    def accuse(self, says: str, *events: AnyEvent) -> None:
        """One case, at the last of these events."""
        at, nodes = events[-1].at, tuple(dict.fromkeys(e.node for e in events))
        ids = [event_id(e) for e in events]
        self.cases.append(Evidence(at, self.history.ms(at), says, nodes, events=ids))


def check_a3(history: History, traffic: Traffic) -> Finding:
    """GM82 II, Assumption 3: no spontaneous messages."""
    finding = Finding(history, receipts=len(traffic.receipts))
    for i in traffic.receipts:
        if traffic.send_of(i) is not None:
            continue
        event: Any = history.events[i]
        sender = f"node {event.src} life {event.sinc}"
        finding.accuse(f"node {event.node} accepted {event.kind} that {sender} never sent", event)
    return finding


def check_a4(history: History, traffic: Traffic) -> Finding:
    """GM82 II, Assumption 4: safe cells survive any crash, and updates are all or nothing."""
    finding = Finding(history, loads=0, stores=0)
    cells: dict[tuple[int, str], _Cell] = {}
    perhaps_lost = _last_events(history)
    for i, event in enumerate(history.events):
        kind = type(event)
        if kind is not Became and kind is not Stored and kind is not Loaded:
            continue
        name = getattr(event, "cell", "S")
        cell = cells.setdefault((event.node, name), _Cell())
        if isinstance(event, Loaded):
            finding.examined["loads"] += 1
            wrong = cell.load(event.value)
        else:
            finding.examined["stores"] += 1
            value = event.value if isinstance(event, Stored) else event
            wrong = cell.store(value, i in perhaps_lost)
        if wrong:
            says = f"node {event.node}, cell {name}: {wrong}"
            finding.accuse(says, *([cell.before] if cell.before else []), event)
        cell.before = event
    _look_for_used_calls(finding, traffic)
    return finding


def _look_for_used_calls(finding: Finding, traffic: Traffic) -> None:
    last: dict[int, Sent] = {}
    for i in traffic.sends:
        event = finding.history.events[i]
        if isinstance(event, Sent) and event.call and not event.ack:
            before = last.get(event.node)
            if before is not None and event.call <= before.call:
                says = f"node {event.node} numbered a call {event.call} after call {before.call}"
                finding.accuse(says, before, event)
            else:
                last[event.node] = event


class _Cell:
    """One safe cell: every value it may hold now."""

    def __init__(self) -> None:
        self.may_hold: list[Any] = []
        self.before: AnyEvent | None = None

    def store(self, value: Any, perhaps_lost: bool) -> str:
        # A life that stores what it did not load found nothing there.
        held = self.may_hold or [None]
        self.may_hold = [*held, value] if perhaps_lost else [value]
        if type(value) is int and all(type(it) is int and value < it for it in held):
            return f"{value!r} stored over {held[-1]!r} goes back"
        return ""

    def load(self, value: Any) -> str:
        # A cell never seen before may hold anything.
        due = [_plain(held) for held in self.may_hold]
        self.may_hold = [value]
        if not due or value in due:
            return ""
        return f"loaded {value!r}, but {' or '.join(map(repr, due))} was stored"


def _plain(value: Any) -> Any:
    """A state vector as its cell shows it."""
    if not isinstance(value, Became):
        return value
    vector = {name: getattr(value, name) for name in ("s", "c", "h", "up", "d", "g")}
    return vector | {"up": list(value.up)}


def _last_events(history: History) -> set[int]:
    """Indices of the last event of each life that crashed: its effect may never have come."""
    lives = (life for of_node in history.lives.values() for life in of_node if life.crash)
    return {history.last_event(life) for life in lives}


def check_a5(history: History, traffic: Traffic) -> Finding:
    """GM82 II, Assumption 5: a failed node halts, and restarts from a fixed state."""
    finding = Finding(history, lives=0)
    over: dict[tuple[int, int], AnyEvent] = {}
    alive: dict[int, int] = {}
    first_state_due: set[tuple[int, int]] = set()
    for event in history.events:
        kind = type(event)
        if alive.get(event.node) == event.inc and kind is not Became and kind is not Overslept:
            continue  # the living may write what they like
        life = event.node, event.inc
        if not event.node:
            if isinstance(event, Died) and alive.get(event.target, -1) >= event.life:
                over[event.target, alive.pop(event.target)] = event
            continue
        if life in over:
            if isinstance(event, Discarded) and event.why == "down":
                continue  # a node that overslept empties its socket before it starts again
            finding.accuse(
                f"{name_of(event)} was written by a life already over", over[life], event
            )
        elif alive.get(event.node) != event.inc:
            finding.examined["lives"] += 1
            if kind is not Started:
                finding.accuse(f"{name_of(event)} opens a life that never started", event)
            alive[event.node] = event.inc
            first_state_due.add(life)
        elif kind is Overslept:
            over[life] = event
            del alive[event.node]
        elif isinstance(event, Became) and life in first_state_due:
            first_state_due.discard(life)
            # A restart is from Down, or alone in a group nobody was in before (GM82 App. II).
            alone = event.g and event.c == event.node and not event.up
            if event.s != "Down" and not alone:
                finding.accuse(f"node {event.node} began its life {event.inc} as {event.s}", event)
    return finding


def check_a6(history: History, traffic: Traffic) -> Finding:
    """GM82 II, Assumption 6: no transmission errors."""
    finding = Finding(history, receipts=len(traffic.receipts))
    for i in traffic.receipts:
        a, b = traffic.send_of(i), cast(Received, history.events[i])
        if a is None:
            continue
        if a.kind != b.kind or a.ack != b.ack or a.call != b.call or a.args != b.args:
            was, now = (f"{e.kind}{'/ack' if e.ack else ''} {e.call} {e.args}" for e in (a, b))
            finding.accuse(f"node {a.node} sent {was}, node {b.node} received {now}", a, b)
    return finding


def check_a7(history: History, traffic: Traffic) -> Finding:
    """GM82 II, Assumption 7: messages of a link are handled in the order they were sent."""
    finding = Finding(history, receipts=0, links=0)
    latest: dict[tuple[int, int], tuple[tuple[int, int], AnyEvent]] = {}
    perhaps_not_handled = _last_events(history)
    for i in traffic.receipts:
        if i in perhaps_not_handled:
            continue
        event = cast(Received, history.events[i])
        src, sinc, dst, m = event.src, event.sinc, event.node, event.m
        seen, earlier = latest.get((src, dst), (None, event))
        if seen is not None and (sinc, m) <= seen:
            of_life = f" of life {seen[0]}" if seen[0] != sinc else ""
            how = "again" if (sinc, m) == seen else f"after {seen[1]}{of_life}"
            says = f"node {dst} handled datagram {m} of node {src} life {sinc} {how}"
            finding.accuse(says, earlier, event)
        else:
            latest[src, dst] = (sinc, m), event
    finding.examined.update(receipts=len(traffic.receipts), links=len(latest))
    return finding

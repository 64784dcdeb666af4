"""The part of a run that an export shows: the events around what is worst, as items with clocks.

Rules: the first case of the worst verdict that was decided on cuts decides; of a run in which all
agreed, what its nodes did last is shown. A crash is an item of its own, at the place it is dated to
(traces.lives). The clocks are those of traces.causality within the excerpt, keyed by life: what a
node's earlier lives did is known to its later ones. Time edges count: a time-out knows of the crash
it answers to.

Limits: `BEFORE` events of the trace before, `AFTER` after.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from reports.words import lateness
from traces.causality import Clocks, Place, stop_at
from traces.chapters import Crash
from traces.events import (
    AnyEvent,
    Became,
    Began,
    Discarded,
    Overslept,
    Received,
    Sent,
    Started,
    Stored,
    Suspected,
    TimedOut,
)
from traces.lives import History
from traces.run import RunInfo
from traces.shots import in_words
from traces.timeouts import time_edges
from traces.verdicts import BEST_TO_WORST, Evidence, Verdict

BEFORE, AFTER = 1500, 300


@dataclass(slots=True)
class Item:
    """An event of a node, or its crash, with how many items of each life it knows of."""

    key: int
    at: int
    node: int
    inc: int
    words: str
    clock: dict[str, int]


def life_name(node: int, inc: int) -> str:
    """`node3.2`: the second life of node 3."""
    return f"node{node}.{inc}"


def worst_case(verdicts: list[Verdict]) -> Evidence | None:
    """The first case of the worst verdict that was decided on cuts."""
    cases = [verdict for verdict in verdicts if verdict.margin is not None and verdict.evidence]
    worst = max(cases, key=lambda it: BEST_TO_WORST.index(it.result), default=None)
    return worst.evidence[0] if worst else None


def span(history: History, verdicts: list[Verdict]) -> range:
    """The indices of the events that are shown."""
    case, events = worst_case(verdicts), history.events
    if case is None:
        end = max((i for i, event in enumerate(events, 1) if event.node), default=0)
        return range(max(0, end - BEFORE - AFTER), end)
    first = case.at - (case.eps_ns or 0)
    start = bisect_left(events, first, key=lambda event: event.at)
    end = bisect_right(events, case.at, key=lambda event: event.at)
    return range(max(0, start - BEFORE), min(len(events), end + AFTER))


def edges_of(history: History, info: RunInfo) -> dict[Place, Place]:
    """The time edges of a run whose claims rest on time-outs."""
    if not {"GM82-1a", "S97-SLE1"} & set(info.properties):
        return {}
    edges = time_edges(history, info.timing)
    return {out: _last_word(history, *known) for out, known in edges.items()}


def _last_word(history: History, key: int, node: int) -> Place:
    """What the node wrote last before its pause, which others wrote down."""
    i = key >> 1
    while i >= 0 and history.events[i].node != node:
        i -= 1
    return (key, node) if key & 1 or i < 0 else (2 * i, node)


def items(history: History, info: RunInfo, shown: range) -> list[Item]:
    """What the nodes did there, in the recorded order."""
    first = 2 * shown.start
    found = [_item(2 * i, event, words_for(event)) for i in shown
             if (event := history.events[i]).node]  # fmt: skip
    found += [_item(2 * crash.index + 1, crash, "crashed") for crash in history.crashes
              if crash.index in shown]  # fmt: skip
    found.sort(key=lambda item: item.key)
    shown_at = {(item.key, item.node) for item in found}
    edges = {
        (out - first, node): (key - first, peer)
        for (out, node), (key, peer) in edges_of(history, info).items()
        if (out, node) in shown_at and (key, peer) in shown_at
    }
    places = [stop_at(item.key - first, item.node, True) for item in found]
    stops = sorted(places)
    clocks = Clocks(history.nodes, history.events[shown.start : shown.stop], stops, edges)
    clock_at = dict(zip(stops, clocks.at, strict=True))
    sizes = _sizes(found)
    for item, place in zip(found, places, strict=True):
        known = clocks.lanes.values(clock_at[place])
        item.clock = {name: count for node, total in enumerate(known, 1)
                      for name, count in _by_life(sizes[node], total)}  # fmt: skip
    return found


def _item(key: int, event: AnyEvent | Crash, words: str) -> Item:
    return Item(key, event.at, event.node, event.inc, words, {})


def _sizes(found: list[Item]) -> defaultdict[int, dict[str, int]]:
    """Of each node how many items each of its lives has, in order."""
    sizes: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for item in found:
        mine, name = sizes[item.node], life_name(item.node, item.inc)
        mine[name] = mine.get(name, 0) + 1
    return sizes


def _by_life(sizes: dict[str, int], total: int) -> Iterator[tuple[str, int]]:
    """So many items of a node, as items of its lives."""
    for name, size in sizes.items():
        if total > 0:
            yield name, min(size, total)
        total -= size


def words_for(event: AnyEvent) -> str:
    """An event in a few words."""
    match event:
        case Became():
            return in_words(event).partition(" is ")[2]
        case Sent():
            return f"{event.kind}{' answer' if event.ack else ''} to {event.to}"
        case Received():
            return f"{event.kind}{' answer' if event.ack else ''} from {event.src}"
        case TimedOut():
            return f"no answer from {event.to} to {event.kind}"
        case Suspected():
            return f"is told that {event.peer} is down"
        case Started():
            return "started"
        case Stored():
            return f"stores {event.cell}"
        case Began():
            return f"begins {event.proc}"
        case Discarded():
            return f"discards a datagram: {event.why}"
        case Overslept():
            return lateness(event)
    return type(event).__name__.lower()

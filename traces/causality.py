"""What came before what in a run: vector clocks from its messages, and the pasts of events.

f is before e (Lamport) if both are of one node and f comes first; if f sends what e receives; or
by way of others. Some claims need an order that knows more: a time-out knows of the crash it
answers to, though no message told it (traces.timeouts). Such a pair is a *time edge*. Rules:

- A timeline is (node, incarnation), and a life begins after the one before it is over: the
  harness reaps a process before it starts the next, and safe cells pass from life to life. So the
  lives of a node follow each other, and a clock has one component a node, which ticks on through
  its lives. A crash is an event of its node, at its key (traces.lives), even where the process
  wrote more before it died.
- A place is a key (traces.lives) and a node. Clocks tick at some places, and are asked for at
  some: nothing depends on what is between. So most receipts bring nothing new, and cost one
  comparison.
- The clock at a place counts the ticks of each node up to it, its own included.
- A datagram that is received twice informs twice; both are behind its send.

Limits: the harness is no part of the order. That it waited for one node before it did something
to another is not behind anything.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from traces.clocks import WIDTH, Lanes, unit
from traces.events import AnyEvent, Received, Sent
from traces.lives import History

Place = tuple[int, int]
"""(key, node): 2i for what event i did, 2i + 1 for a crash that follows event i."""
Stop = tuple[int, int, bool]
"""A place where a clock is asked for: its key, its node, and whether the clock ticks there."""
_BY_LIFE = 40  # a datagram is as new as the life of its sender, then its number


class _Link(NamedTuple):
    """From which datagram on a sender's clock was which, of those not yet received.

    A clock only grows, so what is received after a newer one brings nothing new.
    """

    newness: list[int]
    clocks: list[int]


class Clocks:
    """Clocks by messages, and by messages and time edges.

    Both are followed at once, as the two halves of one packed clock. A time edge goes to a place
    from an earlier one.
    """

    def __init__(self, nodes: int, edges: Mapping[Place, Place]) -> None:
        self.nodes, self.edges = nodes, edges
        self.lanes = Lanes(2 * nodes if edges else nodes)
        also = WIDTH * nodes if edges else 0  # without time edges one half says it all
        self.tick = [0, *(unit(k) | unit(k) << also for k in range(nodes))]

    def split(self, clock: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The components by message order, and those by time edges too; of node 1 first."""
        values = self.lanes.values(clock)
        return values[: self.nodes], values[-self.nodes :]

    def follow(self, events: Sequence[AnyEvent], stops: Sequence[Stop]) -> Iterator[int]:
        """The clock at each stop."""
        merge, edges, size = self.lanes.merge, self.edges, self.nodes + 1
        timed = -1 << WIDTH * self.nodes  # the half that time edges count in
        clock = [0] * size
        told = [[0] * size for _ in range(size)]  # told[j][i]: the last clock that i sent to j
        heard = [[0] * size for _ in range(size)]  # heard[j][i]: the last one that j took from i
        links = [[_Link([], []) for _ in range(size)] for _ in range(size)]
        pinned = dict.fromkeys(edges.values(), 0)
        done = 0
        for key, node, what in _agenda(stops, edges):
            # A datagram carries the tick of its own sending.
            end = (key >> 1) + (key & 1 or type(events[key >> 1]) is not Sent)
            for event in events[done:end]:
                kind = type(event)
                if kind is Received:
                    j, i = event.node, event.src  # type: ignore[union-attr]
                    if told[j][i] is not heard[j][i]:
                        newness, clocks = links[j][i]
                        mine = event.sinc << _BY_LIFE | event.m  # type: ignore[union-attr]
                        k = len(newness) if newness[-1] <= mine else bisect_right(newness, mine)
                        if k:  # else it was overtaken, and brings nothing new
                            heard[j][i] = now = clocks[k - 1]
                            if now is not clock[j]:
                                clock[j] = merge(clock[j], now)
                            del newness[:k], clocks[:k]
                elif kind is Sent:
                    i, j = event.node, event.to  # type: ignore[union-attr]
                    now = clock[i]
                    if told[j][i] is not now and heard[i][j] is not now:  # else j knows it
                        told[j][i] = now
                        newness, clocks = links[j][i]
                        newness.append(event.inc << _BY_LIFE | event.m)  # type: ignore[union-attr]
                        clocks.append(now)
            done = end
            if what == _LEARNS:
                clock[node] = merge(clock[node], pinned[edges[key, node]] & timed)
            elif what == _TELLS:
                pinned[key, node] = clock[node]
            else:
                if what:
                    clock[node] += self.tick[node]
                yield clock[node]


_LEARNS, _TELLS = -1, 2  # the ends of a time edge: before the clock ticks there, and after it has


def _agenda(stops: Sequence[Stop], edges: Mapping[Place, Place]) -> Sequence[tuple[int, int, int]]:
    """The stops, and the ends of the time edges in their places among them."""
    if not edges:
        return stops
    learning = ((*place, _LEARNS) for place in edges)
    telling = ((*place, _TELLS) for place in set(edges.values()))
    return sorted([*stops, *learning, *telling])


def least_cut(
    history: History, places: Sequence[Place], edges: Mapping[Place, Place], eps: int | None = None
) -> dict[int, int]:
    """The least consistent cut with these events in it: the last key of each node that has one.

    With `eps` (ns), everything that is more than that older than any of them is in it too: f is in
    it iff it is before a place or so much older than one, since a path with a step of more than
    eps spans more than eps. Found backwards, event by event.
    """
    last: dict[int, int] = {}
    for key, node in places:
        last[node] = max(last.get(node, -1), key)
    end = max(last.values()) >> 1
    limit = -1 if eps is None else history.events[end].at - eps
    crashed = defaultdict(list)
    for crash in history.crashes:
        crashed[crash.index].append(crash)
    needed: set[tuple[int, int, int, int]] = set()
    for i in range(end, -1, -1):
        if len(last) == history.nodes and min(last.values()) >= 2 * i:
            break
        for crash in crashed.get(i, ()):
            if crash.at < limit:
                last[crash.node] = max(last.get(crash.node, -1), 2 * i + 1)
        event = history.events[i]
        node = event.node
        if not node:
            continue
        sends = type(event) is Sent and (node, event.inc, event.to, event.m) in needed
        if last.get(node, -1) < 2 * i and (sends or event.at < limit):
            last[node] = 2 * i
        if last.get(node, -1) >= 2 * i:
            if type(event) is Received:
                needed.add((event.src, event.sinc, node, event.m))
            if (2 * i, node) in edges:
                key, peer = edges[2 * i, node]
                last[peer] = max(last.get(peer, -1), key)
    return last

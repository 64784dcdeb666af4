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

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from traces.clocks import Lanes, unit
from traces.events import AnyEvent, Received, Sent
from traces.lives import History

Place = tuple[int, int]
"""(key, node): 2i for what event i did, 2i + 1 for a crash that follows event i."""
Stop = int
"""A place where a clock is asked for, packed into one number (`stop_at`)."""
_BY_LIFE = 40  # a datagram is as new as the life of its sender, then its number


class Clocks:
    """The clock at each of some stops, by messages and time edges.

    A time edge goes to a place from an earlier one. `at` has the clocks, and `totals`, for the
    stops at which a clock did not know of every tick so far, what it would have been if it had.
    `ticked` has the keys of each node's ticks.
    """

    def __init__(
        self,
        nodes: int,
        events: Sequence[AnyEvent],
        stops: Sequence[Stop],
        edges: Mapping[Place, Place],
    ) -> None:
        self.lanes = Lanes(nodes)
        self.at: list[int] = []
        self.totals: dict[int, int] = {}
        self.ticked: list[list[int]] = [[] for _ in range(nodes + 1)]
        self._follow(events, stops, {stop_at(*to): stop_at(*at) for to, at in edges.items()})

    def behind(self, k: int) -> Iterator[tuple[int, int]]:
        """Each node that the clock at stop k does not know all ticks of, and the last it knows.

        That one by its key; before the first tick there is none, and -1 stands for it.
        """
        for lane, count in self.lanes.unlike(self.at[k], self.totals[k]):
            yield lane + 1, self.ticked[lane + 1][count - 1] if count else -1

    def _follow(
        self, events: Sequence[AnyEvent], stops: Sequence[Stop], sources: Mapping[Stop, Stop]
    ) -> None:
        merge, size = self.lanes.merge, len(self.ticked)
        ticks = [0, *map(unit, range(size - 1))]
        total = 0  # a clock that knows of every tick is this same integer: so `is` tells
        clock = [total] * size
        told = [[total] * size for _ in ticks]  # told[i][j]: the last clock that i sent to j
        heard = [[total] * size for _ in ticks]  # heard[j][i]: the last one that j took from i
        pending = [[list[tuple[int, int]]() for _ in ticks] for _ in ticks]
        pinned = dict.fromkeys(sources.values(), 0)
        done, note = 0, self.at.append
        for stop in _agenda(stops, sources):
            what, node = stop & WHAT, stop >> NODE & NODES
            end = (stop >> KEY + 1) + 1
            if type(events[end - 1]) is Sent and not stop >> KEY & 1:
                end -= 1  # a datagram carries the tick of its own sending
            for event in events[done:end]:
                if type(event) is Received:
                    j = event.node
                    if clock[j] is total:  # it knows all there is to know
                        continue
                    i = event.src
                    queue = pending[i][j]
                    if queue:  # else j knows the last that i sent
                        mine = event.sinc << _BY_LIFE | event.m
                        newest, now = queue[-1]
                        if newest <= mine:
                            queue.clear()
                        elif k := bisect_left(queue, (mine + 1,)):
                            now = queue[k - 1][1]
                            del queue[:k]
                        else:  # it was overtaken, and brings nothing new
                            continue
                        heard[j][i] = now
                        if now is total:
                            clock[j] = total
                        elif now is not clock[j]:
                            clock[j] = merge(clock[j], now)
                elif type(event) is Sent:
                    j = event.to
                    if clock[j] is total:
                        continue
                    i = event.node
                    now = clock[i]
                    if told[i][j] is not now and heard[i][j] is not now:  # else j knows it
                        told[i][j] = now
                        pending[i][j].append((event.inc << _BY_LIFE | event.m, now))
            done = end
            if what == TELLS:
                pinned[place_of(stop)] = clock[node]
                continue
            if what == TICKS:
                self.ticked[node].append(stop >> KEY)
            if clock[node] is total:  # mostly
                if what == TICKS:
                    clock[node] = total = total + ticks[node]
                if what != LEARNS:
                    note(total)
                continue
            if what == TICKS:
                total += ticks[node]
                clock[node] += ticks[node]
            elif what == LEARNS:
                clock[node] = merge(clock[node], pinned[sources[stop]])
            now = clock[node]
            if now == total:
                now = clock[node] = total
            elif what != LEARNS:
                self.totals[len(self.at)] = total
            if what != LEARNS:
                note(now)


# A stop is one integer, so that a million of them are soon in order: the key, the node, and what
# is to be done there, in the order in which it is to be done.
LEARNS, ASKS, TICKS, TELLS = range(4)
WHAT, NODE, NODES, KEY = 3, 2, (1 << 16) - 1, 18


def stop_at(key: int, node: int, ticks: bool | None = None) -> Stop:
    """A place where a clock is asked for, and ticks before that or not; or the place alone."""
    return key << KEY | node << NODE | (0 if ticks is None else TICKS if ticks else ASKS)


def place_of(stop: Stop) -> Stop:
    """The place alone, without what is to be done there."""
    return stop & ~WHAT


def _agenda(stops: Sequence[Stop], sources: Mapping[Stop, Stop]) -> Sequence[Stop]:
    """The stops, and the ends of the time edges in their places among them."""
    if not sources:
        return stops
    return sorted(chain(stops, sources, [place | TELLS for place in set(sources.values())]))


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

"""The obvious way to judge every consistent cut: walk the lattice, look at all pairs at each cut.

Shares no code with the analyzer. A cut is how many events of each node are in it. It is
consistent if with an event everything is in it that the event depends on: what came before it on
its node, the send of what it receives, and (by time edges) the crash that a time-out knows of. Of
each consistent cut it is then asked how far apart in time it is: it is one of the cuts within eps
if nothing outside it is more than eps older than something inside; it was recorded if everything
outside came after everything inside.

A walk may begin after the starts with which the run begins: nothing is said before.
"""

from collections.abc import Iterator
from itertools import combinations, takewhile

from tests.oracle import Cut, dated_downs
from traces.events import (
    AnyEvent,
    Became,
    Overslept,
    Received,
    Sent,
    Started,
    Suspected,
    TimedOut,
    Watched,
)

Item = tuple[int, bool, int]
"""(i, False, stamp): event i. (i, True, stamp): a crash after event i."""
Word = tuple[int, int]
"""A node, and the index of the event with which it began to say what it says."""
Edges = dict[tuple[int, int], tuple[int, Item]]
"""(node, index of an event of it): the node and the crash that this event knows of."""
RECORDED = -1


class Lattice:
    """The consistent cuts of a small trace."""

    def __init__(self, events: list[AnyEvent], nodes: int, edges: Edges | None = None) -> None:
        self.events, self.nodes = events, nodes
        self.downs = {node: dated_downs(events, node) for node in range(1, nodes + 1)}
        self.items = {node: self._items(node) for node in self.downs}
        place = {(node, it): k for node in self.items for k, it in enumerate(self.items[node])}
        sends = {(e.node, e.inc, e.to, e.m): i for i, e in enumerate(events) if type(e) is Sent}
        self.needs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (node, it), k in place.items():
            event, needs = events[it[0]], list[tuple[int, int]]()
            if not it[1] and type(event) is Received:
                i = sends[event.src, event.sinc, event.node, event.m]
                needs.append((event.src, place[event.src, (i, False, events[i].at)]))
            if not it[1] and edges and (node, it[0]) in edges:
                needs.append((edges[node, it[0]][0], place[edges[node, it[0]]]))
            self.needs[node, k] = needs

    def _items(self, node: int) -> list[Item]:
        own = [(i, False, e.at) for i, e in enumerate(self.events) if e.node == node]
        return sorted(own + [(start[0], True, at) for start, _, at in self.downs[node]])

    def cuts(self, from_start: bool = False) -> Iterator[tuple[int, ...]]:
        """Every consistent cut; or those after the starts only, before which nothing is said."""
        first = (0,) * self.nodes if from_start else self._start()
        seen, fringe = {first}, [first]
        while fringe:
            cut = fringe.pop()
            yield cut
            for node, items in self.items.items():
                k = cut[node - 1]
                if k < len(items) and all(cut[j - 1] > q for j, q in self.needs[node, k]):
                    after = (*cut[: node - 1], k + 1, *cut[node:])
                    if after not in seen:
                        seen.add(after)
                        fringe.append(after)

    def _start(self) -> tuple[int, ...]:
        """The cut after the starts with which the run begins."""
        early = takewhile(lambda e: not e.node or isinstance(e, Started), self.events)
        nodes = [event.node for event in early]
        return tuple(int(node in nodes) for node in self.items)

    def apart(self, cut: tuple[int, ...]) -> int:
        """How much older the oldest event outside is than the newest inside; or RECORDED."""
        inside = [items[k - 1] for items, k in zip(self.items.values(), cut, strict=True) if k]
        outside = [items[k] for items, k in zip(self.items.values(), cut, strict=True)
                   if k < len(items)]  # fmt: skip
        if not outside or not inside or max(inside) < min(outside):
            return RECORDED
        return max(it[2] for it in inside) - min(it[2] for it in outside)

    def state(self, node: int, count: int) -> tuple[Became | None, int]:
        """S(node) with so many of its events in the cut, and which event made it so."""
        state, at = None, -1
        for i, crashed, _ in self.items[node][:count]:
            event = self.events[i]
            if crashed or any(start <= (i, False) < end for start, end, _ in self.downs[node]):
                state, at = None, -1
            elif isinstance(event, Became | Started):
                state, at = (event if isinstance(event, Became) else None), i
        return state, at


def disagreements(
    lattice: Lattice, statuses: tuple[str, ...], component: str, by_group: bool
) -> dict[frozenset[Word], int]:
    """The pairs of words that disagree on some consistent cut, and the least eps it takes."""
    says = {
        (node, k): _say(lattice, node, k, statuses, component, by_group)
        for node, items in lattice.items.items() for k in range(len(items) + 1)
    }  # fmt: skip
    found: dict[frozenset[Word], int] = {}
    for cut in lattice.cuts():
        now = [said for node in lattice.items if (said := says[node, cut[node - 1]])]
        for (a, *what), (b, *that) in combinations(now, 2):
            if what[0] == that[0] and what[1] != that[1]:
                pair, apart = frozenset((a, b)), lattice.apart(cut)
                found[pair] = min(found.get(pair, apart), apart)
    return found


def _say(
    lattice: Lattice, node: int, k: int, statuses: tuple[str, ...], component: str, by_group: bool
) -> tuple[Word, str, object] | None:
    """What the node says: its word, its group and what it says; None if it has no say."""

    def said(count: int) -> tuple[str, object] | None:
        state, _ = lattice.state(node, count)
        if state is None or state.s not in statuses:
            return None
        return state.g if by_group else "", getattr(state, component)

    mine = said(k)
    if mine is None:
        return None
    while said(k - 1) == mine:
        k -= 1
    return (node, lattice.items[node][k - 1][0]), *mine


def time_edges(events: list[AnyEvent], nodes: int, t_m_ns: int) -> Edges:
    """What each time-out knows of, as docs/verdicts.md says; pauses are left out."""
    downs = {node: dated_downs(events, node) for node in range(1, nodes + 1)}
    found: Edges = {}
    for i, event in enumerate(events):
        if isinstance(event, TimedOut):
            span = _waited(events, i, event, t_m_ns)
            life = _taken(events, event, span[1])
            peer, among = event.to, downs[event.to]
            if life is not None:
                if _answered(events, event, life):
                    continue
                among = [it for it in among if _life_before(events, peer, it[1]) == life]
                span = 0, event.at
        elif isinstance(event, Suspected):
            peer, among = event.peer, downs[event.peer]
            watched = [e for e in events[:i] if isinstance(e, Watched) and peer in e.peers
                       and (e.node, e.inc) == (event.node, event.inc)]  # fmt: skip
            span = watched[-1].at if watched and watched[-1].on else event.at, event.at
        else:
            continue
        born = next((e.at for e in events if e.node == peer), event.at)
        if born > span[0] and isinstance(event, TimedOut | Suspected) and among is downs[peer]:
            continue  # it had never been up
        for start, end, at in among:
            ended = events[end[0]].at if end[0] < len(events) else 1 << 62
            if ended > span[0]:
                if at <= span[1] and start < (i, False):
                    found[event.node, i] = peer, (*start, at)
                break
    return found


def _waited(events: list[AnyEvent], i: int, event: TimedOut, t_m_ns: int) -> tuple[int, int]:
    """From the request until it was owed; or the instant of the time-out, if there is none."""
    for sent in (e for e in events[:i] if isinstance(e, Sent)):
        mine = not sent.ack and sent.to == event.to
        if mine and (sent.node, sent.inc, sent.call) == (event.node, event.inc, event.call):
            return sent.at, sent.at + t_m_ns
    return event.at, event.at


def _taken(events: list[AnyEvent], event: TimedOut, due: int) -> int | None:
    """The life that received the request while it was owed, if any did."""
    for got in (e for e in events if isinstance(e, Received)):
        its = not got.ack and got.node == event.to and got.at <= due
        if its and (got.src, got.sinc, got.call) == (event.node, event.inc, event.call):
            return got.inc
    return None


def _answered(events: list[AnyEvent], event: TimedOut, life: int) -> bool:
    """Whether that life surely answered: it wrote something after the answer, while it was up."""
    of_life = [e for e in events
               if (e.node, e.inc) == (event.to, life) and not isinstance(e, Overslept)]  # fmt: skip
    for k, answer in enumerate(of_life):
        if (isinstance(answer, Sent) and answer.ack and answer.to == event.node
                and answer.call == event.call):  # fmt: skip
            return k + 1 < len(of_life) or not _is_over(events, event.to, life)
    return False


def _is_over(events: list[AnyEvent], node: int, life: int) -> bool:
    return any(_life_before(events, node, end) == life for _, end, _ in dated_downs(events, node))


def _life_before(events: list[AnyEvent], node: int, end: Cut) -> int:
    """The life that the Down which ends here ended."""
    return max(e.inc for e in events[: end[0]] if e.node == node)

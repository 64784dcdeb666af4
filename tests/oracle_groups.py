"""The obvious way to judge GM82-4 and S00-4': all messages again for every period, all partitions
of the nodes for a clique cover, the whole state at every cut.

Shares no code with the analyzer.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise

from tests.oracle_lives import (
    States,
    all_lives,
    horizon_of,
    is_closed,
    last_line,
    moments,
    stops_of,
)
from tests.oracle_settled import FOR_EVER
from traces.events import (
    AnyEvent,
    Became,
    Began,
    Continued,
    Died,
    Injected,
    Overslept,
    Received,
    Ruled,
    Sent,
    Started,
    Suspended,
    TimedOut,
)
from traces.run import RunInfo

Link = tuple[int, int]
Nodes = Collection[int]
Edges = Collection[Link]
Now = dict[int, Became | None]
FAULTS = ("kill", "pause", "resume", "start", "restart")


# --- cliques ------------------------------------------------------------------------------


def partitions(nodes: list[int]) -> Iterator[list[list[int]]]:
    """Every way to divide the nodes."""
    if not nodes:
        yield []
        return
    for rest in partitions(nodes[1:]):
        yield [[nodes[0]], *rest]
        for k, part in enumerate(rest):
            yield [*rest[:k], [nodes[0], *part], *rest[k + 1 :]]


def is_clique(some: Nodes, edges: Edges) -> bool:
    return all((i, j) in edges or (j, i) in edges for i, j in combinations(some, 2))


def fewest_cliques(nodes: Nodes, edges: Edges) -> int:
    """The size of a minimum clique cover."""
    covers = (it for it in partitions(list(nodes)) if all(is_clique(part, edges) for part in it))
    return min(len(cover) for cover in covers)


def largest_cliques(nodes: Nodes, edges: Edges) -> list[tuple[int, ...]]:
    """Every clique that is in no larger one."""
    subsets = chain.from_iterable(combinations(sorted(nodes), k + 1) for k in range(len(nodes)))
    cliques = [it for it in subsets if is_clique(it, edges)]
    return sorted(it for it in cliques if not any(set(it) < set(other) for other in cliques))


def reached(i: int, edges: Edges) -> set[int]:
    """The nodes that i reaches, by way of others too."""
    found = {i}
    for _ in edges:
        found |= {b for a, b in edges if a in found} | {a for a, b in edges if b in found}
    return found


# --- connectivity -------------------------------------------------------------------------


@dataclass
class Span:
    """An interval: its running nodes, what each link did, and whether a message showed it."""

    start: int
    end: int
    nodes: list[int]
    asleep: bool
    links: dict[Link, str] = field(default_factory=dict)
    seen: set[Link] = field(default_factory=set)

    @property
    def edges(self) -> set[Link]:
        pairs = combinations(self.nodes, 2)
        return {(i, j) for i, j in pairs if self.links[i, j] == self.links[j, i] == "ok"}

    @property
    def stable(self) -> bool:
        both = [{self.links[i, j], self.links[j, i]} for i, j in combinations(self.nodes, 2)]
        return not self.asleep and all(it in ({"ok"}, {"lost"}) for it in both)


class Network:
    """Every interval of a run."""

    def __init__(self, events: list[AnyEvent], info: RunInfo) -> None:
        self.events, self.info = events, info
        self.t_m, self.t_p = (round(ms * 1e6) for ms in (info.timing.t_m_ms, info.timing.t_p_ms))
        self.lives = all_lives(events, info.nodes)
        self.spans = [span for a, b in pairwise(self._turns()) for span in self._spans(a, b)]

    def _turns(self) -> list[int]:
        end = horizon_of(self.events)
        turns = {self.events[0].at, end} | {e.at for e in self.events if _is_turn(e)}
        turns |= {it.down for of in self.lives.values() for it in of if it.down is not None}
        return sorted(at for at in turns if self.events[0].at <= at <= end)

    def _inc(self, node: int, at: int) -> int:
        """The life of a node that is up then, or 0."""
        return sum(it.inc for it in self.lives[node] if it.up_during(at, at))

    def _spans(self, start: int, end: int) -> Iterator[Span]:
        up = [node for node in self.lives if self._inc(node, start)]
        asleep = [
            node
            for node in up
            if any(it.start <= start < it.end for it in stops_of(self.events, node))
        ]
        nodes = [node for node in up if node not in asleep]
        links = [(i, j) for i in nodes for j in nodes if i != j]
        heard = {link: list(self._outcomes(link, start, end)) for link in links}
        cuts = {start, end} | {at for at in self._stalls() if start < at < end}
        for outcomes in heard.values():
            cuts |= {at for (_, was), (at, now) in pairwise(outcomes) if was != now}
        for a, b in pairwise(sorted(cuts)):
            span = Span(a, b, nodes, bool(asleep))
            for link in links:
                told = [outcome for at, outcome in heard[link] if a <= at < b]
                span.links[link] = told[-1] if told else self._by_rule(link, start)
                span.seen |= {link} if told else set()
            yield span

    def _outcomes(self, link: Link, start: int, end: int) -> Iterator[tuple[int, str]]:
        for sent in self.events:
            if not isinstance(sent, Sent) or not start <= sent.at < end:
                continue
            if (sent.node, sent.to) == link and sent.inc == self._inc(sent.node, start):
                outcome = self._outcome(sent, self._inc(sent.to, start), end)
                if outcome:
                    yield sent.at, outcome

    def _outcome(self, sent: Sent, inc: int, end: int) -> str:
        receipts = self._receipts(sent)
        if receipts and receipts[0].inc == inc and receipts[0].at <= sent.at + self.t_m:
            return "ok"
        if end - sent.at < self.t_m:
            return ""
        if receipts:
            return "late"
        life = next(it for it in self.lives[sent.node] if it.inc == sent.inc)
        over = life.down is not None or not is_closed(self.events)
        return "" if over and last_line(self.events, life) is sent else "lost"

    def _receipts(self, sent: Sent) -> list[Received]:
        return [
            e
            for e in self.events
            if isinstance(e, Received)
            and (e.src, e.sinc, e.node, e.m) == (sent.node, sent.inc, sent.to, sent.m)
        ]

    def _by_rule(self, link: Link, at: int) -> str:
        verbs: dict[int, str] = {}
        for e in self.events:
            if isinstance(e, Ruled) and e.at <= at and e.on and link in e.links:
                asked = [
                    x.verb for x in self.events if isinstance(x, Injected) and x.rule == e.rule
                ]
                verbs[e.rule] = [*asked, e.verb][0]
            elif isinstance(e, Ruled) and e.at <= at and not e.on:
                verbs.pop(e.rule, None)
        in_force = list(verbs.values())
        if set(in_force) <= {"duplicate"}:
            return "ok"
        return "lost" if in_force[0] in ("cut", "drop", "hold", "pause") else "doubt"

    def _stalls(self) -> list[int]:
        return [e.at for e in self.events if isinstance(e, TimedOut) and self._stood_still(e)]

    def _stood_still(self, gave_up: TimedOut) -> bool:
        """Whether the node called had the CALL in time, and did not answer at once, as it could."""
        asked = [e for e in self.events if isinstance(e, Sent) and not e.ack
                 and (e.node, e.inc, e.to, e.call)
                 == (gave_up.node, gave_up.inc, gave_up.to, gave_up.call)]  # fmt: skip
        if not asked or not self._receipts(asked[-1]):
            return False
        sent, got = asked[-1], self._receipts(asked[-1])[0]
        up = any(it.up_during(sent.at, gave_up.at) and it.inc == got.inc for it in
                 self.lives[sent.to])  # fmt: skip
        if not up or got.at - sent.at > self.t_m:
            return False
        later = [e for e in self.events[self.events.index(got) + 1 :]
                 if (e.node, e.inc) == (got.node, got.inc)]  # fmt: skip
        if later and isinstance(later[0], Began) and later[0].proc == got.kind:
            return False
        call = got.node, got.inc, got.src, sent.call
        answers = [e.at for e in self.events if isinstance(e, Sent) and e.ack
                   and (e.node, e.inc, e.to, e.call) == call]  # fmt: skip
        return not any(at - got.at <= self.t_p for at in answers)


def _is_turn(event: AnyEvent) -> bool:
    if isinstance(event, Injected):
        return event.verb in FAULTS
    return isinstance(event, Started | Died | Overslept | Suspended | Continued | Ruled)


# --- the assertions -----------------------------------------------------------------------


def assertion_4(now: Now, nodes: Nodes, edges: Edges) -> bool:
    """GM82 IV: for every R some i in R leads all of R."""
    return all(
        any(all(_follows(now[j], i, now[i]) for j in r) for i in r)
        for r in largest_cliques(nodes, edges)
    )


def _follows(s: Became | None, i: int, leader: Became | None) -> bool:
    return bool(s and leader and s.s == "Normal" and s.c == i and s.g == leader.g)


def assertion_4a(now: Now, nodes: Nodes, edges: Edges) -> bool:
    """S00, Assertion 4' (a)."""
    return all(
        s and s.s == "Normal" and s.c in nodes and _group(now, s.c) == s.g
        and s.c in reached(i, edges)
        for i, s in now.items() if i in nodes
    )  # fmt: skip


def assertion_4b(now: Now, nodes: Nodes, edges: Edges) -> bool:
    """S00, Assertion 4' (b)."""
    groups = {_group(now, i) or f"node {i}" for i in nodes}
    return len(groups) <= fewest_cliques(nodes, edges)


def ldrs_elected(now: Now, nodes: Nodes, edges: Edges) -> bool:
    """S97 (6)."""
    return all(
        s and s.s == "Normal" and s.c in nodes and _group(now, s.c) == s.g
        for i, s in now.items() if i in nodes
    )  # fmt: skip


def ale2(now: Now, nodes: Nodes, edges: Edges) -> bool:
    """S97 5, ALE2."""
    return ldrs_elected(now, nodes, edges) and assertion_4b(now, nodes, edges)


def _group(now: Now, i: int) -> str:
    s = now[i]
    return s.g if s else ""


Part = Callable[[Now, Nodes, Edges], bool]
PARTS: dict[str, tuple[Part, ...]] = {
    "GM82-4": (assertion_4,),
    "S00-4'a": (assertion_4a, assertion_4b),
    "S00-4'b": (assertion_4b, assertion_4a),
    "S97-ALE2'": (ldrs_elected,),
    "S97-ALE2": (ale2,),
}


@dataclass
class Judged:
    """How many intervals say something; of each bad one its start and its first wrong instant."""

    judged: int = 0
    wrong: list[tuple[int, int]] = field(default_factory=list)


def judged(network: Network, name: str, bound: int) -> Judged:
    """Judge one property on every interval."""
    found, states = Judged(), States(network.events, network.info.nodes)
    cuts = moments(network.events, network.info.nodes)
    ends = [start for _, start in cuts[1:]] + [FOR_EVER]
    scenes = [(a, b, cut) for (cut, a), b in zip(cuts, ends, strict=True) if a < b]
    for span in network.spans:
        if not span.nodes or (name != "GM82-4" and not span.stable):
            continue

        def good(at: int, parts: tuple[Part, ...] = PARTS[name], span: Span = span) -> bool:
            (cut,) = [cut for a, b, cut in scenes if a <= at < b]
            return all(part(states.at(cut), span.nodes, span.edges) for part in parts)

        if span.end - span.start < bound:
            some = len(span.nodes) > 1
            found.judged += some and not good(span.start) and good(span.end - 1)
            continue
        found.judged += 1
        due = min(span.start + bound, span.end - 1)
        instants = [due, *(a for a, _, _ in scenes if due < a < span.end)]
        bad = [at for at in instants if not good(at, PARTS[name][:1])]
        if bad:
            found.wrong.append((span.start, bad[0]))
    return found

"""The obvious way to judge Assertions 1 and 3: the whole state at every cut, then all pairs.

Shares no code with the analyzer. For every cut it looks at the whole trace again, so it is
quadratic at best; that is what makes it an oracle.
"""

from itertools import combinations

from traces.events import AnyEvent, Became, Continued, Died, Injected, Overslept, Started, Suspended

Cut = tuple[int, bool]
"""(i, False): right after event i. (i, True): after the crashes dated after event i."""


def violating_cuts(
    events: list[AnyEvent], nodes: int, by_group: bool = False
) -> tuple[set[Cut], set[Cut]]:
    """The recorded cuts at which GM82-1a, and those at which GM82-1b, does not hold; or 3a, 3b."""
    downs = {node: down_intervals(events, node) for node in range(1, nodes + 1)}
    broken_a, broken_b = set(), set()
    for i in range(len(events)):
        for crashed in (False, True):
            states = [state_at(events, node, downs[node], (i, crashed)) for node in downs]
            active = [s for s in states if s and s.s in ("Reorganization", "Normal")]
            normal = [s for s in active if s.s == "Normal"]
            if any(a.c != b.c for a, b in _pairs(active, by_group)):
                broken_a.add((i, crashed))
            if any(a.d != b.d for a, b in _pairs(normal, by_group)):
                broken_b.add((i, crashed))
    return broken_a, broken_b


def _pairs(states: list[Became], by_group: bool) -> list[tuple[Became, Became]]:
    """All pairs of them; only those of one group for Assertion 3."""
    return [(a, b) for a, b in combinations(states, 2) if not by_group or a.g == b.g]


def state_at(
    events: list[AnyEvent], node: int, downs: list[tuple[Cut, Cut]], cut: Cut
) -> Became | None:
    """S(node) at a cut; None while it is Down without having said so."""
    if any(start <= cut < end for start, end in downs):
        return None
    last = None
    for event in events[: cut[0] + 1]:
        if event.node == node and isinstance(event, Became | Started):
            last = event
    return last if isinstance(last, Became) else None


def down_intervals(events: list[AnyEvent], node: int) -> list[tuple[Cut, Cut]]:
    """From every crash of a node to its next Started."""
    return [(start, end) for start, end, _ in dated_downs(events, node)]


def dated_downs(events: list[AnyEvent], node: int) -> list[tuple[Cut, Cut, int]]:
    """The same with the instant of the crash: two nodes may crash apart between two events."""
    found = []
    for end, event in enumerate(events):
        if isinstance(event, Died) and event.target == node:
            death = _death(events, node, end)
            found.append(((death, True), _next_start(events, node, end), events[death].at))
        elif isinstance(event, Overslept) and event.node == node:
            pauses = [e.at for e in events[:end] if _asks(e, "pause", node) and e.at >= event.since]
            since = max([event.since, *pauses])
            last = max(i for i, e in enumerate(events) if e.at <= since)
            found.append(((last, True), _next_start(events, node, end), since))
    return found


def _death(events: list[AnyEvent], node: int, end: int) -> int:
    """After which event the process that is reaped at `end` was gone."""
    wrote = max(i for i, e in enumerate(events[:end]) if e.node == node)
    start = max(i for i, e in enumerate(events[:end]) if e.node == node and type(e) is Started)
    kills = [i for i in range(start, end) if _asks(events[i], "kill", node)]
    turns = [
        (i, type(e))
        for i, e in enumerate(events[:end])
        if isinstance(e, Suspended | Continued) and e.target == node and i > start
    ]
    if turns and turns[-1][1] is Suspended:  # stopped, and never ran again
        stop = turns[-1][0]
        ran = max([start, *(i for i, kind in turns if kind is Continued)])
        pauses = [i for i in range(ran, stop) if _asks(events[i], "pause", node)]
        return max([wrote, *pauses])
    return max([wrote, *kills])


def _next_start(events: list[AnyEvent], node: int, after: int) -> Cut:
    for i in range(after, len(events)):
        if events[i].node == node and isinstance(events[i], Started):
            return i, False
    return len(events), False


def _asks(event: AnyEvent, verb: str, node: int) -> bool:
    """Whether the controller does this to the node; `end` kills all that are left."""
    verbs = (verb, "end") if verb == "kill" else (verb,)
    return isinstance(event, Injected) and event.verb in verbs and node in event.nodes

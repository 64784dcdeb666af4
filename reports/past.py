"""The causal past of a violation for Graphviz: what led both nodes to where they disagree.

A column a life, time downwards; an arrow a message, a dashed one a time-out and the crash it
answers to. The two states that disagree are doubly framed. Only what counts is drawn: changes of
state, time-outs, reports, starts and crashes, and the messages between them.

Limits: the past goes back `BEFORE` events (reports.excerpt); of each node the last `LAST` that
count are drawn.
"""

from collections import defaultdict

from reports.excerpt import Item, edges_of, items, life_name, span, worst_case
from traces.causality import Place, least_cut
from traces.events import Became, Received, Sent, Started, Suspected, TimedOut
from traces.lives import History
from traces.run import RunInfo
from traces.validity import event_id
from traces.verdicts import Verdict

LAST = 14
COUNTING = Became | Started | Suspected | TimedOut
Arrow = tuple[Place, Place, str]


def export(history: History, info: RunInfo, verdicts: list[Verdict]) -> str:
    """The graph, in DOT; nothing where no two nodes disagreed."""
    case = worst_case(verdicts)
    if case is None:
        return ""
    places = {event_id(event): 2 * i for i, event in enumerate(history.events)}
    ends = [(places[s.event], s.node) for s in case.states if s.event is not None]
    edges = edges_of(history, info)
    last = least_cut(history, ends, edges)
    past = [item for item in items(history, info, span(history, verdicts))
            if item.key <= last.get(item.node, -1)]  # fmt: skip
    arrows = _arrows(history, past, edges)
    drawn = _drawn(history, past, arrows)
    return "\n".join(_dot(history, drawn, arrows, set(ends))) + "\n"


def _arrows(history: History, past: list[Item], edges: dict[Place, Place]) -> list[Arrow]:
    """The messages and time edges within the past."""
    inside = {(item.key, item.node) for item in past}
    sent: dict[tuple[int, int, int, int], Place] = {}
    found: list[Arrow] = []
    for item in past:
        place = item.key, item.node
        event = None if item.key % 2 else history.events[item.key // 2]
        if isinstance(event, Sent):
            sent[event.node, event.inc, event.to, event.m] = place
        elif isinstance(event, Received):
            source = sent.get((event.src, event.sinc, event.node, event.m))
            if source is not None:
                found.append((source, place, event.kind))
        if place in edges and edges[place] in inside:
            found.append((edges[place], place, ""))
    return found


def _drawn(history: History, past: list[Item], arrows: list[Arrow]) -> list[Item]:
    """Of each node the last that count, and the ends of messages between those."""
    count: defaultdict[int, int] = defaultdict(int)
    oldest: dict[int, int] = {}
    for item in reversed(past):
        counts = item.key % 2 or isinstance(history.events[item.key // 2], COUNTING)
        if counts and count[item.node] < LAST:
            count[item.node] += 1
            oldest[item.node] = item.key
    ends = {
        place for a, b, _ in arrows for place in (a, b)
        if a[0] >= oldest.get(a[1], a[0] + 1) and b[0] >= oldest.get(b[1], b[0] + 1)
    }  # fmt: skip
    return [
        item for item in past
        if item.key >= oldest.get(item.node, item.key + 1)
        and (item.key % 2 or isinstance(history.events[item.key // 2], COUNTING)
             or (item.key, item.node) in ends)
    ]  # fmt: skip


def _dot(history: History, drawn: list[Item], arrows: list[Arrow], ends: set[Place]) -> list[str]:
    lines = ["digraph past {", "  node [shape=box, fontsize=10]; edge [fontsize=9];"]
    lives: defaultdict[str, list[Item]] = defaultdict(list)
    for item in drawn:
        lives[life_name(item.node, item.inc)].append(item)
    for name, mine in lives.items():
        lines.append(f'  subgraph "cluster_{name}" {{ label="{name}";')
        for item in mine:
            frame = ", peripheries=2, color=red" if (item.key, item.node) in ends else ""
            label = f"{item.words}\\n{history.ms(item.at):.3f} ms"
            lines.append(f'    {_name(item.key, item.node)} [label="{_quoted(label)}"{frame}];')
        lines.append("  }")
    before: dict[int, Item] = {}
    for item in drawn:
        if item.node in before:
            was = before[item.node]
            lines.append(f"  {_name(was.key, was.node)} -> {_name(item.key, item.node)} "
                         "[style=bold, arrowhead=none];")  # fmt: skip
        before[item.node] = item
    there = {(item.key, item.node) for item in drawn}
    for a, b, kind in arrows:
        if a in there and b in there:
            how = f'label="{_quoted(kind)}"' if kind else "style=dashed"
            lines.append(f"  {_name(*a)} -> {_name(*b)} [{how}];")
    return [*lines, "}"]


def _name(key: int, node: int) -> str:
    return f"n{node}_{key}"


def _quoted(label: str) -> str:
    return label.replace('"', '\\"')

"""The vote increments of a run, for people and for Graphviz (BGS86 2.1, Figures 4 to 6).

Rules: a row is an increment, in the order of their numbers: with whose votes, MAJV of all, what
it uses and what it sees. Where the two readings of "sees" differ, the last column says what it
does not see as counted. In DOT a double arrow is "uses", a dashed one "sees"; a "sees" that a
"uses" implies is left out, and the decrements of a vote set stand in one oval with its increment.

Limits: of many increments the table shows the last `MOST`, DOT all.
"""

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reports.words import indented
from traces.verdicts import many
from traces.vote_graph import VoteGraph
from traces.vote_record import Decrement, Increment, VoteRecord
from traces.words import numbers

MOST = 20


def vote_table(record: VoteRecord) -> Group:
    """Every increment with what it rests on."""
    graph, as_counted = VoteGraph(record), VoteGraph(record, counted=True)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for heading in ("", "node", "votes", "by the votes of", "uses", "sees", "counts as unseen"):
        table.add_column(heading, justify="right" if heading == "node" else "left")
    shown = record.increments[-MOST:]
    for it in shown:
        a = it.number - 1
        sees = [b for b in range(len(record.increments)) if b != a and graph.sees(a, b)]
        unseen = [b for b in sees if not as_counted.sees(a, b)]
        by = f"{numbers(it.majg)}: {it.majv} of {sum(it.counted)}"
        votes = f"{it.before} → {it.votes}"
        table.add_row(it.name, str(it.node), votes, by, _uses(graph, a), _list(sees), _list(unseen))
    first = " ".join(f"{k}:{v}" for k, v in enumerate(record.initial, 1))
    words = f"I0 is the original assignment, {first}"
    if record.decrements:
        words += f"; {many(len(record.decrements), 'time')} a node gave votes back"
    left = len(record.increments) - len(shown)
    words += f"; {many(left, 'earlier increment')} not shown" if left else ""
    if not shown:
        return Group(indented(Text(f"no votes increased; {words}", style="dim")))
    arcs = [indented(Text(line)) for line in _arcs(record, graph, len(shown))]
    legend = "⇒ is used by, ⇢ is seen by, ~> precedes" if arcs else ""
    return Group(table, *arcs, indented(Text(f"{legend}; {words}" if arcs else words, style="dim")))


def _arcs(record: VoteRecord, graph: VoteGraph, most: int) -> Iterator[str]:
    """`I1 ⇒ I3  ⇢ I2 I4`, the original assignment first."""
    last = record.increments[-most:]
    used = {it.number: {0, *(b + 1 for b in graph.uses(it.number - 1))} for it in last}
    for it in last:
        if "I0" not in _uses(graph, it.number - 1).split():
            used[it.number].discard(0)
    yield from _arc("I0", [k for k in used if 0 in used[k]], [])
    for it in last:
        a = it.number
        users = [k for k in used if a in used[k]]
        seers = [k for k in used if k != a and k not in users and graph.sees(k - 1, a - 1)]
        oval = [it.name, *(f"{d.before}→{d.votes}" for d in _given_back(record, it))]
        name = f"({' ~> '.join(oval)})" if len(oval) > 1 else it.name
        yield from _arc(name, users, seers)


def _arc(name: str, users: list[int], seers: list[int]) -> Iterator[str]:
    arrows = [(mark, to) for mark, to in (("⇒", users), ("⇢", seers)) if to]
    if arrows:
        yield "  ".join([name, *(f"{mark} I{numbers(to)}" for mark, to in arrows)])


def _uses(graph: VoteGraph, a: int) -> str:
    """I0 too, if it counts on a vote that was there from the beginning."""
    it = graph.all[a]
    used = graph.uses(a)
    first = ["I0"] if len(used) < len(it.majg) else []
    return " ".join([*first, *(f"I{b + 1}" for b in sorted(used))])


def _list(increments: list[int]) -> str:
    """`I1-3 I5`, or nothing."""
    return f"I{numbers(b + 1 for b in increments)}" if increments else "-"


def dot(record: VoteRecord) -> str:
    """The graph, in the language of Graphviz."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: VoteRecord) -> Iterator[str]:
    graph = VoteGraph(record)
    yield "digraph votes {"
    yield '  I0 [label="I0: the original assignment"];'
    for it in record.increments:
        yield from _vote_set(it, _given_back(record, it))
    for a, it in enumerate(record.increments):
        used = graph.uses(a)
        for name in _uses(graph, a).split():
            yield f'  {name} -> {it.name} [color="black:invis:black"];'
        for b in range(len(record.increments)):
            if b != a and b not in used and graph.sees(a, b):
                yield f"  I{b + 1} -> {it.name} [style=dashed];"
    yield "}"


def _vote_set(it: Increment, decrements: list[Decrement]) -> Iterator[str]:
    """An increment and what its node gave back before its next one."""
    yield f"  subgraph cluster_{it.name} {{"
    yield f"    style={'rounded' if decrements else 'invis'};"
    yield f'    {it.name} [label="{it.name}: node {it.node}, {it.before} to {it.votes}"];'
    before = it.name
    for k, d in enumerate(decrements, 1):
        name = f"D{it.number}_{k}"
        yield f'    {name} [label="{d.before} to {d.votes}"];'
        yield f"    {before} -> {name} [style=dotted];"
        before = name
    yield "  }"


def _given_back(record: VoteRecord, it: Increment) -> list[Decrement]:
    """The decrements in the vote set of an increment."""
    return [d for d in record.decrements if _of(record, d) is it]


def _of(record: VoteRecord, decrement: Decrement) -> Increment | None:
    """The increment whose vote set a decrement is in."""
    mine = (
        it for it in record.increments
        if it.node == decrement.node and it.installed < decrement.installed
    )  # fmt: skip
    return max(mine, key=lambda it: it.installed, default=None)

"""How nodes, links and faults are named, in the narration of a run and in its report.

Nodes are named by their numbers, runs of numbers as `1-4`, a directed link as `5>4`, links
both ways as `1-2 | 3-5`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Protocol


class Fault(Protocol):
    """A verb with its targets: an event of the trace or a step of a schedule."""

    verb: str
    nodes: tuple[int, ...]
    links: tuple[tuple[int, int], ...]
    args: dict[str, Any]


def numbers(nodes: Iterable[int]) -> str:
    """`1-4,7`."""
    parts: list[list[int]] = []
    for node in sorted(set(nodes)):
        if parts and node == parts[-1][-1] + 1:
            parts[-1].append(node)
        else:
            parts.append([node])
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def links_in_words(links: Collection[tuple[int, int]]) -> str:
    """`1-2 | 3-5` when it is both ways, `5>4` one way, a count when it is a tangle."""
    to: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in links:
        to[a].add(b)
    groups: defaultdict[frozenset[int], set[int]] = defaultdict(set)
    for a, dsts in to.items():
        groups[frozenset(dsts)].add(a)
    ways = [(numbers(srcs), numbers(dsts)) for dsts, srcs in groups.items()]
    if len(ways) == 2 and ways[0] == ways[1][::-1]:
        return f"{ways[0][0]} | {ways[0][1]}"
    return " ".join(f"{a}>{b}" for a, b in ways) if len(ways) <= 3 else f"{len(links)} links"


def fault_in_words(fault: Fault) -> str:
    """`kill 5`, `cut 1-2 | 3-5`, `delay 5>4 ms=30`, `arm 4 became s=Reorganization c=4`,
    `ask 9 Increase votes=3`.
    """
    args = dict(fault.args)
    point = [str(args.pop("event", "")), *_pairs(args.pop("where", {}))]
    point += [str(args.pop("kind", "")), *_pairs(args.pop("args", {}))]
    whom = [numbers(fault.nodes), links_in_words(fault.links)]
    return " ".join(part for part in (fault.verb, *whom, *point, *_pairs(args)) if part)


def _pairs(args: dict[str, object]) -> Iterator[str]:
    return (f"{key}={value}" for key, value in args.items() if value)


def nodes_in_words(nodes: Collection[int]) -> str:
    """`node 4`, `nodes 1-3,7`."""
    return f"nodes {numbers(nodes)}" if len(nodes) > 1 else f"node {numbers(nodes)}"

"""GM82-RO: no two groups perform conflicting restricted operations (GM82 IV-B).

An operation takes one replicated datum from a version to the next. Rules, all from the safe
cells a trace shows:

- A vote is a Stored of cell `prepared`: this node will not let another operation have that
  version. An operation is *performed* when its coordinator stores it in its cell `datum`; any
  other node that stores it there takes it over.
- Broken, if two operations were performed, or taken over, under one version; if one was
  performed without the votes of a majority of all nodes before; if one was taken over that was
  not performed before.
- A store counts if it reached its cell (traces.stores).

Limits: what an operation does to the datum is not looked at, only which version it made.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.assumptions import Finding
from traces.events import Stored
from traces.lives import History
from traces.stores import effective
from traces.words import numbers


@dataclass(slots=True)
class Operation:
    """What the trace shows of one operation."""

    version: int
    op: str
    group: str
    by: int
    votes: dict[int, Stored] = field(default_factory=dict)
    performed: Stored | None = None
    holders: dict[int, Stored] = field(default_factory=dict)  # who stored it, performing included
    weights: tuple[int, ...] = ()  # what each node counted when it was performed

    @property
    def in_favour(self) -> int:
        """What those who voted for it count."""
        return sum(self.weights[j - 1] for j in self.votes)

    @property
    def words(self) -> str:
        """`5.3/2 of group 5.3 under node 5`."""
        return f"{self.op} of group {self.group} under node {self.by}"


class Ledger:
    """All operations of a run, in the order they were begun."""

    def __init__(self, history: History) -> None:
        self.operations: dict[tuple[int, str], Operation] = {}
        self.early: list[tuple[Operation, Stored]] = []  # taken over before it was performed
        self.short: list[tuple[Operation, tuple[int, ...]]] = []  # performed by so few
        self.votes = 0
        self._assigned: dict[int, tuple[int, ...]] = {}  # by version
        for _, event in effective(history, "prepared", "datum"):
            if event.value is None:
                continue  # a vote is taken back
            if event.cell == "prepared":
                self._voted(event)
            else:
                self._held(event, history.nodes)

    def _of(self, value: dict[str, Any]) -> Operation:
        key = value["version"], value["op"]
        return self.operations.setdefault(key, Operation(*key, value["group"], value["by"]))

    def _voted(self, event: Stored) -> None:
        self.votes += 1
        self._of(event.value).votes.setdefault(event.node, event)

    def _held(self, event: Stored, nodes: int) -> None:
        version, votes = event.value["version"], event.value.get("votes")
        if version == 0:  # what there was before any operation
            self._assigned.setdefault(0, tuple(votes))
            return
        it = self._of(event.value)
        it.holders.setdefault(event.node, event)
        if event.node == it.by and it.performed is None:
            it.performed = event
            it.weights = (1,) * nodes
            if votes:
                it.weights = self._assigned.get(version - 1, (0,) * nodes)
                self._assigned.setdefault(version, tuple(votes))
            if 2 * it.in_favour <= sum(it.weights):
                self.short.append((it, tuple(sorted(it.votes))))
        elif it.performed is None:
            self.early.append((it, event))

    def performed(self) -> list[Operation]:
        """Those that were, in the order of their versions."""
        done = [it for it in self.operations.values() if it.performed]
        return sorted(done, key=lambda it: (it.version, it.op))


def check_restricted(history: History) -> Finding:
    """Judge every operation that was performed or taken over."""
    ledger = Ledger(history)
    performed = ledger.performed()
    groups = len({it.group for it in performed})
    finding = Finding(history, performed=len(performed), groups=groups, votes=ledger.votes)
    for it, votes in ledger.short:
        assert it.performed is not None
        by = f"by the votes of {numbers(votes) or 'nobody'}, {of_all(it, history.nodes)}"
        says = f"{it.words} was performed as version {it.version} {by}"
        finding.accuse(says, *it.votes.values(), it.performed)
    for it, event in ledger.early:
        says = f"node {event.node} took over version {it.version} by {it.words}, not performed"
        finding.accuse(says, event)
    for one, other in _rivals(ledger):
        a, b = (next(iter(it.holders.values())) for it in (one, other))
        says = f"version {one.version} was made by {one.words}, and by {other.words}"
        finding.accuse(says, *sorted((a, b), key=lambda event: event.at))
    finding.cases.sort(key=lambda case: case.at)
    return finding


def of_all(it: Operation, nodes: int) -> str:
    """`of 4 nodes`, or `3 of 7` where nodes differ in votes."""
    if set(it.weights) == {1}:
        return f"of {nodes} nodes"
    return f"{it.in_favour} of {sum(it.weights)}"


def _rivals(ledger: Ledger) -> Iterator[tuple[Operation, Operation]]:
    """The first operation that made a version, with each other that made it too."""
    first: dict[int, Operation] = {}
    held = (it for it in ledger.operations.values() if it.holders)
    for it in sorted(held, key=lambda it: next(iter(it.holders.values())).at):
        if first.setdefault(it.version, it) is not it:
            yield first[it.version], it

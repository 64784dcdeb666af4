"""GM82-1 or GM82-3, S97-SLE1 or S97-ALE1, on every recorded cut, in one sweep.

A recorded cut is a prefix of the recorded order; a crash that is dated after event i opens a
cut of its own, between event i and the next. Rules:

- GM82-1a: two active nodes (Reorganization or Normal) agree on the coordinator S.c.
- GM82-1b: two Normal nodes agree on the task S.d.
- GM82-3a and 3b: the same of two nodes with the same group number S.g. Assertion 1 is Assertion 3
  of a system in which all nodes are of one group, and that is how it is swept.
- S97-SLE1 and S97-ALE1: as 1a and 3a, of nodes with status Norm alone.
- All are counts: how many active nodes per coordinator, how many Normal nodes per task, in each
  group. More than one key with a count, and the assertion is broken; so a step costs O(1).
- A violation is an interval of cuts; its first cut, with one disagreeing pair, is the evidence.

Limits: recorded cuts only; the other consistent cuts are for traces.concurrent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from traces.causality import KEY, NODE, NODES, Stop, stop_at
from traces.chapters import ACTIVE, State
from traces.events import Became
from traces.lives import History


@dataclass(slots=True)
class Disagreement:
    """From cut `start` up to, not including, cut `end` (None: to the end) nodes disagree."""

    start: int
    at: int
    states: tuple[State, State]
    end: int | None = None
    until: int | None = None


Change = tuple[Stop, int, str, *tuple[object, ...]]
"""(where, stamp, group, says, ...): from there on the node is of this group and says these things.

One for each agreement; None: it has no say. The clock ticks there if it ceased to say something.
"""


class Turn(NamedTuple):
    """From its place `key` on the node says another thing; before, it was of the group `left`."""

    key: int
    at: int
    node: int
    left: str
    before: object
    group: str
    says: object


@dataclass(slots=True)
class Swept:
    """One agreement over all recorded cuts; `pairs` is how many pairs of states met.

    `changes` are those of all agreements that were swept together; this one is number `which`.
    Only in the groups `many`, where two things were ever said, can nodes disagree.
    """

    cuts: int
    changes: list[Change] = field(default_factory=list)
    which: int = 0
    pairs: int = 0
    found: list[Disagreement] = field(default_factory=list)
    many: set[str] = field(default_factory=set)

    def turns(self) -> Iterator[Turn]:
        """Where a node says another thing within these groups."""
        last: dict[int, tuple[str, object]] = {}
        for stop, at, group, *things in self.changes:
            node = stop >> NODE & NODES
            says = things[self.which] if group in self.many else None
            left, before = last.get(node, ("", None))
            if (before is not None or says is not None) and (left, before) != (group, says):
                yield Turn(stop >> KEY, at, node, left, before, group, says)
            last[node] = group, says


def sweep(
    history: History, by_group: bool = False, active: frozenset[str] = ACTIVE
) -> tuple[Swept, Swept]:
    """Both parts of Assertion 1 (GM82 III), or of 3 (GM82 IV), over every recorded cut."""
    changes: list[Change] = []
    cuts = len(history.events) + len(history.crashes)
    groups = [""] * (history.nodes + 1)
    a, b = (_Agreement(history, groups, Swept(cuts, changes, which)) for which in (0, 1))
    a_says, b_says = a.says, b.says
    asking = [stop_at(0, node, ticks=False) for node in range(len(groups))]
    ticking = [stop_at(0, node, ticks=True) for node in range(len(groups))]
    for key, state in history.steps:
        node = state.node
        if type(state) is Became and state.s in active:
            coordinator: int | None = state.c
            task = state.d if state.s == "Normal" else None
            group = state.g if by_group else ""
        else:
            coordinator, task, group = None, None, ""
        was, did, left = a_says[node], b_says[node], groups[node]
        groups[node] = group
        if was != coordinator or left != group:
            a.step(key, state, left, group, coordinator)
            if did != task or (task is not None and left != group):
                b.step(key, state, left, group, task)
            elif task is not None:
                b.pairs += b.within[group].size - 1
            ceased = was is not None
        elif did != task:
            a.pairs += a.within[group].size - 1
            b.step(key, state, left, group, task)
            ceased = did is not None
        else:
            if coordinator is not None:
                a.pairs += a.within[group].size - 1
            if task is not None:
                b.pairs += b.within[group].size - 1
            continue
        stop = key << KEY | (ticking[node] if ceased else asking[node])  # as stop_at does it
        changes.append((stop, state.at, group, coordinator, task))
    return a.done(), b.done()


class _Group:
    """How many nodes of a group have a say, how many say which thing, how many things are said."""

    __slots__ = ("counts", "size", "things")

    def __init__(self) -> None:
        self.counts: dict[object, int] = {}  # 0 where a thing is not said any more
        self.size = self.things = 0


class _Agreement:
    """Counts what the nodes that must agree say; None: this node has no say."""

    def __init__(self, history: History, groups: list[str], swept: Swept) -> None:
        self.history, self.groups, self.swept = history, groups, swept
        self.pairs = 0
        self.says: list[object] = [None] * (history.nodes + 1)
        self.within: dict[str, _Group] = {}
        self.split = 0  # groups that disagree
        self.open: Disagreement | None = None

    def step(self, key: int, state: State, left: str, group: str, says: object) -> None:
        """The node says something else, or nothing any more."""
        node = state.node
        before, self.says[node] = self.says[node], says
        if before is not None:
            old = self.within[left]
            old.size -= 1
            old.counts[before] = count = old.counts[before] - 1
            if not count:
                old.things -= 1
                self.split -= old.things == 1
        if says is not None:
            new = self.within.get(group) or self.within.setdefault(group, _Group())
            self.pairs += new.size
            new.size += 1
            count = new.counts.get(says, 0)
            new.counts[says] = count + 1
            if not count:
                new.things += 1
                self.split += new.things == 2
        if (self.split > 0) is (self.open is None):
            self._turn(key, state)

    def done(self) -> Swept:
        """What was found."""
        self.swept.pairs = self.pairs
        self.swept.many = {group for group, it in self.within.items() if len(it.counts) > 1}
        return self.swept

    def _turn(self, key: int, state: State) -> None:
        """The nodes began to disagree here, or ceased to."""
        if self.open is not None:
            self.open.end, self.open.until = key, state.at
            self.open = None
            return
        mine, group = self.says[state.node], self.groups[state.node]
        other = next(
            i
            for i, said in enumerate(self.says)
            if said not in (None, mine) and self.groups[i] == group
        )
        self.open = Disagreement(key, state.at, (state, self.history.state_at(other, key)))
        self.swept.found.append(self.open)

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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
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


Change = tuple[Stop, int, *tuple[object, ...]]
"""(where, stamp, says, ...): from there on the node says these things, one for each agreement.

None: it has no say. Of nodes that must agree within groups, a thing is (group, thing).
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

    `stops` are where a node ceased to say something, and its clock ticks, or began to; `changes`
    are what it says from there on, in this agreement and in those that were swept with it: this
    one is number `which`. Only in the groups `many`, where two things were ever said, can nodes
    disagree.
    """

    cuts: int
    stops: list[Stop]
    changes: Callable[[], list[Change]]
    which: int = 0
    by_group: bool = False
    pairs: int = 0
    found: list[Disagreement] = field(default_factory=list)
    many: set[str] = field(default_factory=set)

    def turns(self) -> Iterator[Turn]:
        """Where a node says another thing within these groups."""
        last: dict[int, tuple[str, object]] = {}
        for stop, at, *things in self.changes():
            node, says, group = stop >> NODE & NODES, things[self.which], ""
            if self.by_group and says is not None:
                group, says = says  # type: ignore[misc]
            if group not in self.many:
                group, says = "", None
            left, before = last.get(node, ("", None))
            if (left, before) != (group, says):
                yield Turn(stop >> KEY, at, node, left, before, group, says)
                last[node] = group, says


def sweep(
    history: History, by_group: bool = False, active: frozenset[str] = ACTIVE
) -> tuple[Swept, Swept]:
    """Both parts of Assertion 1 (GM82 III), or of 3 (GM82 IV), over every recorded cut."""
    return _sweep(history, by_group, active, None)


def _changes(history: History, by_group: bool, active: frozenset[str]) -> list[Change]:
    """What is said when: seldom wanted, and as dear as all the rest."""
    changes: list[Change] = []
    _sweep(history, by_group, active, changes)
    return changes


def _sweep(
    history: History, by_group: bool, active: frozenset[str], changes: list[Change] | None
) -> tuple[Swept, Swept]:
    cuts, stops, many = len(history.events) + len(history.crashes), list[Stop](), history.nodes + 1
    again = partial(_changes, history, by_group, active)
    a, b = (_Agreement(history, Swept(cuts, stops, again, k, by_group)) for k in (0, 1))
    a_says, b_says, a_in, b_in = a.says, b.says, a.within, b.within
    asking = [stop_at(0, node, ticks=False) for node in range(many)]
    ticking = [stop_at(0, node, ticks=True) for node in range(many)]
    for key, state in history.steps:
        node = state.node
        coordinator: object = None
        task: object = None
        if type(state) is Became and state.s in active:
            coordinator = (state.g, state.c) if by_group else state.c
            if state.s == "Normal":
                task = (state.g, state.d) if by_group else state.d
        was, did = a_says[node], b_says[node]
        if was != coordinator:
            a.step(key, state, coordinator)
            if did != task:
                b.step(key, state, task)
            elif task is not None:
                b.pairs += b_in[node].size - 1
            ceased = was is not None
        elif did != task:
            a.pairs += a_in[node].size - 1
            b.step(key, state, task)
            ceased = did is not None
        else:
            if coordinator is not None:
                a.pairs += a_in[node].size - 1
                if task is not None:
                    b.pairs += b_in[node].size - 1
            continue
        stop = key << KEY | (ticking[node] if ceased else asking[node])  # as stop_at does it
        stops.append(stop)
        if changes is not None:
            changes.append((stop, state.at, coordinator, task))
    return a.done(), b.done()


class _Group:
    """How many nodes of a group have a say, how many say which thing, how many things are said."""

    __slots__ = ("counts", "size", "things")

    def __init__(self) -> None:
        self.counts: dict[object, int] = {}  # 0 where a thing is not said any more
        self.size = self.things = 0


class _Agreement:
    """Counts what the nodes that must agree say; None: this node has no say."""

    def __init__(self, history: History, swept: Swept) -> None:
        self.history, self.swept, self.pairs = history, swept, 0
        self.says: list[object] = [None] * (history.nodes + 1)
        self.groups = {"": _Group()}
        self.within = [self.groups[""]] * (history.nodes + 1)
        self.split = 0  # groups that disagree
        self.open: Disagreement | None = None

    def step(self, key: int, state: State, says: object) -> None:
        """The node says something else, or nothing any more."""
        node = state.node
        before, self.says[node] = self.says[node], says
        if before is not None:
            old = self.within[node]
            old.size -= 1
            old.counts[before] = count = old.counts[before] - 1
            if not count:
                old.things -= 1
                self.split -= old.things == 1
        if says is not None:
            if self.swept.by_group:
                group: str = says[0]  # type: ignore[index]
                self.within[node] = self.groups.get(group) or self.groups.setdefault(
                    group, _Group()
                )
            new = self.within[node]
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
        self.swept.many = {group for group, it in self.groups.items() if len(it.counts) > 1}
        return self.swept

    def _turn(self, key: int, state: State) -> None:
        """The nodes began to disagree here, or ceased to."""
        if self.open is not None:
            self.open.end, self.open.until = key, state.at
            self.open = None
            return
        mine, group = self.says[state.node], self.within[state.node]
        other = next(
            i
            for i, said in enumerate(self.says)
            if said not in (None, mine) and self.within[i] is group
        )
        self.open = Disagreement(key, state.at, (state, self.history.state_at(other, key)))
        self.swept.found.append(self.open)

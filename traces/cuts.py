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

from dataclasses import dataclass, field

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


Turn = tuple[int, int, int, str, object, str, object]
"""(key, stamp, node, group, says, group, says): from then on the node says another thing.

Before it was of the first group and said the first thing; None: it had no say.
"""


@dataclass(slots=True)
class Swept:
    """One assertion over all recorded cuts; `pairs` is how many pairs of states met."""

    cuts: int
    pairs: int = 0
    found: list[Disagreement] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    """Only of groups in which two things were ever said: in the others nobody can disagree."""


def sweep(
    history: History, by_group: bool = False, active: frozenset[str] = ACTIVE
) -> tuple[Swept, Swept]:
    """Both parts of Assertion 1 (GM82 III), or of 3 (GM82 IV), over every recorded cut."""
    cuts = len(history.events) + len(history.crashes)
    by_coordinator = _Agreement(history.nodes, Swept(cuts))
    by_task = _Agreement(history.nodes, Swept(cuts))
    a_says, a_groups, a_step = by_coordinator.says, by_coordinator.groups, by_coordinator.step
    b_says, b_groups, b_step = by_task.says, by_task.groups, by_task.step
    for key, state in history.steps:
        node = state.node
        if type(state) is Became and state.s in active:
            coordinator: int | None = state.c
            task = state.d if state.s == "Normal" else None
            group = state.g if by_group else ""
        else:
            coordinator, task, group = None, None, ""
        if a_says[node] != coordinator or a_groups[node] != group:
            a_step(key, state, node, group, coordinator)
        elif coordinator is not None:
            by_coordinator.again(state, node)
        if b_says[node] != task or (task is not None and b_groups[node] != group):
            b_step(key, state, node, group, task)
        elif task is not None:
            by_task.again(state, node)
    return by_coordinator.done(), by_task.done()


class _Group:
    """How many nodes of a group have a say, how many say which thing, how many things are said."""

    __slots__ = ("counts", "size", "things")

    def __init__(self) -> None:
        self.counts: dict[object, int] = {}  # 0 where a thing is not said any more
        self.size = self.things = 0


class _Agreement:
    """Counts what the nodes that must agree say; None: this node has no say."""

    def __init__(self, nodes: int, swept: Swept) -> None:
        self.swept = swept
        self.says: list[object] = [None] * (nodes + 1)
        self.groups: list[str] = [""] * (nodes + 1)
        self.states: list[State | None] = [None] * (nodes + 1)
        self.within: dict[str, _Group] = {}
        self.split = 0  # groups that disagree
        self.open: Disagreement | None = None

    def step(self, key: int, state: State, node: int, group: str, says: object) -> None:
        """Node `node` says something else, or nothing any more."""
        before, left = self.says[node], self.groups[node]
        self.swept.turns.append((key, state.at, node, left, before, group, says))
        self.says[node], self.groups[node], self.states[node] = says, group, state
        if before is not None:
            old = self.within[left]
            old.size -= 1
            old.counts[before] = count = old.counts[before] - 1
            if not count:
                old.things -= 1
                self.split -= old.things == 1
        if says is not None:
            new = self.within.get(group) or self.within.setdefault(group, _Group())
            self.swept.pairs += new.size
            new.size += 1
            count = new.counts.get(says, 0)
            new.counts[says] = count + 1
            if not count:
                new.things += 1
                self.split += new.things == 2
        if (self.split > 0) is (self.open is None):
            self._turn(key, state, node)

    def again(self, state: State, node: int) -> None:
        """Node `node` says the same, in a new state."""
        self.states[node] = state
        self.swept.pairs += self.within[self.groups[node]].size - 1

    def done(self) -> Swept:
        """What was found, less the turns of groups in which one thing only was said."""
        many = {group for group, it in self.within.items() if len(it.counts) > 1}
        if len(many) < len(self.within):
            within = (_within(turn, many) for turn in self.swept.turns)
            self.swept.turns = [it for it in within if it[4] is not None or it[6] is not None]
        return self.swept

    def _turn(self, key: int, state: State, node: int) -> None:
        """The nodes began to disagree here, or ceased to."""
        if self.open is not None:
            self.open.end, self.open.until = key, state.at
            self.open = None
            return
        mine, group = self.says[node], self.groups[node]
        other = next(
            i
            for i, said in enumerate(self.says)
            if said not in (None, mine) and self.groups[i] == group
        )
        against = self.states[other]
        assert against is not None
        self.open = Disagreement(key, state.at, (state, against))
        self.swept.found.append(self.open)


def _within(turn: Turn, groups: set[str]) -> Turn:
    """The turn, with nothing said in other groups."""
    key, at, node, left, before, group, says = turn
    before = before if left in groups else None
    return key, at, node, left, before, group, says if group in groups else None

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
    a_says, b_says = by_coordinator.says, by_task.says
    a_step, b_step = by_coordinator.step, by_task.step
    for key, state in history.steps:
        node = state.node
        if type(state) is Became and state.s in active:
            coordinator: int | None = state.c
            task = state.d if state.s == "Normal" else None
            group = state.g if by_group else ""
        else:
            coordinator, task, group = None, None, ""
        if coordinator is not None or a_says[node] is not None:
            a_step(key, state, node, group, coordinator)
        if task is not None or b_says[node] is not None:
            b_step(key, state, node, group, task)
    return by_coordinator.done(), by_task.done()


class _Agreement:
    """Counts what the nodes that must agree say; None: this node has no say."""

    def __init__(self, nodes: int, swept: Swept) -> None:
        self.swept = swept
        self.says: list[object] = [None] * (nodes + 1)
        self.groups: list[str] = [""] * (nodes + 1)
        self.states: list[State | None] = [None] * (nodes + 1)
        self.counts: dict[str, dict[object, int]] = {}  # of each group: how many say what
        self.sizes: dict[str, int] = {}  # and how many say something
        self.things: dict[str, int] = {}  # and how many things are being said
        self.split = 0  # groups that disagree
        self.open: Disagreement | None = None

    def step(self, key: int, state: State, node: int, group: str, says: object) -> None:
        """Node `node` says something else, or the same in a new state, or nothing any more."""
        before, left = self.says[node], self.groups[node]
        self.states[node] = state
        if before != says or left != group:
            self.swept.turns.append((key, state.at, node, left, before, group, says))
            self.says[node], self.groups[node] = says, group
            if before is not None:
                self._count(left, before, -1)
            if says is not None:
                self._count(group, says, 1)
            if (self.split > 0) is (self.open is None):
                self._turn(key, state, node)
        if says is not None:
            self.swept.pairs += self.sizes[group] - 1

    def _count(self, group: str, says: object, more: int) -> None:
        counts = self.counts.setdefault(group, {})
        self.sizes[group] = self.sizes.get(group, 0) + more
        count = counts.get(says, 0)
        counts[says] = count + more
        if not count or not count + more:  # one thing more is said, or one thing less
            things = self.things.get(group, 0)
            self.things[group] = things + more
            self.split += (things + more > 1) - (things > 1)

    def done(self) -> Swept:
        """What was found, less the turns of groups in which one thing only was said."""
        many = {group for group, said in self.counts.items() if len(said) > 1}
        if len(many) < len(self.counts):
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

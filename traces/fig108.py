"""CJ97 Fig. 10.8: what a node knows at the four cuts of its Bully election.

Rules, for each election of p, on the recorded order:

- c1, when p becomes Election with h = p: no node of higher priority is Normal.
- c2, when p becomes Reorganization under itself: no other node is Normal, and none is acting
  coordinator.
- c3, at p's first Ready (or when it becomes Normal, if Up is empty): all of Up are in
  Reorganization under p.
- c4, when p becomes Normal: all of Up are Normal under p.
- c3 and c4 count only without interference: since p halted it, no member of Up crashed,
  started, was halted by another node or was paused. GM82 III: at any time the rest of the
  nodes may fail, so p cannot know more. An election that was cut short counts for the cuts it
  reached.

Limits: priority is the node number, as in GM82. Knowledge is checked as truth at the recorded
cut; on another consistent cut it may look different.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from traces.chapters import ACTIVE, Crash, State
from traces.events import Became, Sent, Suspended
from traces.lives import History

CUTS = ("CJ97-c1", "CJ97-c2", "CJ97-c3", "CJ97-c4")
_Turn = tuple[int, State | Sent | Suspended]


@dataclass(slots=True)
class Ignorance:
    """At cut `key` of p's election, `wrong` are the states that p believes impossible."""

    cut: str
    key: int
    mine: State
    wrong: list[State]


@dataclass(slots=True)
class Fig108:
    """How often each cut was reached undisturbed, and where the figure was wrong."""

    elections: int = 0
    completed: int = 0
    reached: Counter[str] = field(default_factory=Counter)
    interfered: Counter[str] = field(default_factory=Counter)
    found: list[Ignorance] = field(default_factory=list)


@dataclass(slots=True)
class _Election:
    """An election of one life under way; `touched` are the nodes that something happened to."""

    inc: int
    stage: int = 1
    touched: set[int] = field(default_factory=set)


def check_fig108(history: History) -> Fig108:
    """All elections of a run against the figure."""
    walk = _Walk(history.began)
    for key, turn in _turns(history):
        if isinstance(turn, Sent):
            walk.ready(key, turn)
        elif isinstance(turn, Suspended):
            walk.touch(turn.target, 0)
        else:
            walk.step(key, turn)
    return walk.result


def _turns(history: History) -> Iterator[_Turn]:
    """State changes, Readies and pauses in the recorded order."""
    readies: list[_Turn] = [
        (2 * i, event)
        for i, event in enumerate(history.events)
        if type(event) is Sent and event.kind == "Ready" and not event.ack
    ]
    pauses: list[_Turn] = [
        (2 * i, event) for i, event in history.turns if isinstance(event, Suspended)
    ]
    yield from sorted([*history.steps, *readies, *pauses], key=lambda turn: turn[0])


class _Walk:
    """The state of all nodes, and the election each of them is holding."""

    def __init__(self, began: int) -> None:
        self.began, self.result = began, Fig108()
        self.states: dict[int, State] = {}
        self.elections: dict[int, _Election] = {}

    def touch(self, node: int, halter: int) -> None:
        """Something happened to `node` that only an election of `halter` accounts for."""
        for p, election in self.elections.items():
            if p not in (node, halter):
                election.touched.add(node)

    def step(self, key: int, state: State) -> None:
        p = state.node
        before, self.states[p] = self.states.get(p), state
        if not isinstance(state, Became):
            self.touch(p, 0)
            self.elections.pop(p, None)
            return
        if state.h and (not isinstance(before, Became) or before.h != state.h):
            self.touch(p, state.h)
        if state.s == "Election" and state.h in self.elections:
            self.elections[state.h].touched.discard(p)  # Halt makes its state known again
        if state.s == "Election" and state.h == p:
            self._elect(key, state)
        elif p in self.elections:
            self._advance(key, state)

    def _elect(self, key: int, state: Became) -> None:
        """Up is empty only at the very start of an election (GM82 Appendix I)."""
        if state.up:
            return
        self.elections[state.node] = _Election(state.inc)
        self.result.elections += 1
        higher = [s for j, s in self.states.items() if j > state.node]
        self._compare("CJ97-c1", key, state, [s for s in higher if _is(s, "Normal")])

    def _advance(self, key: int, state: Became) -> None:
        p, election = state.node, self.elections[state.node]
        if state.s not in ACTIVE or state.c != p:
            del self.elections[p]  # halted: CALL STOP ended it
        elif state.s == "Reorganization" and election.stage == 1:
            election.stage = 2
            others = [s for j, s in self.states.items() if j != p]
            self._compare("CJ97-c2", key, state, [s for s in others if _leads_or_normal(s)])
        elif state.s == "Normal" and election.stage >= 2:
            if election.stage == 2:
                self._members("CJ97-c3", key, state, "Reorganization")
            self._members("CJ97-c4", key, state, "Normal")
            self.result.completed += 1
            del self.elections[p]

    def ready(self, key: int, sent: Sent) -> None:
        election, state = self.elections.get(sent.node), self.states.get(sent.node)
        if election and election.stage == 2 and isinstance(state, Became):
            election.stage = 3
            self._members("CJ97-c3", key, state, "Reorganization")

    def _members(self, cut: str, key: int, mine: Became, status: str) -> None:
        """All of Up have this status, under p."""
        if self.elections[mine.node].touched & set(mine.up):
            self.result.interfered[cut] += 1
            return
        up = [self._state(j) for j in mine.up if j != mine.node]
        self._compare(cut, key, mine, [s for s in up if not _is(s, status, mine.node)])

    def _state(self, node: int) -> State:
        """A node is Down before it ever started."""
        return self.states.get(node) or Crash(self.began, node, 0, 0, "never started")

    def _compare(self, cut: str, key: int, mine: State, wrong: list[State]) -> None:
        self.result.reached[cut] += 1
        if wrong:
            self.result.found.append(Ignorance(cut, key, mine, wrong))


def _is(state: State, status: str, coordinator: int = 0) -> bool:
    if not isinstance(state, Became) or state.s != status:
        return False
    return not coordinator or state.c == coordinator


def _leads_or_normal(state: State) -> bool:
    if not isinstance(state, Became):
        return False
    return state.s == "Normal" or (state.s == "Reorganization" and state.c == state.node)

"""The obvious way to judge CJ97 Fig. 10.8: for each election its four cuts, each looked at alone.

Shares no code with the analyzer. An election is found by its first line; what happened to a
member since it was halted is found by reading the trace between the two cuts again.
"""

from dataclasses import dataclass, field

from tests.oracle import Cut
from tests.oracle_lives import States
from traces.events import AnyEvent, Became, Sent, Suspended

ACTIVE = ("Reorganization", "Normal")


@dataclass
class Figure:
    """(cut name, node, index of the event): cuts reached undisturbed, disturbed, and wrong."""

    reached: set[tuple[str, int, int]] = field(default_factory=set)
    disturbed: set[tuple[str, int, int]] = field(default_factory=set)
    wrong: set[tuple[str, int, int]] = field(default_factory=set)


def figure_of(events: list[AnyEvent], nodes: int) -> Figure:
    """All elections of a trace."""
    return _Figure(events, nodes).look()


class _Figure:
    def __init__(self, events: list[AnyEvent], nodes: int) -> None:
        self.events, self.nodes = events, nodes
        self.states, self.found = States(events, nodes), Figure()

    def look(self) -> Figure:
        for p in self.states.nodes:
            for cut, state, _ in self.states.changes[p]:
                if state and _begins(state, p):
                    self.election(p, cut[0])
        return self.found

    def election(self, p: int, c1: int) -> None:
        """From its first line on, as far as it went."""
        now = self.states.at((c1, False))
        self.note("CJ97-c1", p, c1, any(s and s.s == "Normal" and j > p for j, s in now.items()))
        later = [c for c in self.states.changes[p] if c[0] > (c1, False)]
        stage = 1
        mine = now[p]
        readies = [(i, False) for i, e in enumerate(self.events) if i > c1 and _says_ready(e, p)]
        for cut, state in sorted(
            [*((cut, state) for cut, state, _ in later), *((cut, mine) for cut in readies)],
            key=lambda turn: turn[0],
        ):
            if cut in readies:
                if stage == 2:
                    stage = 3
                    self.members("CJ97-c3", p, c1, cut[0], "Reorganization")
                continue
            if state is None or _begins(state, p):
                return
            if state.s == "Election" and state.h == p:
                continue  # another member answered
            if state.s not in ACTIVE or state.c != p:
                return
            if state.s == "Reorganization" and stage == 1:
                stage = 2
                self.note("CJ97-c2", p, cut[0], self.others_lead(p, cut))
            elif state.s == "Normal" and stage >= 2:
                if stage == 2:
                    self.members("CJ97-c3", p, c1, cut[0], "Reorganization")
                self.members("CJ97-c4", p, c1, cut[0], "Normal")
                return

    def others_lead(self, p: int, cut: Cut) -> bool:
        return any(
            s and (s.s == "Normal" or (s.s == "Reorganization" and s.c == j))
            for j, s in self.states.at(cut).items()
            if j != p
        )

    def members(self, name: str, p: int, c1: int, i: int, status: str) -> None:
        now = self.states.at((i, False))
        mine = now[p]
        assert mine is not None
        if any(self.interfered(p, j, c1, i) for j in mine.up):
            self.found.disturbed.add((name, p, i))
            return
        members = [now.get(j) for j in mine.up if j != p]
        self.note(name, p, i, not all(s and s.s == status and s.c == p for s in members))

    def interfered(self, p: int, j: int, c1: int, i: int) -> bool:
        """Since p halted it, j crashed, started, was halted by another node or was paused."""
        since = [
            (cut, state)
            for cut, state, _ in self.states.changes[j]
            if (c1, False) < cut <= (i, False)
        ]
        halts = [cut for cut, s in since if s and s.s == "Election" and s.h == p]
        halted = halts[-1] if halts else (c1, False)
        before = self.states.at((max(0, c1), False)).get(j)
        by = p if halts else before.h if before else 0
        for cut, state in since:
            if cut <= halted:
                continue
            if state is None:
                return True
            if state.h and state.h != by and state.h != p:
                return True
            by = state.h
        return any(
            isinstance(e, Suspended) and e.target == j for e in self.events[halted[0] + 1 : i]
        )

    def note(self, name: str, p: int, i: int, wrong: bool) -> None:
        self.found.reached.add((name, p, i))
        if wrong:
            self.found.wrong.add((name, p, i))


def _begins(state: Became, p: int) -> bool:
    return state.s == "Election" and state.h == p and not state.up


def _says_ready(event: AnyEvent, p: int) -> bool:
    return isinstance(event, Sent) and event.node == p and event.kind == "Ready" and not event.ack

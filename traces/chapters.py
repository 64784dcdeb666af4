"""The pieces of a history: lives, crashes, pauses and rules, as traces.lives finds them."""

from dataclasses import dataclass

from traces.events import Became, Started

ACTIVE = frozenset(("Reorganization", "Normal"))
"""GM82 III: nodes with these statuses are active."""
STAGES = frozenset(("Elec1", "Elec2", "Wait"))
"""S97 4: the statuses of a node in an election, whose id is S(i).g; S(i).c is of the past."""
NORM = frozenset(("Normal",))
"""S97 3: of nodes with this status the leader counts."""


@dataclass(slots=True)
class Crash:
    """The node is Down from `at` on; in the recorded order, right after event `index`.

    `how`: killed, died (nobody asked for it), vanished (no death was recorded) or overslept;
    `asked` is false for a node that overslept without having been paused.
    """

    at: int
    node: int
    inc: int
    index: int
    how: str
    late: int = 0
    asked: bool = True


State = Became | Started | Crash
"""What a node's state is made of: Started and Crash stand for Down."""


@dataclass(slots=True)
class Life:
    """One incarnation: up from `at` (event `start`), over before event `end`."""

    node: int
    inc: int
    start: int
    at: int
    end: int
    crash: Crash | None = None


@dataclass(slots=True)
class Pause:
    """A node did not run from `at` until `until` (None: to the end of the trace).

    `seen` is the index of the Suspended, `asked` that of the Injected pause or -1. It came `by`
    a pause, a trace point, or nobody the harness knows. `how` it ended: resumed, overslept or
    killed.
    """

    node: int
    at: int
    seen: int
    asked: int
    by: str
    until: int | None = None
    how: str = ""


@dataclass(slots=True)
class Rule:
    """A rule of the relay and when it was in force."""

    rule: int
    verb: str
    links: tuple[tuple[int, int], ...]
    on: int
    off: int | None = None

    @property
    def words(self) -> str:
        """`rule 3 (cut 1->2 2->1)`."""
        shown = " ".join(f"{a}->{b}" for a, b in self.links[:4])
        return f"rule {self.rule} ({self.verb} {shown}{' ...' if len(self.links) > 4 else ''})"

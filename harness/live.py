"""What the trace shows so far: the state of every node as the controller can know it.

It reads the trace and nothing else. It serves triggers, symbolic targets and progress; verdicts
are never taken from it (traces.judge reads the stored run).
"""

from collections.abc import Collection

from nodes.protocol import ELECTION, NORMAL
from traces.events import (
    AnyEvent,
    Became,
    Continued,
    Died,
    Overslept,
    Received,
    Sent,
    Spawned,
    Started,
    Suspended,
)

STAGE_2 = "Elec2"  # S97 Fig. 1 and 3: an election that halts
MESSAGES = (Sent, Received)
CHANGES = (Became, Started, Overslept, Continued, Died)


class Live:
    """A view of the events seen so far; `catch_up` before you look."""

    def __init__(self, events: list[AnyEvent]) -> None:
        self.events = events
        self.state: dict[int, Became] = {}
        self.inc: dict[int, int] = {}
        self.up: set[int] = set()
        self.stopped: set[int] = set()
        self.died: list[Died] = []
        self.elections = 0
        self.changed = 0  # the stamp of the last change of any state
        self._next = 0

    def catch_up(self) -> None:
        """Take in what was written since."""
        events = self.events
        for event in events[self._next :] if self._next < len(events) else ():
            if type(event) not in MESSAGES:  # most of a trace, and nothing to learn from here
                self._take(event)
        self._next = len(events)

    def _take(self, event: AnyEvent) -> None:
        if isinstance(event, CHANGES):
            self.changed = max(self.changed, event.at)  # of many files, each in its own order
        if isinstance(event, Became):
            self.state[event.node] = event
            halter = event.c if event.g else event.h
            self.elections += event.s == ELECTION and halter == event.node and not event.up
            self.elections += event.s == STAGE_2
        elif isinstance(event, Started | Overslept):
            self.inc[event.node] = event.inc
            self.state.pop(event.node, None)
            self.up.add(event.node)
        elif isinstance(event, Spawned):
            self.inc[event.target] = max(event.life, self.inc.get(event.target, 0))
        elif isinstance(event, Suspended):
            self.stopped.add(event.target)
        elif isinstance(event, Continued):
            self.stopped.discard(event.target)
        elif isinstance(event, Died):
            self.died.append(event)
            self.up.discard(event.target)
            self.stopped.discard(event.target)
            self.state.pop(event.target, None)

    @property
    def running(self) -> set[int]:
        """Nodes that are up and not stopped."""
        return self.up - self.stopped

    def coordinator(self) -> int:
        """The coordinator of most Normal nodes that run, 0 if there is none."""
        said = [s.c for i, s in self.state.items() if i in self.running and s.s == NORMAL]
        return max(sorted(set(said)), key=said.count) if said else 0

    def normal(self) -> bool:
        """Whether all nodes that run are Normal, and there are some."""
        states = [self.state.get(i) for i in self.running]
        return bool(states) and all(state and state.s == NORMAL for state in states)

    def settled(self, nodes: Collection[int]) -> bool:
        """GM82 III, Assertion 2: all of these that run are Normal under one of them."""
        nodes = self.running & set(nodes)
        states = [self.state.get(i) for i in nodes]
        leaders = {state.c if state and state.s == NORMAL else 0 for state in states}
        return len(leaders) == 1 and leaders <= nodes

"""What led a node to a cut: its last few events that count, in words, with their lines.

Rules: a change of S(i) counts, together with the request that made it so; so do time-outs, what
its failure detector tells it, starts, and the faults done to the node or its links. Polls, answers
and changes of Up alone do not count. The same time-out again and again is one event.
"""

from collections import deque
from dataclasses import dataclass

from reports.words import STAGES, lateness
from traces.events import (
    AnyEvent,
    Became,
    Injected,
    Overslept,
    Played,
    Received,
    Started,
    Suspected,
    TimedOut,
    Watched,
)
from traces.lives import History
from traces.words import fault_in_words

LAST = 5


@dataclass(slots=True)
class Step:
    """One event of a node that counts; `line` is its line in trace.jsonl."""

    line: int
    ms: float
    node: int
    words: str
    times: int = 1

    def in_words(self) -> str:
        """With how often, if more than once."""
        return self.words + (f" ({self.times} times)" if self.times > 1 else "")


def backstory(history: History, end: int, nodes: tuple[int, ...]) -> list[Step]:
    """The last steps of each of these nodes, up to and with event `end`, in order."""
    tellers = {node: _Teller(node) for node in nodes}
    for i, event in enumerate(history.events[: end + 1]):
        for node in _concerned(event, tellers):
            words = tellers[node].hear(event)
            if words:
                tellers[node].keep(Step(i + 1, history.ms(event.at), node, words))
    steps = [step for teller in tellers.values() for step in teller.steps]
    return sorted(steps, key=lambda step: step.line)


def _concerned(event: AnyEvent, tellers: dict[int, "_Teller"]) -> list[int]:
    if isinstance(event, Injected):
        touched = {*event.nodes, *(node for link in event.links for node in link)}
        return [node for node in tellers if node in touched]
    return [event.node] if event.node in tellers else []


class _Teller:
    """Follows one node."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.steps: deque[Step] = deque(maxlen=LAST)
        self.state: Became | None = None
        self.before: AnyEvent | None = None

    def keep(self, step: Step) -> None:
        if self.steps and self.steps[-1].words == step.words:
            step.times = self.steps.pop().times + 1
        self.steps.append(step)

    def hear(self, event: AnyEvent) -> str:
        """The event in words, if it counts."""
        words = ""
        match event:
            case Became():
                words = self._became(event)
                self.state = event
            case TimedOut():
                words = f"no answer from {event.to} to {event.kind}"
            case Suspected():
                words = f"is told that {event.peer} is down"
            case Watched() | Played():
                return ""
            case Started():
                words, self.state = f"starts life {event.inc}", None
            case Overslept():
                words = lateness(event)
            case Injected():
                words = f"fault: {fault_in_words(event)}"
        self.before = event if event.node else self.before
        return words

    def _became(self, event: Became) -> str:
        old, change = self.state, list[str]()
        if old is None and event.s == "Down":
            return ""  # as every life begins
        if old is None or old.s != event.s:
            change.append(event.s)
        for name in ("c", "h"):
            new = getattr(event, name)
            if new and (old is None or getattr(old, name) != new):
                change.append(f"{name}={new}")
        if event.s in STAGES and (old is None or old.g != event.g):
            change.append(f"g={event.g}")
        if event.d and (old is None or old.d != event.d):
            change.append(f"d={event.d.split()[0]}")
        cause = self.before
        if change and isinstance(cause, Received) and not cause.ack:
            change[0] = f"{cause.kind} from {cause.src}: {change[0]}"
        return ", ".join(change)

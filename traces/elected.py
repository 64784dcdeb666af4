"""When a leader was elected, as S97 (3) has it: all nodes that are up are Norm, and so is led.

ldrElected: every node that is up has status Norm, and its leader is up. Rules:

- The spans are found on the recorded order, like the cuts, and each step costs O(1).
- It does not say that there is one leader: that two with status Norm agree is S97-SLE1.

Limits: where no node is up nobody is to be led, and there is no span.
"""

from collections import Counter

from traces.chapters import Crash
from traces.events import Became
from traces.lives import History
from traces.settled import Span


def elected_spans(history: History) -> list[Span]:
    """All maximal spans in which ldrElected held, in order."""
    now, spans, good = _Electorate(), list[Span](), False
    for key, state in history.steps:
        if type(state) is Became and state.s == "Normal":
            now.change(state.node, up=True, leader=state.c)
        else:
            now.change(state.node, up=type(state) is not Crash, leader=None)
        if now.elected is not good:
            good = not good
            if good:
                spans.append(Span(key, state.at, history.ended + 1, 0))
            else:
                spans[-1].end = state.at
    return spans


class _Electorate:
    """Who is up, whom each node with status Norm follows, and how many follow one that is up."""

    def __init__(self) -> None:
        self.up: set[int] = set()
        self.leader: dict[int, int] = {}
        self.followers: Counter[int] = Counter()
        self.led = 0

    @property
    def elected(self) -> bool:
        return 0 < len(self.up) == self.led

    def change(self, node: int, up: bool, leader: int | None) -> None:
        """The node is up or not, and follows this leader or none."""
        if node in self.leader:
            self._follow(self.leader.pop(node), -1)
        if up is not (node in self.up):
            self.led += self.followers[node] if up else -self.followers[node]
            self.up ^= {node}
        if leader is not None:
            self.leader[node] = leader
            self._follow(leader, 1)

    def _follow(self, leader: int, more: int) -> None:
        self.followers[leader] += more
        self.led += more if leader in self.up else 0

"""When the system was settled, and which violations a broken assumption excuses.

Settled is the state Assertion 2 promises (GM82 III): every node that is up is Normal under one
and the same coordinator, which is itself up. Rules:

- Settled spans are found on the recorded order, like the cuts.
- A broken A8 or A9 casts a shadow from its start until the system has settled again after its
  end and its last effect (traces.felt), and on one task: a coordinator that missed a node leaves
  it Normal under itself with an old task, and nobody will ever ask. A violation in a shadow is
  excused: Theorem 1 claims nothing there, and Theorem 2 says that nothing could be claimed.

Limits: a shadow is about time, not cause. A violation with another cause in the same shadow is
excused too; a scenario that wants to tell them apart keeps its faults apart.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from traces.chapters import Crash
from traces.events import Became
from traces.lives import History
from traces.verdicts import Break


@dataclass(slots=True)
class Span:
    """Settled from cut `key` (stamp `start`) up to, not including, stamp `end`."""

    key: int
    start: int
    end: int
    coordinator: int


def settled_spans(history: History, on_one_task: bool = False) -> list[Span]:
    """All maximal spans in which the system was settled, in order."""
    up: set[int] = set()
    under: dict[int, tuple[int, str]] = {}  # the coordinator of each Normal node, and the task
    votes: dict[tuple[int, str], int] = {}  # Normal nodes per coordinator and task
    spans: list[Span] = []
    current = nobody = 0, ""
    for key, state in history.steps:
        node = state.node
        if type(state) is Crash:
            up.discard(node)
        else:
            up.add(node)
        old = under.pop(node, None)
        if old is not None:
            votes[old] -= 1
        if type(state) is Became and state.s == "Normal":
            said = under[node] = state.c, state.d if on_one_task else ""
            votes[said] = votes.get(said, 0) + 1
        # If all that are up follow one coordinator and it is up, it follows itself.
        lead = under.get(node) or next(iter(under.values()), nobody)
        good = lead if lead[0] in up and votes[lead] == len(up) else nobody
        if good != current:
            if current[0]:
                spans[-1].end = state.at
            if good[0]:
                spans.append(Span(key, state.at, history.ended + 1, good[0]))
            current = good
    return spans


class Shadows:
    """What the breaks of A8 and A9 excuse."""

    def __init__(self, breaks: list[Break], spans: list[Span]) -> None:
        self.breaks = sorted(breaks, key=lambda b: b.start)
        self.starts = [b.start for b in self.breaks]
        self.spans = spans
        self.keys = [span.key for span in spans]
        # Of the breaks so far the one that ends last has the longest shadow.
        self.longest = list(accumulate(self.breaks, _later_end))

    def excuse(self, key: int, at: int, until: int | None = None) -> Break | None:
        """The break in whose shadow the cut `key` with stamp `at` lies, if any.

        With `until`, the one whose shadow has an instant from there to that later stamp.
        """
        begun = bisect_right(self.starts, at if until is None else until)
        if not begun:
            return None
        cause = self.longest[begun - 1]
        last = bisect_right(self.keys, key) - 1
        if last >= 0 and min(self.spans[last].end, at) > _over(cause):
            return None
        return cause

    def over(self, at: int) -> Break | None:
        """The break in whose shadow the instant `at` lies, if any."""
        last = bisect_right(self.spans, at, key=lambda span: span.start) - 1
        return self.excuse(self.keys[last] if last >= 0 else -1, at)

    def in_force(self, start: int, end: int) -> Break | None:
        """A break that overlaps (start, end) in more than a point."""
        for cause in self.breaks:
            if cause.start < end and cause.end > start:
                return cause
        return None


def _later_end(a: Break, b: Break) -> Break:
    return b if _over(b) >= _over(a) else a


def _over(cause: Break) -> int:
    """A break is over when its cause is gone and nothing more comes of it."""
    return max(cause.end, cause.felt)

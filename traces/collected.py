"""What a node had to count with: the votes on one event, by P1 or P3 (BGS86 2).

Rule: the votes v_k are counted again from the vectors that came in; what the node made of them is
not asked. The *mark* of an entry tells how new it is: the votes themselves in Scenario One, where
they only grow, the version in Scenario Two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Value = dict[str, list[int]]
"""V and N of a node, in the order of the nodes."""
Entry = tuple[int, int]
"""v_k and its mark."""


@dataclass(slots=True)
class Ballot:
    """A collection of votes: where it began, and the votes so far; for an increase, to how many."""

    begun: int
    votes: int = 0
    received: dict[int, tuple[int, Value]] = field(default_factory=dict)  # voter -> (event, ...)

    @property
    def vectors(self) -> dict[int, Value]:
        """The vectors that came in, by whose they are."""
        return {j: value for j, (_, value) in self.received.items()}


def counted(votes: Mapping[int, Value], versions: bool, now: Value | None = None) -> list[Entry]:
    """v_k and its mark for every node k; `now` is what the counting node knows besides."""
    key = "N" if versions else "V"
    v = newest([*votes.values(), *([now] if now else [])], key)  # b)
    for j, value in votes.items():  # a)
        v[j - 1] = value[key][j - 1], value["V"][j - 1]
    return [(count, mark) for mark, count in v]


def aware(i: int, votes: Mapping[int, Value], versions: bool) -> tuple[int, ...]:
    """The newest mark of every node that any vector shows; of its own, what i installed."""
    key = "N" if versions else "V"
    marks = [mark for mark, _ in newest(votes.values(), key)]
    marks[i - 1] = votes[i][key][i - 1]
    return tuple(marks)


def newest(values: Iterable[Value], key: str) -> list[Entry]:
    """The mark and the votes of every node, as the newest of these vectors has them."""
    rows = [zip(it[key], it["V"], strict=True) for it in values]
    return [max(column) for column in zip(*rows, strict=True)]

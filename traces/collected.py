"""What a node had to count with: the votes on one event, by P1 or P3 (BGS86 2).

Rule: the votes v_k are counted again from the vectors that came in; what the node made of them is
not asked. The *mark* of an entry tells how new it is: the votes themselves in Scenario One, where
they only grow, the version in Scenario Two.
"""

from collections.abc import Mapping
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
    known = [*votes.values(), *([now] if now else [])]
    nodes = range(len(known[0]["V"]))
    return [
        _entry(votes[k + 1], k, versions)  # a)
        if k + 1 in votes
        else max((_entry(value, k, versions) for value in known), key=lambda e: e[::-1])  # b)
        for k in nodes
    ]


def aware(i: int, votes: Mapping[int, Value], versions: bool) -> tuple[int, ...]:
    """The newest mark of every node that any vector shows; of its own, what i installed."""
    nodes = range(len(votes[i]["V"]))
    return tuple(
        _entry(votes[i], k, versions)[1]
        if k + 1 == i
        else max(_entry(value, k, versions)[1] for value in votes.values())
        for k in nodes
    )


def _entry(value: Value, k: int, versions: bool) -> Entry:
    return value["V"][k], value["N" if versions else "V"][k]

"""The history of a group as a graph, and its form in a task description (GM82 IV-B).

"A history for a group of nodes contains the group number, the identification number of the
coordinator and all member nodes, plus a history of the previous groups that the nodes
participated in." One word a group, its own first, then its parents, then theirs:

    5.3@5:1-5<2.4,5.2 5.2@5:1-5<1.1,2.1 ...     group 5.3, coordinator 5, members 1 to 5,
                                                which were in 2.4 and 5.2 right before

Rules: a group without parents is one that created the system. A history is cut after
`GENERATIONS`, or where it gets longer than `LONGEST`; then its last word is `+`, and some group
that is named as a parent has no word of its own. So a cut history never looks like a whole one.

Limits: a history travels in one datagram, hence the cut. What is cut off is known to the nodes
only as far as older histories still tell; the trace keeps it all.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from traces.words import numbers

GENERATIONS = 8
LONGEST = 3000  # characters: half of a datagram is left for the rest of the task
CUT = "+"
MARK = " | "  # between the task, what is allowed, and the history


class Group(NamedTuple):
    """One vertex: a group, and the groups its members were in right before."""

    number: str
    coordinator: int
    members: tuple[int, ...]
    parents: tuple[str, ...] = ()

    def __str__(self) -> str:
        parents = ",".join(self.parents)
        return f"{self.number}@{self.coordinator}:{numbers(self.members)}<{parents}"


class Past(NamedTuple):
    """A history as told: its groups by number, the present one first, and whether it is cut."""

    groups: dict[str, Group]
    cut: bool = False

    @property
    def present(self) -> tuple[str, ...]:
        """The group it is the history of; none before there was any."""
        return tuple(self.groups)[:1]


def compiled(group: Group, pasts: Iterable[Past]) -> str:
    """The history of a new group from those its members bring along."""
    known = {number: it for past in pasts for number, it in past.groups.items()}
    kept, length, generation = {group.number: group}, len(str(group)), [group]
    for _ in range(GENERATIONS - 1):
        parents = dict.fromkeys(p for child in generation for p in child.parents)
        generation = [known[p] for p in parents if p in known and p not in kept]
        for parent in generation:
            length += 1 + len(str(parent))
            if length > LONGEST:
                return _told(kept)
            kept[parent.number] = parent
    return _told(kept)


def _told(kept: dict[str, Group]) -> str:
    return " ".join([*map(str, kept.values()), *([CUT] if missing(kept) else [])])


def missing(groups: Mapping[str, Group]) -> list[str]:
    """The parents that have no word of their own."""
    return sorted({p for it in groups.values() for p in it.parents} - set(groups))


def history_in(task: str) -> str:
    """The history in a task description: what comes after its last mark."""
    return task.rpartition(MARK)[2] if MARK in task else ""


def read(text: str) -> Past:
    """A history read back; ValueError when it is none."""
    words = text.split()
    cut = words[-1:] == [CUT]
    groups = [_group(word) for word in (words[:-1] if cut else words)]
    return Past({it.number: it for it in groups}, cut)


def _group(word: str) -> Group:
    number, _, rest = word.partition("@")
    coordinator, _, rest = rest.partition(":")
    members, _, parents = rest.partition("<")
    return Group(
        number, int(coordinator), tuple(_nodes(members)), tuple(filter(None, parents.split(",")))
    )


def _nodes(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


# --- what a history is good for -------------------------------------------------------------


def ancestors(groups: Mapping[str, Group], number: str) -> set[str]:
    """A group and all that came before it, as far as they are known."""
    found, fringe = {number}, [number]
    while fringe:
        it = groups.get(fringe.pop())
        fresh = set(it.parents) - found if it else set()
        found |= fresh
        fringe += fresh
    return found


class Branch(NamedTuple):
    """A line of groups that grew apart from others: the last of it, and all of it."""

    tip: str
    groups: tuple[str, ...]


class Heal(NamedTuple):
    """A group in which branches came together, and the last groups they all come from."""

    group: str
    since: tuple[str, ...]
    branches: tuple[Branch, ...]


def heals(groups: Mapping[str, Group]) -> Iterator[Heal]:
    """Where branches that have a past in common came together again, in the order given.

    GM82 IV-B: "to 'clean up' pending or conflicting work of the previous groups". A group that
    went on while some of its members were elsewhere is a branch of its own.
    """
    past = {number: ancestors(groups, number) for number in groups}
    for number, it in groups.items():
        tips = [p for p in it.parents if p in past]
        common = set.intersection(*(past[p] for p in tips)) if len(tips) > 1 else set()
        if common:
            older = {a for c in common for a in past.get(c, {c}) - {c}}
            branches = (Branch(p, _line(groups, past[p] - (common - {p}))) for p in tips)
            yield Heal(number, tuple(sorted(common - older)), tuple(branches))


def _line(groups: Mapping[str, Group], members: set[str]) -> tuple[str, ...]:
    """The groups of a branch, in the order given."""
    return tuple(number for number in groups if number in members)

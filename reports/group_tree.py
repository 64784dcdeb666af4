"""The group history of a run as a tree, and the branches that grew apart (GM82 IV-B).

Rules: it is the trace's own record (traces.group_history), not what the nodes say. The newest
groups are at the top, under each the groups its members were in right before; a group that was
drawn already is only named. After the tree, each group in which branches with a past in common
came together: since when they were apart, and which versions each of them made meanwhile.

Limits: a run without groups has no tree. What is deeper than `DEEPEST` or comes after `MOST`
groups is counted, not drawn; the record is in the trace.
"""

from collections import defaultdict
from collections.abc import Iterator

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.text import Text
from rich.tree import Tree

from reports.words import indented
from traces.group_history import Groups, groups_of
from traces.group_record import Branch, Group, Heal, ancestors, heals
from traces.lives import History
from traces.restricted import Ledger
from traces.verdicts import many
from traces.words import numbers

DEEPEST, MOST = 8, 40
MOST_HEALS = 10


def group_tree(history: History) -> RenderableType | None:
    """The tree and the branches, if any two nodes ever were in one group."""
    groups = groups_of(history)
    if not any(len(it.members) > 1 for it in groups.records().values()):
        return None
    return Lines(*_Forest(groups, history).trees(), *branches(history, groups))


def branches(history: History, groups: Groups | None = None) -> Iterator[RenderableType]:
    """For every heal a line, and one for each branch that it joined."""
    groups = groups or groups_of(history)
    made = _made(history)
    found = list(heals(groups.records()))
    for heal in found[-MOST_HEALS:]:
        since = " and ".join(heal.since)
        words = f"group {heal.group} joined {many(len(heal.branches), 'branch')}"
        yield Text(f"{words.replace('branchs', 'branches')}, apart since group {since}:")
        for branch in heal.branches:
            yield indented(_branch(groups, heal, branch, made))
    if len(found) > MOST_HEALS:
        yield Text(f"and {many(len(found) - MOST_HEALS, 'earlier time')}")


def _branch(groups: Groups, heal: Heal, branch: Branch, made: dict[str, list[int]]) -> str:
    """`nodes 1-2: groups 1.2 2.2 2.3, made no version`."""
    came = groups.vertices[heal.group].through(branch.tip)
    nodes = f"node{'s' if len(came) > 1 else ''} {numbers(came)}"
    versions = _versions([version for number in branch.groups for version in made[number]])
    if branch.tip in heal.since:
        return f"{nodes}: stayed in group {branch.tip}, which made {versions}"
    line = f"group{'s' if len(branch.groups) > 1 else ''} {' '.join(branch.groups)}"
    return f"{nodes}: {line}, made {versions}"


def _versions(versions: list[int]) -> str:
    if not versions:
        return "no version"
    return f"version{'s' if len(versions) > 1 else ''} {numbers(versions)}"


def _made(history: History) -> dict[str, list[int]]:
    """The versions each group made."""
    made: defaultdict[str, list[int]] = defaultdict(list)
    for it in Ledger(history).performed():
        made[it.group].append(it.version)
    return made


class _Forest:
    """The trees of the groups that nothing came after."""

    def __init__(self, groups: Groups, history: History) -> None:
        self.records, self.made = groups.records(), _made(history)
        self.age = {number: k for k, number in enumerate(self.records)}
        self.drawn: set[str] = set()

    def trees(self) -> Iterator[RenderableType]:
        older = {parent for it in self.records.values() for parent in it.parents}
        for number in self._newest(set(self.records) - older):
            tree = Tree(self._words(self.records[number]))
            self._grow(tree, self.records[number], 1)
            yield tree
        left = len(self.records) - len(self.drawn)
        if left:
            yield Text(f"and {many(left, 'earlier group')} in the trace")

    def _newest(self, known: set[str]) -> list[str]:
        return sorted(known & set(self.age), key=self.age.__getitem__, reverse=True)

    def _grow(self, tree: Tree, group: Group, depth: int) -> None:
        self.drawn.add(group.number)
        for number in self._newest(set(group.parents)):
            if number in self.drawn:
                tree.add(Text(f"{number} (above)", style="dim"))
            elif depth >= DEEPEST or len(self.drawn) >= MOST:
                before = many(len(ancestors(self.records, number)), "group")
                tree.add(Text(f"{number}: {before} back to the beginning", style="dim"))
            else:
                it = self.records[number]
                self._grow(tree.add(self._words(it)), it, depth + 1)

    def _words(self, it: Group) -> Text:
        alone = len(it.members) == 1
        who = (
            f"node {it.coordinator} alone"
            if alone
            else f"{numbers(it.members)} under {it.coordinator}"
        )
        versions = f", made {_versions(self.made[it.number])}" if self.made[it.number] else ""
        return Text.assemble((it.number, "bold"), f"  {who}{versions}")

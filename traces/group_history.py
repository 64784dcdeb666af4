"""GM82-GH: the trace's own record of groups, and the histories in the tasks judged by it.

Rules, all from the state vectors a trace shows:

- A node *takes the number* of a group when S(i).g changes to it, and *takes part* in the group
  from the change that gives it the group's task: it becomes Normal in it, or, being its
  coordinator, it computes S(i).d. What it took part in before is the group's parent through it.
- A group's coordinator is the node that has S(i).c = i under that number. Its members are the
  coordinator and its Up when it leaves Election: the nodes whose Accept it counted. One that
  accepted is a member even if it never heard Ready.
- A change that was the last line of a life may never have reached its cell. The next life loads
  S(i) as it was, and the record goes on from there (GM82 II, Assumption 4).
- When a node becomes Normal the history in its task must begin with its own group, name the
  node a member, and give each group its coordinator, its members and its parents as recorded.
  Every parent has a record of its own unless the history says that it is cut; what is cut off
  is neither wrong nor there. Every record is of an ancestor.

Limits: a node that accepts, recovers and accepts again into the same group may have brought
either past; both are right. The same wrong history is one case, however many nodes hold it.
"""

from dataclasses import dataclass, field

from traces.assumptions import Finding
from traces.events import Became, Loaded
from traces.group_record import Group, Past, ancestors, history_in, missing, read
from traces.lives import History
from traces.words import numbers


@dataclass(slots=True)
class Vertex:
    """A group as the trace shows it."""

    number: str
    coordinator: int = 0
    members: tuple[int, ...] = ()
    joined: dict[int, list[str]] = field(default_factory=dict)  # who, and coming from where
    born: int = -1  # the event that gave its coordinator the task: from here on it is a group

    def parents(self) -> tuple[str, ...]:
        """The groups its members were in right before; of several joinings the last counts."""
        last = {self.joined[j][-1] for j in self.members if self.joined.get(j)}
        return tuple(sorted(last - {""}))

    def through(self, parent: str) -> tuple[int, ...]:
        """The members that came from there."""
        return tuple(j for j in self.members if self.joined.get(j, [""])[-1] == parent)

    def fits(self, parents: tuple[str, ...]) -> bool:
        """Whether these can be its parents, each through some joining of some member."""
        ways = [set(self.joined.get(j, [""])) for j in self.members]
        return set(parents) <= set().union(*ways) and all(
            way & {*parents, ""} for way in ways
        )  # fmt: skip


@dataclass(slots=True)
class _Mind:
    """Where one node is: its number, the group it takes part in, its task."""

    g: str = ""
    part: str = ""
    d: str = ""


class Groups:
    """The trace's own record of groups, as far as it has been read."""

    def __init__(self) -> None:
        self.vertices: dict[str, Vertex] = {}
        self._now: dict[int, _Mind] = {}
        self._before: dict[int, _Mind] = {}

    def took(self, i: int, event: Became) -> None:
        """One change of a state vector of a node that is in a group."""
        was = self._now.get(event.node, _Mind())
        self._before[event.node] = was
        vertex = self.vertices.setdefault(event.g, Vertex(event.g))
        if event.g != was.g:
            vertex.joined.setdefault(event.node, []).append(was.part)
        tasked = event.s == "Normal" or (event.c == event.node and event.d != was.d)
        self._now[event.node] = _Mind(event.g, event.g if tasked else was.part, event.d)
        if event.c == event.node:
            vertex.coordinator = event.node
            if event.s != "Election" and not vertex.members:
                vertex.members = tuple(sorted({event.node, *event.up}))
        if tasked and vertex.born < 0:
            vertex.born = i

    def found(self, event: Loaded) -> None:
        """S(i) as a new life finds it: without its last change, perhaps."""
        was = self._before.get(event.node)
        now = self._now.get(event.node)
        held = (event.value["g"], event.value["d"]) if isinstance(event.value, dict) else None
        if was and now and held == (was.g, was.d) != (now.g, now.d):
            self._now[event.node] = was

    def records(self) -> dict[str, Group]:
        """Every group that came to be, as its history should tell it, in order of birth."""
        born = sorted((v for v in self.vertices.values() if v.born >= 0), key=lambda v: v.born)
        return {v.number: Group(v.number, v.coordinator, v.members, v.parents()) for v in born}


def groups_of(history: History) -> Groups:
    """The whole record of a run."""
    groups = Groups()
    for i, event in enumerate(history.events):
        if type(event) is Became and event.g:
            groups.took(i, event)
        elif type(event) is Loaded and event.cell == "S":
            groups.found(event)
    return groups


def check_group_history(history: History) -> Finding:
    """Judge each history when a node becomes Normal with it."""
    finding = Finding(history, histories=0, groups=0, cut=0)
    groups = Groups()
    judged: dict[tuple[str, str], set[int]] = {}  # the members that each history names
    for i, event in enumerate(history.events):
        if type(event) is Loaded and event.cell == "S":
            groups.found(event)
        elif type(event) is Became and event.g:
            groups.took(i, event)
            if event.s != "Normal":
                continue
            named = judged.get((event.g, event.d))
            if named is None:
                named = judged[event.g, event.d] = _judge(finding, groups, event)
            if event.node not in named:
                named.add(event.node)
                says = f"node {event.node} is Normal in group {event.g}, and its history does not"
                finding.accuse(f"{says} name it a member", event)
    finding.examined["groups"] = sum(len(it.members) > 1 for it in groups.records().values())
    return finding


def _judge(finding: Finding, groups: Groups, event: Became) -> set[int]:
    """Judge one history; the members it names, or the node itself if it names none."""
    finding.examined["histories"] += 1
    try:
        past = read(history_in(event.d))
    except ValueError:
        past = Past({})
    finding.examined["cut"] += past.cut
    wrong = _wrong_whole(past, event.g) or next(
        filter(None, (_wrong(groups, it) for it in past.groups.values())), ""
    )
    if wrong:
        finding.accuse(f"node {event.node} is Normal in group {event.g}, and {wrong}", event)
    return (
        {*past.groups[event.g].members}
        if event.g in past.groups
        else set(range(1, finding.history.nodes + 1))
    )


def _wrong_whole(past: Past, group: str) -> str:
    """What is wrong with a history by itself."""
    if past.present != (group,):
        of = f"that of {past.present[0]}" if past.present else "no history that can be read"
        return f"its task holds {of}"
    if gone := missing(past.groups) if not past.cut else []:
        return f"its history says nothing of {', '.join(gone)}, and not that it is cut"
    strange = set(past.groups) - ancestors(past.groups, group)
    return f"its history names {', '.join(sorted(strange))}, no ancestor" if strange else ""


def _wrong(groups: Groups, told: Group) -> str:
    """What the trace shows otherwise of one group."""
    shown = groups.vertices.get(told.number)
    if shown is None or not shown.members:
        return f"its history names group {told.number}, which never was"
    if told.coordinator != shown.coordinator:
        return f"its history has {told.coordinator} coordinate {told.number}: {shown.coordinator}"
    if told.members != shown.members:
        are = f"{numbers(told.members)} for {numbers(shown.members)}"
        return f"its history takes the members of {told.number} to be {are}"
    if strangers := set(shown.members) - set(shown.joined):
        return f"its history names {numbers(strangers)} in {told.number}, who never took part"
    if not shown.fits(told.parents):
        were = f"{', '.join(told.parents) or 'none'} for {', '.join(shown.parents()) or 'none'}"
        return f"its history takes the parents of {told.number} to be {were}"
    return ""

"""Restricted operations and the group history: GM82 IV-B, on the Invitation Algorithm.

A restricted operation takes one replicated datum from version v - 1 to v. "If a group is going
to perform the restricted operation, it must have as members a majority of the nodes in the
entire system", and it is performed "with a two phase commit protocol to ensure that the group
still contains a majority of nodes when the operation is actually performed". Rules:

- Reorganization counts the members. S(i).d says whether restricted operations are allowed, and
  holds the history of the group, compiled from what each member brought along with its Accept.
- The coordinator of a majority performs one operation a Check, when it found no group to merge
  with. Two safe cells are all the log there is. `prepared`: the operation this node voted for,
  safe before the vote leaves; the coordinator's own vote is the beginning. `datum`: the newest
  version known to be decided. The decision to commit is that the coordinator's own `datum` is
  replaced; it is safe before anybody is told.
- A node votes for version v in its own group only, holding version v - 1, and not while it is in
  doubt. It is in doubt while `prepared` is newer than `datum`. Abort is presumed: an operation
  its coordinator has neither decided nor under way is aborted, for it will never be decided.
  Operations are named after their group, and no group number is used twice.
- Any decided version v or newer ends a doubt about v, whatever was decided.

Hence no version has two operations. Two majorities share a node, which would have voted for
both. Between its votes its doubt about the first ended: by abort, and then the first was never
decided, or by a decided version v or newer, and then it did not vote for v any more.

Limits: two-phase commit blocks. While the coordinator of an operation is out of reach, and every
node that knows its end, the nodes in doubt do nothing restricted, majority or not.
"""

from collections.abc import Collection
from typing import Any, TypedDict

from nodes.invitation import Invitation
from nodes.protocol import NORMAL, TIMEOUT, UNDEFINED, Call, Procedure, immediate
from nodes.task import shared_out
from traces.group_record import MARK, Group, compiled, history_in, read
from traces.properties import RESTRICTED


class Update(TypedDict):
    """A restricted operation: the version it makes, its name, its group, its coordinator."""

    version: int
    op: str
    group: str
    by: int


UNWRITTEN: Update = {"version": 0, "op": "", "group": "", "by": UNDEFINED}


class Restricted(Invitation):
    """Node i of GM82 Appendix II, in groups that remember and may do restricted operations."""

    claims = RESTRICTED

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.brought: dict[int, str] = {}  # the history of each node that accepted
        self.attempts = 0
        self.under_way = ""  # the operation this node coordinates now

    # --- what is in S(i).d --------------------------------------------------------------------

    def weight(self, members: Collection[int]) -> int:
        """What they count for a majority."""
        return len(members)

    def majority(self, count: int) -> bool:
        """Of all nodes of the system, whose number "is known and constant"."""
        return 2 * count > self.weight(self.nodes)

    def task(self, up: tuple[int, ...]) -> str:
        """The reorganization: the work, what is allowed, and the history of the group."""
        return self.described(self.state.g, up)

    def described(self, group: str, up: tuple[int, ...]) -> str:
        """The task description of a group of this node and those in `up`."""
        allowed = "yes" if self.majority(self.weight((*up, self.i))) else "no"
        parts = (f"{group} {shared_out((*up, self.i))}", f"restricted {allowed}")
        return MARK.join((*parts, self.history_of(group, up)))

    def history_of(self, group: str, up: tuple[int, ...]) -> str:
        """Compile the history graph of a new group (GM82 IV-B)."""
        brought = (history_in(self.state.d), *(self.brought.get(j, "") for j in up))
        pasts = [read(text) for text in brought]
        parents = sorted({number for past in pasts for number in past.present})
        members = tuple(sorted((*up, self.i)))
        return compiled(Group(group, self.i, members, tuple(parents)), pasts)

    def found_own_group(self) -> None:
        """GM82 App. II, Recovery: the group of its own has a history too."""
        group = self.new_group()
        self.become(s=NORMAL, g=group, c=self.i, up=(), d=self.described(group, ()))

    def acceptance(self, gn: str) -> tuple[str, ...]:
        """With its Accept goes the history of this node: S(i).d is still that of its old group."""
        return gn, history_in(self.state.d)

    @immediate("Accept")
    def accept(self, j: int, gn: str, history: str = "") -> bool:
        """GM82 App. II, Accept: node j brings its history along."""
        accepted = super().accept(j, gn)
        if accepted:
            self.brought[j] = history
        return accepted

    # --- the log --------------------------------------------------------------------------------

    @property
    def datum(self) -> Update:
        """The newest version this node knows to be decided."""
        held: Update = self.system.cells.get("datum", UNWRITTEN)
        return held

    def adopt(self, update: Update) -> None:
        """Take over what was decided, unless this node knows of something newer."""
        if update["version"] > self.datum["version"]:
            self.system.store("datum", update)

    def doubt(self) -> Update | None:
        """The operation this node voted for and does not know the end of."""
        vote: Update | None = self.system.cells.get("prepared")
        if vote is None or vote["version"] <= self.datum["version"]:
            return None
        if vote["by"] == self.i and not self.coordinating(vote):
            return None  # its own, which was never decided: aborted
        return vote

    def coordinating(self, vote: Update) -> bool:
        """Whether this node may still decide it. STOP ends that, for it always ends the group."""
        mine = self.coordinates() and self.state.g == vote["group"]
        return mine and self.under_way == vote["op"]

    # --- two-phase commit -----------------------------------------------------------------------

    def check(self) -> Procedure:
        """GM82 App. II, Check; then what is in doubt, then one operation if it is allowed."""
        yield super().check()
        if self.state.s == NORMAL and self.doubt():
            yield self.inquire()
        if self.coordinates() and not self.doubt() and self.due():
            yield self.operate()

    def due(self) -> bool:
        """Whether to perform an operation now: whenever it is allowed."""
        return self.majority(self.weight((*self.state.up, self.i)))

    def next_update(self, base: Update) -> Update:
        """The operation that comes after `base`."""
        group, op = self.state.g, self.under_way
        return {"version": base["version"] + 1, "op": op, "group": group, "by": self.i}

    def operate(self) -> Procedure:
        """Perform one operation, if a majority of all nodes still votes for it."""
        base, group, asked, votes = self.datum, self.state.g, [], self.weight((self.i,))
        self.attempts += 1
        self.under_way = f"{group}/{self.attempts}"
        new = self.next_update(base)
        self.system.store("prepared", new)
        for j in self.state.up:
            answer = yield Call(j, "Prepare", (group, base, new))
            if isinstance(answer, dict):  # j knows of a newer version
                self.adopt(answer)  # type: ignore[arg-type]
                break
            if answer is TIMEOUT or answer:  # who did not answer may have voted
                asked.append(j)
            votes += self.weight((j,)) if answer is True else 0
        commit = self.majority(votes) and self.datum == base
        if commit:
            self.adopt(new)  # the decision
        self.under_way = ""
        for j in asked:
            yield Call(j, "Commit" if commit else "Abort", (new,))

    @immediate("Prepare")
    def prepare(self, j: int, gn: str, base: Update, new: Update) -> bool | Update:
        """Coordinator j of group gn holds `base`, and asks for a vote on the next version."""
        if self.state.s != NORMAL or self.state.g != gn:
            return False
        self.adopt(base)
        if self.datum["version"] > base["version"]:
            return self.datum
        if self.doubt():
            return False
        self.system.store("prepared", new)
        return True

    @immediate("Commit")
    def commit(self, j: int, new: Update) -> None:
        """It is decided, whichever group this node is in by now."""
        self.adopt(new)

    @immediate("Abort")
    def abort(self, j: int, new: Update) -> None:
        """It will never be decided."""
        self.forget(new)

    def forget(self, vote: Update) -> None:
        """Take back a vote for what was aborted."""
        if self.doubt() == vote:
            self.system.store("prepared", None)

    def inquire(self) -> Procedure:
        """Ask how the operation in doubt ended: its coordinator first, then whoever may know."""
        vote = self.doubt()
        assert vote is not None
        for j in sorted(self.others, key=lambda j: j != vote["by"]):
            answer = yield Call(j, "Inquiry", (vote,))
            if isinstance(answer, dict):
                self.adopt(answer)  # type: ignore[arg-type]
            elif answer is False:
                self.forget(vote)
            if self.doubt() != vote or (j == vote["by"] and answer is None):
                return  # it is known, or it is under way

    @immediate("Inquiry")
    def inquiry(self, j: int, vote: Update) -> bool | Update | None:
        """What this node knows of it: a version as new, No (aborted), or nothing."""
        if self.datum["version"] >= vote["version"]:
            return self.datum
        return False if vote["by"] == self.i and not self.coordinating(vote) else None

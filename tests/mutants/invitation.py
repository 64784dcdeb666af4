"""Invitations that are wrong in one place each; only A1-A7 are assumed."""

from typing import Any

from nodes.invitation import Invitation
from nodes.protocol import (
    ELECTION,
    NORMAL,
    REORGANIZATION,
    TIMEOUT,
    Call,
    Procedure,
    Wait,
    immediate,
    procedure,
)
from nodes.task import shared_out

# --- group numbers ------------------------------------------------------------------------------


class ForgetfulCounter(Invitation):
    """Counts its groups in memory: after a crash the same number is another group (A4)."""

    counter = 0

    def new_group(self) -> str:
        """Without the safe cell."""
        self.counter += 1
        return f"{self.i}.{self.counter}"


class NamelessNumber(Invitation):
    """A group number without the name of the node: two nodes count to the same one."""

    def new_group(self) -> str:
        """The counter alone."""
        return super().new_group().partition(".")[2]


class RecoveryInTheOldGroup(Invitation):
    """Recovery without a new number: alone, but in the group that others are still in."""

    def found_own_group(self) -> None:
        """S(i).counter stays as it is, if it ever was anything."""
        group = self.state.g or self.new_group()
        self.become(s=NORMAL, g=group, c=self.i, up=(), d=f"{group} {shared_out((self.i,))}")


class MergeInTheOldGroup(Invitation):
    """Merge without a new number: who cannot be invited is still in the group, on its old task."""

    merging = False

    def merge(self, coordinators: tuple[int, ...]) -> Procedure:
        """The same, but `new_group` gives the number there is."""
        self.merging = True
        return super().merge(coordinators)

    def new_group(self) -> str:
        """Only Recovery makes a number."""
        keep, self.merging = self.merging, False
        return self.state.g if keep else super().new_group()


class GroupBeforeCoordinator(Invitation):
    """Takes the new group's number when it is invited, and its coordinator only with Ready."""

    invited_by = 0

    def become(self, **changes: Any) -> None:
        """Without `S(i).c := j` in Invitation."""
        if changes.get("s") == ELECTION and changes.get("c", self.i) != self.i:
            self.invited_by = changes.pop("c")
        elif changes.get("s") == NORMAL and "c" not in changes and self.invited_by:
            changes["c"], self.invited_by = self.invited_by, 0
        super().become(**changes)


# --- the task -----------------------------------------------------------------------------------


class ChangedTask(Invitation):
    """Computes the task once more on the way to Normal: its members work on another one."""

    def become(self, **changes: Any) -> None:
        """Change S(i).d after Ready."""
        if changes == {"s": NORMAL}:
            changes["d"] = f"{self.state.g}! {shared_out((*self.state.up, self.i))}"
        super().become(**changes)


class EarlyTask(Invitation):
    """Gives out the task before all have accepted: each member knows the team so far."""

    def merge(self, coordinators: tuple[int, ...]) -> Procedure:
        """Ready right after each Invitation."""
        self.stop()
        members = self.state.up
        self.become(s=ELECTION, g=self.new_group(), c=self.i, up=())
        for j in (*coordinators, *members):
            yield Call(j, "Invitation", (self.i, self.state.g))
            if j in self.state.up:
                yield Call(j, "Ready", (self.state.g, self.task(self.state.up)))
        yield Wait(self.system.timing.t_ms)
        self.become(s=REORGANIZATION)
        self.become(d=self.task(self.state.up))
        self.become(s=NORMAL)


class ReadyOfAnyGroup(Invitation):
    """Ready without the check of the group: the task of another group is taken for its own."""

    @immediate("Ready")
    def ready(self, j: int, gn: str, x: str) -> bool:
        """Without `S(i).g = gn`."""
        if self.state.s == REORGANIZATION:
            self.become(d=x, s=NORMAL)
            return True
        return False


# --- who is in a group --------------------------------------------------------------------------


class AlwaysThere(Invitation):
    """AreYouThere looks at neither the group nor Up: who was forgotten waits for ever."""

    @immediate("AreYouThere")
    def are_you_there(self, j: int, gn: str) -> bool:
        """Without `S(i).g = gn AND j IN S(i).Up`."""
        return True


class Faithful(Invitation):
    """Timeout that does nothing: a member follows a coordinator that crashed long ago."""

    def timeout(self) -> Procedure:
        """Without the question."""
        return
        yield


class Unsociable(Invitation):
    """Declines every invitation: groups never merge."""

    @procedure("Invitation")
    def invitation(self, caller: int, j: int, gn: str) -> Procedure:
        """Always "decline"."""
        return
        yield


class NeverDeclines(Invitation):
    """Invitation accepted also when the node is not Normal: two coordinators that do not reach
    each other take each other's new members away, again and again.
    """

    @procedure("Invitation")
    def invitation(self, caller: int, j: int, gn: str) -> Procedure:
        """Without `IF S(i).s <> "Normal" THEN RETURN`."""
        self.stop()
        coordinator, members = self.state.c, self.state.up
        self.become(s=ELECTION, c=j, g=gn)
        if coordinator == self.i:
            for k in members:
                yield Call(k, "Invitation", (j, gn))
        accepted = yield Call(j, "Accept", (gn,))
        if accepted is TIMEOUT or not accepted:
            yield self.recovery()
            return
        self.become(s=REORGANIZATION)


class HearsAnyGroup(Invitation):
    """Takes every word of its coordinator for a sign of life, also one from another group."""

    def heard(self, kind: str, args: tuple[object, ...]) -> bool:
        """Without the group number that is appended to each call message."""
        return True


class NoForwarding(Invitation):
    """A coordinator that is invited does not forward the invitation to its old members.

    They find out, by a Timeout and one CALL. But c has one Timeout for all: who was let go in a
    merge that came after somebody's Timeout waits for a second one.
    """

    @procedure("Invitation")
    def invitation(self, caller: int, j: int, gn: str) -> Procedure:
        """Without the loop over Up."""
        if self.state.s != NORMAL:
            return
        self.stop()
        self.become(s=ELECTION, c=j, g=gn)
        accepted = yield Call(j, "Accept", (gn,))
        if accepted is TIMEOUT or not accepted:
            yield self.recovery()
            return
        self.become(s=REORGANIZATION)


# --- equivalent ---------------------------------------------------------------------------------


class ReadyAtAnyTime(Invitation):
    """Ready without the check of the status.

    Equivalent inside the assumptions. With S(i).g = gn node i took S(i).c with gn, and x is the
    only task that is ever given out in gn (a coordinator that merges again takes a new number),
    so GM82-3 holds whatever S(i).s was. i is in Up because its Accept came, and by Assumption 7
    the answer to that comes before Ready or not at all: a status other than Reorganization means
    that the answer was lost, and then the CALL of Accept times out and i calls Recovery as it
    would have done. Nothing is lost from a stable period on.
    """

    @immediate("Ready")
    def ready(self, j: int, gn: str, x: str) -> bool:
        """Without `S(i).s = "Reorganization"`."""
        if self.state.g == gn:
            self.become(d=x, s=NORMAL)
            return True
        return False


class ThereForAnyGroup(Invitation):
    """AreYouThere that ignores the group.

    Equivalent inside the assumptions. j asks i only while S(j).c = i, and is in S(i).Up only
    since its Accept of S(i).g: i empties Up with every number it makes. S(j).g has changed since
    only by another invitation of i. One to a newer group has emptied Up again. One to an older
    group, which a slow node passed on, puts j in Election; its CALL of Accept is refused or
    times out, so j calls Recovery whatever AreYouThere says. (If i itself takes an older number
    of its own, as in `invited-to-its-own-group`, it is stuck with either answer.) So where the
    answers differ, nothing comes of it.
    """

    @immediate("AreYouThere")
    def are_you_there(self, j: int, gn: str) -> bool:
        """Without `S(i).g = gn`."""
        return self.state.c == self.i and j in self.state.up

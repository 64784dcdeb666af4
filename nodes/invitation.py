"""The Invitation Algorithm: GM82 Appendix II (CJ97 listings 10.22-10.28).

Assumes A1-A7 only: a CALL that times out says nothing about the node that was called. So nodes
form groups, and what they must agree on they agree on within a group. A group number is never
used twice: it is the node's name and a count from a safe cell, stored before the number is used.
Where GM82 and CJ97 differ, Accept and Ready answer as in CJ97, so that a node that is refused
knows at once. The highest number has the highest priority. nodes.variants has what CJ97 would
improve.
"""

from nodes.protocol import (
    ELECTION,
    NORMAL,
    REORGANIZATION,
    TIMEOUT,
    Call,
    Procedure,
    Protocol,
    Wait,
    immediate,
    procedure,
)  # fmt: skip
from nodes.task import shared_out
from traces.properties import ASYNCHRONOUS


class Invitation(Protocol):
    """Node i of GM82 Appendix II."""

    claims = ASYNCHRONOUS

    def new_group(self) -> str:
        """S(i).counter := S(i).counter + 1; i CONCATENATED S(i).counter."""
        counter = self.system.cells.get("counter", 0) + 1
        self.system.store("counter", counter)
        return f"{self.i}.{counter}"

    def task(self, up: tuple[int, ...]) -> str:
        """The task description of the group that is being made; its number is in the head."""
        return f"{self.state.g} {shared_out((*up, self.i))}"

    def rank(self, j: int) -> int:
        """The priority of node j (GM82: the highest number has the highest)."""
        return j

    def check(self) -> Procedure:
        """GM82 App. II, Check; CJ97 listing 10.23: look for other groups to merge with."""
        if not self.coordinates():
            return
        answers = yield self.answers()
        found = tuple(j for j, answer in answers.items() if answer is True)
        if not found:
            return
        behind = max(map(self.rank, found)) - self.rank(self.i)
        if behind > 0:
            # The node of highest priority may organize a merge first. "For example [...] i can
            # wait for at least 2P seconds" (Theorem A4), P the time between two Checks.
            yield Wait(2 * self.system.timing.check_ms * behind)
        yield self.merge(found)

    def answers(self) -> Procedure:
        """What each other node says when it is asked whether it is a coordinator."""
        answers: dict[int, object] = {}
        for j in self.others:
            answers[j] = yield Call(j, "AreYouCoordinator", (self.state.g,))
        return answers

    def heard(self, kind: str, args: tuple[object, ...]) -> bool:
        """GM82 App. II: "the group number of the calling node is appended to each call message".

        A coordinator that has left its group still asks around. To those it left behind that is
        no word of their coordinator: Timeout must tell them.
        """
        return kind != "AreYouCoordinator" or args == (self.state.g,)

    def timeout(self) -> Procedure:
        """GM82 App. II, Timeout; CJ97 listing 10.24: the coordinator was not heard for long."""
        mine, group = self.state.c, self.state.g
        if mine == self.i:
            return
        answer = yield Call(mine, "AreYouThere", (group,))
        if answer is TIMEOUT or not answer:
            yield self.recovery()

    def merge(self, coordinators: tuple[int, ...]) -> Procedure:
        """GM82 App. II, Merge; CJ97 listing 10.26: form a new group and invite others to it."""
        self.stop()
        members = self.state.up
        self.become(s=ELECTION, g=self.new_group(), c=self.i, up=())
        for j in (*coordinators, *members):
            yield Call(j, "Invitation", (self.i, self.state.g))
        # "Wait a reasonable time for accept messages to come in" (CJ97: T).
        yield Wait(self.system.timing.t_ms)
        self.become(s=REORGANIZATION)
        # The reorganization of the group with members S(i).Up occurs here.
        self.become(d=self.task(self.state.up))
        for j in self.state.up:
            answer = yield Call(j, "Ready", (self.state.g, self.state.d))
            if answer is TIMEOUT or not answer:  # CJ97: a member that is no longer in the group
                yield self.recovery()
                return
        self.become(s=NORMAL)

    @procedure("Invitation")
    def invitation(self, caller: int, j: int, gn: str) -> Procedure:
        """GM82 App. II, Invitation; CJ97 listing 10.27: node j invites this one to group gn."""
        if self.state.s != NORMAL:
            return  # decline
        self.stop()
        coordinator, members = self.state.c, self.state.up
        self.become(s=ELECTION, c=j, g=gn)
        if coordinator == self.i:  # forward the invitation to my old members
            for k in members:
                yield Call(k, "Invitation", (j, gn))
        accepted = yield Call(j, "Accept", self.acceptance(gn))
        if accepted is TIMEOUT or not accepted:
            yield self.recovery()
            return
        self.become(s=REORGANIZATION)

    def acceptance(self, gn: str) -> tuple[str, ...]:
        """What an Accept says: the group that is joined."""
        return (gn,)

    @immediate("Accept")
    def accept(self, j: int, gn: str) -> bool:
        """GM82 App. II, Accept; CJ97 listing 10.28: node j has accepted to join group gn."""
        if self.state.s == ELECTION and self.state.g == gn and self.state.c == self.i:
            if j not in self.state.up:
                self.become(up=(*self.state.up, j))
            return True
        return False

    @immediate("Ready")
    def ready(self, j: int, gn: str, x: str) -> bool:
        """GM82 App. II, Ready; CJ97 listing 10.28: coordinator j gives out the task x of gn."""
        if self.state.s == REORGANIZATION and self.state.g == gn:
            self.become(d=x, s=NORMAL)
            return True
        return False

    @immediate("AreYouCoordinator")
    def are_you_coordinator(self, j: int, gn: str) -> object:
        """GM82 App. II, AreYouCoordinator."""
        return self.coordinates()

    @immediate("AreYouThere")
    def are_you_there(self, j: int, gn: str) -> bool:
        """GM82 App. II, AreYouThere: is this the coordinator of gn, and j a member to it?"""
        return self.state.g == gn and self.state.c == self.i and j in self.state.up

    def coordinates(self) -> bool:
        """Whether this node is a coordinator in normal state."""
        return self.state.s == NORMAL and self.state.c == self.i

    def recovery(self) -> Procedure:
        """GM82 App. II, Recovery; CJ97 listing 10.25: a group of its own."""
        self.stop()
        self.found_own_group()
        return
        yield  # a procedure, though it has no CALL

    def found_own_group(self) -> None:
        """[[ ... ]] of Recovery: Election, Reorganization and Normal at one instant."""
        group = self.new_group()
        task = f"{group} {shared_out((self.i,))}"
        self.become(s=NORMAL, g=group, c=self.i, up=(), d=task)

"""The Bully Algorithm: GM82 Appendix I (CJ97 listings 10.16-10.21).

Assumes A1-A9. The highest number has the highest priority. Each procedure cites its listing;
the double brackets of the paper are calls of `become`. CJ97 sends its questions side by side,
GM82 one CALL after the other: this is GM82.
"""

from typing import Any

from nodes.protocol import (
    DOWN,
    ELECTION,
    NORMAL,
    REORGANIZATION,
    TIMEOUT,
    UNDEFINED,
    Call,
    Procedure,
    Protocol,
    immediate,
)  # fmt: skip
from nodes.task import shared_out


class Bully(Protocol):
    """Node i of GM82 Appendix I."""

    elections = 0  # in this life: makes each task description unlike every other

    @immediate("AreYouThere")
    def are_you_there(self, j: int) -> None:
        """GM82 App. I, AreYouThere: nothing is actually done at node i."""

    @immediate("AreYouNormal")
    def are_you_normal(self, j: int) -> bool:
        """GM82 App. I, AreYouNormal."""
        return self.state.s == NORMAL

    @immediate("Halt")
    def halt(self, j: int) -> None:
        """GM82 App. I, Halt: node j is trying to become coordinator."""
        self.become(s=ELECTION, h=j)
        self.stop()

    @immediate("NewCoordinator")
    def new_coordinator(self, j: int) -> None:
        """GM82 App. I, NewCoordinator: only the node that halted this one last may say so."""
        if self.state.h == j and self.state.s == ELECTION:
            self.become(c=j, s=REORGANIZATION)

    @immediate("Ready")
    def ready(self, j: int, x: str) -> None:
        """GM82 App. I, Ready: coordinator j distributes the new task description x."""
        if self.state.c == j and self.state.s == REORGANIZATION:
            self.become(d=x, s=NORMAL)

    def election(self) -> Procedure:
        """GM82 App. I, Election; CJ97 listing 10.20, cuts c1-c4 of Fig. 10.8."""
        for j in (j for j in self.nodes if j > self.i):
            if (yield Call(j, "AreYouThere")) is not TIMEOUT:
                return  # a node of higher priority is up: let it win
        # c1. Halt all nodes of lower priority, starting with this one.
        self.stop()
        self.become(s=ELECTION, h=self.i, up=())
        for j in (j for j in reversed(self.nodes) if j < self.i):
            if (yield Call(j, "Halt")) is not TIMEOUT:
                self.become(up=(*self.state.up, j))
        # c2, the "election point". Inform the nodes of their new coordinator.
        self.become(c=self.i, s=REORGANIZATION)
        for j in self.state.up:
            if (yield Call(j, "NewCoordinator")) is TIMEOUT:
                yield self.election()  # node j failed: the simplest thing is to restart
                return
        # c3. The reorganization of the system occurs here.
        self.become(d=self.task())
        for j in self.state.up:
            if (yield Call(j, "Ready", (self.state.d,))) is TIMEOUT:
                yield self.election()
                return
        # c4
        self.become(s=NORMAL)

    def task(self) -> str:
        """The new task description: who does which pieces of the work (GM82 II, S(i).d).

        Its head (node, life, election) makes it unlike any other task ever given out, so that
        GM82-1b is about the very same task, not one that happens to look the same.
        """
        self.elections += 1
        team = shared_out((*self.state.up, self.i))
        return f"{self.i}.{self.system.inc}.{self.elections} {team}"

    def recovery(self) -> Procedure:
        """GM82 App. I, Recovery; Down until the election begins (GM82 II)."""
        self.become(s=DOWN, h=UNDEFINED)
        yield self.election()

    def check(self) -> Procedure:
        """GM82 App. I, Check: a coordinator asks whether everyone else is normal."""
        if self.state.s == NORMAL and self.state.c == self.i:
            for j in self.others:
                answer: Any = yield Call(j, "AreYouNormal")
                if answer is not TIMEOUT and not answer:
                    yield self.election()
                    return

    def timeout(self) -> Procedure:
        """GM82 App. I, Timeout: the coordinator was not heard for a long time."""
        if self.state.s in (NORMAL, REORGANIZATION):
            if (yield Call(self.state.c, "AreYouThere")) is TIMEOUT:
                yield self.election()
        else:
            yield self.election()

"""Bullies that are wrong in one place each.

Each must be judged `violated` by some scenario in which every assumption about the environment
holds.
"""

from typing import Any

from nodes.bully import Bully
from nodes.kernel import Carried, Kernel
from nodes.protocol import (
    ELECTION,
    NORMAL,
    REORGANIZATION,
    TIMEOUT,
    UNDEFINED,
    Call,
    Procedure,
    immediate,
)
from nodes.wire import Message
from traces.run import Timing


class OneStep(Bully):
    """Announces itself in one step, without Halt (GM82 III-A says why there are two)."""

    def election(self) -> Procedure:
        """Election without its second FOR loop."""
        for j in (j for j in self.nodes if j > self.i):
            if (yield Call(j, "AreYouThere")) is not TIMEOUT:
                return
        self.stop()
        self.become(s=REORGANIZATION, c=self.i, h=self.i, up=())
        for j in (j for j in reversed(self.nodes) if j < self.i):
            if (yield Call(j, "NewCoordinator")) is not TIMEOUT:
                self.become(up=(*self.state.up, j))
        self.become(d=self.task())
        for j in self.state.up:
            yield Call(j, "Ready", (self.state.d,))
        self.become(s=NORMAL)

    @immediate("NewCoordinator")
    def new_coordinator(self, j: int) -> None:
        """Believe it at once."""
        self.become(c=j, s=REORGANIZATION)


class AnyHalter(Bully):
    """NewCoordinator does not check h: a message of an election that was halted still counts."""

    @immediate("NewCoordinator")
    def new_coordinator(self, j: int) -> None:
        """Without `S(i).h = j`."""
        if self.state.s == ELECTION:
            self.become(c=j, s=REORGANIZATION)


class _DeafToStop(Kernel):
    def stop(self) -> None:
        """Leave every process alive."""


class SurvivingElection(Bully):
    """CALL STOP leaves a running Election alive."""

    kernel = _DeafToStop


class EagerReady(Bully):
    """Sends Ready to the first node before NewCoordinator to the next (breaks cut c3)."""

    def election(self) -> Procedure:
        """Election with its last two FOR loops made one."""
        for j in (j for j in self.nodes if j > self.i):
            if (yield Call(j, "AreYouThere")) is not TIMEOUT:
                return
        self.stop()
        self.become(s=ELECTION, h=self.i, up=())
        for j in (j for j in reversed(self.nodes) if j < self.i):
            if (yield Call(j, "Halt")) is not TIMEOUT:
                self.become(up=(*self.state.up, j))
        self.become(c=self.i, s=REORGANIZATION)
        self.become(d=self.task())
        for j in self.state.up:
            for call in (Call(j, "NewCoordinator"), Call(j, "Ready", (self.state.d,))):
                if (yield call) is TIMEOUT:
                    yield self.election()
                    return
        self.become(s=NORMAL)


class NeverDown(Bully):
    """Recovery skips Down: the node goes on in the state its safe cells remember."""

    def recovery(self) -> Procedure:
        """Without `S(i).s := "Down"`."""
        self.become(h=UNDEFINED)
        yield self.election()


class _NoOrder(Kernel):
    def receive(self, now: int, src: int, message: Carried) -> None:
        """Forget what was seen before, so that nothing is ever late."""
        self._seen[src] = 0
        super().receive(now, src, message)


class NoFifo(Bully):
    """Processes messages in whatever order they arrive, and as often (Assumption 7)."""

    kernel = _NoOrder


class ChangedTask(Bully):
    """Changes the task description after Ready: the coordinator works on another one."""

    def become(self, **changes: Any) -> None:
        """Compute the task once more on the way to Normal."""
        if changes == {"s": NORMAL}:
            changes["d"] = self.task()
        super().become(**changes)


class _Hasty(Kernel):
    def __init__(
        self, i: int, inc: int, nodes: Any, protocol: Any, timing: Timing, *rest: Any, **more: Any
    ):
        super().__init__(i, inc, nodes, protocol, timing, *rest, **more)
        self._t = round(timing.t_p_ms * 1_000_000)


class HastyTimeout(Bully):
    """Takes T for T_p: a node that answers in time, over slow links, is taken for dead."""

    kernel = _Hasty


class HalfMade(Bully):
    """Changes the status before the coordinator: `[[ ]]` shows a half-made state vector."""

    @immediate("NewCoordinator")
    def new_coordinator(self, j: int) -> None:
        """Two changes where the listing has one."""
        if self.state.h == j and self.state.s == ELECTION:
            self.become(s=REORGANIZATION)
            self.become(c=j)


class _Forgetful(Kernel):
    def __init__(
        self, i: int, inc: int, nodes: Any, protocol: Any, timing: Timing, cells: Any,
        *rest: Any, **more: Any,
    ):  # fmt: skip
        super().__init__(i, inc, nodes, protocol, timing, cells, *rest, **more)
        self._found = {cell: value for cell, value in cells.items() if cell != "calls"}


class ForgetfulCalls(Bully):
    """Numbers its calls from 1 in every life, as if no safe cell kept them (Assumption 4)."""

    kernel = _Forgetful


class DeadCandidate(Bully):
    """Counts every lower node as up, answered or not: its election never ends (GM82-2)."""

    def election(self) -> Procedure:
        """Election without the ONTIMEOUT of Halt."""
        for j in (j for j in self.nodes if j > self.i):
            if (yield Call(j, "AreYouThere")) is not TIMEOUT:
                return
        self.stop()
        self.become(s=ELECTION, h=self.i, up=())
        for j in (j for j in reversed(self.nodes) if j < self.i):
            yield Call(j, "Halt")
            self.become(up=(*self.state.up, j))
        self.become(c=self.i, s=REORGANIZATION)
        for j in self.state.up:
            if (yield Call(j, "NewCoordinator")) is TIMEOUT:
                yield self.election()
                return
        self.become(d=self.task())
        for j in self.state.up:
            yield Call(j, "Ready", (self.state.d,))
        self.become(s=NORMAL)


class _LateAnswers(Kernel):
    def _answered(self, src: int, message: Carried) -> None:
        for _, call, request in self._expiry:
            if message.call not in self._waiting and call in self._waiting and request.to == src:
                message = Message(0, src, message.inc, message.m, "", True, call, message.args)
        super()._answered(src, message)


class LateAnswer(Bully):
    """Uses the late answer of a timed-out CALL for the CALL it waits for now.

    Inside the assumptions a node that is up answers before its caller's time-out. What comes late
    is an answer to a CALL of a former life: the highest node, back at once, takes the one to its
    old Ready for one to its new Halt, and believes itself at c2 while a node is still Normal.
    """

    kernel = _LateAnswers

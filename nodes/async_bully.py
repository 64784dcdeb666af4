"""The Asynchronous Bully Algorithm: S97 Figure 3, for systems where detectors raise false alarms.

Assumes A1-A7 only; the lowest number has the highest priority. An election identifier is a group
number too (S97 7), so nodes agree on a leader within one group. AsyncBully has the detector that
section 7 counts with, "I'm alive"; any other will do. What Figure 1 has in the same words is in
nodes.stoller.
"""

from typing import ClassVar

from nodes.attendance import Ring
from nodes.detectors import Detector, Heartbeat, Piggyback, Ping
from nodes.protocol import on
from nodes.stoller import ELEC2, NORM, WAIT, StollerBully, Tasks, starter
from traces.properties import STOLLER_ASYNCHRONOUS


class AsyncBully(StollerBully):
    """Node i of S97 Fig. 3, with "I'm alive"."""

    claims = STOLLER_ASYNCHRONOUS
    detector: ClassVar[type[Detector]] = Heartbeat

    @on("Halt")
    def halt(self, j: int, t: str) -> None:
        """S97 Fig. 3, On <Halt, t> from j: no election may give it a lower-priority leader."""
        s, ldr, elid = self.state.s, self.state.c, self.state.g
        if (s == NORM and ldr < j) or (s == WAIT and starter(elid) < j):
            self.send("Rej", t, to=(j,))
        else:
            self.halting(t, j)

    def halting(self, t: str, j: int) -> None:
        """S97 Fig. 3, Halting: who is led by this node must find another leader."""
        self.fd.play_dead(*self.greater)
        self.fd.start(j)
        self.become(g=t, s=WAIT)
        self.send("Ack", t, to=(j,))

    def down_sig(self, j: int) -> None:
        """S97 Fig. 3, On <DownSig, j>."""
        s = self.state.s
        if (s == NORM and j == self.state.c) or (s == WAIT and j == starter(self.state.g)):
            self.start_stage2()
        elif s == ELEC2 and j == self.pendack:
            self.contin_stage2()

    def start_stage2(self) -> None:
        """S97 Fig. 3, StartStage2."""
        self.fd.play_alive(*self.greater)
        self.become(g=self.new_elid(), s=ELEC2)
        self.acks = ()
        self.pendack = self.i
        self.contin_stage2()

    def start_election(self) -> None:
        """Stage 1 is omitted, "because of the weaker safety requirement" (S97 7)."""
        self.start_stage2()

    @on("Rej")
    def rej(self, j: int, t: str) -> None:
        """S97 Fig. 3, On <Rej, t> from j."""
        if self.state.s == ELEC2 and j == self.pendack:
            self.contin_stage2()

    @on("Norm?")
    def norm(self, j: int, t: str) -> None:
        """S97 Fig. 3, On <Norm?, t> from j: would an election by j do this node any good?"""
        s, ldr, elid = self.state.s, self.state.c, self.state.g
        if (s != NORM and j < starter(elid)) or (s == NORM and j < ldr):
            self.send("NotNorm", t, to=(j,))


class AsyncBullyPing(AsyncBully):
    """Node i of S97 Fig. 3, with "Are you alive?"."""

    detector = Ping


class AsyncBullyRing(AsyncBully):
    """Node i of S97 Fig. 3, with an attendance list."""

    detector = Ring


class AsyncBullyThrifty(AsyncBully):
    """Node i of S97 Fig. 3; a leader monitors nobody, as section 7 counts (nodes.stoller)."""

    def lead(self) -> None:
        """I'm the leader: nothing a DownSig says would matter now."""
        super().lead()
        self.fd.stop(*self.others)


class AsyncBullyPiggyback(AsyncBullyThrifty):
    """Node i of S97 Fig. 3, "I'm alive" on the Norm? messages: N - 1 messages per tau."""

    detector = Piggyback


class AsyncBullyRepaired(AsyncBully):
    """Node i of S97 Fig. 3, where a message that was lost before the system was stable is made up.

    App. B, case (3): if Ldr is lost, "those two nodes must be disconnected (since we are assuming
    the system is stable)". But it may have been lost before that; then the node waits for ever
    for a leader that is up, and answers its Norm? with nothing, because it would not gain a leader
    of higher priority. A lost Halt or Ack leaves the candidate so. Both say it again here.
    """

    def periodically(self) -> None:
        """Also: the Halt that is not acknowledged, again."""
        super().periodically()
        if self.state.s == ELEC2:
            self.send("Halt", self.state.g, to=(self.pendack,))

    @on("Norm?")
    def norm(self, j: int, t: str) -> None:
        """Also: the very leader it waits for is Norm, so its Ldr, which came before, was lost."""
        if self.state.s == WAIT and t == self.state.g:
            self.send("NotNorm", t, to=(j,))
        else:
            super().norm(j, t)


class Hasty(Heartbeat):
    """ "I'm alive" every P, and a time-out that is shorter than P."""

    patience = 0.5


class AsyncBullyHasty(AsyncBully):
    """Node i of S97 Fig. 3, with a detector that raises false alarms all the time."""

    detector = Hasty


class AsyncBullyTasks(Tasks, AsyncBully):
    """Node i of S97 Fig. 3, with tasks given out as in GM82."""

    claims = ("GM82-3b", *STOLLER_ASYNCHRONOUS)

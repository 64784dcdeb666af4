"""The Bully_FD Algorithm: S97 Figure 1, GM82's Bully with a failure detector for its time-outs.

Assumes A1-A9; the lowest number has the highest priority. Which detector it is does not matter
to the algorithm: BullyFD asks, BullyFDHeartbeat is sent signs of life, BullyFDRing sees a token.
What Figure 3 has in the same words is in nodes.stoller.
"""

from nodes.attendance import Ring
from nodes.detectors import Heartbeat
from nodes.protocol import System, Vector, on
from nodes.stoller import ELEC1, ELEC2, NORM, WAIT, StollerBully, Tasks, starter
from traces.properties import STOLLER_SYNCHRONOUS


class BullyFD(StollerBully):
    """Node i of S97 Fig. 1, with "Are you alive?"."""

    claims = STOLLER_SYNCHRONOUS

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, state: Vector) -> None:
        super().__init__(i, nodes, system, state)
        self.down: frozenset[int] = frozenset()

    def start_stage1(self) -> None:
        """S97 Fig. 1, StartStage1."""
        self.become(s=ELEC1, g=self.new_elid())
        self.down = frozenset()
        if not self.lesser:
            self.start_stage2()
        else:
            self.fd.start(*self.lesser)

    def start_election(self) -> None:
        """An election begins with stage 1."""
        self.start_stage1()

    @on("Halt")
    def halt(self, j: int, t: str) -> None:
        """S97 Fig. 1, On <Halt, t> from j."""
        self.halting(t, j)

    def halting(self, t: str, j: int) -> None:
        """S97 Fig. 1, Halting."""
        self.down -= {j}
        self.fd.start(j)
        self.become(g=t, s=WAIT)
        self.send("Ack", t, to=(j,))

    def down_sig(self, j: int) -> None:
        """S97 Fig. 1, On <DownSig, j>."""
        s = self.state.s
        if j in self.lesser:
            self.down |= {j}
            if (s == NORM and j == self.state.c) or (s == WAIT and j == starter(self.state.g)):
                self.start_stage1()
            elif s == ELEC1 and self.down.issuperset(self.lesser):
                self.start_stage2()
        elif s == ELEC2 and j == self.pendack:
            self.contin_stage2()

    def start_stage2(self) -> None:
        """S97 Fig. 1, StartStage2."""
        self.become(s=ELEC2)
        self.acks = ()
        self.pendack = self.i
        self.contin_stage2()

    @on("Norm?")
    def norm(self, j: int, t: str) -> None:
        """S97 Fig. 1, On <Norm?, t> from j."""
        if self.state.s != NORM:
            self.send("NotNorm", t, to=(j,))


class BullyFDHeartbeat(BullyFD):
    """Node i of S97 Fig. 1, with "I'm alive"."""

    detector = Heartbeat


class BullyFDRing(BullyFD):
    """Node i of S97 Fig. 1, with an attendance list."""

    detector = Ring


class BullyFDTasks(Tasks, BullyFD):
    """Node i of S97 Fig. 1, with tasks given out as in GM82."""

    claims = ("GM82-1b", *STOLLER_SYNCHRONOUS)

"""Bully_FD and Asynchronous Bullies that are wrong in one place each (S97 Fig. 1 and 3)."""

from nodes.async_bully import AsyncBully, AsyncBullyTasks
from nodes.bully_fd import BullyFD
from nodes.detectors import Ping
from nodes.protocol import Protocol, on
from nodes.stoller import ELEC2, NORM, WAIT, starter

# --- Bully_FD, inside A1-A9 ---------------------------------------------------------------------


class EagerLeader(BullyFD):
    """Waits for no Ack: it leads while others are still Norm under another (SLE1)."""

    def contin_stage2(self) -> None:
        """All Halts at once, and then Ldr."""
        self.fd.start(*self.greater)
        self.send("Halt", self.state.g, to=self.greater)
        self.acks = self.greater
        self.lead()


class LdrOfAnyElection(BullyFD):
    """Takes Ldr without its election identifier: an old leader's word makes it Norm (SLE1)."""

    @on("Ldr")
    def ldr(self, j: int, t: str, *task: str) -> None:
        """Without t = elid."""
        super().ldr(j, self.state.g, *task)


class SkipsStage1(BullyFD):
    """Asks no lesser node: it leads while one of them is Norm under the dead leader (SLE1)."""

    def start_stage1(self) -> None:
        """Stage 2 at once, as only Fig. 3 may."""
        self.become(g=self.new_elid())
        self.start_stage2()


class DeafLeader(BullyFD):
    """Ignores NotNorm: a node that returns waits in stage 1 for ever (SLE2)."""

    @on("NotNorm")
    def not_norm(self, j: int, t: str) -> None:
        """Nothing."""


class HalfMade(BullyFD):
    """Status before leader: for an instant it is Norm under its old one (SLE1)."""

    @on("Ldr")
    def ldr(self, j: int, t: str, *task: str) -> None:
        """Two changes where the figure has one."""
        if self.state.s == WAIT and t == self.state.g:
            self.become(s=NORM)
            self.become(c=j)
            self.fd.stop(*self.others)
            self.fd.start(j)


class _Stubborn(Ping):
    def end(self, j: int) -> None:
        """Stop_FD is forgotten."""


class DownSigAfterStop(BullyFD):
    """Its detector goes on after Stop_FD, and reports nodes that nobody asked about (FD2)."""

    detector = _Stubborn


class AckOfAnyElection(BullyFD):
    """Takes an Ack of pendack without its election identifier.

    Equivalent inside the assumptions. Let the Ack be of an earlier election of node i, and j its
    sender. It was under way for T_m at the most (A8), so j sent it less than T_m ago; then j was
    halted. To be Norm again j must have had a Ldr since, from a node whose Halt came after that
    Ack; not from i, whose new Halt it has not acknowledged, so from a lesser node k that halted i
    too, for it led, and that has crashed since, or i would not be in an election of its own. i
    knows that from its detector, which waits for an answer for T > T_m; so the Ack is not under
    way any more. Hence j is halted, or has crashed, and i's Halt of this election is before i's
    Ldr on the link (A7).

    EagerLeader, which takes no Ack at all, is the real mutant in its place.
    """

    @on("Ack")
    def ack(self, j: int, t: str) -> None:
        """Without t = elid."""
        super().ack(j, self.state.g)


# --- the Asynchronous Bully, inside A1-A7 -------------------------------------------------------


class AsyncLdrOfAnyElection(AsyncBully):
    """Takes Ldr without its election identifier: in one's group under another's lead (ALE1)."""

    @on("Ldr")
    def ldr(self, j: int, t: str, *task: str) -> None:
        """Without t = elid."""
        super().ldr(j, self.state.g, *task)


class SilentRejection(AsyncBully):
    """Sends no Rej: a candidate waits for ever for a node that is up and will not (ALE2')."""

    @on("Halt")
    def halt(self, j: int, t: str) -> None:
        """Without `send <Rej, t>`."""
        s, ldr, elid = self.state.s, self.state.c, self.state.g
        if not ((s == NORM and ldr < j) or (s == WAIT and starter(elid) < j)):
            self.halting(t, j)


class NoPlayDead(AsyncBully):
    """Does not play dead when halted: those it led follow a node of another group (ALE2')."""

    def halting(self, t: str, j: int) -> None:
        """Without PlayDead_FD."""
        self.fd.start(j)
        self.become(g=t, s=WAIT)
        self.send("Ack", t, to=(j,))


class DeadForGood(AsyncBully):
    """Never plays alive again: whom it leads it loses at once, over and over (ALE2')."""

    def start_stage2(self) -> None:
        """Without PlayAlive_FD."""
        self.become(g=self.new_elid(), s=ELEC2)
        self.acks = ()
        self.pendack = self.i
        self.contin_stage2()


class ContentWhenNorm(AsyncBully):
    """Answers Norm? as in Fig. 1: two groups that meet again stay two (ALE2)."""

    @on("Norm?")
    def norm(self, j: int, t: str) -> None:
        """Without the second disjunct."""
        if self.state.s != NORM and j < starter(self.state.g):
            self.send("NotNorm", t, to=(j,))


class AsyncHalfMade(AsyncBully):
    """Status before leader: Norm in a new group, under the leader of the old one (ALE1)."""

    @on("Ldr")
    def ldr(self, j: int, t: str, *task: str) -> None:
        """Two changes where the figure has one."""
        if self.state.s == WAIT and t == self.state.g:
            self.become(s=NORM)
            self.become(c=j)
            self.fd.stop(*self.others)
            self.fd.start(j)


class ForgetfulIncarnation(AsyncBullyTasks):
    """Keeps its incarnation in no safe cell: after a crash one number names two groups (GM82-3b).

    ALE1 alone does not see it: both groups have the same leader. Their tasks differ.
    """

    def new_elid(self) -> str:
        """<i, 0, nextel>."""
        elid = f"{self.i}.0.{self.nextel}"
        self.nextel += 1
        return elid


class NotNormOfAnyElection(AsyncBully):
    """Takes NotNorm without its election identifier.

    Equivalent inside the assumptions. What it may do is start an election that nobody needs. An
    election may start at any time: ALE1 rests on status = Norm implying ldr = pi_1(elid) (S97
    App. B), whenever it starts. A NotNorm answers a Norm?, and a leader sends one every tau; so an
    old NotNorm comes delta after the last Norm? of that election at the latest, and brings one
    election more, within c_A.

    DeafLeader, which takes no NotNorm at all, is the real mutant in its place.
    """

    @on("NotNorm")
    def not_norm(self, j: int, t: str) -> None:
        """Without t = elid."""
        super().not_norm(j, self.state.g)


class AcceptsAnyHalt(AsyncBully):
    """Lets itself be halted by a node of lower priority than its leader.

    Equivalent inside the assumptions. ALE1 rests on status = Norm implying ldr = pi_1(elid) (S97
    App. B), and a Halt that is accepted leads to Wait. As to ALE2': a node that has been taken
    from leader k by a lower one answers k's next Norm? with NotNorm, and k takes it back. Who took
    it knows nothing of that and keeps still: it leads, a leader starts an election only on a
    NotNorm, and a node that is led by k < j never says that to j. So each election of j takes
    from k once, and costs k one election; and by induction from the least node on, each has
    finitely many.

    SilentRejection, which tells the candidate nothing, is the real mutant in its place.
    """

    @on("Halt")
    def halt(self, j: int, t: str) -> None:
        """Without the condition."""
        self.halting(t, j)


MUTANTS: list[type[Protocol]] = [
    EagerLeader,
    LdrOfAnyElection,
    SkipsStage1,
    DeafLeader,
    HalfMade,
    DownSigAfterStop,
    AsyncLdrOfAnyElection,
    SilentRejection,
    NoPlayDead,
    DeadForGood,
    ContentWhenNorm,
    AsyncHalfMade,
    ForgetfulIncarnation,
]
EQUIVALENT: list[type[Protocol]] = [AckOfAnyElection, NotNormOfAnyElection, AcceptsAnyHalt]

"""What Figures 1 and 3 of S97 have in common: the variables, and the half that is the same code.

The lowest number has the highest priority (S97 4). The state vector holds `status` as s, `ldr` as
c and `elid` as g; the rest is volatile and of no interest to anybody else. Rules:

- An election identifier is written i.incarn.seq: the node that started the election, its
  incarnation, which is a safe cell, and a count. No two elections have the same.
- The trace's word for Norm is Normal. A life begins as Down, until its first election (A5).
- `send <Ldr, t>` in ContinStage2 means t = elid: the figures name no t there.
- The leader goes on monitoring the nodes it halted: no figure stops that. What a DownSig of one
  of them says, a leader ignores, so Stop_FD there changes nothing but the number of messages;
  section 7 counts them as if it were there (nodes.async_bully, AsyncBullyThrifty).
"""

from nodes.protocol import DOWN, NORMAL, UNDEFINED, System, Vector, on
from nodes.reactive import Reactive
from nodes.task import shared_out

NORM, ELEC1, ELEC2, WAIT = NORMAL, "Elec1", "Elec2", "Wait"


def starter(elid: str) -> int:
    """pi_1(elid): the node that started the election."""
    return int(elid.partition(".")[0])


class StollerBully(Reactive):
    """Node i of S97 Fig. 1 and Fig. 3, as far as they are alike."""

    abstract = True

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, state: Vector) -> None:
        super().__init__(i, nodes, system, state)
        self.lesser = tuple(j for j in nodes if j < i)
        self.greater = tuple(j for j in nodes if j > i)
        self.acks: tuple[int, ...] = ()
        self.nextel = 0
        self.pendack = i

    def new_elid(self) -> str:
        """<i, incarn, nextel>; nextel := nextel + 1."""
        elid = f"{self.i}.{self.system.cells['incarn']}.{self.nextel}"
        self.nextel += 1
        return elid

    def start_election(self) -> None:
        """StartStage1 in Fig. 1, StartStage2 in Fig. 3."""
        raise NotImplementedError

    def contin_stage2(self) -> None:
        """S97 Fig. 1 and 3, ContinStage2."""
        if self.pendack < max(self.nodes):
            self.pendack += 1
            self.fd.start(self.pendack)
            self.send("Halt", self.state.g, to=(self.pendack,))
        else:
            self.lead()

    def lead(self) -> None:
        """S97 Fig. 1 and 3, ContinStage2: I'm the leader."""
        task = self.task()
        self.become(c=self.i, s=NORM, d="".join(task))
        self.send("Ldr", self.state.g, *task, to=self.acks)

    def task(self) -> tuple[str, ...]:
        """The work to be given out with Ldr: S97 omits it (Tasks)."""
        return ()

    @on("Ack")
    def ack(self, j: int, t: str) -> None:
        """S97 Fig. 1 and 3, On <Ack, t> from j."""
        if self.state.s == ELEC2 and t == self.state.g and j == self.pendack:
            self.acks = (*self.acks, j)
            self.contin_stage2()

    @on("Ldr")
    def ldr(self, j: int, t: str, *task: str) -> None:
        """S97 Fig. 1 and 3, On <Ldr, t> from j."""
        if self.state.s == WAIT and t == self.state.g:
            self.become(c=j, s=NORM, d="".join(task))
            self.fd.stop(*self.others)
            self.fd.start(j)

    def periodically(self) -> None:
        """S97 Fig. 1 and 3, Periodically(tau)."""
        if self.state.s == NORM and self.state.c == self.i:
            self.send("Norm?", self.state.g, to=self.greater)

    @on("NotNorm")
    def not_norm(self, j: int, t: str) -> None:
        """S97 Fig. 1 and 3, On <NotNorm, t> from j."""
        if self.state.s == NORM and self.state.c == self.i and t == self.state.g:
            self.start_election()

    def on_recovery(self) -> None:
        """S97 Fig. 1 and 3, On recovery."""
        self.become(s=DOWN, c=UNDEFINED, g="")
        self.system.store("incarn", self.system.cells.get("incarn", 0) + 1)
        self.start_election()


class Tasks(StollerBully):
    """The application's tasks, which S97 omits: "restoring this aspect is straightforward".

    The leader computes the task when everybody is halted, and it goes out with Ldr. GM82 has a
    round of its own for it because Ready waits for the answers; here nobody waits for them.
    """

    abstract = True

    def task(self) -> tuple[str, ...]:
        """Who does which pieces of the work, headed by the election (GM82 II, S(i).d)."""
        return (f"{self.state.g} {shared_out((*self.acks, self.i))}",)

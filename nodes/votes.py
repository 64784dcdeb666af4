"""Votes that move: BGS86 2, protocols P1 and P2 (Increasing), P3, P4 and P5 (Reassigning).

Each node keeps what it believes to be everybody's votes, V_i, in a safe cell; in Scenario Two a
version N_i of each entry beside it. Node i raises its own votes with the acknowledgement of a
majority, and lowers them at will. Rules:

- The initiator sends its change to all others and counts anew with every acknowledgement (P1, P3):
  who has not answered yet is who did not answer. So the first majority there is decides.
- Votes are collected on increases here, and on whatever else needs a majority by those who build
  on this. A vote is the vector of its node as it was when it was cast, the initiator's own too.
- A participant records the change, in its safe cell, before it acknowledges. It never votes
  against one. An entry of its own it takes from nobody: V_i[i] is what i itself installed.
- Nothing is installed before the majority is there. Until then i votes with its old value.
- Without a majority within `patience` times T the increase is cancelled; 0: never. One change at
  a time: the next one cancels what is under way.
- Recorded is the larger value in Scenario One, where votes only grow: a smaller one is older, or
  of an increase that was cancelled, and the larger is the safe side to err on.

P4 does not say what a cancelled increase does to the version; P3 a) says that "a failed vote
increase attempt" shows a newer one. Read here: participants recorded version n + 1 for it, so
taking it back is version n + 2 with the old votes, after a crash too. With the parameter
`withdraw` false the version stays n, and the next change is a second n + 1.

Parameters: `votes`, the initial assignment, one each unless given; `patience`; `withdraw`.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from nodes.protocol import DOWN, NORMAL, Procedure, Protocol, System, Vector, on, request
from traces.properties import SCENARIO_ONE, SCENARIO_TWO

PATIENCE = 4.0  # in T


Known = tuple[Mapping[int, int], Mapping[int, int]]
"""V_j and N_j of a node, by node."""
Votes = Mapping[int, Known]
"""The votes on an event, by whom: G of Protocol P1, the initiator included."""


class Vectors(TypedDict):
    """What is in the safe cell, and in a message: votes and versions in the order of the nodes."""

    V: list[int]
    N: list[int]


class Increasing(Protocol):
    """Node i of BGS86 2.1, Scenario One: votes only increase."""

    claims = SCENARIO_ONE

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, state: Vector) -> None:
        super().__init__(i, nodes, system, state)
        held: Vectors = system.cells.get("votes") or self.initial()
        self.V = dict(zip(nodes, held["V"], strict=True))
        self.N = dict(zip(nodes, held["N"], strict=True))
        self.ballots = 0
        self.ballot = ""  # the increase that is under way
        self.wanted = 0
        self.received: dict[int, Known] = {}
        self.timer = 0

    # --- the vectors ------------------------------------------------------------------------

    def initial(self) -> Vectors:
        """The original assignment, I_0 of BGS86 2.1."""
        votes = list(self.system.parameters.get("votes") or [1] * len(self.nodes))
        return {"V": votes, "N": [0] * len(votes)}

    def vectors(self) -> Vectors:
        """Both, as they go into a message."""
        return {"V": list(self.V.values()), "N": list(self.N.values())}

    def held(self) -> Vectors:
        """What the safe cell holds: both, and what must change together with them."""
        return {"V": list(self.V.values()), "N": list(self.N.values())}

    def keep(self) -> None:
        """Into the safe cell, if that is not what it holds."""
        held = self.held()
        if self.system.cells.get("votes") != held:
            self.system.store("votes", held)

    def cast(self) -> Known:
        """The vote of this node, as it is now."""
        return dict(self.V), dict(self.N)

    def own(self) -> str:
        """`5 votes`: what S(i).d says."""
        return f"{self.V[self.i]} votes"

    def show(self) -> None:
        """The votes of this node are safe, and in force."""
        self.become(d=self.own())

    def recovery(self) -> Procedure:
        """What was under way is forgotten; the votes are not."""
        self.become(s=DOWN)
        self.keep()
        self.become(s=NORMAL, c=self.i, d=self.own())
        return
        yield

    def check(self) -> Procedure:
        """Nothing is done on its own; policies are elsewhere."""
        return
        yield

    def timeout(self) -> Procedure:
        """There is no coordinator to miss."""
        return
        yield

    # --- P2, vote increasing: the initiator -----------------------------------------------------

    @request("Increase")
    def increase(self, votes: int) -> None:
        """BGS86 2.1, P2 a): send the change to the rest of the nodes."""
        self.cancel()
        if votes <= self.V[self.i]:
            return
        self.ballots += 1
        self.ballot, self.wanted = f"{self.i}.{self.system.inc}.{self.ballots}", votes
        self.received = {self.i: self.cast()}
        self.attempt()
        for j in self.others:
            self.system.send(j, "Increase", self.change())
        patience = self.system.parameters.get("patience", PATIENCE)
        if patience:
            self.timer = self.system.after(patience * self.system.timing.t_ms, self.cancel)
        self.count()

    def attempt(self) -> None:
        """Before the change is sent: nothing, in Scenario One."""

    def change(self) -> tuple[Any, ...]:
        """What is sent: the ballot and the new votes."""
        return self.ballot, self.wanted

    @on("Vote")
    def vote(self, j: int, ballot: str, vectors: Vectors) -> None:
        """BGS86 2.1, P2 b): an acknowledgement, with the vectors of j; is it a majority now?"""
        known = self.read(vectors)
        if ballot == self.ballot:
            self.received[j] = known
            self.learn(j, known)
            self.count()

    def read(self, vectors: Vectors) -> Known:
        """V_j and N_j, by node."""
        return (dict(zip(self.nodes, vectors["V"], strict=True)),
                dict(zip(self.nodes, vectors["N"], strict=True)))  # fmt: skip

    def count(self) -> None:
        """With a majority the change is made permanent."""
        if self.passed(self.received):
            self.install()

    def passed(self, votes: Votes) -> bool:
        """BGS86 2.1, P1: whether these votes are a majority; what they say of others is kept."""
        v = self.collect(votes)
        self.keep()
        return self.majority(sum(v[j] for j in votes), sum(v.values()))

    def majority(self, votes: int, total: int) -> bool:
        """More than half of TOT."""
        return 2 * votes > total

    def install(self) -> None:
        """BGS86 2.1, P2 b): make the change permanent, update V_i[i]."""
        self.V[self.i] = self.wanted
        self.keep()
        self.show()
        self.close()

    def cancel(self) -> None:
        """BGS86 2.1: "the node may cancel the vote increase" when responses time out."""
        if self.ballot:
            self.close()

    def close(self) -> None:
        """Nothing is under way any more."""
        self.ballot = ""
        self.system.cancel(self.timer)

    # --- P1, vote collecting --------------------------------------------------------------------

    def learn(self, k: int, vote: Known) -> None:
        """BGS86 2.1, P1 a), "also": once, when the vote of k arrives."""
        self.V[k] = max(self.V[k], vote[0][k])

    def collect(self, votes: Votes) -> dict[int, int]:
        """BGS86 2.1, P1: the votes v_k of every node k, by what was received so far."""
        v = {}
        for k in self.nodes:
            if k in votes:  # a)
                v[k] = votes[k][0][k]
            else:  # b)
                v[k] = self.V[k] = max(self.V[k], *(V[k] for V, _ in votes.values()))
        return v

    # --- P2, the participants -------------------------------------------------------------------

    @on("Increase")
    def register(self, j: int, ballot: str, votes: int) -> None:
        """BGS86 2.1, P2: register the change of j, then acknowledge with the voting vector."""
        self.V[j] = max(self.V[j], votes)
        self.keep()
        self.acknowledge(j, ballot)

    def acknowledge(self, j: int, ballot: str) -> None:
        """Send the vote."""
        self.system.send(j, "Vote", (ballot, self.vectors()))


class Reassigning(Increasing):
    """Node i of BGS86 2.2, Scenario Two: votes increase and decrease."""

    claims = SCENARIO_TWO

    # --- P4, vote increasing --------------------------------------------------------------------

    def recovery(self) -> Procedure:
        """An increase that a crash cut short has failed: that is a newer version."""
        self.withdraw()
        yield super().recovery()

    def attempt(self) -> None:
        """The version the participants will record is used up, whatever happens."""
        self.system.store("tried", self.N[self.i] + 1)

    def withdraw(self) -> None:
        """P3 a): "a failed vote increase attempt" must show a newer version than it had."""
        tried = self.system.cells.get("tried", 0)
        if tried > self.N[self.i] and self.system.parameters.get("withdraw", True):
            self.N[self.i] = tried + 1
            self.keep()

    def change(self) -> tuple[Any, ...]:
        """BGS86 2.2, P4: the initiator sends V_i and N_i along."""
        return self.ballot, self.wanted, self.vectors()

    def install(self) -> None:
        """BGS86 2.2, P4: "upon successfully collecting [...] increases N_i[i] by one"."""
        self.N[self.i] += 1
        super().install()

    def cancel(self) -> None:
        """Cancelled: the old votes again."""
        if self.ballot:
            self.withdraw()
            self.close()

    @on("Increase")
    def register(self, j: int, ballot: str, votes: int, vectors: Vectors) -> None:  # type: ignore[override]
        """BGS86 2.2, P4: register N_j[i] as N_i[i] plus one, update V_j and N_j as necessary."""
        V, N = self.read(vectors)
        self.update(V, N)
        self.V[j], self.N[j] = votes, N[j] + 1
        self.keep()
        self.acknowledge(j, ballot)

    def update(self, V: Mapping[int, int], N: Mapping[int, int]) -> None:
        """Take over what is newer, but for this node's own entry."""
        for k in self.others:
            if N[k] > self.N[k]:
                self.V[k], self.N[k] = V[k], N[k]

    # --- P5, vote decreasing --------------------------------------------------------------------

    @request("Decrease")
    def decrease(self, votes: int) -> None:
        """BGS86 2.2, P5: update V_i[i], add one to N_i[i], send the vectors."""
        self.cancel()
        if not 0 <= votes < self.V[self.i]:
            return
        self.V[self.i] = votes
        self.N[self.i] += 1
        self.keep()
        self.show()
        for j in self.others:
            self.system.send(j, "Decrease", (self.vectors(),))

    @on("Decrease")
    def decreased(self, j: int, vectors: Vectors) -> None:
        """BGS86 2.2, P5, the participants."""
        self.update(*self.read(vectors))
        self.keep()

    # --- P3, vote collecting --------------------------------------------------------------------

    def learn(self, k: int, vote: Known) -> None:
        """BGS86 2.2, P3 a), "also"."""
        V, N = vote
        if V[k] > self.V[k] or (V[k] < self.V[k] and N[k] > self.N[k]):
            self.V[k], self.N[k] = V[k], N[k]

    def collect(self, votes: Votes) -> dict[int, int]:
        """BGS86 2.2, P3."""
        v = {}
        for k in self.nodes:
            if k in votes:  # a)
                v[k] = votes[k][0][k]
            else:  # b) the newest value among the voting group
                known = [(self.N[k], self.V[k]), *((N[k], V[k]) for V, N in votes.values())]
                self.N[k], v[k] = max(known)
                self.V[k] = v[k]
        return v

"""Nodes that reassign votes by themselves: a policy (BGS86 4) on top of the protocols (BGS86 2).

At every Check a node finds out who is here. If those are a majority they are the active group, and
the policy says which votes the node wants in it: more, by P2 or P4, or fewer, by P5. Rules:

- Who is here: the node itself, and who answers its roll call within T. It is a vote collecting like
  any other, by P1 or P3, so what the answers tell about everybody's votes is kept.
- A node remembers the last active group that it was in, whether it was away since (it found no
  majority, or crashed), and what it took on for whom. That changes with its votes, in one write
  of one cell, once a change is installed. After an increase that failed it wants the same again.
- One change at a time: while an increase is under way no roll is called. What is given back for
  some and taken on for others at once is one change too. To give back first could cost the group
  its majority, and with it what the node was about to ask for.
- Votes go back to the start (BGS86 4.4.1) once any node finds the threshold hit and all here. Each
  node then gives up its own; which time it was goes along with every roll call, so that who
  missed it follows, and none goes back twice for one time.

AutonomousOne runs what only increases. What gives votes back, the threshold included, needs
Scenario Two: AutonomousTwo runs all but group consensus, which is nodes.consensus.

Limits: a node that does not answer in time is excluded, though it may be up. Under catching up the
votes taken on for it are there to stay; otherwise they are given back at the next Check.

Parameters: `strategy`, one of nodes.policies.STRATEGIES; `votes`, `links` (nodes.assignment);
`threshold`, none unless given; `patience` and `withdraw` (nodes.votes).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from nodes.assignment import first_votes, refused_votes
from nodes.policies import STRATEGIES, Strategy, reset, wanted
from nodes.protocol import Procedure, Wait, on
from nodes.token import Circulating
from nodes.votes import Increasing, Known, Reassigning, Vectors


class Memory(Vectors):
    """What is in the safe cell beside the votes: in the order of the nodes, what was taken on."""

    table: list[int]
    last: list[int]
    away: bool
    resets: int


class AutonomousOne(Increasing):
    """Node i of BGS86 4 under Scenario One: alliances that catch up."""

    gives_back: ClassVar[bool] = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        held: Memory = self.system.cells.get("votes") or self.initial()
        taken_on = zip(self.nodes, held["table"], strict=True)
        self.table: Mapping[int, int] = {x: n for x, n in taken_on if n}
        self.last, self.away, self.resets = tuple(held["last"]), held["away"], held["resets"]
        self.strategy: Strategy = STRATEGIES[self.system.parameters["strategy"]]
        self.planned: tuple[tuple[int, ...], Mapping[int, int]] | None = None
        self.rolls = 0
        self.roll = ""  # the roll call that is under way
        self.here: dict[int, Known] = {}

    @classmethod
    def refusal(cls, parameters: Mapping[str, Any], nodes: Sequence[int]) -> str:
        """Why no node can run with these parameters."""
        name = parameters.get("strategy")
        if name not in STRATEGIES:
            return f"strategy {name!r} is none of {', '.join(STRATEGIES)}"
        if STRATEGIES[name].rule == "consensus":
            return f"{name} is run by nodes.consensus:Consensus"
        wants = name if STRATEGIES[name].balance == "decrease" else ""
        wants = wants or ("a threshold" if parameters.get("threshold") else "")
        if wants and not cls.gives_back:
            return f"{wants} needs votes that are given back, Scenario Two: AutonomousTwo"
        if not parameters.get("patience", True):
            return "patience 0: an increase that never gives up would be a node's last"
        return refused_votes(parameters, nodes)

    # --- what is safe -------------------------------------------------------------------------

    def initial(self) -> Memory:
        """I_0 of BGS86 2.1: nothing was taken on, and all are in the active group."""
        n = len(self.nodes)
        return {
            "V": list(first_votes(self.system.parameters, self.nodes).values()), "N": [0] * n,
            "table": [0] * n, "last": [*self.nodes], "away": False, "resets": 0,
        }  # fmt: skip

    def held(self) -> Memory:
        """The votes, and what changes together with them."""
        return {
            **super().held(), "table": [self.table.get(x, 0) for x in self.nodes],
            "last": [*self.last], "away": self.away, "resets": self.resets,
        }  # fmt: skip

    def recovery(self) -> Procedure:
        """Who crashed was away."""
        self.away = "votes" in self.system.cells
        yield super().recovery()

    # --- who is here --------------------------------------------------------------------------

    def check(self) -> Procedure:
        """BGS86 4: after a failure, or a repair, a node in the active group changes its votes."""
        yield super().check()
        if self.ballot or self.strategy.rule == "static":
            return
        here = yield self.roll_call()
        if self.ballot:  # a client was faster
            return
        if self.passed(here):
            self.regroup(tuple(sorted(here)))
        elif not self.away:
            self.away = True
            self.keep()

    def roll_call(self) -> Procedure:
        """Who answers within T, and how they vote."""
        self.rolls += 1
        self.roll, self.here = f"{self.i}.{self.system.inc}.{self.rolls}", {}
        for j in self.others:
            self.system.send(j, "RollCall", (self.roll, self.resets))
        yield Wait(self.system.timing.t_ms)
        self.roll = ""
        return {self.i: self.cast(), **self.here}

    @on("RollCall")
    def called(self, j: int, roll: str, resets: int) -> None:
        """Node j asks who is here."""
        self.start_again(resets)
        self.system.send(j, "Present", (roll, self.vectors(), self.resets))

    @on("Present")
    def present(self, k: int, roll: str, vectors: Vectors, resets: int) -> None:
        """Node k is, and this is its vote."""
        self.start_again(resets)
        known = self.read(vectors)
        if roll == self.roll:
            self.here[k] = known
            self.learn(k, known)

    # --- what is wanted -----------------------------------------------------------------------

    def regroup(self, now: tuple[int, ...]) -> None:
        """These are the active group: ask for the votes that the policy wants in it."""
        wish = wanted(
            self.strategy, self.i, self.V, self.excluded_since(), now, self.table,
            returned=self.away, token=self.token_holder(),
        )  # fmt: skip
        if wish.votes > self.V[self.i]:
            self.planned = now, wish.table
            self.increase(wish.votes)
        else:
            self.take_part(now, wish.table)
            self.settle_for(wish.votes)

    def settle_for(self, votes: int) -> None:
        """No more than it has; under Scenario One it is never less."""
        self.keep()

    def excluded_since(self) -> tuple[int, ...]:
        """The active group that exclusions are counted from."""
        return self.last

    def token_holder(self) -> int | None:
        """This node or none: that is all it has to know."""
        return None

    def take_part(self, now: tuple[int, ...], table: Mapping[int, int]) -> None:
        """It has what it wanted in this group."""
        self.last, self.table, self.away = now, table, False

    def install(self) -> None:
        """BGS86 2.1, P2 b): and what it was for is done, in the same write."""
        if self.planned:
            self.take_part(*self.planned)
        super().install()

    def close(self) -> None:
        """Nothing is under way any more."""
        self.planned = None
        super().close()

    def start_again(self, resets: int) -> None:
        """Votes go back to the start; under Scenario One they never do."""


class AutonomousTwo(AutonomousOne, Circulating, Reassigning):
    """Node i of BGS86 4 under Scenario Two: every strategy but group consensus."""

    gives_back = True

    def regroup(self, now: tuple[int, ...]) -> None:
        """Or go back to the start; who has the token hands it on when it wants nothing."""
        votes, threshold = self.initial()["V"], self.system.parameters.get("threshold")
        first = dict(zip(self.nodes, votes, strict=True))
        if threshold and reset(self.V, first, now, threshold) == first != self.V:
            self.start_again(self.resets + 1)
            return
        idle = self.token["here"] and self.token["group"] == [*now]
        super().regroup(now)
        if idle and self.strategy.choice == "token" and not self.ballot:
            self.pass_on()

    def settle_for(self, votes: int) -> None:
        """BGS86 4.4.2: give back what is too much, by P5."""
        self.decrease(votes)
        self.keep()  # if there was nothing to give back

    def start_again(self, resets: int) -> None:
        """BGS86 4.4.1, "bring all the votes back down to their original values": these, by P5."""
        if resets > self.resets:
            self.cancel()
            self.resets, self.table, self.last = resets, {}, self.nodes
            self.settle_for(self.initial()["V"][self.nodes.index(self.i)])

    def excluded_since(self) -> tuple[int, ...]:
        """With the token comes the group that it saw last."""
        return tuple(self.token["group"]) if self.token_holder() else self.last

    def token_holder(self) -> int | None:
        """This node, if it has the token and the strategy goes by it."""
        return self.i if self.strategy.choice == "token" and self.token["here"] else None

    def take_part(self, now: tuple[int, ...], table: Mapping[int, int]) -> None:
        """The token has seen this group too."""
        super().take_part(now, table)
        if self.token_holder() and self.token["group"] != [*now]:
            self.put(self.token["number"], True, self.token["to"], [*now])

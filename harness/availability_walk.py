"""Strategies walked over a history of groups: what `Game.step` does, prepared.

Two ways, each as exact as the step itself:

- *Kept*: a core and the groups of an event always lead to the same core. Each such step is done
  once and kept, and a history is a chain of look-ups. For consensus, which has few cores; static
  votes have one, and what is left is to look up which groups have a majority.
- *Traced*: where votes are taken on, by formulas (`availability_formulas`).
"""

from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter, getitem

import numpy as np

from harness.availability_cores import Core, Game, Groups, majority
from harness.availability_formulas import Winner, formulas_of, winner
from harness.availability_history import Flags, Ints


class Walk:
    """A game prepared for histories; `table` says which groups a number in a history means."""

    def __init__(self, game: Game, table: Sequence[Groups]) -> None:
        self.game, self.table = game, table

    def walk(self, history: Ints) -> Flags:
        """After each event, whether some group is active."""
        raise NotImplementedError


def prepared(game: Game, table: Sequence[Groups]) -> Walk:
    """The way that suits this strategy."""
    ways = {"static": StaticWalk, "consensus": KeptWalk}
    return ways.get(game.strategy.rule, TracedWalk)(game, table)


class StaticWalk(Walk):
    """Votes that never change: only the groups of the moment matter."""

    def __init__(self, game: Game, table: Sequence[Groups]) -> None:
        super().__init__(game, table)
        self.up = np.empty(0, bool)

    def walk(self, history: Ints) -> Flags:
        """One look-up each."""
        votes, new = self.game.start.votes, self.table[len(self.up) :]
        more = [any(majority(group.nodes, votes) for group in groups) for groups in new]
        self.up = np.append(self.up, np.array(more, bool))
        return self.up[history]


class KeptWalk(Walk):
    """A game whose steps are kept."""

    def __init__(self, game: Game, table: Sequence[Groups]) -> None:
        super().__init__(game, table)
        self.places: dict[tuple[Core, bool], Kept] = {}

    def at(self, core: Core, up: bool) -> "Kept":
        """The one place for this core."""
        if (core, up) not in self.places:
            self.places[core, up] = Kept(self, core, up)
        return self.places[core, up]

    def walk(self, history: Ints) -> Flags:
        """A chain of look-ups."""
        places = accumulate(history.tolist(), getitem, initial=self.at(self.game.start, True))
        return np.fromiter(map(attrgetter("up"), places), bool, len(history) + 1)[1:]


class Kept(dict[int, "Kept"]):
    """A core, with an active group or without, and where each set of groups leads from it."""

    def __init__(self, walk: KeptWalk, core: Core, up: bool) -> None:
        self.walk, self.core, self.up = walk, core, up

    def __missing__(self, groups: int) -> "Kept":
        self[groups] = self.walk.at(*self.walk.game.step(self.core, self.walk.table[groups]))
        return self[groups]


class TracedWalk(Walk):
    """A game whose changes are formulas, one for each group that follows another."""

    def __init__(self, game: Game, table: Sequence[Groups]) -> None:
        super().__init__(game, table)
        self.formulas = formulas_of(game.strategy, game.rival.token, len(game.nodes))
        self.winners: list[Winner] = []
        self.rounds: list[dict[int, int]] = []

    def prepare(self) -> None:
        """Who wins in the groups that are new in the table, and where a token goes in them."""
        nodes = self.game.nodes
        for groups in self.table[len(self.winners) :]:
            self.winners.append(winner(tuple(group.nodes for group in groups), len(nodes)))
            self.rounds.append({i: self.game.circulated(i, groups) for i in nodes})

    def walk(self, history: Ints) -> Flags:
        """The same as a chain of steps."""
        self.prepare()
        game, start, ups = self.game, self.game.start, []
        winners, rounds, formulas = self.winners, self.rounds, self.formulas
        circulating, noticing = game.circulating, game.noticing_halts
        threshold = game.rival.threshold
        resetting = start.active if game.strategy.balance == "catch-up" else 0  # when all are there
        active, votes, beside = start.active, start.votes, formulas.at_first()
        token, halted = start.token, False
        for groups in history.tolist():
            now = winners[groups](votes)
            up = now != 0
            if up and (now != active or halted):
                formula, token = formulas[active, now, token, halted]
                votes, beside, up = formula(votes, beside)
                active, halted = now, False
                if now == resetting and max(votes) >= threshold:
                    votes = game.renewed(now, votes)
            elif noticing and not up:
                halted = True
            if circulating:
                token = rounds[groups][token]
            ups.append(up)
        return np.array(ups, bool)

"""Strategies walked over a history of groups: what `Game.step` does, prepared.

Two ways, each as exact as the step itself:

- *Kept*: a core and the groups of an event always lead to the same core. Each such step is done
  once and kept, and a history is a chain of look-ups. For consensus, which has few cores; static
  votes have one, and what is left is to look up which groups have a majority.
- *Traced*: where votes are taken on they grow without bound, and a core hardly ever comes back.
  But what becomes of votes and tables when one group follows another is the same formula
  whatever the numbers are: the policy functions run once on `Sum`s in the place of numbers, and
  what comes out is compiled. Comparisons are all that depends on the numbers.

Rule: numbers are Python's, of any size; nothing is rounded.

Limits: a policy function that compared votes could not be traced. A Sum refuses it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import accumulate
from operator import attrgetter, getitem
from typing import Any, cast

import numpy as np

from harness.availability_cores import Core, Game, Group, Groups, majority, members
from harness.availability_history import Flags, Ints
from harness.availability_sums import Sum

Numbers = tuple[Any, ...]
Formula = Callable[..., Numbers]


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

    def walk(self, history: Ints) -> Flags:
        """One look-up each."""
        votes = self.game.start.votes
        up = [any(majority(group.nodes, votes) for group in groups) for groups in self.table]
        return np.array(up, bool)[history]


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
    """A game whose changes are formulas, one for each group that follows another.

    The numbers are the votes, and beside them, node by node, the table of each or, where nodes
    catch up, the last group of each. A table has a place for every other node.
    """

    def __init__(self, game: Game, table: Sequence[Groups]) -> None:
        super().__init__(game, table)
        self.catching_up = game.strategy.balance == "catch-up"
        self.returns: dict[tuple[int, ...], Callable[..., int]] = _formulas(
            "returns", game.strategy, len(game.nodes)
        )
        self.formulas: dict[tuple[int, ...], tuple[Formula, int]] = _formulas(
            game.strategy, game.rival.token, len(game.nodes)
        )
        self.alone: dict[int, Callable[..., int]] = {}
        self.votes = [f"v{i}" for i in game.nodes]
        self.beside = [f"b{i}" for i in game.nodes]

    def walk(self, history: Ints) -> Flags:
        """The same as a chain of steps."""
        game, start, ups = self.game, self.game.start, []
        groups_in = [tuple(group.nodes for group in groups) for groups in self.table]
        winner = [self.winner(groups) for groups in groups_in]
        formulas, circulating = self.formulas, game.circulating
        rounds = [{i: game.circulated(i, groups) for i in game.nodes} for groups in self.table]
        beside = start.last if self.catching_up else ((0,) * len(start.votes),) * len(start.votes)
        numbers: tuple[Any, ...] = (*start.votes, *beside)
        active, token, up = start.active, start.token, True
        halted, noticing = False, game.noticing_halts
        for groups in history.tolist():
            if not up or active not in groups_in[groups]:
                now = winner[groups](*numbers)
                up = now != 0
                if up and (now != active or halted):
                    key = active, now, token, halted
                    if key not in formulas:
                        formulas[key] = self.formula(Core(active, (), (), (), token, halted), now)
                    formula, token = formulas[key]
                    before, numbers = numbers, formula(*numbers)
                    if back := now if halted else now & ~active:
                        numbers, up = self.joined(active, back, now, before, numbers)
                        halted = False
                    active = now
                halted = halted or (noticing and not now)
            if circulating:
                token = rounds[groups][token]
            ups.append(up)
        return np.array(ups, bool)

    def joined(
        self, active: int, back: int, now: int, before: Numbers, numbers: Numbers
    ) -> tuple[Numbers, bool]:
        """Somebody returned: it catches up, or giving back to it may have cost the majority."""
        if not self.catching_up:
            if now not in self.alone:
                self.alone[now] = self.winner((now,))
            return numbers, self.alone[now](*numbers) != 0
        caught_up, n = list(numbers), len(self.votes)
        for i in members(back):
            key = i, before[n + i - 1] or active, now
            if key not in self.returns:
                self.returns[key] = self.catching(*key)
            caught_up[i - 1] = self.returns[key](*before)
        if now.bit_count() == n:
            caught_up[:n] = self.game.renewed(now, tuple(caught_up[:n]))
        return tuple(caught_up), True

    def catching(self, i: int, last: int, now: int) -> Callable[..., int]:
        """The votes of a node that catches up, from those it finds (BGS86 4.4.1)."""
        out, votes = self.game.start, self.symbols()
        away = out._replace(active=last, votes=votes, halted=True)
        core = self.game.regrouped(away, Group(now, ()))
        names = _listed([*self.votes, *self.beside])
        return cast(Callable[..., int], compiled(f"lambda {names}: {core.votes[i - 1]}"))

    def symbols(self) -> Any:
        """The votes as Sums."""
        return tuple(Sum.named(name) for name in self.votes)

    def formula(self, before: Core, now: int) -> tuple[Formula, int]:
        """What becomes of any numbers, but for who catches up; and who has the token then."""
        nodes, inside = self.game.nodes, members(before.active)
        tables: Any = tuple(
            () if self.catching_up else tuple(
                (x, Sum.named(f"b{i}[{x - 1}]"))
                for x in nodes
                if x != i and not (x in inside and i in inside)  # that was given back
            )
            for i in nodes
        )  # fmt: skip
        core = self.game.regrouped(
            before._replace(votes=self.symbols(), tables=tables, last=self.game.start.last),
            Group(now, ()),
        )
        if self.catching_up:
            beside = [
                "0" if now >> i - 1 & 1 else str(before.active) if i in inside else f"b{i}"
                for i in nodes
            ]
        else:
            beside = [
                f"({_listed(dict(core.tables[i - 1]).get(x, 0) for x in nodes)})"
                if now >> i - 1 & 1 else f"b{i}" for i in nodes
            ]  # fmt: skip
        names = _listed([*self.votes, *self.beside])
        text = f"lambda {names}: ({_listed(core.votes)}{_listed(beside)})"
        return compiled(text), core.token

    def winner(self, groups: tuple[int, ...]) -> Callable[..., int]:
        """A function of all numbers: which of these groups has a majority; 0: none."""
        total = f"(total := {' + '.join(self.votes)})"
        text = f"lambda {_listed(self.votes)} *_: "
        for group in sorted(groups, key=int.bit_count, reverse=True):
            ours = " + ".join(self.votes[i - 1] for i in members(group))
            text += f"{group} if 2 * ({ours}) > {total} else "
            total = "total"
        return cast(Callable[..., int], compiled(text + "0"))


@cache
def _formulas(*_: object) -> dict[tuple[int, ...], Any]:
    """What has been traced of a strategy already: links, thresholds and halts do not matter."""
    return {}


@cache
def compiled(text: str) -> Any:
    """A function from its text."""
    return eval(text)


def _listed(values: Iterable[object]) -> str:
    return "".join(f"{value}, " for value in values)

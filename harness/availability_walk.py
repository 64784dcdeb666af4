"""Strategies walked over a history of groups: what `Game.step` does, prepared.

Two ways, each as exact as the step itself:

- *Kept*: a core and the groups of an event always lead to the same core. Each such step is done
  once and kept, and a history is a chain of look-ups. For consensus and static votes, which have
  few cores.
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

from harness.availability_cores import Core, Game, Group, Groups, members
from harness.availability_sums import Sum

Formula = Callable[..., tuple[Any, ...]]


class Walk:
    """A game prepared for histories; `table` says which groups a number in a history means."""

    def __init__(self, game: Game, table: Sequence[Groups]) -> None:
        self.game, self.table = game, table

    def walk(self, history: Sequence[int]) -> list[bool]:
        """After each event, whether some group is active."""
        raise NotImplementedError


def prepared(game: Game, table: Sequence[Groups]) -> Walk:
    """The way that suits this strategy."""
    return (KeptWalk if game.strategy.rule in ("consensus", "static") else TracedWalk)(game, table)


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

    def walk(self, history: Sequence[int]) -> list[bool]:
        """A chain of look-ups."""
        places = accumulate(history, getitem, initial=self.at(self.game.start, True))
        return list(map(attrgetter("up"), places))[1:]


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
        self.formulas = _formulas(game.strategy, game.rival.token, len(game.nodes))
        self.alone: dict[int, Callable[..., int]] = {}
        self.votes = [f"v{i}" for i in game.nodes]
        self.beside = [f"b{i}" for i in game.nodes]

    def walk(self, history: Sequence[int]) -> list[bool]:
        """The same as a chain of steps."""
        game, start, ups = self.game, self.game.start, []
        groups_in = [tuple(group.nodes for group in groups) for groups in self.table]
        winner = [self.winner(groups) for groups in groups_in]
        formulas, circulating = self.formulas, game.circulating
        rounds = [{i: game.circulated(i, groups) for i in game.nodes} for groups in self.table]
        beside = start.last if self.catching_up else ((0,) * len(start.votes),) * len(start.votes)
        numbers: tuple[Any, ...] = (*start.votes, *beside)
        active, token, up, nodes = start.active, start.token, True, len(game.nodes)
        halted, noticing = False, game.noticing_halts
        for groups in history:
            if not up or active not in groups_in[groups]:
                now = winner[groups](*numbers)
                up = now != 0
                if up and (now != active or halted):
                    key: tuple[int, ...] = (active, now, token, halted)
                    if (back := now & ~active) and self.catching_up:
                        key += tuple(numbers[i - 1 - nodes] for i in members(back))
                    if key not in formulas:
                        formulas[key] = self.formula(
                            Core(active, (), (), (), token, halted), now, numbers
                        )
                    formula, token = formulas[key]
                    numbers, active = formula(*numbers), now
                    if back or halted:
                        numbers, up = self.joined(now, numbers)
                        halted = False
                halted = halted or (noticing and not now)
            if circulating:
                token = rounds[groups][token]
            ups.append(up)
        return ups

    def joined(self, now: int, numbers: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
        """Somebody returned: are the votes reset, has giving back cost the majority?"""
        if not self.catching_up:
            if now not in self.alone:
                self.alone[now] = self.winner((now,))
            return numbers, self.alone[now](*numbers) != 0
        n = len(self.votes)
        if now.bit_count() == n:
            numbers = (*self.game.renewed(now, numbers[:n]), *numbers[n:])
        return numbers, True

    def formula(self, before: Core, now: int, numbers: tuple[Any, ...]) -> tuple[Formula, int]:
        """What becomes of any such numbers, and who has the token then."""
        nodes, inside = self.game.nodes, members(before.active)
        votes: Any = tuple(Sum.named(name) for name in self.votes)
        tables: Any = tuple(
            () if self.catching_up else tuple(
                (x, Sum.named(f"b{i}[{x - 1}]"))
                for x in nodes
                if x != i and not (x in inside and i in inside)  # that was given back
            )
            for i in nodes
        )  # fmt: skip
        last = numbers[len(nodes) :] if self.catching_up else (0,) * len(nodes)
        core = self.game.regrouped(
            before._replace(votes=votes, tables=tables, last=last), Group(now, ())
        )
        if self.catching_up:
            out = ~(before.active | now)  # who is and was out keeps what it has
            beside = [f"b{i}" if out >> i - 1 & 1 else str(core.last[i - 1]) for i in nodes]
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
def _formulas(*_: object) -> dict[tuple[int, ...], tuple[Formula, int]]:
    """What has been traced of a strategy already: links, thresholds and halts do not matter."""
    return {}


@cache
def compiled(text: str) -> Any:
    """A function from its text."""
    return eval(text)


def _listed(values: Iterable[object]) -> str:
    return "".join(f"{value}, " for value in values)

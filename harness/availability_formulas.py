"""What becomes of votes when one group follows another, as functions: the policies, traced.

Where votes are taken on they grow without bound, and a core hardly ever comes back. But what
becomes of votes and tables when one group follows another is the same formula whatever the
numbers are: the policy functions run once on `Sum`s in the place of numbers, and what comes out
is compiled. Comparisons are all that depends on the numbers.

The numbers are the votes, and beside them, node by node, the table of each or, where nodes catch
up, the last group of each that is out. A table has a place for every other node.

Rule: numbers are Python's, of any size; nothing is rounded.

Limits: a policy function that compared votes could not be traced. A Sum refuses it. Resets do
compare, and are in no formula.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Literal

from harness.availability import Network, Rival
from harness.availability_cores import Core, Game, Group, members
from harness.availability_sums import Sum
from nodes.policies import Strategy

Numbers = tuple[Any, ...]
Winner = Callable[[Numbers], int]
Formula = Callable[[Numbers, Numbers], tuple[Numbers, Numbers, bool]]


@cache
def winner(groups: tuple[int, ...], nodes: int) -> Winner:
    """A function of the votes: which of these groups has a majority; 0: none."""
    votes = [f"v{i}" for i in range(1, nodes + 1)]
    largest = sorted(groups, key=int.bit_count, reverse=True)  # it is the likeliest
    tests = (f"{group} if {_outweighs(group, votes)} else " for group in largest)
    found: Winner = _function({"votes": votes}, "".join(tests) + "0")
    return found


@cache
def formulas_of(
    strategy: Strategy, token: Literal["circulating", "passed", "kept"], nodes: int
) -> "Formulas":
    """Those of a strategy; links, thresholds and halts change none of them."""
    return Formulas(Game(Network("", nodes, ()), Rival(strategy, token)))


class Formulas(dict[tuple[int, int, int, bool], tuple[Formula, int]]):
    """By the active group before, that now, who has the token, whether all halted in between.

    What is found: a function to the new votes, what is beside them, and whether the group has a
    majority by them; and who has the token then.
    """

    def __init__(self, game: Game) -> None:
        self.game, self.catching_up = game, game.strategy.balance == "catch-up"
        self.returns = Returns(game)

    def at_first(self) -> Numbers:
        """What is beside the votes in the beginning."""
        n = len(self.game.nodes)
        return (0,) * n if self.catching_up else ((0,) * n,) * n

    def __missing__(self, key: tuple[int, int, int, bool]) -> tuple[Formula, int]:
        active, now, token, halted = key
        nodes, inside, here = self.game.nodes, members(active), members(now)
        back = here if halted else members(now & ~active)
        unknown = tuple(self.table(i, inside) for i in nodes)
        core = self.game.regrouped(
            Core(active, _votes(nodes), unknown, self.game.start.last, token, halted),
            Group(now, ()),
        )
        votes, beside, up = [str(v) for v in core.votes], [f"b{i}" for i in nodes], "True"
        if self.catching_up:
            for i in back:
                votes[i - 1] = f"returns[{i}, b{i} or {active}, {now}](votes)"
            for i in {*inside, *here}:
                beside[i - 1] = "0" if i in here else str(active)
        else:
            for i in here:
                table = dict(core.tables[i - 1])
                beside[i - 1] = f"({_listed(table.get(x, 0) for x in nodes)})"
            if back:  # giving back to them may have cost it the majority
                votes = [f"n{i} := {text}" for i, text in zip(nodes, votes, strict=True)]
                up = _outweighs(now, [f"n{i}" for i in nodes])
        self[key] = (
            _function(
                {"votes": [f"v{i}" for i in nodes], "beside": [f"b{i}" for i in nodes]},
                f"({_listed(votes)}), ({_listed(beside)}), {up}",
                returns=self.returns,
            ),
            core.token,
        )
        return self[key]

    def table(self, i: int, inside: Sequence[int]) -> Any:
        """What node i has taken on for whom, as Sums."""
        return () if self.catching_up else tuple(
            (x, Sum.named(f"b{i}[{x - 1}]"))
            for x in self.game.nodes
            if x != i and not (x in inside and i in inside)  # that was given back
        )  # fmt: skip


class Returns(dict[tuple[int, int, int], Winner]):
    """The votes of a node that catches up, from those it finds (BGS86 4.4.1).

    By the node, the last active group it was in, and that now.
    """

    def __init__(self, game: Game) -> None:
        self.game = game

    def __missing__(self, key: tuple[int, int, int]) -> Winner:
        i, last, now = key
        nodes = self.game.nodes
        away = self.game.start._replace(active=last, votes=_votes(nodes), halted=True)
        core = self.game.regrouped(away, Group(now, ()))
        self[key] = _function({"votes": [f"v{i}" for i in nodes]}, str(core.votes[i - 1]))
        return self[key]


def _votes(nodes: Iterable[int]) -> Any:
    """Votes that are not known yet."""
    return tuple(Sum.named(f"v{i}") for i in nodes)


def _outweighs(group: int, votes: Sequence[str]) -> str:
    """That it has more than all others together: a majority, with no total to be made."""
    inside = members(group)
    ours = " + ".join(votes[i - 1] for i in inside)
    others = " + ".join(vote for i, vote in enumerate(votes, 1) if i not in inside)
    return f"{ours} > {others or 0}"


def _function(arguments: dict[str, list[str]], result: str, **known: object) -> Any:
    """A function of tuples, given by the names of what is in each, from the text of its result.

    They are taken apart inside: to hand over a tuple is faster than to hand over all that is in it.
    """
    apart = "".join(f"    {_listed(names)}= {name}\n" for name, names in arguments.items())
    exec(f"def function({_listed(arguments)}):\n{apart}    return {result}\n", known)
    return known["function"]


def _listed(values: Iterable[object]) -> str:
    return "".join(f"{value}, " for value in values)

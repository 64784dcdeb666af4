"""Policies of vote reassignment: which votes a node wants (BGS86 4), never whether it gets them.

"It is the protocol that ensures mutual exclusion, the chosen policy is an attempt to get as good
a new assignment as possible" (BGS86 1.2). Rules:

- Pure functions on plain data: votes by node, groups of nodes, and a table of what was taken on
  for each excluded node. Nothing is changed in place. A node that is not in `votes` has none.
- The lowest number has the highest priority: BGS86 4.3 takes b of {b, c, d}, "of lowest rank".
- Several nodes excluded at once: each is counted by itself, and the increases are added up.
- Two nodes left: the first takes 2 v_x and the other nothing, whatever the alliance (BGS86 4.2).
  The example in 4.4.1 lets both of {c, d} take 2 v_b; this follows 4.2, as 1.1 does (15 and 5).
- A node that returns takes part in no exclusion it missed, except by catching up.

Limits: a node goes by the group and the votes it knows of, and by its own table. What left and
returned while a node was away, that node never hears of (BGS86 4.4.1 says so of catching up).
"""

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

import msgspec

Part = Literal["2v", "v", "2v/N"]
Choice = Literal["ranking", "token"]
Votes = Mapping[int, int]
Table = Mapping[int, int]
Group = Collection[int]
Links = Collection[tuple[int, int]]


class Strategy(msgspec.Struct, frozen=True):
    """One of the strategies of BGS86 5.1; `part` is what a node that increases takes for v_x."""

    rule: Literal["overthrow", "alliance", "consensus", "static"]
    part: Part = "2v"
    choice: Choice = "ranking"
    balance: Literal["none", "catch-up", "decrease"] = "none"

    def __post_init__(self) -> None:
        if self.balance == "catch-up" and self.rule != "alliance":
            raise ValueError("catching up is for alliances only (BGS86 4.4.1)")


class Wish(NamedTuple):
    """The votes a node wants, and its table once it has them."""

    votes: int
    table: Table


STRATEGIES: dict[str, Strategy] = {
    "alliance-2v-catch-up": Strategy("alliance", "2v", balance="catch-up"),
    "alliance-v-catch-up": Strategy("alliance", "v", balance="catch-up"),
    "alliance-2v-over-n-decrease": Strategy("alliance", "2v/N", balance="decrease"),
    "alliance-2v-decrease": Strategy("alliance", "2v", balance="decrease"),
    "alliance-v-decrease": Strategy("alliance", "v", balance="decrease"),
    "overthrow-ranking-decrease": Strategy("overthrow", balance="decrease"),
    "overthrow-token-decrease": Strategy("overthrow", choice="token", balance="decrease"),
    "group-consensus": Strategy("consensus"),
    "static": Strategy("static"),
}
"""The nine of BGS86 5.1, in its order."""


def supplanter(active: Group, choice: Choice, token: int | None = None) -> int | None:
    """The node that supplants an excluded one (BGS86 4.1), if any.

    By token it may be none: the holder is not in the active group, and "no node gets extra
    votes" (BGS86 5.2).
    """
    if choice == "token":
        return token if token in active else None
    return min(active, default=None)


def overthrow(i: int, v: int, active: Group, choice: Choice, token: int | None = None) -> int:
    """BGS86 4.1: what i takes on when a node with v votes is excluded; 2v, if i supplants it."""
    return 2 * v if i == supplanter(active, choice, token) else 0


def alliance(i: int, v: int, active: Group, part: Part) -> int:
    """BGS86 4.2: what i takes on when a node with v votes is excluded, as all of `active` do."""
    if i not in active or (len(active) == 2 and i != min(active)):
        return 0
    return share(v, len(active), part)


def share(v: int, left: int, part: Part) -> int:
    """What a node that takes votes on takes for v when so many nodes are left (BGS86 4.2).

    With one or two left only one takes any, and then it is 2v in all three variants: there is
    "at least 2 v_x" to give out.
    """
    if part == "2v" or left <= 2:
        return 2 * v
    return v if part == "v" else -(-2 * v // left)


def taken(
    strategy: Strategy,
    i: int,
    votes: Votes,
    excluded: Group,
    active: Group,
    token: int | None = None,
) -> dict[int, int]:
    """What i takes on for each of the excluded nodes; those it takes nothing for are left out."""
    found = {}
    for x in excluded:
        v = votes.get(x, 0)
        if strategy.rule == "overthrow":
            found[x] = overthrow(i, v, active, strategy.choice, token)
        elif strategy.rule == "alliance":
            found[x] = alliance(i, v, active, strategy.part)
    return {x: more for x, more in found.items() if more}


def excluded_from(last: Group, now: Group) -> list[int]:
    """Who was in the last active group and is not in this one."""
    return sorted(set(last).difference(now))


def catch_up(i: int, votes: Votes, last: Group, now: Group, part: Part) -> int:
    """BGS86 4.4.1: what i adds when it returns; for alliances only.

    As much as any other took when i was excluded from `last`, its last majority group; and for
    those of it that are not in the present one, what i takes "as if it were present when those
    nodes were initially excluded", of the votes that it has just learned.
    """
    others = len(set(last) - {i})
    own = share(votes.get(i, 0), others, part) if others else 0
    missed = excluded_from(last, now)
    return own + sum(alliance(i, votes.get(x, 0), now, part) for x in missed)


def noted(table: Table, more: Table) -> dict[int, int]:
    """BGS86 4.4.2: the table with what was taken on for each excluded node."""
    return {**table, **{x: table.get(x, 0) + n for x, n in more.items()}}


def given_back(table: Table, active: Group) -> tuple[int, dict[int, int]]:
    """BGS86 4.4.2: the votes to give back for those who are in the active group; the new table."""
    kept = {x: n for x, n in table.items() if x not in active}
    return sum(table.values()) - sum(kept.values()), kept


def initial_votes(nodes: Group, links: Links | None = None) -> dict[int, int]:
    """BGS86 5.1: a vote for each incident link, and one more for the best connected node if even.

    Only links between these nodes count, each given once. Without a topology: one vote each, and
    one more for the first. Of nodes that are connected equally well the first is the best.
    """
    votes = dict.fromkeys(sorted(nodes), 1 if links is None else 0)
    for i, j in links or ():
        if i in votes and j in votes:
            votes[i] += 1
            votes[j] += 1
    if votes and sum(votes.values()) % 2 == 0:
        votes[max(votes, key=votes.__getitem__)] += 1  # the first of the best
    return votes


def consensus(nodes: Group, active: Group, links: Links | None = None) -> dict[int, int]:
    """Group consensus (BGS86 1.2, 5.1): what a coordinator of the active group decides for all.

    Those outside get no votes, those inside what they would start with were they all there is.
    """
    return {**dict.fromkeys(nodes, 0), **initial_votes(active, links)}


def hit(votes: Votes, threshold: int) -> bool:
    """BGS86 4.4.1: whether "some node hits a predefined threshold vote value"."""
    return any(v >= threshold for v in votes.values())


def reset(votes: Votes, initial: Votes, active: Group, threshold: int) -> Votes:
    """BGS86 4.4.1: the original votes, if the threshold is hit and all are there to take them.

    "This may require that all nodes be in the active group": here it does, since a node that
    kept its many votes would outvote all that gave up theirs. Tables are to be emptied with it.
    """
    due = hit(votes, threshold) and all(i in active for i in votes)
    return initial if due else votes


def wanted(
    strategy: Strategy,
    i: int,
    votes: Votes,
    last: Group,
    now: Group,
    table: Table,
    *,
    returned: bool = False,
    token: int | None = None,
    links: Links | None = None,
) -> Wish:
    """What node i wants as its votes, now that the active group is `now`.

    `last` is the last active group it was in, and `returned` whether there was one without it
    since. A node outside the active group changes nothing (BGS86 1.1), but group consensus
    leaves it none. To give back before asking for more (Protocols P5, P4), call `given_back`
    first and this with the votes and the table it leaves.
    """
    if strategy.rule == "consensus":
        return Wish(consensus(votes, now, links).get(i, 0), table)
    mine = votes.get(i, 0)
    if i not in now:
        return Wish(mine, table)
    if returned and strategy.balance == "catch-up":
        return Wish(mine + catch_up(i, votes, last, now, strategy.part), table)
    excluded = () if returned else excluded_from(last, now)
    more = taken(strategy, i, votes, excluded, now, token)
    mine += sum(more.values())
    if strategy.balance != "decrease":
        return Wish(mine, table)
    back, kept = given_back(table, now)
    return Wish(mine - back, noted(kept, more))

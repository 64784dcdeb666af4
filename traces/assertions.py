"""What Assertions 4, 4'a, 4'b and ALE2 demand of the states of nodes, given who reaches whom.

GM82 IV, Assertion 4: a maximal set R of nodes that all reach each other has one Normal
coordinator, in R, and all of R are Normal in its group. S97 App. A and S00 show that the
Invitation Algorithm does not satisfy it, and that no algorithm should: where two such sets share
a node, it forces nodes that cannot reach each other into one group. S00, Assertion 4': (a) every
node is Normal, and its leader is up, in the same group, and in its component of the connectivity
graph; (b) there are no more groups than a minimum clique cover of that graph has. S97 5, ALE2:
the same without the clause on components; ALE2' is its part (a) alone. Rules:

- A node without a group number is in a group of its own.
- Where the search for a minimum cover ran out of budget, its bounds may still decide: no more
  groups than independent nodes are good, more than a cover has are bad. Else it is undecided.

Limits: what is demanded of an interval, and from when on, is in traces.groups.
"""

from abc import ABC, abstractmethod
from collections import defaultdict

from traces.chapters import State
from traces.cliques import BUDGET, Cover, Graph, maximal_cliques, minimum_clique_cover
from traces.events import Became
from traces.shots import in_words

States = dict[int, State]


class Demand(ABC):
    """What an assertion demands of the states in an interval, given its graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @abstractmethod
    def met(self, states: States) -> bool | None:
        """Whether it is met; None when that cannot be decided within the budget."""

    @abstractmethod
    def says(self, states: States) -> tuple[tuple[int, ...], str]:
        """The nodes concerned, and how things are, as the end of a sentence."""


class OneGroup(Demand):
    """GM82-4: every maximal clique is one group with a coordinator of its own."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.sets = maximal_cliques(graph)

    def met(self, states: States) -> bool | None:
        """GM82 IV, Assertion 4 (a) and (b), for every R."""
        if self.sets is None:
            return None
        return all(self._one(states, r) for r in self.sets)

    def _one(self, states: States, r: tuple[int, ...]) -> bool:
        led = {(c, g) for i in r for c, g in [_normal_in(states[i])]}
        return len(led) == 1 and led.pop()[0] in r

    def says(self, states: States) -> tuple[tuple[int, ...], str]:
        """The first set that is not one group."""
        if self.sets is None:
            return (), "there are too many maximal sets of nodes that reach each other to see all"
        wrong = next((r for r in self.sets if not self._one(states, r)), None)
        if wrong is None:
            return self.graph.nodes, " ".join(map(_braced, self.sets))
        is_alone = len(wrong) == 1
        who = (
            f"node {wrong[0]} reaches nobody" if is_alone else f"{_listed(wrong)} reach each other"
        )
        than = "" if is_alone else " and are in no larger such set"
        how = " and ".join(_placed(states, i) for i in wrong)
        return wrong, f"{who}{than}, but {how}{self._forced(wrong)}"

    def _forced(self, wrong: tuple[int, ...]) -> str:
        """S00: what Assertion 4 asks for, where R shares nodes with another such set."""
        for other in self.sets or ():
            if other == wrong or not set(wrong) & set(other):
                continue
            a, b = sorted(self._apart(wrong, other))
            return (
                f" (S00: {_braced(other)} is such a set too, so Assertion 4 would force {a} and "
                f"{b}, which do not reach each other, into one group)"
            )
        return ""

    def _apart(self, r: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int]:
        """Two nodes that do not reach each other: if all did, R would not be maximal."""
        pairs = ((a, b) for a in r for b in other if a not in other and b not in r)
        return next(pair for pair in pairs if not self.graph.joined(*pair))


class Elected(Demand):
    """S97-ALE2': all are Normal, in the group of a leader that is up."""

    def met(self, states: States) -> bool:
        """S97 (6), ldrsElected."""
        return not any(self._wrong(states, i) for i in self.graph.nodes)

    def _wrong(self, states: States, i: int) -> str:
        c, g = _normal_in(states[i])
        if not c:
            return in_words(states[i])
        if c not in self.graph.nodes:
            return f"{in_words(states[i])}, which is Down"
        leader = states[c]
        theirs = leader.g if isinstance(leader, Became) else ""
        if theirs != g:
            return f"{_placed(states, i)}, and node {c} is in group {theirs or 'none'}"
        return ""

    def says(self, states: States) -> tuple[tuple[int, ...], str]:
        """The nodes that are not led, with their leaders."""
        wrong = {i: words for i in self.graph.nodes if (words := self._wrong(states, i))}
        if not wrong:
            return self.graph.nodes, groups_in_words(states, self.graph.nodes)
        leaders = {_normal_in(states[i])[0] for i in wrong} & set(states)
        return tuple(sorted(wrong.keys() | leaders)), " and ".join(wrong.values())


class Led(Elected):
    """S00-4'a: the same, and they reach their leader."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.component = graph.components()

    def _wrong(self, states: States, i: int) -> str:
        """S00, Assertion 4' (a)."""
        wrong, (c, _) = super()._wrong(states, i), _normal_in(states[i])
        if not wrong and self.component[c] != self.component[i]:
            return f"{in_words(states[i])}, which it cannot reach"
        return wrong


class Covered(Demand):
    """S00-4'b: no more groups than a minimum clique cover has."""

    def __init__(self, graph: Graph, budget: int = BUDGET) -> None:
        super().__init__(graph)
        self.budget = budget
        self.cover = minimum_clique_cover(graph, budget)

    def met(self, states: States) -> bool | None:
        """S00, Assertion 4' (b)."""
        count = len(groups_of(states, self.graph.nodes))
        if count <= self.cover.lower:
            return True
        return False if count > self.cover.upper else None

    def says(self, states: States) -> tuple[tuple[int, ...], str]:
        """The groups, and the cover with its certificate."""
        words = f"{groups_in_words(states, self.graph.nodes)}; {cover_in_words(self.cover)}"
        if self.met(states) is None:
            words += (f", and the search gave up after {self.budget:,} steps: "
                      f"`hustings check RUN --budget {10 * self.budget}` goes on")  # fmt: skip
        return self.graph.nodes, words


class Both(Demand):
    """S97-ALE2: leaders are elected, and there are no more groups than a cover has."""

    def __init__(self, elected: Elected, covered: Covered) -> None:
        super().__init__(elected.graph)
        self.elected, self.covered = elected, covered

    def met(self, states: States) -> bool | None:
        """S97 5, ALE2."""
        return self.elected.met(states) and self.covered.met(states)

    def says(self, states: States) -> tuple[tuple[int, ...], str]:
        """What is wrong of the two; if nothing is, the groups and the cover."""
        part = self.covered if self.elected.met(states) else self.elected
        return part.says(states)


def cover_in_words(cover: Cover) -> str:
    """`a minimum clique cover has 2 ({1,2} {3}; 1 and 3 are independent)`."""
    cliques = " ".join(map(_braced, cover.cliques))
    apart = " and ".join(map(str, cover.independent)) + " are independent"
    if not cover.decided:
        return (f"a minimum clique cover has from {cover.lower} ({apart}) to {cover.upper} "
                f"({cliques})")  # fmt: skip
    if cover.shown_by == "exhaustive search":
        apart = f"a search of all finds none with {cover.upper - 1}"
    elif cover.upper == 1:
        return f"a minimum clique cover has 1 ({cliques})"
    return f"a minimum clique cover has {cover.upper} ({cliques}; {apart})"


# --- states -------------------------------------------------------------------------------


def _normal_in(state: State) -> tuple[int, str]:
    """Coordinator and group of a Normal node; 0 for any other."""
    normal = isinstance(state, Became) and state.s == "Normal"
    return (state.c, state.g) if normal else (0, "")  # type: ignore[union-attr]


def groups_of(states: States, nodes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The nodes of each group number S(i).g."""
    found: defaultdict[object, list[int]] = defaultdict(list)
    for i in nodes:
        state = states[i]
        found[(isinstance(state, Became) and state.g) or i].append(i)
    return [tuple(group) for group in found.values()]


def groups_in_words(states: States, nodes: tuple[int, ...]) -> str:
    """`2 groups {1,2} {3}`."""
    groups = groups_of(states, nodes)
    noun = "group" if len(groups) == 1 else "groups"
    return f"{len(groups)} {noun} {' '.join(map(_braced, groups))}"


def _placed(states: States, i: int) -> str:
    """`node 3 is Normal under 5 in group 5.2`."""
    state = states[i]
    group = state.g if isinstance(state, Became) else ""
    return in_words(state) + (f" in group {group}" if group else "")


def _braced(nodes: tuple[int, ...]) -> str:
    return "{" + ",".join(map(str, nodes)) + "}"


def _listed(nodes: tuple[int, ...]) -> str:
    """`nodes 1, 2 and 3`."""
    return f"nodes {', '.join(map(str, nodes[:-1]))} and {nodes[-1]}"

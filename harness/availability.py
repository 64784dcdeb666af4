"""What the availability study of BGS86 5 is made of: networks, failure mixes, strategies read.

Rules: nodes are numbered from 1, and the lowest number has the highest priority; a network is
given by its links. Figure 7 of the paper is lost: R5 is the ring, C5 complete, and I1 to I4 have
one to four chords more than the ring. I2 and I3 are two graphs each; both are here.

Limits: links fail and repair like nodes, each by itself; messages are not lost otherwise.
"""

from itertools import combinations
from typing import Literal, NamedTuple

from nodes.policies import STRATEGIES, Strategy

Links = tuple[tuple[int, int], ...]
RING: Links = ((1, 2), (2, 3), (3, 4), (4, 5), (1, 5))
CHORDS: dict[str, Links] = {
    "R5": (),
    "I1": ((1, 3),),
    "I2a": ((1, 3), (1, 4)),  # two chords that meet
    "I2b": ((1, 3), (2, 4)),  # two that cross
    "I3a": ((1, 3), (1, 4), (2, 4)),  # the two that are missing meet
    "I3b": ((1, 3), (1, 4), (2, 5)),  # the two that are missing cross
    "I4": ((1, 3), (1, 4), (2, 4), (2, 5)),
    "C5": tuple(pair for pair in combinations(range(1, 6), 2) if pair not in RING),
}
RATE, TIME = 20.0, 200.0  # BGS86 5.1: "a rate of 20", "200 time units"
MOST = 62  # nodes and links together: what is up is one number of 64 bits
THRESHOLD = 1000  # BGS86 4.4.1 leaves it open


class Network(NamedTuple):
    """A graph with a name; `nodes` is how many."""

    name: str
    nodes: int
    links: Links


class Rates(NamedTuple):
    """How often a component fails while it is up, and is repaired while it is down."""

    fail: float
    repair: float


NEVER, OFTEN = Rates(0.0, 0.0), Rates(RATE, RATE)


class Mix(NamedTuple):
    """A failure and repair scenario of BGS86 5.1."""

    name: str
    of_nodes: Rates
    of_links: Rates


MIXES = (Mix("1", OFTEN, OFTEN), Mix("2", OFTEN, NEVER), Mix("3", NEVER, OFTEN))
NETWORKS = {name: Network(name, 5, (*RING, *chords)) for name, chords in CHORDS.items()}


class Rival(NamedTuple):
    """A strategy, and how it is read where BGS86 leaves something open.

    - The token is `circulating`, to the next node of its holder's group whenever groups change; or
      is `passed` on in the active group only when its holder has used it; or `kept` where it is.
    - Consensus is reached `after` each event in the active group; or after failures only: then
      who returns has no votes until somebody is excluded (BGS86 5.1: "after each failure"). Or
      when other members are in the group, by all links between them: the nodes of nodes.consensus
      do not know which are up.
    - Catching up: the votes are reset once one of them has hit `threshold` and all are there.
    - A node that was without an active group for a while is as it was (`same`) when the group that
      it returns to is the next one there is; or it counts as having been `away`, as with the nodes
      of nodes.autonomous, which cannot know what went on without them.
    """

    strategy: Strategy
    token: Literal["circulating", "passed", "kept"] = "circulating"
    after: Literal["events", "failures", "members"] = "events"
    threshold: int = THRESHOLD
    after_halt: Literal["same", "away"] = "same"


TOKEN, CONSENSUS = "overthrow-token-decrease", "group-consensus"
TWICE, ONCE = "alliance-2v-catch-up", "alliance-v-catch-up"
RIVALS = {name: Rival(strategy) for name, strategy in STRATEGIES.items()}
READINGS: dict[str, dict[str, Rival]] = {
    "token passed": {TOKEN: RIVALS[TOKEN]._replace(token="passed")},
    "token kept": {TOKEN: RIVALS[TOKEN]._replace(token="kept")},
    "after failures": {CONSENSUS: RIVALS[CONSENSUS]._replace(after="failures")},
    "by members": {CONSENSUS: RIVALS[CONSENSUS]._replace(after="members")},
    "reset late": {name: RIVALS[name]._replace(threshold=10**9) for name in (TWICE, ONCE)},
    "away": {
        name: rival._replace(after_halt="away")
        for name, rival in RIVALS.items()
        if rival.strategy.rule in ("overthrow", "alliance")
    },
}
"""Other readings, each of the strategies that it changes."""
OTHERWISE = {
    f"{name}, {reading}": rival
    for reading, changed in READINGS.items()
    for name, rival in changed.items()
}


def graph(text: str) -> Network:
    """The network of some links, as in `1-2 2-3 1-3`; ValueError says what is wrong with it."""
    links: list[tuple[int, int]] = []
    for word in text.replace(",", " ").split():
        ends = word.split("-")
        if len(ends) != 2 or not all(end.isdecimal() and int(end) for end in ends):
            raise ValueError(f"{word!r} is no link; links are given as in 1-2 2-3 1-3")
        i, j = sorted(int(end) for end in ends)
        if i == j or (i, j) in links:
            raise ValueError(f"the link {word} {'leads nowhere' if i == j else 'is there twice'}")
        links.append((i, j))
    nodes = max((j for _, j in links), default=1)
    if not links or nodes + len(links) > MOST:
        raise ValueError(f"a network has a link, and {MOST} nodes and links at most")
    reached = {1}
    for _ in links:
        reached |= {i for link in links if reached & set(link) for i in link}
    if missing := set(range(1, nodes + 1)) - reached:
        raise ValueError(f"node {min(missing)} is not connected to node 1")
    return Network("given", nodes, tuple(links))

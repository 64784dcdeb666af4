"""Availability without chance: all states and how likely each is, where these are few enough.

- Static votes: what is up is all there is, and components are independent. The probability of
  each of the 2^(nodes + links) states is a product, in fractions.
- The others: what is up and the core together are a Markov chain (all times are exponential). It
  is finite where votes do not grow. Its states are found by following every event from the
  beginning, its stationary distribution by letting time pass until nothing changes any more.

Rule: a chain with more states than MOST is none: None, never an approximation.

Limits: what is found is the mean over all time. A run that begins with everything up is a little
better off than that; over 200 time units the difference is far below a tenth of a point.
"""

from fractions import Fraction
from itertools import product

import numpy as np

from harness.availability import Mix, Network, Rival
from harness.availability_cores import Core, Game, majority
from harness.availability_history import components, groups_of

MOST = 5_000
SPREAD = 1e7  # of rates: beyond it so little of the small ones is left that digits are lost
State = tuple[int, Core, bool]


def of_static_votes(network: Network, mix: Mix, votes: tuple[int, ...]) -> Fraction:
    """The probability that some group has a majority of these votes."""
    states: list[list[tuple[int, Fraction]]] = []  # of each component: what it adds, how likely
    for k, rate in enumerate(components(network, mix)):
        fail, repair = Fraction(rate.fail), Fraction(rate.repair)
        up = repair / (fail + repair) if fail else Fraction(1)
        states.append([(bit, p) for bit, p in ((1 << k, up), (0, 1 - up)) if p])
    total = Fraction(0)
    for state in product(*states):
        groups = groups_of(network, sum(bit for bit, _ in state), with_links=False)
        if any(majority(group.nodes, votes) for group in groups):
            likely = Fraction(1)
            for _, p in state:
                likely *= p
            total += likely
    return total


def of_chain(network: Network, mix: Mix, rival: Rival, most: int = MOST) -> float | None:
    """The long-run availability of any strategy; None if its chain has too many states."""
    found = chain(network, mix, rival, most)
    if found is None:
        return None
    states, rates = found
    if max(rates.values()) > SPREAD * min(rates.values()):
        return None
    flow = np.zeros((len(states), len(states)))
    for (one, other), often in rates.items():
        flow[other, one] += often
        flow[one, one] -= often
    flow[0] = 1.0  # that all add up to 1 stands for one equation of too many
    likely = np.linalg.solve(flow, np.eye(1, len(states))[0])
    return float(likely[[active for _, _, active in states]].sum())


def chain(
    network: Network, mix: Mix, rival: Rival, most: int
) -> tuple[list[State], dict[tuple[int, int], float]] | None:
    """Its states, the beginning first, and the rates between them by number."""
    game, of_each = Game(network, rival), components(network, mix)
    first: State = ((1 << len(of_each)) - 1, game.start, True)
    numbers, states, rates = {first: 0}, [first], dict[tuple[int, int], float]()
    for at, (up, core, active) in enumerate(states):  # which grows meanwhile
        before = groups_of(network, up, with_links=False)
        for k, rate in enumerate(of_each):
            often = rate.fail if up >> k & 1 else rate.repair
            if not often:
                continue
            now = up ^ (1 << k)
            groups = groups_of(network, now, with_links=game.strategy.rule == "consensus")
            unchanged = groups_of(network, now, with_links=False) == before
            if unchanged and game.strategy.rule != "consensus":
                state = (now, core, active)  # nobody notices anything
            else:
                state = (now, *game.step(core, groups))
            if state not in numbers:
                if len(states) >= most:
                    return None
                numbers[state] = len(states)
                states.append(state)
            pair = at, numbers[state]
            rates[pair] = rates.get(pair, 0.0) + often
    return states, rates

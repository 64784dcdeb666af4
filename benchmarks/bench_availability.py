"""The simulation of the availability study, against a straightforward one kept as its oracle.

An event is a failure or a repair of a node or link. Both sides draw their own histories and walk
one strategy over them, on all eight networks under all three mixes; both are timed by the CPU
time of the process. Whatever the simulation prepares for a network it has prepared before: the
whole table takes so many runs that this does not matter.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from random import Random
from statistics import median

import numpy as np

from benchmarks.table import Row, cpu_s, in_turn, ratio
from harness.availability import CONSENSUS, MIXES, NETWORKS, RIVALS, TIME, Mix, Network
from harness.availability_history import components, drawn
from harness.availability_study import Course
from tests.oracle_availability import Simulation, events, rates_of

ROUNDS, RUNS, SHORT = 3, 5, 0.5
CASES = [(network, mix) for network in NETWORKS.values() for mix in MIXES]


@cache
def prepared(name: str) -> dict[Network, Course]:
    """What the runs of the study have prepared after a while."""
    courses = {network: Course(network, ((name, RIVALS[name]),)) for network in NETWORKS.values()}
    for network, course in courses.items():
        if name != CONSENSUS:
            course.groupings[False].of(np.arange(1 << network.nodes + len(network.links)))
        for mix, run in product(MIXES, range(RUNS)):
            once(course, network, mix, run)
    return courses


def rate(name: str) -> float:
    """Events a second, over all networks and mixes."""
    courses, done = prepared(name), 0

    def work() -> None:
        nonlocal done
        done = sum(once(courses[network], network, mix, RUNS) for network, mix in CASES)

    took = cpu_s(work)
    return done / took


def once(course: Course, network: Network, mix: Mix, run: int) -> int:
    """One run; how many events it had."""
    history = drawn(components(network, mix), TIME, (run,))
    course.uptimes(history)
    return len(history.at)


def oracle_rate(name: str) -> float:
    """The same of the oracle, over shorter runs."""
    done = 0

    def work() -> None:
        nonlocal done
        for network, mix in CASES:
            history = list(events(rates_of(network, mix), SHORT, Random(1)))
            Simulation(network, RIVALS[name]).uptime(history, SHORT)
            done += len(history)

    took = cpu_s(work)
    return done / took


def rows() -> Iterator[Row]:
    """A row a strategy."""
    for name in RIVALS:
        fast, slow = in_turn(ROUNDS, partial(rate, name), partial(oracle_rate, name))
        times, least = ratio(fast, slow), 10e6 if name == "static" else 1e6
        yield Row(
            f"availability, {name}",
            "a straightforward simulation",
            f"{times:.0f}x ({median(fast) / 1e6:.2f}M / {median(slow) / 1e3:.0f}k events/s)",
            f"20x, {least / 1e6:.0f}M/s",
            times >= 20 and median(fast) >= least,
        )

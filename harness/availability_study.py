"""The study: independent runs of each network and mix, until every interval is narrow enough.

A cell is a network and a mix. One run walks one history of BGS86's length with every strategy;
its result is the fraction of the time in which some group was active, for each. Rules:

- Runs are independent: seed, network, mix and number of a run make its history, and nothing else
  does. So it does not matter which process or machine walks it.
- Nothing is left out at the beginning: a run starts with everything up, as in BGS86 5.1.
- Intervals are Student's, over runs. How many runs there are is decided in two stages (Stein):
  the first PILOT say how many it takes, then these are run. Should the interval be wider still,
  by the larger sample's own deviation, the question is put again. Nothing looks at a mean.
- Runs in which hardly anything fails are all alike, and an interval of none would be as wide as
  nothing: there are FEW / width of them, unless they have as many events together.
- Strategies of a cell are compared run by run, which takes out what the history did to both.

Limits: 95% holds for each interval by itself, not for all 216 at once: about eleven of them will
not contain the true value. Where a group hardly ever halts an interval may be too narrow, but the
width that was asked for is not.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil, sqrt
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple
from zlib import crc32

import numpy as np

from harness.availability import Mix, Network, Rival
from harness.availability_cores import Game
from harness.availability_history import Groupings, History, components, drawn
from harness.availability_walk import prepared

PILOT, BLOCK = 20, 4
FEW = 6  # by the rule of three what never was in 3 / p tries is rarer than p; p is half a width
Rivals = tuple[tuple[str, Rival], ...]
Runs = list[tuple[int, list[float]]]
"""Of each run, how many events it had, and the uptimes."""


class Setting(NamedTuple):
    """What a cell is made of."""

    network: Network
    mix: Mix
    rivals: Rivals
    until: float
    seed: int


class Block(NamedTuple):
    """Some runs of a cell: what one process is given at a time."""

    setting: Setting
    runs: tuple[int, ...]


class Estimate(NamedTuple):
    """A mean and half the width of its 95% interval."""

    mean: float
    half: float


@dataclass
class Cell:
    """What has been found for a setting: for each run the uptime of each rival."""

    setting: Setting
    uptimes: list[list[float]] = field(default_factory=list)
    events: int = 0

    def of(self, name: str) -> list[float]:
        """The uptimes of one rival, run by run."""
        at = [rival for rival, _ in self.setting.rivals].index(name)
        return [row[at] for row in self.uptimes]

    def uptime(self, name: str) -> Estimate:
        """Its mean."""
        return estimate(self.of(name))

    def lead(self, name: str, other: str) -> Estimate:
        """By how much one is better than the other, run by run."""
        return estimate([a - b for a, b in zip(self.of(name), self.of(other), strict=True)])

    def missing(self, width: float) -> int:
        """How many more runs it takes until no interval is wider than this."""
        done = len(self.uptimes)
        if done < PILOT:
            return PILOT - done
        if self.events < FEW / width:
            return max(0, ceil(FEW / width) - done)
        estimates = [self.uptime(name) for name, _ in self.setting.rivals]
        widest = max(estimate.half for estimate in estimates)
        return max(0, ceil(done * (2 * widest / width) ** 2) - done) if 2 * widest > width else 0


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of independent values, with Student's interval."""
    n = len(values)
    return Estimate(fmean(values), student(n - 1) * stdev(values) / sqrt(n))


def student(freedom: int) -> float:
    """The 97.5% point of Student's distribution, to three digits from 10 degrees of freedom on.

    The expansion of Cornish and Fisher in powers of 1 / freedom.
    """
    z = NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


# --- one run --------------------------------------------------------------------------------


class Course:
    """A network with all its rivals prepared; it gets faster the longer it is used."""

    def __init__(self, network: Network, rivals: Rivals) -> None:
        self.groupings = {links: Groupings(network, links) for links in (False, True)}
        self.walks = []
        for _, rival in rivals:
            links = rival.strategy.rule == "consensus"  # which alone goes by the links
            self.walks.append((links, prepared(Game(network, rival), self.groupings[links].table)))

    def uptimes(self, history: History) -> list[float]:
        """The fraction of the time in which some group was active, for each rival."""
        spans = {}
        for links in {links for links, _ in self.walks}:
            groups = self.groupings[links].of(history.up)
            before = np.concatenate(([self.groupings[links].begun], groups[:-1]))
            new = np.flatnonzero(groups != before)  # the others change no group
            at = history.at[new]
            lasted = np.append(at[1:], history.until) - at
            spans[links] = groups[new], lasted, history.until - lasted.sum()
        found = []
        for links, walk in self.walks:
            groups, lasted, at_first = spans[links]
            # no `lasted @ ...`: for that numpy would wake threads, which burn every core
            found.append(float(at_first + (lasted * walk.walk(groups)).sum()) / history.until)
        return found


course = lru_cache(maxsize=1)(Course)


def replicate(block: Block) -> Runs:
    """The runs of a block."""
    setting, found = block.setting, []
    rates = components(setting.network, setting.mix)
    name = crc32(repr((setting.network, setting.mix)).encode())
    for run in block.runs:
        history = drawn(rates, setting.until, (setting.seed, name, run))
        uptimes = course(setting.network, setting.rivals).uptimes(history)
        found.append((len(history.at), uptimes))
    return found


# --- all of them ----------------------------------------------------------------------------


def study(
    settings: Sequence[Setting],
    width: float,
    done: Callable[[Sequence[Block]], Iterator[Runs]],
    shown: Callable[[Iterator[Runs], int, str], Iterator[Runs]],
) -> list[Cell]:
    """All cells, each until its widest interval is no wider than `width`.

    `done` does blocks, wherever that is, and gives what came of them in their order.
    """
    cells = {setting: Cell(setting) for setting in settings}
    stage = 0
    while blocks := [block for cell in cells.values() for block in blocks_of(cell, width)]:
        stage += 1
        found = shown(done(blocks), len(blocks), f"stage {stage}")
        for block, runs in zip(blocks, found, strict=True):
            cell = cells[block.setting]
            cell.uptimes += [uptimes for _, uptimes in runs]
            cell.events += sum(events for events, _ in runs)
    return list(cells.values())


def blocks_of(cell: Cell, width: float) -> list[Block]:
    """The runs a cell still needs."""
    done = len(cell.uptimes)
    runs = range(done, done + cell.missing(width))
    return [Block(cell.setting, tuple(runs[k : k + BLOCK])) for k in range(0, len(runs), BLOCK)]

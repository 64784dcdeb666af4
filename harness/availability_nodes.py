"""The study's histories under real nodes: reassignment that takes time, and what it costs.

BGS86 5.1 assumes that votes change at once. Here nodes that run a policy by themselves
(`nodes.autonomous`) live through the same histories, on either engine, and lose time: a node looks
who is there at every Check, and asks for votes by P4. Rules:

- The time unit of a history is the mean time to a failure, and to a repair; how many Checks that
  is, is the *pace*. The slower the pace, the less reassignment lasts in comparison.
- A node that fails is killed, and restarted when it is repaired. Nodes of one group reach each
  other, wherever the links lead: a group is what the simulation calls one, and all links between
  groups are cut.
- Some group is active, as in the simulation, if it has a majority of the votes in force. So a run
  is compared with the simulation of the very same history, and what is left is delay.

Limits: group consensus has nodes of another kind, whose votes are no single number, and is not
compared. Messages under way when a node is killed are lost, as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from harness.availability import RIVALS, THRESHOLD, Mix, Network, Rates
from harness.availability_cores import majority, mask, members
from harness.availability_history import History, components, drawn, groups_of
from harness.availability_study import Course
from harness.execute import execute, info_of
from harness.run import Run
from harness.scenario import AUTONOMOUS_TWO, Scenario
from harness.virtual import VirtualEngine
from traces.events import AnyEvent, Became, Sent
from traces.merge import read_trace

UNIT = Rates(1.0, 1.0)
LOOKING = frozenset(("RollCall", "Present"))  # at every Check, whatever happens
VOTES = re.compile(r"(\d+) votes")  # what S(i).d says
Moment = tuple[int, tuple[int, ...]]
"""An instant, and the groups from then on."""


@dataclass(frozen=True)
class Trial:
    """One history under one strategy; `length` in mean times to a failure."""

    network: Network
    mix: Mix
    strategy: str
    pace: float
    length: float
    seed: int

    @property
    def history(self) -> History:
        """What happens, in units of the mean time to a failure."""
        rates = components(self.network, self.mix)
        unit = [UNIT if rate.fail else rate for rate in rates]
        return drawn(unit, self.length, (self.seed,))


@dataclass(frozen=True)
class Compared:
    """What came of it: uptimes in fractions, and messages for each failure or repair."""

    trial: Trial
    nodes: float
    as_read: float
    """Simulated, as these nodes read the strategy: who was without a group was away."""
    simulated: float
    """As the study reads it."""
    messages: float


def virtual(trial: Trial) -> Compared:
    """In virtual time; nothing is written."""
    moments: list[Moment] = []
    info = info_of(scenario_of(trial, moments), "virtual", trial.seed, trial.network.nodes)
    engine = VirtualEngine(info)
    scenario_of(trial, moments).script(Run(info, engine))
    engine.close()
    return compared(trial, engine.events, moments)


def real(trial: Trial, runs: Path) -> Compared:
    """On real processes; the run is kept."""
    moments: list[Moment] = []
    outcome = execute(scenario_of(trial, moments), engine="real", seed=trial.seed, runs=runs)
    return compared(trial, read_trace(outcome.run.trace), moments)


def scenario_of(trial: Trial, moments: list[Moment]) -> Scenario:
    """The script that lets it happen, and writes down the groups there are from when on."""
    network = trial.network
    parameters: dict[str, Any] = {
        "strategy": trial.strategy,
        "links": [list(link) for link in network.links],
    }
    if RIVALS[trial.strategy].strategy.balance == "catch-up":
        parameters["threshold"] = THRESHOLD

    def script(run: Run) -> None:
        run.start()
        run.elapse(run.info.timing.check_ms)  # until all know who is there
        history, unit_ms = trial.history, trial.pace * run.info.timing.check_ms
        begun, rule = run.passed_ms, 0
        everything = (1 << network.nodes + len(network.links)) - 1
        moments.append((run.engine.now(), (mask(run.nodes),)))
        for at, (before, up) in zip(
            history.at.tolist(), pairwise([everything, *history.up.tolist()]), strict=True
        ):
            run.until(begun + at * unit_ms)
            rule = happens(run, network, before, up, rule)
            now = tuple(group.nodes for group in groups_of(network, up, with_links=False))
            moments.append((run.engine.now(), now))
        run.until(begun + history.until * unit_ms)
        moments.append((run.engine.now(), ()))
        run.mend()

    return Scenario(
        "availability", f"BGS86 5: {trial.strategy} on {network.name}.", script, network.nodes,
        AUTONOMOUS_TWO, lateness=False, parameters=parameters,
    )  # fmt: skip


def happens(run: Run, network: Network, before: int, up: int, rule: int) -> int:
    """One failure or repair; the rule that keeps the groups apart afterwards, 0 for none."""
    changed = (before ^ up).bit_length()
    if changed <= network.nodes:
        (run.restart if up >> changed - 1 & 1 else run.kill)(changed)
    was, now = (
        {group.nodes for group in groups_of(network, state, with_links=False)}
        for state in (before, up)
    )
    if was == now:
        return rule
    apart = run.split(*map(members, sorted(now))) if len(now) > 1 else 0
    if rule:
        run.mend(rule)
    return apart


def compared(trial: Trial, events: Sequence[AnyEvent], moments: Sequence[Moment]) -> Compared:
    """The fraction of the time in which some group had a majority of the votes in force."""
    start, end, history = moments[0][0], moments[-1][0], trial.history
    rival = RIVALS[trial.strategy]
    rivals = (("", rival._replace(after_halt="away")), (" ", rival))
    as_read, simulated = Course(trial.network, rivals).uptimes(history)
    sent = sum(
        isinstance(event, Sent) and event.kind not in LOOKING and start <= event.at <= end
        for event in events
    )
    up = active_ns(trial.network.nodes, events, moments) / (end - start)
    return Compared(trial, up, as_read, simulated, sent / max(1, len(history.at)))


def active_ns(nodes: int, events: Sequence[AnyEvent], moments: Sequence[Moment]) -> int:
    """How long some group had a majority of the votes in force, from the first moment to the last.

    A dead node has the votes it had: they are in its safe cell.
    """
    votes, since, total = [0] * nodes, moments[0][0], 0
    groups: tuple[int, ...] = ()
    changes: list[tuple[int, Became | tuple[int, ...]]] = [
        *((event.at, event) for event in events if isinstance(event, Became)), *moments
    ]  # fmt: skip
    for at, what in sorted(changes, key=itemgetter(0)):
        if at >= since and any(majority(group, votes) for group in groups):
            total += min(at, moments[-1][0]) - since
        since = max(at, since)
        if isinstance(what, tuple):
            groups = what
        elif found := VOTES.fullmatch(what.d):
            votes[what.node - 1] = int(found[1])
        if since >= moments[-1][0]:
            break
    return total

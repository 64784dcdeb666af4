"""The study's histories under real nodes: reassignment that takes time, and what it costs.

BGS86 5.1 assumes that votes change at once. Here nodes live through the same histories, on either
engine, and lose time: those that run a policy by themselves (`nodes.autonomous`) look who is there
at every Check, and ask for votes by P4; under group consensus (`nodes.consensus`) they first elect
a coordinator, which decides by two-phase commit. Rules:

- The time unit of a history is the mean time to a failure, and to a repair; how many Checks that
  is, is the *pace*. The slower the pace, the less reassignment lasts in comparison.
- A node that fails is killed, and restarted when it is repaired. Nodes of one group reach each
  other, wherever the links lead: a group is what the simulation calls one, and all links between
  groups are cut.
- Some group is active, as in the simulation, if it has a majority of the votes in force. So a run
  is compared with the simulation of the very same history, and what is left is delay.

Limits: messages under way when a node is killed are lost, as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from harness.availability import RIVALS, THRESHOLD, Mix, Network, Rates, Rival
from harness.availability_cores import mask, members
from harness.availability_history import History, components, drawn, groups_of
from harness.availability_study import Course
from harness.availability_votes import Assigned, InForce, OwnVotes
from harness.execute import execute, info_of
from harness.run import Run
from harness.scenario import AUTONOMOUS_TWO, CONSENSUS, Scenario
from harness.virtual import VirtualEngine
from traces.events import AnyEvent, Became, Sent, Stored
from traces.merge import read_trace

UNIT = Rates(1.0, 1.0)
LOOKING = frozenset(  # at every Check, whatever happens
    ("RollCall", "Present", "Token", "TokenTaken", "AreYouCoordinator", "AreYouMember")
)
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
    def rival(self) -> Rival:
        """The strategy as the study reads it."""
        return RIVALS[self.strategy]

    @property
    def by_consensus(self) -> bool:
        """Whether a coordinator decides for all."""
        return self.rival.strategy.rule == "consensus"

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
    """Simulated, as these nodes read the strategy: what they cannot know, they do not know."""
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
    if trial.rival.strategy.balance == "catch-up":
        parameters["threshold"] = THRESHOLD

    def script(run: Run) -> None:
        run.start()
        if trial.by_consensus:
            run.settled()
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
        CONSENSUS if trial.by_consensus else AUTONOMOUS_TWO, lateness=False, parameters=parameters,
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


def as_nodes_read(rival: Rival) -> Rival:
    """Nodes cannot know what went on without them, nor which links are up."""
    return rival._replace(after_halt="away", after="members")


def compared(trial: Trial, events: Sequence[AnyEvent], moments: Sequence[Moment]) -> Compared:
    """The fraction of the time in which some group had a majority of the votes in force."""
    start, end, history = moments[0][0], moments[-1][0], trial.history
    rivals = (("", as_nodes_read(trial.rival)), (" ", trial.rival))
    as_read, simulated = Course(trial.network, rivals).uptimes(history)
    sent = sum(
        isinstance(event, Sent) and event.kind not in LOOKING and start <= event.at <= end
        for event in events
    )
    in_force = Assigned() if trial.by_consensus else OwnVotes(trial.network.nodes)
    up = active_ns(in_force, events, moments) / (end - start)
    return Compared(trial, up, as_read, simulated, sent / max(1, len(history.at)))


def active_ns(in_force: InForce, events: Sequence[AnyEvent], moments: Sequence[Moment]) -> int:
    """How long some group had a majority of the votes in force, first moment to last."""
    groups: tuple[int, ...] = ()
    since, end, total = moments[0][0], moments[-1][0], 0
    changes: list[tuple[int, AnyEvent | tuple[int, ...]]] = [
        *((event.at, event) for event in events if isinstance(event, Became | Stored)), *moments
    ]  # fmt: skip
    for at, what in sorted(changes, key=itemgetter(0)):
        if at > since and any(map(in_force.majority, groups)):
            total += min(at, end) - since
        since = max(at, since)
        if isinstance(what, tuple):
            groups = what
        else:
            in_force.take(what)
        if since >= end:
            break
    return total

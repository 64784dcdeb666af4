"""The court: each mutant before every scenario, the correct protocols before theirs too."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from loguru import logger

from harness.catalog import built_in
from harness.execute import Outcome, execute
from harness.scenario import (
    ASYNC_BULLY,
    AUTONOMOUS_ONE,
    AUTONOMOUS_TWO,
    BULLY,
    BULLY_FD,
    CONSENSUS,
    HARDENED_TWO,
    INCREASING,
    INVITATION,
    LOCKS_ONE,
    REASSIGNING,
    RESTRICTED,
    Scenario,
)
from nodes.async_bully import AsyncBully, AsyncBullyTasks
from nodes.autonomous import AutonomousOne, AutonomousTwo
from nodes.bully_fd import BullyFD
from nodes.consensus import Consensus
from nodes.invitation import Invitation
from nodes.locks import HardenedTwo, LocksOne
from nodes.protocol import Protocol
from nodes.restricted import Restricted
from nodes.votes import Increasing, Reassigning
from tests.mutants import (
    bully,
    directed,
    directed_locks,
    directed_stoller,
    directed_votes,
    invitation,
    locks,
    policies,
    restricted,
    stoller,
    votes,
)

SEEDS = range(1, 6)
DIRECTED = [
    *directed.DIRECTED,
    *directed_stoller.DIRECTED,
    *directed_votes.DIRECTED,
    *directed_locks.DIRECTED,
]
FLAWED = {"GM82-4"}  # S97 App. A, S00: it convicts nobody, since the right protocol breaks it too
MUTANTS: list[type[Protocol]] = [
    bully.OneStep,
    bully.AnyHalter,
    bully.SurvivingElection,
    bully.EagerReady,
    bully.NeverDown,
    bully.NoFifo,
    bully.ChangedTask,
    bully.HastyTimeout,
    bully.HalfMade,
    bully.ForgetfulCalls,
    bully.DeadCandidate,
    bully.LateAnswer,
    invitation.ForgetfulCounter,
    invitation.NamelessNumber,
    invitation.RecoveryInTheOldGroup,
    invitation.MergeInTheOldGroup,
    invitation.GroupBeforeCoordinator,
    invitation.ChangedTask,
    invitation.EarlyTask,
    invitation.ReadyOfAnyGroup,
    invitation.AlwaysThere,
    invitation.Faithful,
    invitation.Unsociable,
    invitation.NeverDeclines,
    invitation.HearsAnyGroup,
    invitation.NoForwarding,
    *restricted.MUTANTS,
    *stoller.MUTANTS,
    *votes.MUTANTS,
    *locks.MUTANTS,
    *policies.MUTANTS,
]
EQUIVALENT: list[type[Protocol]] = [
    invitation.ReadyAtAnyTime,
    invitation.ThereForAnyGroup,
    *stoller.EQUIVALENT,
    *votes.EQUIVALENT,
]
RIGHT: list[tuple[type[Protocol], str]] = [  # a protocol before the one it is made from
    (Consensus, CONSENSUS),
    (Restricted, RESTRICTED),
    (Invitation, INVITATION),
    (AsyncBullyTasks, directed_stoller.ASYNC_TASKS),
    (AsyncBully, ASYNC_BULLY),
    (BullyFD, BULLY_FD),
    (AutonomousTwo, AUTONOMOUS_TWO),
    (AutonomousOne, AUTONOMOUS_ONE),
    (HardenedTwo, HARDENED_TWO),
    (LocksOne, LOCKS_ONE),
    (Reassigning, REASSIGNING),
    (Increasing, INCREASING),
]


@dataclass
class Sentence:
    """What convicted a mutant: a scenario, a seed, and the properties violated."""

    scenario: str
    seed: int
    properties: list[str]


def cases(protocol: str = BULLY) -> list[Scenario]:
    """The scenarios in which the environment is as assumed, and the protocol does as claimed."""
    return [
        scenario
        for scenario in [*DIRECTED, *built_in().values()]
        if scenario.protocol == protocol
        and not {"excused", "violated"}
        & {scenario.expect[k] for k in scenario.expect.keys() - FLAWED}
    ]


def right_one(mutant: type[Protocol]) -> str:
    """The protocol that it is wrong about."""
    return next((name for right, name in RIGHT if issubclass(mutant, right)), BULLY)


def tried(protocol: str, scenario: Scenario, seed: int, runs: Path) -> Outcome:
    """One run of one protocol on the virtual engine."""
    with_it = replace(scenario, protocol=protocol)
    return execute(with_it, engine="virtual", seed=seed, runs=runs)


def accusations(outcome: Outcome) -> list[str]:
    """The properties violated, inside the assumptions about the environment."""
    broken = [verdict.id for verdict in outcome.verdicts if verdict.result == "violated"]
    found = [name for name in broken if name not in FLAWED]
    return [] if {"A8", "A9"} & set(found) else found


def convict(mutant: type[Protocol], runs: Path) -> Sentence | None:
    """The first case in which the mutant is judged `violated`."""
    for seed in SEEDS:
        for scenario in cases(right_one(mutant)):
            outcome = tried(f"{mutant.__module__}:{mutant.__name__}", scenario, seed, runs)
            found = accusations(outcome)
            if found:
                return Sentence(scenario.name, seed, found)
    return None


def acquit(
    runs: Path, right: str = BULLY, protocol: str = "", seeds: Iterable[int] = SEEDS
) -> Iterator[tuple[str, int, Outcome]]:
    """Every case in which the right protocol, or one in its place, is not as expected."""
    for seed in seeds:
        for scenario in cases(right):
            outcome = tried(protocol or right, scenario, seed, runs)
            if not outcome.as_expected:
                yield scenario.name, seed, outcome


logger.disable("harness")  # a court of hundreds of runs is silent

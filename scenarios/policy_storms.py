"""Policies in all weathers: nodes that reassign votes by themselves, amid cuts, losses and crashes.

What happens is drawn from the seed of the run, as in scenarios.vote_storms; but nobody is asked for
anything, and the pauses are such that a few Checks go by between most faults.
"""

from random import Random

from harness.run import Run
from harness.scenario import AUTONOMOUS_ONE, AUTONOMOUS_TWO, CONSENSUS, scenario
from scenarios.vote_storms import POINTS, happens

STEPS_OF_A_POLICY = (
    *POINTS,
    ("sent", {"kind": "RollCall"}),
    ("sent", {"kind": "Present"}),
    ("sent", {"kind": "Token"}),
    ("received", {"kind": "Token"}),
    ("received", {"kind": "TokenTaken"}),
    ("stored", {"cell": "token"}),
    ("received", {"kind": "Decrease"}),
)
STEPS_OF_CONSENSUS = (
    ("stored", {"cell": "prepared"}),
    ("stored", {"cell": "datum"}),
    ("sent", {"kind": "Prepare"}),
    ("received", {"kind": "Prepare"}),
    ("sent", {"kind": "Commit"}),
    ("received", {"kind": "Commit"}),
    ("sent", {"kind": "Accept"}),
    ("sent", {"kind": "AreYouMember"}),
)


def policy_storm(run: Run, steps: int) -> None:
    """One increase there is in any case; then so many things that happen."""
    run.start()
    cut = run.isolate("highest")
    run.seen("sent", kind="Increase")
    run.elapse(run.info.timing.t_ms)
    run.mend(cut)
    _storm(run, steps, STEPS_OF_A_POLICY, 2 * run.info.timing.check_ms)
    run.elapse(2 * run.info.timing.check_ms)


def consensus_in_a_storm(run: Run, steps: int, longest_ms: float) -> None:
    """One assignment there is in any case; then so many things, at most so long apart."""
    run.start()
    run.settled()
    cut = run.isolate("highest")
    run.seen("sent", kind="Commit", ack=False)
    run.mend(cut)
    _storm(run, steps, STEPS_OF_CONSENSUS, longest_ms)


def _storm(
    run: Run, steps: int, points: tuple[tuple[str, dict[str, str]], ...], longest_ms: float
) -> None:
    rng = Random(run.info.seed)
    for _ in range(steps):
        if rng.random() < 0.15:  # a message that is told late, and not out of order, is not lost
            run.hold(rng.sample(run.links(), rng.randint(1, 4)))
        happens(run, rng, (), points)
        run.elapse(rng.choice((1.0, run.info.timing.t_ms, longest_ms)) * rng.random())
    run.mend()


@scenario(protocol=AUTONOMOUS_ONE, lateness=False, parameters={"strategy": "alliance-2v-catch-up"})
def catch_up_storm(run: Run) -> None:
    """BGS86-T211, C211: alliances that catch up, whatever is lost and whoever dies."""
    policy_storm(run, steps=20)


@scenario(protocol=AUTONOMOUS_TWO, lateness=False, parameters={"strategy": "alliance-2v-decrease"})
def give_back_storm(run: Run) -> None:
    """BGS86-T221: alliances that give back, whatever is lost and whoever dies."""
    policy_storm(run, steps=20)


@scenario(
    protocol=AUTONOMOUS_TWO, lateness=False, parameters={"strategy": "overthrow-token-decrease"}
)
def token_storm(run: Run) -> None:
    """BGS86-T221: who has the token supplants the excluded; it dies with nodes, and returns."""
    policy_storm(run, steps=20)


@scenario(protocol=CONSENSUS, lateness=False)
def consensus_storm(run: Run) -> None:
    """GM82-RO: no version of the votes is assigned twice, whatever is lost and whoever dies."""
    consensus_in_a_storm(run, 15, 2 * run.info.timing.check_ms)

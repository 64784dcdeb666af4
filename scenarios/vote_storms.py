"""Votes and locks in all weathers: at many nodes at once, amid cuts, losses and crashes.

What happens is drawn from the seed of the run. A node is armed at a step of its protocol, and
there it is killed or let go; the pauses are short, so that most of it falls into an increase.
"""

from collections.abc import Sequence
from random import Random

from harness.run import Run
from harness.scenario import HARDENED_TWO, INCREASING, LOCKS_ONE, REASSIGNING, scenario

POINTS = (
    ("sent", {"kind": "Increase"}),
    ("sent", {"kind": "Vote"}),
    ("received", {"kind": "Increase"}),
    ("received", {"kind": "Vote"}),
    ("stored", {"cell": "votes"}),
    ("stored", {"cell": "tried"}),
)
LOCK_POINTS = (
    ("sent", {"kind": "LockRequest"}),
    ("sent", {"kind": "Yes"}),
    ("sent", {"kind": "No"}),
    ("received", {"kind": "Yes"}),
    ("stored", {"cell": "log"}),
    ("stored", {"cell": "held"}),
    ("sent", {"kind": "UnlockRequest"}),
    ("sent", {"kind": "Inquiry"}),
)
VERBS = (
    "ask", "ask", "ask", "ask", "arm", "kill", "up", "up", "split", "cut", "lose", "delay",
    "duplicate", "mend",
)  # fmt: skip


def storm(run: Run, requests: tuple[str, ...], steps: int) -> None:
    """So many things that happen, each at a random instant after the one before."""
    rng = Random(run.info.seed)
    run.start()
    run.ask(1, "Increase", votes=2)  # one there is in any case
    run.seen("became", node=1, d="2 votes")
    if "Lock" in requests:  # and a lock that another one asks for
        run.ask(1, "Lock", object="z")
        run.seen("became", node=1, d="2 votes, holds z")
        run.ask(2, "Lock", object="z")
    for _ in range(steps):
        happens(run, rng, requests, POINTS + LOCK_POINTS if "Lock" in requests else POINTS)
        run.elapse(rng.choice((0.1, 0.4, 1.0, run.info.timing.t_ms)) * rng.random())
    run.mend()
    run.elapse(run.info.timing.t_ms)


def happens(
    run: Run, rng: Random, requests: tuple[str, ...], points: Sequence[tuple[str, dict[str, str]]]
) -> None:
    """One thing: a request of these, if there are any, a node armed at one of these, or a fault."""
    run.live.catch_up()
    running, down = sorted(run.live.running), sorted(set(run.nodes) - run.live.up)
    stopped = sorted(run.live.stopped & run.live.up)
    match rng.choice(VERBS + 8 * ("ask",) if "Lock" in requests else VERBS):
        case "ask" if running and requests:
            node, kind = rng.choice(running), rng.choice(requests)
            of_lock = kind in ("Lock", "Unlock")
            args = {"object": rng.choice("xy")} if of_lock else {"votes": rng.randint(0, 12)}
            run.ask(node, kind, **args)
        case "arm" if running:
            event, where = rng.choice(points)
            run.arm(rng.choice(running), event, **where)
        case "kill" if stopped or len(running) > 1:
            run.kill(rng.choice(stopped or running))
        case "up" if down or stopped:
            node = rng.choice(down + stopped)
            run.restart(node) if node in down else run.resume(node)
        case "split":
            run.split(rng.sample(run.nodes, rng.randint(1, len(run.nodes) - 1)))
        case "cut":
            links = run.links()
            run.cut(rng.sample(links, rng.randint(1, len(links))))
        case "lose":
            run.lose(run.links(), p=round(rng.random() / 2, 2))
        case "delay":
            run.delay(run.links(), ms=round(rng.random(), 2), jitter_ms=round(rng.random(), 2))
        case "duplicate":
            run.duplicate(run.links(), p=round(rng.random(), 2), after_ms=round(rng.random(), 2))
        case "mend":
            run.mend()


@scenario(protocol=INCREASING, lateness=False)
def vote_storm(run: Run) -> None:
    """BGS86-T211, C211: whatever is lost and whoever dies, of two increments one sees the other."""
    storm(run, ("Increase",), steps=40)


@scenario(protocol=REASSIGNING, lateness=False)
def reassignment_storm(run: Run) -> None:
    """BGS86-T221: the same, where votes are given back too."""
    storm(run, ("Increase", "Increase", "Decrease"), steps=40)


LOCKING = ("Lock", "Lock", "Lock", "Unlock", "Unlock", "Increase", "Increase")


@scenario(protocol=LOCKS_ONE, lateness=False)
def lock_storm(run: Run) -> None:
    """BGS86-C22, T211: locks taken, held and given back at all nodes, while votes increase."""
    storm(run, LOCKING, steps=40)


@scenario(protocol=HARDENED_TWO, lateness=False)
def hardened_lock_storm(run: Run) -> None:
    """BGS86-C22, T221: the same while votes are given back too, for which locks are hardened."""
    storm(run, (*LOCKING, "Decrease"), steps=40)

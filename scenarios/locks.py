"""Locks on votes that move: the example of BGS86 3, driven exactly, and what it leaves open.

a, b, c, d of Figure 1 are nodes 1 to 4, with 1, 1, 1 and 2 votes.
"""

from harness.run import Run
from harness.scenario import (
    AUTONOMOUS_HARDENED_TWO,
    AUTONOMOUS_LOCKS_TWO,
    HARDENED_TWO,
    LOCKS_ONE,
    LOCKS_TWO,
    scenario,
)

FIGURE_1 = {"votes": [1, 1, 1, 2]}


def has(run: Run, node: int, d: str) -> None:
    """Until that is true of the node's votes and locks, and safe (since the last fault)."""
    run.seen("became", node=node, d=d)


@scenario(nodes=4, protocol=LOCKS_ONE, lateness=False, parameters=FIGURE_1,
          expect={"BGS86-T211": "vacuous"})  # fmt: skip
def lost_lock_request(run: Run) -> None:
    """BGS86 3: node a missed a lock-request; it learns of the lock as it raises its votes to 100.

    c and d give c the lock. With 100 of 104 votes a could take it alone, were its log not told.
    """
    run.start()
    a, b, c, _ = run.nodes
    run.cut([(c, a), (c, b)])
    run.ask(c, "Lock", object="x")
    has(run, c, "1 votes, holds x")
    run.ask(a, "Increase", votes=100)
    has(run, a, "100 votes")
    run.isolate(a)
    run.ask(a, "Lock", object="x")
    run.seen("asked", node=a, kind="Lock")
    run.ask(a, "Lock", object="y")
    has(run, a, "100 votes, holds y")


def _given_back(run: Run) -> None:
    """Node a takes x alone with 100 of 104 votes, and gives its votes back; then c asks for x."""
    run.start()
    a, _, c, d = run.nodes
    run.ask(a, "Increase", votes=100)
    has(run, a, "100 votes")
    alone = run.isolate(a)
    run.ask(a, "Lock", object="x")
    has(run, a, "100 votes, holds x")
    run.mend(alone)
    run.ask(a, "Decrease", votes=1)
    for j in (2, c, d):
        run.seen("received", node=j, src=a, kind="Decrease")
    run.isolate(a)


@scenario(nodes=4, protocol=LOCKS_TWO, lateness=False, parameters=FIGURE_1,
          expect={"BGS86-C22": "violated", "BGS86-MAJ": "violated"})  # fmt: skip
def lock_of_votes_given_back(run: Run) -> None:
    """BGS86-C22 fails as published where votes decrease: a lock outlives the votes it was given by.

    Node a takes x alone, with 100 of 104 votes, and gives 99 back. P5 tells the others of the
    votes, and section 3 sends logs along only when votes increase: so b, c and d, with 4 of 5
    votes, know of no lock. Corollary 2.2 is claimed for P1 and P2 only.
    """
    _given_back(run)
    run.ask(3, "Lock", object="x")
    has(run, 3, "1 votes, holds x")


@scenario(nodes=4, protocol=HARDENED_TWO, lateness=False, parameters=FIGURE_1,
          expect={"BGS86-T221": "vacuous"})  # fmt: skip
def hardened_lock_of_votes_given_back(run: Run) -> None:
    """BGS86-C22, hardened: the log goes along when votes are given back, and c is refused."""
    _given_back(run)
    run.ask(3, "Lock", object="x")
    run.seen("asked", node=3, kind="Lock")
    run.ask(3, "Lock", object="y")
    has(run, 3, "1 votes, holds y")


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False, expect={"BGS86-T211": "vacuous"})
def locks_of_static_votes(run: Run) -> None:
    """BGS86 3, static votes: two ask at once and both abort; then one waits for the other.

    Each has its own vote, and is refused by the other; the third one hears of neither.
    """
    run.start()
    run.cut([(1, 3), (2, 3)])
    between = run.hold([(1, 2), (2, 1)])
    run.ask(1, "Lock", object="x")
    run.ask(2, "Lock", object="x")
    run.release(between)
    for i in (1, 2):
        run.seen("received", node=i, kind="No")
        run.seen("received", node=i, kind="UnlockRequest")
    run.mend()
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    run.seen("received", node=1, src=2, kind="Yes")
    run.ask(2, "Lock", object="x")
    run.seen("asked", node=2, kind="Lock")
    run.ask(1, "Unlock", object="x")
    run.seen("received", node=2, src=1, kind="UnlockRequest")
    run.seen("received", node=3, src=1, kind="UnlockRequest")
    run.ask(2, "Lock", object="x")
    has(run, 2, "1 votes, holds x")


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False, expect={"BGS86-T211": "vacuous"})
def unlock_request_lost(run: Run) -> None:
    """BGS86 3: who missed an unlock-request asks the initiator when a lock is held for long."""
    run.start()
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    run.seen("stored", node=2, cell="log", value={"x": {"1.1.1": False}})
    run.seen("stored", node=3, cell="log", value={"x": {"1.1.1": False}})
    lost = run.cut([(1, 2), (1, 3)])
    run.ask(1, "Unlock", object="x")
    run.seen("dropped", src=1, dst=2)
    run.mend(lost)
    run.seen("received", node=1, kind="Inquiry")
    for j in (2, 3):
        run.seen("stored", node=j, cell="log", value={"x": {"1.1.1": True}})
    run.ask(2, "Lock", object="x")
    has(run, 2, "1 votes, holds x")


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False, expect={"BGS86-T211": "vacuous"})
def initiator_killed_with_a_majority(run: Run) -> None:
    """BGS86 3: an initiator dies right before it takes the lock; its request is as good as aborted.

    Those that granted it find out by asking. In its next life it takes the lock, dies again, and
    still holds it: a lock that was taken is in a safe cell.
    """
    run.start()
    run.arm(1, "received", kind="Yes")
    run.ask(1, "Lock", object="x")
    run.reached(1)
    run.kill(1)
    run.restart(1)
    for j in (2, 3):
        run.seen("stored", node=j, cell="log", value={"x": {"1.1.1": True}})
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    run.kill(1)
    run.ask(2, "Lock", object="x")
    run.seen("asked", node=2, kind="Lock")
    run.restart(1)
    has(run, 1, "1 votes, holds x")
    run.ask(1, "Unlock", object="x")
    run.seen("received", node=2, src=1, kind="UnlockRequest")
    run.seen("received", node=3, src=1, kind="UnlockRequest")
    run.ask(2, "Lock", object="x")
    has(run, 2, "1 votes, holds x")


SUPPLANTED = {"strategy": "overthrow-ranking-decrease", "votes": [6, 5, 5, 5]}


def _given_back_by_policy(run: Run) -> None:
    """b supplants a, then c and d too; takes x alone, gives all back by policy, and is cut off."""
    run.start()
    a, b, c, d = run.nodes
    without_a = run.isolate(a)
    has(run, b, "17 votes")
    alone = run.isolate(b)
    has(run, b, "37 votes")
    run.ask(b, "Lock", object="x")
    has(run, b, "37 votes, holds x")
    run.mend(without_a)
    run.mend(alone)
    has(run, b, "5 votes, holds x")
    for j in (a, c, d):
        run.seen("received", node=j, src=b, kind="Decrease")
    run.isolate(b)
    run.ask(c, "Lock", object="x")


@scenario(nodes=4, protocol=AUTONOMOUS_LOCKS_TWO, lateness=False, parameters=SUPPLANTED,
          expect={"BGS86-C22": "violated", "BGS86-MAJ": "violated"})  # fmt: skip
def lock_under_a_policy(run: Run) -> None:
    """BGS86-C22 fails as published under a policy that gives votes back, with nobody's help.

    Overthrow by ranking, with decrease: the votes of BGS86 4.3. Node b has 17 of 33, and alone
    takes 20 more; then all are here again, and it gives back what it took on (4.4.2).
    """
    _given_back_by_policy(run)
    has(run, 3, "5 votes, holds x")


@scenario(nodes=4, protocol=AUTONOMOUS_HARDENED_TWO, lateness=False, parameters=SUPPLANTED)
def hardened_lock_under_a_policy(run: Run) -> None:
    """BGS86-C22, hardened, under the same policy: c learned of the lock as b gave back."""
    _given_back_by_policy(run)
    run.seen("asked", node=3, kind="Lock")
    run.ask(3, "Lock", object="y")
    has(run, 3, "5 votes, holds y")

"""Schedules against one wrong locking node each; the right one is as expected in all of them.

a, b, c, d of Figure 1 are nodes 1 to 4, with 1, 1, 1 and 2 votes.
"""

from harness.run import Run
from harness.scenario import HARDENED_TWO, LOCKS_ONE, scenario
from scenarios.locks import FIGURE_1, has

NEVER = {**FIGURE_1, "patience": 0}


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False)
def voter_killed_after_its_yes(run: Run) -> None:
    """BGS86 3: "assume that logs are stored on stable storage"."""
    run.start()
    run.isolate(3)
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    run.mend()
    run.kill(2)
    run.restart(2)
    run.isolate(1)
    run.ask(2, "Lock", object="x")  # refused by its own log
    run.seen("asked", node=2, kind="Lock")
    run.ask(2, "Lock", object="y")
    has(run, 2, "1 votes, holds y")


@scenario(nodes=4, protocol=LOCKS_ONE, lateness=False, parameters=NEVER)
def votes_raised_between_the_votes_on_a_lock(run: Run) -> None:
    """BGS86 3: a yes counts "with its assigned number of votes", at the time.

    a asks for x and has its own vote, b's is on its way; c takes x with the votes of c and d. Then
    a raises its votes to 100, learns of the lock as it does, and only then hears of b.
    """
    run.start()
    a, b, c, d = run.nodes
    on_its_way = run.hold([(b, a)])
    apart = run.cut([(a, c), (a, d), (c, a), (c, b)])
    run.ask(a, "Lock", object="x")
    run.seen("held", src=b, dst=a)
    run.ask(c, "Lock", object="x")
    has(run, c, "1 votes, holds x")
    run.mend(apart)
    run.ask(a, "Increase", votes=100)
    has(run, a, "100 votes")
    run.release(on_its_way)
    run.seen("received", node=a, src=b, kind="Yes")


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False)
def inquiry_about_a_lock_in_use(run: Run) -> None:
    """BGS86 3: a lock that is granted for long is asked about, and may still be needed."""
    run.start()
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    for j in (2, 3):
        run.seen("sent", node=j, kind="Inquiry")
    run.elapse(2 * run.info.timing.t_m_ms)
    run.ask(2, "Lock", object="x")
    run.seen("asked", node=2, kind="Lock")
    run.ask(2, "Lock", object="y")
    has(run, 2, "1 votes, holds y")


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False)
def stopped_in_the_middle_of_an_unlock(run: Run) -> None:
    """BGS86-C22: who is told that a lock is free may take it, however slow the one that told."""
    run.start()
    run.isolate(3)
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    run.mend()
    run.arm(1, "sent", kind="UnlockRequest", to=3)
    run.ask(1, "Unlock", object="x")
    run.seen("received", node=2, src=1, kind="UnlockRequest")
    run.reached(1)
    run.ask(2, "Lock", object="x")
    has(run, 2, "1 votes, holds x")
    run.resume(1)


@scenario(nodes=3, protocol=LOCKS_ONE, lateness=False)
def unlock_of_a_lock_that_is_not_ones_own(run: Run) -> None:
    """BGS86 3: released(T) is for T."""
    run.start()
    run.ask(1, "Lock", object="x")
    has(run, 1, "1 votes, holds x")
    run.ask(2, "Unlock", object="x")
    run.seen("asked", node=2, kind="Unlock")
    run.ask(3, "Lock", object="x")
    run.seen("asked", node=3, kind="Lock")
    run.ask(3, "Lock", object="y")
    has(run, 3, "1 votes, holds y")


@scenario(nodes=4, protocol=HARDENED_TWO, lateness=False, parameters=NEVER)
def majority_by_votes_given_back(run: Run) -> None:
    """Hardened: c has votes enough only because a gave its own back, and with that came a's lock.

    a took x alone, with 100 of 104 votes, while c was waiting for more than 3 of them.
    """
    run.start()
    a, b, c, d = run.nodes
    run.ask(a, "Increase", votes=100)
    has(run, a, "100 votes")
    alone = run.isolate(a)
    run.ask(a, "Lock", object="x")
    has(run, a, "100 votes, holds x")
    on_its_way = run.hold([(b, c)])
    run.ask(c, "Lock", object="x")
    run.seen("received", node=c, src=d, kind="Yes")
    run.mend(alone)
    run.ask(a, "Decrease", votes=1)
    run.seen("received", node=c, src=a, kind="Decrease")
    run.isolate(a)
    run.release(on_its_way)
    run.seen("received", node=c, src=b, kind="Yes")
    run.ask(c, "Lock", object="y")
    run.seen("received", node=c, src=b, kind="Yes")


DIRECTED = [
    voter_killed_after_its_yes,
    votes_raised_between_the_votes_on_a_lock,
    inquiry_about_a_lock_in_use,
    stopped_in_the_middle_of_an_unlock,
    unlock_of_a_lock_that_is_not_ones_own,
    majority_by_votes_given_back,
]

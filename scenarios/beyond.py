"""GM82 Theorem 2: without A8 and A9 no protocol satisfies Assertions 1 and 2.

Each scenario breaks one assumption. The assertion fails, and the verdict says what excuses it;
where the lateness rule turns a pause into a crash, there is nothing to excuse.
"""

from harness.run import Run
from harness.scenario import scenario

A8_BROKEN = {"GM82-1a": "excused", "GM82-1b": "excused", "GM82-2": "excused", "A8": "violated"}
A9_BROKEN = {"GM82-1a": "excused", "GM82-1b": "excused", "GM82-2": "excused", "A9": "violated"}


def _pause_the_coordinator(run: Run) -> None:
    run.start()
    run.settled()
    old = run.pause("coordinator")
    run.settled()
    run.resume(old)


@scenario(expect=A9_BROKEN, lateness=False)
def paused_coordinator(run: Run) -> None:
    """GM82 Thm 2: a coordinator that pauses and does not know it is one of two (A9)."""
    _pause_the_coordinator(run)


@scenario()
def paused_coordinator_fails_itself(run: Run) -> None:
    """GM82 II, A9: a coordinator that finds it was late counts as crashed; all holds."""
    _pause_the_coordinator(run)


@scenario(expect=A8_BROKEN)
def one_way_link(run: Run) -> None:
    """GM82 Thm 2: 4 does not hear 5, who hears 4: each of them coordinates (A8)."""
    run.start()
    run.settled()
    rule = run.one_way(5, 4)
    run.seen("became", node=4, s="Normal", c=4)
    run.mend(rule)


@scenario(expect=A8_BROKEN)
def partition_in_two(run: Run) -> None:
    """GM82 Thm 2: both sides of a partition elect a coordinator (A8)."""
    run.start()
    run.settled()
    rule = run.split([1, 2])
    run.settled([1, 2])
    run.elapse(2 * run.info.timing.check_ms)
    run.mend(rule)

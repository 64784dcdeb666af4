"""Where a listing fails its own claim: every assumption holds, and the assertion does not."""

from harness.run import Run
from harness.scenario import scenario


@scenario(nodes=6, expect={"GM82-1a": "vacuous", "GM82-1b": "vacuous", "GM82-2": "violated"})
def coordinator_that_gave_way(run: Run) -> None:
    """GM82 Thm A2 is flawed: a coordinator gives way to a node that crashes, and stays stuck.

    2 has passed its election point (Reorganization under 2) when 1 crashes. NewCoordinator
    times out, and "the simplest thing is to restart": the new Election asks 3, 4 and 5, in vain,
    and 6, which has come up meanwhile. 6 answers, so 2 returns and lets it win; but 6, which
    halts 5, 4 and 3 first, crashes before it gets to 2. Now 2 is the highest node up, and runs no
    Election. Check looks only at Normal nodes. Timeout asks S(2).c, that is 2 itself, whether it
    is there: it always is. The proof of Theorem A2 takes every node that names itself for a
    Normal coordinator.

    The nodes that are never there give it time: 2 asks 6 after 3 T, and 6, come up half way,
    halts 2 no sooner than 1.5 T later.
    """
    run.start([1, 2])
    run.arm(1, "received", kind="NewCoordinator")
    run.reached(1)
    run.kill(1)
    run.seen("timed_out", node=2, kind="NewCoordinator")
    run.elapse(1.4 * run.info.timing.t_ms)
    run.start([6])
    run.seen("received", node=2, src=6, ack=True)
    run.kill(6)

"""Directed schedules that corner a mutant of S97's algorithms; the right ones do as claimed."""

from harness.run import Run
from harness.scenario import ASYNC_BULLY, BULLY_FD, scenario

ASYNC_TASKS = "nodes.async_bully:AsyncBullyTasks"


def _announcement_overtaken(run: Run) -> None:
    """2 leads, and its Ldr is not yet at 5; 1 returns and halts 5; then 2's Ldr arrives.

    1 is stopped when it is Norm itself and has told nobody.
    """
    run.start()
    run.settled()
    run.arm(2, "became", s="Normal", c=2)
    run.kill(1)
    run.reached(2)
    held = run.hold([(2, 5)])
    run.resume(2)
    run.restart(1)
    run.arm(1, "became", s="Normal", c=1)
    run.reached(1)
    run.release(held)
    run.elapse(1)
    run.resume(1)
    run.settled()


@scenario(protocol=BULLY_FD)
def announcement_overtaken(run: Run) -> None:
    """S97 Fig. 1, Ldr: 2's word comes to 5 when it waits for 1's, and has to be ignored.

    What is held is let go in time, and 1 is stopped for less than T_p: A8 and A9 hold.
    """
    _announcement_overtaken(run)


@scenario(protocol=ASYNC_BULLY)
def async_announcement_overtaken(run: Run) -> None:
    """S97 Fig. 3, Ldr: 2's word comes to 5 when it waits for 1's, and has to be ignored."""
    _announcement_overtaken(run)


@scenario(protocol=BULLY_FD)
def member_returns(run: Run) -> None:
    """S97-SLE2: 4 returns, and waits in stage 1 until the leader hears that it is not Norm."""
    run.start()
    run.settled()
    run.kill(4)
    run.restart(4)
    run.settled()


@scenario(protocol=BULLY_FD)
def crash_after_stop(run: Run) -> None:
    """S97 2 (2): 4 and 5 asked after 3 in stage 1, and not since; that it crashes is not told."""
    run.start()
    run.settled()
    run.kill(1)
    run.settled()
    run.kill(3)
    run.elapse(2 * run.info.tau_fd_ms)
    run.settled()


@scenario(nodes=3, protocol=ASYNC_BULLY, expect={"S97-ALE2'": "holds"})
def rejected_candidate(run: Run) -> None:
    """S97-ALE2': 1-3 and 2-3. 3 is led by 1 and rejects 2, which must come to know."""
    run.graph([(1, 3), (2, 3)])
    run.start([1, 3])
    run.settled([1, 3])
    run.start([2])
    run.elapse(1.05 * run.info.settles_ms)
    run.mend()
    run.settled()


@scenario(nodes=3, protocol=ASYNC_BULLY, expect={"S97-ALE2'": "holds"})
def leader_halted(run: Run) -> None:
    """S97-ALE2', App. B: 1-2 and 2-3. 2, which leads 3, is halted by 1, which 3 cannot reach."""
    run.graph([(1, 2), (2, 3)])
    run.start([2, 3])
    run.settled([2, 3])
    run.start([1])
    run.elapse(1.05 * run.info.settles_ms)
    run.mend()
    run.settled()


@scenario(protocol=ASYNC_BULLY, expect={"S97-ALE2'": "holds", "S97-ALE2": "holds"})
def leader_gone_for_good(run: Run) -> None:
    """S97-ALE2': 2, which was led by 1 and played dead, leads the others when 1 has gone."""
    run.start()
    run.settled()
    run.kill(1)
    run.elapse(1.05 * run.info.settles_ms)


@scenario(protocol=ASYNC_BULLY, expect={"S97-ALE2'": "holds", "S97-ALE2": "holds"})
def parts_that_meet_again(run: Run) -> None:
    """S97-ALE2: a split heals, and the groups of its parts become one."""
    cut = run.split({1, 2}, {3, 4, 5})
    run.start()
    run.settled([1, 2])
    run.settled([3, 4, 5])
    run.mend(cut)
    run.elapse(1.05 * run.info.settles_ms)


@scenario(protocol=ASYNC_TASKS)
def group_without_one(run: Run) -> None:
    """S97 4, GM82-3b: 1 crashes and leads again, without 5, which is at work for its first group.

    5 has just had a sign of 1's life when it is cut off, so it is long before it suspects.
    """
    run.start()
    run.settled()
    run.arm(5, "received", src=1, kind="IAmAlive")
    run.reached(5)
    run.isolate(5)
    run.resume(5)
    run.kill(1)
    run.restart(1)
    run.seen("became", node=1, s="Normal", c=1)
    run.settled([1, 2, 3, 4])
    run.mend()
    run.settled()


DIRECTED = [
    announcement_overtaken,
    crash_after_stop,
    async_announcement_overtaken,
    member_returns,
    rejected_candidate,
    leader_halted,
    leader_gone_for_good,
    parts_that_meet_again,
    group_without_one,
]

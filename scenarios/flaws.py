"""Where a listing fails its own claim: all that it assumes holds, and the assertion does not."""

from harness.run import Run
from harness.scenario import INVITATION, scenario


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


@scenario(
    nodes=2,
    protocol=INVITATION,
    expect={"GM82-4": "violated", "S00-4'a": "violated", "S00-4'b": "violated"},
)
def invited_to_its_own_group(run: Run) -> None:
    """GM82 Thm A4 is flawed, and Assertion 4' falls with it: a late Invitation comes back.

    1 has lost its coordinator 2, and is a group of its own; 2 does not know, and has 1 in Up. 1
    finds 2 and invites it to a new group, but the Invitation is late: 1 goes on alone, Normal.
    Then 2 accepts, and forwards the invitation to its old members, which is to 1: Invitation(1,
    1, gn). Node 1 is Normal, so it joins; it accepts from itself, and waits in Reorganization for
    its own Ready. Nobody sends it. Check looks only at Normal nodes, and Timeout returns where
    S(1).c = 1. The proof of Theorem A4 says that a node in no normal group "will eventually
    discover this (through procedure Timeout)".
    """
    run.start([2])
    run.elapse(run.info.timing.check_ms / 2)  # so that their Checks never meet
    run.start([1])
    run.settled()
    apart = run.cut([(1, 2), (2, 1)])
    run.seen("became", node=1, s="Normal", c=1)
    run.arm(1, "sent", kind="AreYouCoordinator", ack=False)
    run.reached(1)
    run.mend(apart)
    run.resume(1)
    run.seen("received", node=1, src=2, kind="AreYouCoordinator", ack=True)
    late = run.hold([(1, 2)])
    run.seen("became", node=1, s="Normal")
    run.release(late)
    run.seen("became", node=1, s="Reorganization", up=[1])
    run.elapse(1.05 * run.info.settles_ms)

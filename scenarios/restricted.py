"""Restricted operations and the group history (GM82 IV-B), where groups split, merge and crash.

A majority goes on, a minority does not; whoever dies at whatever step of the two-phase commit,
no version of the datum is ever made twice, and the groups remember where they come from.
"""

from typing import Any

from harness.run import Run
from harness.scenario import RESTRICTED, scenario


def _performs(run: Run, **where: int) -> None:
    """Until somebody has decided an operation and tells its members (since the last fault)."""
    run.seen("sent", kind="Commit", ack=False, **where)


@scenario(protocol=RESTRICTED, lateness=False)
def majority_goes_on(run: Run) -> None:
    """GM82-RO: the majority side of a split performs operations, the minority none; then all do.

    The old coordinator counts a majority in its task still: it is the votes it does not get that
    stop it. It is cut off when it begins, so that nobody is in doubt about anything.
    """
    run.start()
    run.settled()
    _performs(run)
    old = run.arm("coordinator", "stored", cell="prepared")
    run.reached(old)
    *majority, other = (j for j in run.nodes if j != old)
    cut = run.split(majority, {other, old})
    run.resume(old)
    run.seen("sent", node=old, kind="Abort", ack=False)
    run.settled(majority)
    _performs(run, node=run.live.state[majority[0]].c)
    run.mend(cut)
    run.settled()
    for behind in (old, other):  # each takes over what the majority made
        run.seen("stored", node=behind, cell="datum")


@scenario(protocol=RESTRICTED)
def no_majority_anywhere(run: Run) -> None:
    """GM82 IV-B: "it is possible to end up with a system where no group [...] is allowed"."""
    run.start()
    run.settled()
    _performs(run)
    cut = run.split({1, 2}, {3, 4}, {5})
    run.settled([1, 2])
    run.settled([3, 4])
    run.mend(cut)
    run.settled()
    _performs(run)


def _coordinator_dies_at(run: Run, event: str, **where: Any) -> int:
    """It gets as far as the event in an operation of all three, and dies there."""
    run.start()
    run.settled()
    dead = run.arm("coordinator", event, **where)
    run.reached(dead)
    run.kill(dead)
    run.settled()
    return dead


def _returns(run: Run, dead: int) -> None:
    """And all go on, with what any of them knows by then."""
    run.restart(dead)
    run.settled()
    _performs(run)


@scenario(nodes=3, protocol=RESTRICTED)
def killed_before_the_decision(run: Run) -> None:
    """GM82-RO: a coordinator dies with all votes in its hand; its operation is aborted."""
    dead = _coordinator_dies_at(run, "stored", cell="datum")
    run.seen("timed_out", kind="Inquiry")
    _returns(run, dead)


@scenario(nodes=3, protocol=RESTRICTED)
def killed_after_the_decision(run: Run) -> None:
    """GM82-RO: a coordinator dies when it has decided and nobody knows; it is performed."""
    dead = _coordinator_dies_at(run, "sent", kind="Commit", ack=False)
    run.seen("timed_out", kind="Inquiry")
    _returns(run, dead)


@scenario(nodes=3, protocol=RESTRICTED)
def killed_amid_the_commit(run: Run) -> None:
    """GM82-RO: a coordinator dies when one member knows; the other learns it, and they go on."""
    dead = _coordinator_dies_at(run, "received", kind="Commit", ack=True)
    _performs(run)
    _returns(run, dead)


@scenario(nodes=3, protocol=RESTRICTED)
def blocked_in_doubt(run: Run) -> None:
    """GM82 IV-B: whoever voted and crashed is still bound, a majority or not, until it is told.

    The coordinator dies with its decision. Its members crash and return, form a group that
    counts a majority, and may not perform anything: two-phase commit blocks.
    """
    run.start()
    run.settled()
    dead = run.arm("coordinator", "sent", kind="Commit", ack=False)
    run.reached(dead)
    run.kill("all")
    others = [j for j in run.nodes if j != dead]
    run.restart(others)
    run.settled()
    for j in others:
        run.seen("timed_out", node=j, kind="Inquiry")
    _returns(run, dead)


@scenario(nodes=3, protocol=RESTRICTED)
def member_killed_after_its_vote(run: Run) -> None:
    """GM82-RO: a member dies when its vote is safe and unsaid; it returns, and is told."""
    run.start()
    run.settled()
    _performs(run)
    run.arm(1, "sent", kind="Prepare", ack=True)
    run.reached(1)
    run.kill(1)
    _performs(run)
    _returns(run, 1)


@scenario(protocol=RESTRICTED)
def divergent_branches(run: Run) -> None:
    """GM82-GH: two sides of a split go their own ways; healed, the history tells the branches."""
    run.start()
    run.settled()
    _performs(run)
    cut = run.split({1, 2}, {3, 4, 5})
    run.settled([1, 2])
    run.kill(3)
    run.restart(3)
    run.settled([3, 4, 5])
    run.mend(cut)
    run.settled()
    _performs(run)

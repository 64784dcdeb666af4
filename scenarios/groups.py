"""The Invitation Algorithm where it belongs: nodes pause, links fail (GM82 IV, Appendix II)."""

from harness.run import Run
from harness.scenario import INVITATION, scenario


@scenario(protocol=INVITATION)
def invitation(run: Run) -> None:
    """GM82-3: nodes that start alone merge into one group; its coordinator crashes and returns."""
    run.start()
    run.settled()
    down = run.kill("coordinator")
    run.settled()
    run.restart(down)
    run.settled()


@scenario(protocol=INVITATION)
def split_and_heal(run: Run) -> None:
    """GM82-3: both sides of a partition have a group; healed, the two merge."""
    run.start()
    run.settled()
    cut = run.split({1, 2}, {3, 4, 5})
    run.settled([1, 2])
    run.settled([3, 4, 5])
    run.mend(cut)
    run.settled()


@scenario(protocol=INVITATION, lateness=False)
def paused_group(run: Run) -> None:
    """GM82-3: a coordinator that paused finds its group gone, and disturbs nobody's task."""
    run.start()
    run.settled()
    paused = run.pause("coordinator")
    run.settled()
    run.resume(paused)
    run.settled()


@scenario(protocol=INVITATION, lateness=False)
def member_paused_across_a_restart(run: Run) -> None:
    """GM82 App. II: no number is used twice, so who slept through it is in no other's group."""
    run.start()
    run.settled()
    run.pause(1)
    down = run.kill("coordinator")
    run.settled()
    run.restart(down)
    run.settled()
    run.resume(1)
    run.settled()

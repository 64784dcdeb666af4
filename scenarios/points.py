"""GM82 Theorem 1 at the worst instants: a crash exactly at a point of the election.

An armed node stops itself right after the event and before its effect; there it is killed.
"""

from typing import Any

from harness.run import Run
from harness.scenario import scenario


def _successor_dies_at(run: Run, event: str, **where: Any) -> None:
    """The coordinator crashes; its successor, node 4, gets as far as the event and dies."""
    run.start()
    run.settled()
    run.arm(4, event, **where)
    run.kill(5)
    run.reached(4)
    run.kill(4)
    run.settled()
    run.restart([4, 5])
    run.settled()


@scenario()
def killed_at_the_election_point(run: Run) -> None:
    """GM82 App. I, Thm A1: a new coordinator dies at its election point, and nobody knows it."""
    _successor_dies_at(run, "became", s="Reorganization", c=4)


@scenario()
def killed_after_the_first_halt(run: Run) -> None:
    """GM82 App. I, Thm A1: a candidate dies when one node is halted and the others are not."""
    _successor_dies_at(run, "received", kind="Halt", ack=True)


@scenario()
def killed_before_ready(run: Run) -> None:
    """GM82 App. I, Thm A1: a coordinator dies when all wait for the task it computed."""
    _successor_dies_at(run, "sent", kind="Ready", ack=False)

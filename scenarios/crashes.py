"""GM82 Theorem 1: under A1-A9 the Bully Algorithm satisfies Assertions 1 and 2.

Crashes and restarts of every kind, none of which breaks an assumption: all must hold.
"""

from harness.run import Run
from harness.scenario import scenario


@scenario()
def cold_start(run: Run) -> None:
    """GM82-1, GM82-2: nodes that are turned on elect a coordinator by themselves."""
    run.start()
    run.settled()


@scenario()
def coordinator_crash(run: Run) -> None:
    """GM82-1, GM82-2: the coordinator crashes, a successor is elected; it returns and wins."""
    run.start()
    run.settled()
    old = run.kill("coordinator")
    run.settled()
    run.restart(old)
    run.settled()


@scenario()
def crash_of_all_but_one(run: Run) -> None:
    """GM82-1, GM82-2: the last node alone is its own coordinator, until the others return."""
    run.start()
    run.settled()
    others = run.nodes[1:]
    run.kill(others)
    run.settled()
    run.restart(others)
    run.settled()


@scenario()
def crash_and_recovery_during_an_election(run: Run) -> None:
    """GM82 III-A: a node that recovers or crashes does not disturb an ongoing election."""
    run.start()
    run.settled()
    run.kill(5)
    run.seen("became", node=4, s="Election", h=4)
    run.kill(3)
    run.restart(5)
    run.seen("became", node=5, s="Election", h=5)
    run.kill(4)
    run.restart(3)
    run.settled()
    run.restart(4)
    run.settled()


@scenario()
def cascading_crashes(run: Run) -> None:
    """GM82-1, GM82-2: coordinator after coordinator crashes, from the top."""
    run.start()
    run.settled()
    while len(run.live.up) > 1:
        run.kill("coordinator")
        run.settled()


@scenario()
def restart_storm(run: Run) -> None:
    """GM82-1: nodes crash and return faster than elections can end; then GM82-2."""
    run.start()
    for _ in range(8):
        node = run.kill("one")
        run.elapse(20)
        run.restart(node)
    run.settled()


@scenario(
    expect={"CJ97-c1": "holds", "CJ97-c2": "holds", "CJ97-c3": "holds", "CJ97-c4": "holds"},
)
def four_cuts(run: Run) -> None:
    """CJ97 Fig. 10.8: what p3 knows at each of the cuts c1 to c4 of its election is so."""
    run.start()
    run.settled()
    run.kill([4, 5])
    run.settled()

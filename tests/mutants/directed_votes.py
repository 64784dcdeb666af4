"""Schedules against one wrong voting node each; the right one is as expected in all of them."""

from harness.run import Run
from harness.scenario import INCREASING, scenario


def _has(run: Run, node: int, votes: int) -> None:
    run.seen("became", node=node, d=f"{votes} votes")


@scenario(nodes=3, protocol=INCREASING, lateness=False)
def participant_killed_after_it_voted(run: Run) -> None:
    """BGS86 2.1: "in stable storage": what was recorded and acknowledged outlives a crash."""
    run.start()
    run.isolate(3)
    run.ask(1, "Increase", votes=9)
    _has(run, 1, 9)
    run.mend()
    run.kill(2)
    run.restart(2)
    run.isolate(1)
    run.ask(2, "Increase", votes=4)  # 2 of 11, for a node that remembers
    run.seen("received", node=2, src=3, kind="Vote")


@scenario(nodes=5, protocol=INCREASING, lateness=False, parameters={"patience": 0})
def increment_learned_from_others(run: Run) -> None:
    """BGS86 2.1, P1 b): "this way, the largest value of v_k gets propagated"."""
    run.start()
    run.cut([(1, 4), (1, 5)])
    run.ask(1, "Increase", votes=2)  # I1, by 1, 2 and 3
    _has(run, 1, 2)
    run.cut([(4, 1)])
    run.ask(4, "Increase", votes=3)  # I2, by 2, 3, 4 and 5: node 4 learns of I1
    _has(run, 4, 3)
    run.cut([(5, 1), (5, 2), (5, 3)])
    run.ask(5, "Increase", votes=4)  # 4 of 8, with node 4, which has learned
    run.seen("received", node=5, src=4, kind="Vote")


DIRECTED = [participant_killed_after_it_voted, increment_learned_from_others]

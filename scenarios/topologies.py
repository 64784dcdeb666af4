"""Partial connectivity: links fail, one way too, and reachability is not transitive (GM82 IV).

GM82-3 rests on unique group numbers alone, so it holds whatever the links do. What groups there
are in the end is what S00-4' bounds, and what GM82-4 promised too much of.
"""

from harness.run import Run
from harness.scenario import INVITATION, scenario

LOWEST_FIRST = "nodes.variants:LowestFirst"
STABLE = {"S00-4'a": "holds", "S00-4'b": "holds"}


@scenario(nodes=3, protocol=LOWEST_FIRST, expect={"GM82-4": "violated", **STABLE})
def appendix_a(run: Run) -> None:
    """S97 App. A, S00: links 1-2 and 2-3 only end as {1,2},{3}: GM82-4 fails, S00-4' holds.

    1. Node 1, the leader, crashes. 2. Nodes 2 and 3 call Timeout and then Recovery. 3. Node 1
    recovers, but 1 and 3 cannot communicate. 4. Node 1 calls Check, and merges with 2; 3, which
    may be in 2's group by then, cannot tell 1 that it accepts, and calls Recovery. {2,3} is a
    maximal set of nodes that reach each other, and it is in two groups.
    """
    run.start()
    run.settled()
    run.kill(1)
    run.settled([2, 3])
    run.graph([(1, 2), (2, 3)])
    run.restart(1)
    run.settled([1, 2])
    run.calm()
    run.elapse(1.05 * run.info.settles_ms)  # Assertion 4' speaks of the state after c
    run.mend()


@scenario(protocol=INVITATION, expect=STABLE)
def split_in_three(run: Run) -> None:
    """GM82-3, S00-4': each of three parts has a group, and healed they are one."""
    run.start()
    run.settled()
    cut = run.split({1, 2}, {3, 4}, {5})
    for part in ([1, 2], [3, 4], [5]):
        run.settled(part)
    run.mend(cut)
    run.settled()


@scenario(protocol=INVITATION, expect=STABLE)
def bridge(run: Run) -> None:
    """GM82 IV, S00-4': two halves that share one node; it is in one of the two groups."""
    run.bridge(3)
    run.start()
    run.calm()
    run.mend()
    run.settled()


@scenario(protocol=INVITATION, expect=STABLE)
def ring_of_majorities(run: Run) -> None:
    """GM82 IV, S00-4': each node reaches a majority, and no two the same one."""
    run.ring()
    run.start()
    run.calm()
    run.mend()
    run.settled()


@scenario(protocol=INVITATION, expect=STABLE)
def intersecting_components(run: Run) -> None:
    """GM82 IV, S00-4': {1,2,3} and {3,4,5} share a node, and are two groups at the most."""
    run.overlap({1, 2, 3}, {3, 4, 5})
    run.start()
    run.calm()
    run.mend()
    run.settled()


@scenario(protocol=INVITATION)
def deaf_coordinator(run: Run) -> None:
    """GM82-3: nothing reaches the coordinator, whom all hear; they may leave it or not."""
    run.start()
    run.settled()
    run.one_way([1, 2, 3, 4], 5)
    run.elapse(3 * run.info.timing.timeout_ms)
    run.mend()
    run.settled()


@scenario(protocol=INVITATION)
def mute_coordinator(run: Run) -> None:
    """GM82-3: nobody hears the coordinator, who hears all; the others go on without it."""
    run.start()
    run.settled()
    others = [1, 2, 3, 4]
    run.one_way(5, others)
    run.settled(others)
    run.mend()
    run.settled()


@scenario(protocol=INVITATION, expect={"GM82-4": "holds"})
def deaf_member(run: Run) -> None:
    """GM82 IV: a node that can send but not receive does not keep the others from settling.

    Assertion 4 makes no requirement for it, and all for the set of the others.
    """
    run.start()
    run.settled()
    others = [2, 3, 4, 5]
    run.one_way(others, 1)
    run.settled(others)
    run.calm()
    run.settled(others)
    run.mend()
    run.settled()


@scenario(protocol=INVITATION)
def flapping_link(run: Run) -> None:
    """GM82-3: the link between the coordinator and a member comes and goes, ever more slowly."""
    run.start()
    run.settled()
    for k in range(1, 8):
        rule = run.cut([(5, 1), (1, 5)])
        run.elapse(k * run.info.timing.t_ms)
        run.mend(rule)
        run.elapse(k * run.info.timing.t_ms / 2)
    run.settled()

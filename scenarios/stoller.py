"""Bully_FD and the Asynchronous Bully Algorithm (S97): leaders, detectors, and false alarms.

In S97 the lowest number has the highest priority. Bully_FD is for A1-A9, and what breaks them is
its excuse. The Asynchronous Bully needs none: whatever its detector says, nodes of one group
agree (ALE1), and once the system is stable each has a leader that is up and of its group (ALE2').
"""

from typing import Any

from harness.run import Run
from harness.scenario import ASYNC_BULLY, BULLY_FD, scenario

STABLE = {"S97-ALE2'": "holds"}


def _leader_crash(run: Run) -> None:
    """A cold start; the leader crashes, a successor is elected; it returns and wins."""
    run.start()
    run.settled()
    old = run.kill("coordinator")
    run.settled()
    run.restart(old)
    run.settled()


# --- each algorithm on each detector ------------------------------------------------------------


@scenario(protocol=BULLY_FD)
def bully_fd(run: Run) -> None:
    """S97-SLE1, SLE2: Fig. 1 with "Are you alive?"; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.bully_fd:BullyFDHeartbeat")
def bully_fd_heartbeat(run: Run) -> None:
    """S97-SLE1, SLE2: Fig. 1 with "I'm alive"; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.bully_fd:BullyFDRing")
def bully_fd_ring(run: Run) -> None:
    """S97-SLE1, SLE2: Fig. 1 with an attendance list; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.bully_fd:BullyFDTasks")
def bully_fd_tasks(run: Run) -> None:
    """S97-SLE1, GM82-1b: Fig. 1 with tasks; the leader crashes, and the work is shared out anew."""
    _leader_crash(run)


@scenario(protocol=ASYNC_BULLY)
def async_bully(run: Run) -> None:
    """S97-ALE1: Fig. 3 with "I'm alive"; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.async_bully:AsyncBullyPing")
def async_bully_ping(run: Run) -> None:
    """S97-ALE1: Fig. 3 with "Are you alive?"; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.async_bully:AsyncBullyRing")
def async_bully_ring(run: Run) -> None:
    """S97-ALE1: Fig. 3 with an attendance list; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.async_bully:AsyncBullyPiggyback")
def async_bully_piggyback(run: Run) -> None:
    """S97-ALE1: Fig. 3, "I'm alive" on the Norm? messages; the leader crashes and returns."""
    _leader_crash(run)


@scenario(protocol="nodes.async_bully:AsyncBullyTasks")
def async_bully_tasks(run: Run) -> None:
    """S97-ALE1, GM82-3b: Fig. 3 with tasks; the leader crashes, and the work is shared out anew."""
    _leader_crash(run)


@scenario(protocol=BULLY_FD)
def crashes_during_an_election(run: Run) -> None:
    """S97-SLE1, SLE2: a candidate dies at its second Halt, and its successor at its first Ldr."""
    run.start()
    run.settled()
    run.arm(2, "sent", kind="Halt", to=4)
    run.arm(3, "sent", kind="Ldr")
    run.kill(1)
    run.reached(2)
    run.kill(2)
    run.reached(3)
    run.kill(3)
    run.settled()
    run.restart([1, 2, 3])
    run.settled()


# --- groups ---------------------------------------------------------------------------------------


@scenario(nodes=6, protocol=ASYNC_BULLY, expect={"S97-ALE2": "holds", **STABLE})
def triangle_with_pendants(run: Run) -> None:
    """S97 7: 1-2-3 and a pendant on each is no counterexample to ALE2: 1, 5 and 6 lead, 4 does not.

    {1,4}, {2,5}, {3,6} cover the graph. The paper says that 1, 4, 5 and 6 end as leaders. But 1 is
    connected to 4, so its Norm? reaches 4, which answers NotNorm if its own leader is greater than
    1 (the paper's third modification), and accepts 1's Halt. In general two leaders that are
    connected do not last: the lesser one's Norm? makes an election that the other one accepts. So
    once stable no two leaders are joined by an edge, no clique holds two of them, and there are no
    more groups than any clique cover has: where Fig. 3 keeps ALE2', it keeps ALE2.
    """
    run.graph([(1, 2), (1, 3), (2, 3), (1, 4), (2, 5), (3, 6)])
    run.start()
    run.calm()
    run.elapse(1.05 * run.info.settles_ms)  # ALE2 speaks of the state after c
    run.mend()
    run.settled()


@scenario(protocol=ASYNC_BULLY, expect=STABLE)
def split_and_heal_by_norm(run: Run) -> None:
    """S97-ALE1, ALE2': both sides of a split have a leader; healed, Norm? finds the other side."""
    run.start()
    run.settled()
    cut = run.split({1, 2}, {3, 4, 5})
    run.settled([1, 2])
    run.settled([3, 4, 5])
    run.mend(cut)
    run.settled()


# --- what App. B overlooks ------------------------------------------------------------------------

REPAIRED = "nodes.async_bully:AsyncBullyRepaired"
STUCK = {"S97-ALE2'": "violated", "S97-ALE2": "violated"}


def _lost(run: Run, src: int, dst: int, event: str, **where: Any) -> None:
    """3 returns, so that 1 holds an election; in it what src sends to dst from a point on is lost.

    When that has happened once, the link is mended and the system stable.
    """
    run.start()
    run.settled()
    run.arm(src, event, **where)
    run.kill(3)
    run.restart(3)
    run.reached(src)
    cut = run.cut([(src, dst)])
    run.resume(src)
    run.seen("dropped", src=src, dst=dst)
    run.mend(cut)
    run.elapse(1.05 * run.info.settles_ms)


def _lost_ldr(run: Run) -> None:
    _lost(run, 1, 3, "became", s="Normal", c=1)


def _lost_ack(run: Run) -> None:
    _lost(run, 2, 1, "sent", kind="Ack")


@scenario(nodes=3, protocol=ASYNC_BULLY, lateness=False, expect=STUCK)
def lost_ldr(run: Run) -> None:
    """S97 App. B (3) is flawed: a Ldr lost before the system is stable is awaited for ever (ALE2').

    3 is halted by 1 and waits. 1 is up, connected and does not play dead: no DownSig. 1 asks
    Norm?, and 3 does not answer: 1 < pi_1(elid) is what it takes, and pi_1(elid) is 1.
    """
    _lost_ldr(run)


@scenario(nodes=3, protocol=ASYNC_BULLY, lateness=False, expect=STUCK)
def lost_ack(run: Run) -> None:
    """S97 App. B is flawed: an Ack lost before the system is stable is awaited for ever (ALE2').

    "Each node j in greater(i) is either up and connected to node i, in which case node j replies":
    so 2 did, and 1, in stage 2, has neither its reply nor a DownSig. 2 waits for 1.
    """
    _lost_ack(run)


@scenario(nodes=3, protocol=REPAIRED, lateness=False, expect=STABLE)
def lost_ldr_made_up(run: Run) -> None:
    """S97-ALE2': a node that waits says so to the leader it waits for, and is halted again."""
    _lost_ldr(run)


@scenario(nodes=3, protocol=REPAIRED, lateness=False, expect=STABLE)
def lost_ack_made_up(run: Run) -> None:
    """S97-ALE2': a candidate says Halt again every tau until it has an answer."""
    _lost_ack(run)


# --- false alarms ---------------------------------------------------------------------------------


@scenario(protocol="nodes.async_bully:AsyncBullyHasty", expect={"S97-FD2'": "violated"})
def hasty_detector(run: Run) -> None:
    """S97-ALE1: a time-out that is too short reports nodes that are up, over and over (S97 6)."""
    run.start()
    run.settled()
    run.elapse(2 * run.info.tau_fd_ms)
    for node in run.nodes[1:]:
        run.seen("suspected", node=node, peer=1)
    run.settled()


@scenario(protocol=ASYNC_BULLY, lateness=False)
def paused_leader(run: Run) -> None:
    """S97-ALE1: a leader that pauses is taken for dead, and comes back to another group's world."""
    run.start()
    run.settled()
    old = run.pause("coordinator")
    run.settled()
    run.resume(old)
    run.settled()


@scenario(protocol=ASYNC_BULLY)
def slow_link(run: Run) -> None:
    """S97-ALE1: the leader's word takes longer than any time-out; nobody is misled by it."""
    run.start()
    run.settled()
    slow = run.delay(run.links(1, "all"), ms=2 * run.info.timing.t_ms)
    run.seen("suspected", peer=1)
    run.settled([2, 3, 4, 5])
    run.mend(slow)
    run.settled()


@scenario(
    protocol=BULLY_FD,
    lateness=False,
    expect={"S97-SLE1": "excused", "S97-FD2": "excused", "A9": "violated"},
)
def paused_leader_is_one_of_two(run: Run) -> None:
    """S97 5: a false alarm gives Bully_FD two leaders; that a node paused is its excuse (A9).

    And so it stays: each is Norm, and nothing in Fig. 1 brings two leaders together.
    """
    run.start()
    run.settled()
    old = run.pause("coordinator")
    run.settled()
    run.resume(old)
    run.elapse(2 * run.info.timing.check_ms)


@scenario(protocol=BULLY_FD)
def paused_leader_that_fails_itself(run: Run) -> None:
    """S97-SLE1, GM82 II A9: a leader that finds it was late counts as crashed; all holds."""
    run.start()
    run.settled()
    old = run.pause("coordinator")
    run.settled()
    run.resume(old)
    run.settled()

"""Directed schedules that corner a mutant. Every assumption holds in each of them."""

from dataclasses import replace

import msgspec

from harness.run import Run
from harness.scenario import INVITATION, RESTRICTED, scenario
from traces.run import Timing


@scenario()
def recovery_amid_announcement(run: Run) -> None:
    """GM82 App. I: node 5 recovers while 4 announces itself, and 4's word to 3 is slow.

    4 is stopped for less than T_p, and no link delays as much as T_m: A8 and A9 hold. 5 halts 3
    before 4's NewCoordinator reaches it, and is itself still halting 2 and 1 when it does.
    """
    run.start()
    run.settled()
    run.delay([(4, 3)], ms=run.info.timing.t_m_ms * 0.9)
    run.delay(run.links(5, "all"), ms=run.info.timing.t_m_ms * 0.35)
    run.arm(4, "sent", kind="NewCoordinator", to=3, ack=False)
    run.kill(5)
    run.reached(4)
    run.restart(5)
    run.elapse(1)
    run.resume(4)
    run.settled()


@scenario()
def recovery_amid_halting(run: Run) -> None:
    """GM82 App. I: node 5 recovers and halts 4, which is halting the others."""
    run.start()
    run.settled()
    run.arm(4, "received", kind="Halt", ack=True)
    run.kill(5)
    run.reached(4)
    run.restart(5)
    run.elapse(1)
    run.resume(4)
    run.settled()


@scenario()
def return_to_another_coordinator(run: Run) -> None:
    """GM82 II: a node that returns is Down, whoever was coordinator when it crashed."""
    run.start()
    run.settled()
    run.kill(3)
    run.kill(5)
    run.settled()
    run.restart(3)
    run.settled()


@scenario()
def echo_of_ready(run: Run) -> None:
    """GM82 II, A7: second copies of an old Ready arrive amid the coordinator's next election."""
    run.start([1, 2, 3, 4])
    run.settled()
    echoes = run.duplicate(run.links(5, "all"), after_ms=100)
    run.start([5])
    run.seen("sent", node=5, kind="Ready", ack=False)
    began = run.engine.now() / 1e6
    run.settled()
    run.mend(echoes)
    run.kill(5)
    run.elapse(98.5 - (run.engine.now() / 1e6 - began))
    run.restart(5)
    run.settled()


@scenario()
def slow_links(run: Run) -> None:
    """GM82 II, A8: every link takes nearly T_m, and a node that returns takes none for dead."""
    run.start()
    run.settled()
    run.delay(run.links(), ms=run.info.timing.t_m_ms * 0.9)
    run.kill(4)
    run.restart(4)
    run.settled()


@scenario(nodes=2)
def answer_to_a_former_life(run: Run) -> None:
    """GM82 App. I: 2 dies before 1 has answered its Ready, and is back when the answer comes.

    1 is stopped for less than T_p, and no link delays as much as T_m. 2 asks nobody first, since
    nobody is above it: it waits for an answer to Halt, which has not reached 1 yet.
    """
    run.start()
    run.arm(1, "sent", kind="Ready", ack=True)
    run.reached(1)
    run.delay([(2, 1)], ms=run.info.timing.t_m_ms * 0.9)
    run.kill(2)
    run.restart(2)
    run.elapse(1)
    run.resume(1)
    run.settled()


@scenario(protocol=INVITATION)
def ready_of_a_group_that_is_gone(run: Run) -> None:
    """GM82 App. II, Ready: the last word of 4's group reaches 3 when it has joined 5's.

    4 dies right after it sent Ready to 3. 5 is stopped when 1 and 2 are Normal in its group and
    3 is not yet; then 3 is told 4's task.
    """
    run.start([1, 2, 3, 4])
    run.arm(4, "sent", kind="Ready", to=3, ack=False)
    run.reached(4)
    held = run.hold([(4, 3)])
    run.resume(4)
    run.kill(4)
    for node in (1, 2, 3):
        run.seen("became", node=node, s="Normal", c=node)
    run.start([5])
    run.arm(5, "sent", kind="Ready", to=3, ack=False)
    run.reached(5)
    run.release(held)
    run.elapse(1)
    run.resume(5)
    run.settled()


@scenario(nodes=3, protocol=INVITATION)
def coordinator_back_at_once(run: Run) -> None:
    """GM82 App. II, AreYouThere: a coordinator is back before anybody missed it, in a new group."""
    run.start()
    run.settled()
    run.kill(3)
    run.restart(3)
    run.elapse(1.05 * run.info.settles_ms)


@scenario(nodes=3, protocol=INVITATION)
def member_lost_before_ready(run: Run) -> None:
    """GM82 App. II, Timeout: 3 gives up its group because 2 has crashed; 1 must come to know.

    3 goes on asking around, in a new group; that is no word of 1's coordinator.
    """
    run.start()
    run.arm(3, "sent", kind="Ready", to=2, ack=False)
    run.reached(3)
    run.kill(2)
    run.resume(3)
    run.elapse(1.05 * run.info.settles_ms)


@scenario(nodes=6, protocol=INVITATION, expect={"GM82-4": "violated"})
def square(run: Run) -> None:
    """S00-4': 1-3-2-4-1, and 5 and 6 alone. 3 and 4, which do not reach each other, both merge."""
    run.graph([(1, 3), (1, 4), (2, 3), (2, 4)])
    run.start()
    run.elapse(1.05 * run.info.settles_ms)
    run.mend()
    run.settled()


@scenario(nodes=3, protocol=INVITATION)
def split_for_a_while(run: Run) -> None:
    """GM82-3: a member that is cut off stays in its group while the others merge anew."""
    run.start()
    run.settled()
    run.split({1}, {2, 3})
    run.kill(2)
    run.restart(2)
    run.seen("became", node=3, s="Normal", c=3)
    run.mend()
    run.settled()


@scenario(nodes=3, protocol=RESTRICTED, lateness=False)
def accept_of_a_group_that_is_gone(run: Run) -> None:
    """GM82-GH: node 1 is invited by 3 and sleeps; its Accept comes amid the next Merge of 3."""
    run.start([2, 3])
    run.settled([2, 3])
    run.start([1])
    run.arm(1, "sent", kind="Accept", ack=False)
    run.reached(1)
    run.seen("became", node=3, s="Normal")
    run.kill(2)
    run.restart(2)
    run.seen("sent", node=3, kind="Accept", to=2, ack=True)
    run.resume(1)
    run.settled()
    run.seen("stored", cell="datum")


def _timeout_above_all(timing: Timing, nodes: int) -> Timing:
    """Two Timeouts are longer than c, which has one: twice the rest of it."""
    rest = timing.merges_ms(nodes) - timing.timeout_ms
    return msgspec.structs.replace(timing, timeout_ms=2 * rest)


@scenario(nodes=5, protocol=INVITATION)
def invited_after_a_timeout(run: Run) -> None:
    """S00-4': 4 lost its coordinator, and invites 3 a Timeout later; 1 and 2 come along at once.

    They have heard from 3 up to then, and would find out only by a Timeout of their own.
    """
    halves = run.split([4, 5], [1, 2, 3])
    run.start()
    run.settled([4, 5])
    run.settled([1, 2, 3])
    run.kill(5)
    run.mend(halves)
    run.elapse(1.05 * run.info.settles_ms)


DIRECTED = [
    coordinator_back_at_once,
    member_lost_before_ready,
    square,
    split_for_a_while,
    ready_of_a_group_that_is_gone,
    recovery_amid_announcement,
    recovery_amid_halting,
    return_to_another_coordinator,
    echo_of_ready,
    slow_links,
    answer_to_a_former_life,
    accept_of_a_group_that_is_gone,
    replace(invited_after_a_timeout, stretch=_timeout_above_all),
]

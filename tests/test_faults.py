"""Every injected fault and its evidence; a fault that touched nothing is idle."""

from tests.build import Trace
from traces.events import Duplicated, Ruled, Witnessed
from traces.faults import FaultEvidence, fault_evidence


def started() -> Trace:
    t = Trace(2)
    t.start(1, 2)
    return t


def only(t: Trace, verb: str) -> FaultEvidence:
    (found,) = [fault for fault in fault_evidence(t.events) if fault.verb == verb]
    return found


def test_a_kill_is_shown_by_the_death_it_caused() -> None:
    t = started()
    t.kill(2)
    found = only(t, "kill")
    assert (found.targets, found.idle) == ("2", False)
    assert found.evidence == "node 2 died of signal 9 after 0.00 ms"


def test_a_kill_that_nobody_died_of_is_idle() -> None:
    t = started()
    t.inject("kill", 2)
    found = only(t, "kill")
    assert (found.evidence, found.idle) == ("nothing happened", True)


def test_a_pause_is_shown_by_the_kernel_and_by_proc() -> None:
    t = started()
    t.pause(2)
    t.controller(Witnessed(step=1, target=2, state="T", backlog=400))
    t.wait(50)
    t.resume(2)
    says = only(t, "pause").evidence
    assert "node 2 stopped after 0.00 ms; state T, 400 bytes waiting; ran again 50.0 ms" in says
    assert only(t, "resume").evidence == "node 2 ran again after 0.00 ms"


def test_a_restart_is_shown_by_the_new_life() -> None:
    t = started()
    t.kill(2)
    t.inject("restart", 2)
    t.wait(3)
    t.start(2)
    assert only(t, "restart").evidence == "node 2 life 2 started after 3.00 ms"


def test_a_cut_is_shown_by_the_datagrams_it_dropped() -> None:
    t = started()
    t.cut(1, (1, 2), (2, 1))
    t.drop(t.send(1, 2), 1)
    t.drop(t.send(1, 2), 1)
    t.drop(t.send(2, 1), 1)
    t.mend(1, (1, 2), (2, 1))
    t.receive(t.send(2, 1))
    assert only(t, "cut").evidence == "dropped 1->2 2, 2->1 1"
    assert only(t, "cut").targets == "1->2 2->1"
    assert "first datagram 2->1 received after" in only(t, "mend").evidence


def test_a_cut_that_dropped_nothing_is_idle() -> None:
    t = started()
    t.cut(1, (1, 2))
    t.mend(1, (1, 2))
    assert only(t, "cut").idle
    assert "nothing was sent there since" in only(t, "mend").evidence


def test_a_duplicate_is_shown_by_the_datagrams_doubled() -> None:
    t = started()
    t.inject("duplicate", links=((1, 2),), rule=4)
    t.relay(Ruled(rule=4, verb="duplicate", links=((1, 2),)))
    t.relay(Duplicated(src=1, dst=2, k=1, rule=4, by=5))
    assert only(t, "duplicate").evidence == "duplicated 1->2 1"


def test_an_armed_point_that_was_never_reached_is_idle() -> None:
    t = started()
    t.inject("arm", 2, args={"event": "became"})
    assert only(t, "arm").idle
    t.pause(2, asked=False)
    assert only(t, "arm").evidence == "node 2 stopped at the point after 0.00 ms"


def test_clearing_a_run_away_is_no_fault() -> None:
    t = started()
    t.inject("end", 1, 2)
    t.died(1, 9)
    assert fault_evidence(t.events) == []

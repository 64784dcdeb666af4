"""The virtual engine does to a node what the real one does to a process."""

from typing import Any

import pytest

from harness.run import GaveUp, Run
from harness.schedule import ScheduleError
from harness.virtual import VirtualEngine
from traces.events import (
    Became,
    Delayed,
    Died,
    Discarded,
    Dropped,
    Held,
    Overslept,
    Received,
    Released,
    Ruled,
    Sent,
    Suspended,
    Witnessed,
)
from traces.run import RunInfo, Timing


def made(nodes: int = 3, lateness: bool = True, seed: int = 1) -> Run:
    info = RunInfo(
        "t", "", "nodes.bully:Bully", "virtual", seed, nodes, Timing(timeout_ms=200), lateness
    )
    return Run(info, VirtualEngine(info))


def settled(nodes: int = 3, lateness: bool = True) -> Run:
    run = made(nodes, lateness)
    run.start()
    run.settled()
    return run


def of(run: Run, event_type: type[Any], **where: Any) -> list[Any]:
    return [
        event
        for event in run.engine.events
        if isinstance(event, event_type)
        and all(getattr(event, field) == value for field, value in where.items())
    ]


def test_a_node_killed_at_a_point_wrote_the_event_and_never_did_it() -> None:
    run = settled()
    run.arm(2, "sent", kind="Halt", to=1)
    run.kill(3)
    run.reached(2)
    run.kill(2)
    run.settled()
    (sent,) = of(run, Sent, node=2, kind="Halt", to=1, ack=False)[-1:]
    assert sent.at < of(run, Died, target=2)[0].at
    assert not of(run, Received, node=1, src=2, sinc=sent.inc, m=sent.m)


def test_a_node_resumed_at_a_point_does_what_it_was_about_to_do_once() -> None:
    run = settled()
    run.arm(2, "sent", kind="Halt", to=1)
    run.kill(3)
    run.reached(2)
    run.elapse(5)
    run.resume(2)
    run.settled()
    sent = of(run, Sent, node=2, kind="Halt", to=1, ack=False)
    received = of(run, Received, node=1, src=2, kind="Halt", ack=False)
    assert len(received) == len(sent) == 1
    assert received[0].at - sent[0].at >= 5_000_000


def test_a_node_that_overslept_fails_itself_and_forgets_what_came_meanwhile() -> None:
    run = settled()
    run.pause(3)
    run.settled()
    run.resume(3)
    run.settled()
    (overslept,) = of(run, Overslept)
    assert overslept.since == of(run, Suspended, target=3)[0].at - 1
    assert of(run, Discarded, node=3, why="down")
    assert of(run, Became, node=3, inc=2)[0].s == "Down"


def test_with_the_lateness_rule_off_a_paused_node_goes_on_as_if_nothing_had_happened() -> None:
    run = settled(lateness=False)
    run.pause(3)
    run.elapse(30)
    run.resume(3)
    run.elapse(10)
    assert not of(run, Overslept)
    assert run.live.inc[3] == 1


def test_a_pause_under_the_drop_contract_leaves_no_backlog() -> None:
    backlogs = {}
    for contract in ("buffer", "drop"):
        run = settled(lateness=False)
        run.pause(3, contract)
        run.settled()
        run.resume(3)
        backlogs[contract] = of(run, Witnessed)[-1].backlog
    assert backlogs["drop"] == 0 < backlogs["buffer"]


def test_a_node_killed_in_a_pause_that_drops_is_not_deaf_in_its_next_life() -> None:
    run = settled()
    run.pause(3, "drop")
    run.kill(3)
    run.restart(3)
    run.settled()
    assert run.live.coordinator() == 3


def test_an_echo_that_outlives_its_receiver_is_discarded_by_the_next_life() -> None:
    run = made()
    echoes = run.duplicate([(3, 1)], after_ms=400)
    run.start()
    run.settled()
    run.mend(echoes)
    run.kill(1)
    run.restart(1)
    run.kill(3)
    run.settled()
    run.elapse(400)
    assert run.live.settled(run.nodes)
    assert of(run, Discarded, node=1, inc=2)


def test_a_cut_drops_and_a_mended_link_carries_again() -> None:
    run = settled()
    rule = run.cut([(3, 1)])
    run.seen("dropped", src=3, dst=1)
    assert {event.rule for event in of(run, Dropped)} == {rule}
    run.mend(rule)
    run.seen("received", node=1, src=3)


def test_what_is_held_goes_on_in_order_when_released() -> None:
    run = settled()
    rule = run.hold(run.links(3, [1]))
    run.elapse(250)
    run.release(rule)
    run.elapse(10)
    held, released = of(run, Held), of(run, Released)
    assert [e.k for e in held] == [e.k for e in released]
    assert len(held) >= 2


def test_a_delayed_link_delivers_later_and_a_reordered_one_out_of_order() -> None:
    run = settled(lateness=False)
    run.delay(run.links(3, [1]), ms=8)
    run.seen("delayed")
    (delayed,) = of(run, Delayed)[:1]
    assert delayed.by == 8_000_000
    run.mend()
    run.reorder(run.links(), p=0.5, ms=150)
    run.elapse(2000)
    assert of(run, Discarded, why="late")


def test_every_message_is_lost_with_probability_one_and_duplicated_ones_count_once() -> None:
    run = settled()
    run.duplicate(run.links())
    run.elapse(200)
    assert of(run, Discarded, why="duplicate")
    run.mend()
    run.lose(run.links(), p=1.0)
    run.elapse(1)
    before = len(of(run, Received))
    run.elapse(300)
    assert len(of(run, Received)) == before


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda r: r.kill(9), "no node 9"),
        (lambda r: r.restart(1), "node 1 is up already"),
        (lambda r: r.resume(1), "node 1 is not stopped"),
        (lambda r: r.mend(7), "no rule 7"),
        (lambda r: r.kill("emperor"), "no target 'emperor'"),
        (lambda r: r.split([1], [1, 2]), "in more than one group: node 1"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(act: Any, words: str) -> None:
    with pytest.raises((ScheduleError, ValueError), match=words):
        act(settled())


def test_a_wait_that_cannot_come_true_gives_up_and_says_so() -> None:
    run = settled()
    with pytest.raises(GaveUp, match=r"did not come true within 0\.1 s"):
        run.seen("became", node=1, s="Emperor", within_ms=100)


def test_symbolic_targets_are_resolved_and_recorded() -> None:
    run = settled(5)
    run.kill("coordinator")
    run.settled()
    run.kill("lowest")
    run.kill("highest")
    assert [step.nodes for step in run.steps if step.verb == "kill"] == [(5,), (1,), (4,)]
    assert len(run._resolve("majority")) == 2  # of the two that are left


def test_calm_is_when_all_are_normal_and_nothing_has_changed_for_so_long() -> None:
    run = made()
    run.start()
    run.calm(80)
    changes = of(run, Became)
    assert {run.live.state[node].s for node in run.nodes} == {"Normal"}
    assert run.engine.now() - changes[-1].at >= 80_000_000
    assert run.engine.now() - changes[-1].at < 200_000_000


def test_a_single_node_gets_calm_though_it_writes_nothing_more() -> None:
    run = made(nodes=1)
    run.start()
    run.calm(50, within_ms=500)
    assert run.live.normal()


def test_what_a_script_leaves_in_force_is_mended_and_noted() -> None:
    run = settled()
    run.cut([(1, 2)])
    run.finish()
    assert run.info.notes == ["the script left in force, and the end mended: cut (rule 1)"]
    assert of(run, Ruled)[-1].on is False

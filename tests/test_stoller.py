"""Bully_FD and the Asynchronous Bully (S97 Fig. 1 and 3): every handler, and both engines."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from harness.execute import Outcome, info_of
from harness.run import Run
from harness.scenario import ASYNC_BULLY, BULLY_FD, Scenario, scenario
from harness.virtual import VirtualEngine
from nodes.async_bully import AsyncBully, AsyncBullyRepaired, AsyncBullyTasks
from nodes.bully_fd import BullyFD
from nodes.kernel import MS, Kernel
from nodes.stoller import ELEC1, ELEC2, NORM, WAIT, StollerBully
from nodes.wire import Message
from traces.events import Became, Played, Sent, Stored, Suspected, Watched
from traces.merge import read_trace
from traces.run import Timing

BOTH = [BullyFD, AsyncBully]
OF_THE_DETECTOR = {"AreYouAlive", "IAmAlive", "Watch", "Unwatch", "Token"}


class Node:
    """One node of four, and the test is everybody else."""

    def __init__(self, protocol: type[StollerBully], i: int, **cells: Any) -> None:
        self.kernel = Kernel(i, 1, (1, 2, 3, 4), protocol, Timing(), cells, [0] * 5)
        self.kernel.start(0)
        made = self.kernel.protocol
        assert isinstance(made, StollerBully)
        self.protocol, self.m = made, 0

    @property
    def state(self) -> tuple[str, int, str]:
        state = self.protocol.state
        return state.s, state.c, state.g

    def hears(self, src: int, kind: str, *args: str) -> None:
        self.kernel.out.clear()
        self.m += 1
        self.kernel.receive(MS, src, Message(0, src, 1, self.m, kind, False, 0, args))

    def down(self, *peers: int) -> None:
        for j in peers:
            self.kernel.out.clear()
            self.protocol.down_sig(j)

    @property
    def said(self) -> list[tuple[int, str, tuple[Any, ...]]]:
        """What it sent since the last event, but for its detector."""
        return [
            (e.to, e.kind, e.args)
            for e in self.kernel.out
            if isinstance(e, Sent) and e.kind not in OF_THE_DETECTOR
        ]

    def noted(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.kernel.out if isinstance(event, kind)]


def waiting(protocol: type[StollerBully], i: int, by: int, t: str) -> Node:
    """Node i, halted by another."""
    node = Node(protocol, i)
    node.hears(by, "Halt", t)
    return node


def led(protocol: type[StollerBully], i: int, by: int, t: str) -> Node:
    """Node i, led by another."""
    node = waiting(protocol, i, by, t)
    node.hears(by, "Ldr", t, *(["a task"] if protocol is AsyncBullyTasks else []))
    return node


def leading(protocol: type[StollerBully]) -> Node:
    """Node 1, when 2, 3 and 4 have acknowledged its first election."""
    node = Node(protocol, 1)
    for j in (2, 3, 4):
        node.hears(j, "Ack", "1.1.0")
    return node


# --- On recovery, StartStage1, StartStage2 ------------------------------------------------------


@pytest.mark.parametrize("protocol", BOTH)
def test_recovery_counts_an_incarnation_in_a_safe_cell_before_it_is_used(
    protocol: type[StollerBully],
) -> None:
    node = Node(protocol, 3, incarn=6)
    events = node.kernel.out
    stored = next(k for k, e in enumerate(events) if isinstance(e, Stored) and e.cell == "incarn")
    used = [k for k, e in enumerate(events) if isinstance(e, Became) and e.g]
    assert stored < used[0]
    assert node.protocol.state.g == "3.7.0"
    assert next(e.s for e in node.noted(Became)) == "Down"


def test_stage_1_monitors_the_lesser_nodes_and_ends_when_all_of_them_are_down() -> None:
    node = Node(BullyFD, 3)
    assert node.state == (ELEC1, 0, "3.1.0")
    assert [e.peers for e in node.noted(Watched)] == [(1, 2)]
    node.down(2)
    assert node.state[0] == ELEC1
    node.down(1)
    assert node.state == (ELEC2, 0, "3.1.0")
    assert node.said == [(4, "Halt", ("3.1.0",))]


@pytest.mark.parametrize("protocol", BOTH)
def test_the_first_node_begins_with_stage_2_and_halts_one_after_the_other(
    protocol: type[StollerBully],
) -> None:
    node = Node(protocol, 1)
    assert node.state[0] == ELEC2
    assert node.said == [(2, "Halt", ("1.1.0",))]
    node.hears(2, "Ack", "1.1.0")
    assert node.said == [(3, "Halt", ("1.1.0",))]
    assert [e.peers for e in node.noted(Watched)] == [(3,)]


def test_the_asynchronous_one_omits_stage_1_and_plays_alive() -> None:
    node = Node(AsyncBully, 3)
    assert node.state == (ELEC2, 0, "3.1.0")
    assert [(e.peers, e.dead) for e in node.noted(Played)] == [((4,), False)]


@pytest.mark.parametrize("protocol", BOTH)
def test_every_election_has_a_number_of_its_own(protocol: type[StollerBully]) -> None:
    node = leading(protocol)
    node.hears(3, "NotNorm", "1.1.0")
    assert node.protocol.state.g == "1.1.1"


# --- On Ack, On Ldr, On Rej ---------------------------------------------------------------------


@pytest.mark.parametrize("protocol", BOTH)
def test_a_leader_tells_those_who_acknowledged_and_no_others(protocol: type[StollerBully]) -> None:
    node = Node(protocol, 1)
    node.hears(2, "Ack", "1.1.0")
    node.down(3)
    node.hears(4, "Ack", "1.1.0")
    assert node.state == (NORM, 1, "1.1.0")
    assert node.said == [(2, "Ldr", ("1.1.0",)), (4, "Ldr", ("1.1.0",))]


@pytest.mark.parametrize("protocol", BOTH)
@pytest.mark.parametrize(("src", "t"), [(2, "1.0.9"), (3, "1.1.0")], ids=["old", "not asked"])
def test_an_ack_of_another_election_or_another_node_is_ignored(
    protocol: type[StollerBully], src: int, t: str
) -> None:
    node = Node(protocol, 1)
    node.hears(src, "Ack", t)
    assert node.said == []
    assert node.protocol.pendack == 2


@pytest.mark.parametrize("protocol", BOTH)
def test_ldr_makes_a_waiting_node_follow_and_monitor_its_leader_only(
    protocol: type[StollerBully],
) -> None:
    node = led(protocol, 3, 1, "1.4.2")
    assert node.state == (NORM, 1, "1.4.2")
    assert [(e.peers, e.on) for e in node.noted(Watched)] == [((1, 2, 4), False), ((1,), True)]


@pytest.mark.parametrize("protocol", BOTH)
def test_ldr_of_another_election_is_ignored(protocol: type[StollerBully]) -> None:
    node = waiting(protocol, 3, 1, "1.4.2")
    node.hears(2, "Ldr", "2.1.0")
    assert node.state == (WAIT, 0, "1.4.2")


@pytest.mark.parametrize("protocol", BOTH)
def test_ldr_is_ignored_by_a_node_that_does_not_wait(protocol: type[StollerBully]) -> None:
    node = led(protocol, 3, 1, "1.4.2")
    before = node.state
    node.hears(1, "Ldr", "1.4.2")
    assert node.state == before
    assert node.noted(Became) == []


def test_a_rejected_candidate_goes_on_without_that_node() -> None:
    node = Node(AsyncBully, 1)
    node.hears(3, "Rej", "1.1.0")
    assert node.protocol.pendack == 2  # 3 was not asked yet
    for j in (2, 3, 4):
        node.hears(j, "Rej", "1.1.0")
    assert node.state == (NORM, 1, "1.1.0")
    assert node.said == []


# --- On Halt ------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", BOTH)
def test_a_halted_node_acknowledges_waits_and_monitors_who_halted_it(
    protocol: type[StollerBully],
) -> None:
    node = waiting(protocol, 3, 2, "2.1.0")
    assert node.state == (WAIT, 0, "2.1.0")
    assert node.said == [(2, "Ack", ("2.1.0",))]
    assert [e.peers for e in node.noted(Watched)] == [(2,)]


def test_a_halted_node_plays_dead_to_greater_nodes() -> None:
    node = waiting(AsyncBully, 2, 1, "1.1.0")
    assert [(e.peers, e.dead) for e in node.noted(Played)] == [((3, 4), True)]


def test_in_bully_fd_who_halts_last_is_waited_for() -> None:
    node = led(BullyFD, 3, 1, "1.1.0")
    node.hears(2, "Halt", "2.1.0")
    assert node.state[2] == "2.1.0"


@pytest.mark.parametrize("make", [led, waiting])
def test_a_node_rejects_an_election_that_would_give_it_a_lower_leader(
    make: Callable[..., Node],
) -> None:
    node = make(AsyncBully, 3, 1, "1.1.0")
    before = node.state
    node.hears(2, "Halt", "2.1.0")
    assert node.said == [(2, "Rej", ("2.1.0",))]
    assert node.state == before


@pytest.mark.parametrize("make", [led, waiting])
def test_a_node_accepts_its_own_leader_again_and_a_higher_one(make: Callable[..., Node]) -> None:
    for j in (1, 2):
        node = make(AsyncBully, 3, 2, "2.1.0")
        node.hears(j, "Halt", f"{j}.5.5")
        assert node.state[::2] == (WAIT, f"{j}.5.5")


def test_a_candidate_lets_itself_be_halted_by_anybody_above() -> None:
    node = Node(AsyncBully, 3)
    node.hears(2, "Halt", "2.1.0")
    assert node.state[0] == WAIT


# --- On DownSig ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [led, waiting])
@pytest.mark.parametrize(("protocol", "stage"), [(BullyFD, ELEC1), (AsyncBully, ELEC2)])
def test_the_loss_of_its_leader_or_halter_makes_a_node_start_an_election(
    protocol: type[StollerBully], stage: str, make: Callable[..., Node]
) -> None:
    node = make(protocol, 3, 2, "2.1.0")
    node.down(1)
    assert node.state[0] in (NORM, WAIT)
    node.down(2)
    assert node.state[::2] == (stage, "3.1.1")


@pytest.mark.parametrize("protocol", BOTH)
def test_a_node_that_is_down_does_not_keep_stage_2_waiting(protocol: type[StollerBully]) -> None:
    node = Node(protocol, 1)
    node.down(4)
    assert node.protocol.pendack == 2
    node.down(2, 3, 4)
    assert node.state == (NORM, 1, "1.1.0")


@pytest.mark.parametrize("protocol", BOTH)
def test_a_leader_is_not_concerned_with_who_is_down(protocol: type[StollerBully]) -> None:
    node = leading(protocol)
    node.down(2, 3, 4)
    assert node.state == (NORM, 1, "1.1.0")


# --- Periodically, On Norm?, On NotNorm ---------------------------------------------------------


@pytest.mark.parametrize("protocol", BOTH)
def test_only_a_leader_asks_and_asks_all_greater_nodes(protocol: type[StollerBully]) -> None:
    node = leading(protocol)
    node.kernel.out.clear()
    node.protocol.periodically()
    assert node.said == [(j, "Norm?", ("1.1.0",)) for j in (2, 3, 4)]
    for quiet in (
        Node(protocol, 1),
        waiting(protocol, 2, 1, "1.1.0"),
        led(protocol, 2, 1, "1.1.0"),
    ):
        quiet.kernel.out.clear()
        quiet.protocol.periodically()
        assert quiet.said == []


def test_in_bully_fd_a_node_that_is_not_norm_says_so_and_one_that_is_does_not() -> None:
    node = waiting(BullyFD, 3, 2, "2.1.0")
    node.hears(1, "Norm?", "1.1.0")
    assert node.said == [(1, "NotNorm", ("1.1.0",))]
    node = led(BullyFD, 3, 2, "2.1.0")
    node.hears(1, "Norm?", "1.1.0")
    assert node.said == []


@pytest.mark.parametrize("make", [led, waiting])
def test_a_node_says_not_norm_only_to_one_that_would_be_a_higher_leader(
    make: Callable[..., Node],
) -> None:
    for j, answers in ((1, True), (2, False), (3, False)):
        node = make(AsyncBully, 4, 2, "2.1.0")
        node.hears(j, "Norm?", f"{j}.9.9")
        assert node.said == ([(j, "NotNorm", (f"{j}.9.9",))] if answers else [])


def test_the_repaired_one_also_says_it_to_the_leader_whose_ldr_was_lost() -> None:
    node = waiting(AsyncBullyRepaired, 4, 2, "2.1.0")
    node.hears(2, "Norm?", "2.1.0")
    assert node.said == [(2, "NotNorm", ("2.1.0",))]


def test_the_repaired_one_halts_again_whom_it_has_no_answer_from() -> None:
    node = Node(AsyncBullyRepaired, 1)
    node.kernel.out.clear()
    node.protocol.periodically()
    assert node.said == [(2, "Halt", ("1.1.0",))]


@pytest.mark.parametrize(("protocol", "stage"), [(BullyFD, ELEC2), (AsyncBully, ELEC2)])
def test_a_leader_that_hears_not_norm_starts_an_election(
    protocol: type[StollerBully], stage: str
) -> None:
    node = leading(protocol)
    node.hears(3, "NotNorm", "1.1.0")
    assert node.state[::2] == (stage, "1.1.1")


@pytest.mark.parametrize("protocol", BOTH)
def test_not_norm_of_another_election_or_to_no_leader_is_ignored(
    protocol: type[StollerBully],
) -> None:
    node = leading(protocol)
    node.hears(3, "NotNorm", "1.0.7")
    assert node.state == (NORM, 1, "1.1.0")
    node = led(protocol, 2, 1, "1.1.0")
    node.hears(3, "NotNorm", "1.1.0")
    assert node.state == (NORM, 1, "1.1.0")


# --- tasks --------------------------------------------------------------------------------------


def test_a_leader_gives_out_the_task_with_ldr() -> None:
    node = leading(AsyncBullyTasks)
    (task,) = {args[1] for _, _, args in node.said}
    assert node.protocol.state.d == task
    assert task == "1.1.0 1:0-24 2:25-49 3:50-74 4:75-99"
    assert led(AsyncBullyTasks, 3, 1, "1.1.0").protocol.state.d == "a task"


# --- all together -------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [1, 2, 9, 20])
@pytest.mark.parametrize("protocol", [BULLY_FD, ASYNC_BULLY])
def test_any_number_of_nodes_elects_the_lowest(
    protocol: str, nodes: int, run: Callable[..., Outcome]
) -> None:
    alone = {"S97-SLE1": "vacuous"} if protocol == BULLY_FD else {"S97-ALE1": "vacuous"}

    @scenario(nodes=nodes, protocol=protocol, expect=alone if nodes == 1 else {})
    def cold_start(run: Run) -> None:
        """S97 4: the operational node with the highest priority becomes the leader."""
        run.start()
        run.settled()

    outcome = run(cold_start, engine="virtual")
    assert outcome.as_expected
    assert [e for e in read_trace(outcome.run.trace) if isinstance(e, Became)][-1].c == 1


STEPS: list[tuple[int, str, dict[str, Any]]] = [
    (2, "became", {"s": "Elec2"}),
    (2, "sent", {"kind": "Halt", "to": 4}),
    (2, "received", {"kind": "Ack"}),
    (2, "became", {"s": "Normal", "c": 2}),
    (2, "sent", {"kind": "Ldr", "to": 4}),
    (4, "received", {"kind": "Halt"}),
    (4, "became", {"s": "Wait"}),
    (4, "sent", {"kind": "Ack"}),
    (4, "received", {"kind": "Ldr"}),
    (4, "became", {"s": "Normal"}),
]


def named(step: tuple[int, str, dict[str, Any]]) -> str:
    node, event, where = step
    return f"{node}-{event}-{where.get('kind') or where.get('s')}"


@pytest.mark.parametrize("engine", ["virtual", "real"])
@pytest.mark.parametrize("protocol", [BULLY_FD, ASYNC_BULLY])
@pytest.mark.parametrize(("node", "event", "where"), STEPS, ids=map(named, STEPS))
def test_a_node_killed_at_any_step_of_an_election_leaves_the_others_a_leader(
    engine: str,
    protocol: str,
    node: int,
    event: str,
    where: dict[str, Any],
    run: Callable[..., Outcome],
) -> None:
    @scenario(nodes=4, protocol=protocol)
    def amid_an_election(run: Run) -> None:
        """S97-SLE1, SLE2, ALE1: exactly at this step the node dies."""
        run.start()
        run.settled()
        run.arm(node, event, **where)
        run.kill(1)
        run.reached(node)
        run.kill(node)
        run.settled()
        run.restart([1, node])
        run.settled()

    assert run(amid_an_election, engine=engine).as_expected


def steady(protocol: str, nodes: int) -> Counter[str]:
    """The messages of ten periods tau, when all has been quiet for as long."""

    def script(run: Run) -> None:
        run.start()
        run.settled()

    made = Scenario("steady", "S97 7", script, nodes, f"nodes.async_bully:{protocol}")
    info = info_of(made, "virtual", 1, nodes)
    engine = VirtualEngine(info)
    run = Run(info, engine)
    script(run)
    run.elapse(10.5 * info.timing.check_ms)
    mark = len(engine.events)
    run.elapse(10 * info.timing.check_ms)
    return Counter(e.kind for e in engine.events[mark:] if isinstance(e, Sent))


@pytest.mark.parametrize("nodes", [3, 5, 10])
def test_in_the_steady_state_there_are_as_many_messages_as_section_7_counts(nodes: int) -> None:
    others = nodes - 1
    assert steady("AsyncBullyThrifty", nodes) == {"Norm?": 10 * others, "IAmAlive": 10 * others}
    assert steady("AsyncBullyPiggyback", nodes) == {"Norm?": 10 * others}
    # To the letter of Fig. 3 a leader goes on monitoring the nodes it halted.
    letter = steady("AsyncBully", nodes)
    assert letter == {"Norm?": 10 * others, "IAmAlive": 20 * others}


def test_the_triangle_with_pendants_ends_with_three_leaders(run: Callable[..., Outcome]) -> None:
    trace = read_trace(run("triangle-with-pendants", engine="virtual").run.trace)
    last: dict[int, int] = {}
    for event in trace:
        if isinstance(event, Became):
            last[event.node] = event.c
        elif type(event).__name__ == "Injected" and getattr(event, "verb", "") == "mend":
            break
    assert last == {1: 1, 2: 1, 3: 1, 4: 1, 5: 5, 6: 6}


def test_a_hasty_detector_raises_alarms_and_no_two_of_a_group_disagree(
    run: Callable[..., Outcome],
) -> None:
    outcome = run("hasty-detector", engine="virtual")
    assert outcome["S97-ALE1"] == "holds"
    assert sum(isinstance(e, Suspected) for e in read_trace(outcome.run.trace)) >= 4

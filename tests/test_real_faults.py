"""Every fault verb does to real processes and sockets what it says, and leaves evidence."""

from pathlib import Path
from signal import SIGCONT
from time import monotonic
from typing import Any

import pytest

from harness.pytest_plugin import Cluster
from harness.real import reserve
from traces.events import (
    AnyEvent,
    Discarded,
    Duplicated,
    Held,
    Injected,
    Released,
    Started,
    Witnessed,
)
from traces.faults import FaultEvidence, fault_evidence
from traces.merge import read_trace

A_LONG_TIME_MS = 3000


def up(cluster: Cluster) -> Cluster:
    cluster.start()
    cluster.settled()
    return cluster


def events_of(cluster: Cluster) -> list[AnyEvent]:
    return read_trace(cluster.judge().run.trace)


def evidence(cluster: Cluster, verb: str) -> FaultEvidence:
    found = [fault for fault in fault_evidence(events_of(cluster)) if fault.verb == verb]
    return found[-1]


def settle_it(cluster: Cluster, verb: str) -> None:
    """The verb did something, and the run was mended; what the protocol did is not the point."""
    found = evidence(cluster, verb)
    assert not found.idle, found.evidence
    assert cluster.judge().verdicts


ANYTHING = {"nodes": 3, "lateness": False}


@pytest.mark.cluster(**ANYTHING)
def test_a_cut_link_drops_and_a_mended_one_carries(cluster: Cluster) -> None:
    rule = up(cluster).cut([(3, 1)])
    cluster.seen("dropped", src=3, dst=1, rule=rule)
    cluster.mend(rule)
    cluster.seen("received", node=1, src=3)
    assert "dropped 3->1" in evidence(cluster, "cut").evidence
    settle_it(cluster, "mend")


@pytest.mark.cluster(**ANYTHING)
def test_what_is_held_is_released_in_order(cluster: Cluster) -> None:
    rule = up(cluster).hold([(3, 1), (3, 2)])
    cluster.seen("held", src=3, dst=2)
    cluster.release(rule)
    cluster.seen("released", src=3, dst=2)
    events = events_of(cluster)
    held = [(e.src, e.dst, e.k) for e in events if isinstance(e, Held)]
    released = [(e.src, e.dst, e.k) for e in events if isinstance(e, Released)]
    assert sorted(held) == sorted(released)
    settle_it(cluster, "hold")


@pytest.mark.cluster(**ANYTHING)
@pytest.mark.parametrize(
    ("verb", "args", "event"),
    [
        ("delay", {"ms": 3, "jitter_ms": 2}, "delayed"),
        ("lose", {"p": 0.5}, "dropped"),
        ("reorder", {"p": 0.5, "ms": 2}, "delayed"),
        ("duplicate", {"p": 1.0, "after_ms": 2}, "duplicated"),
    ],
)
def test_a_rule_of_each_kind_leaves_its_mark(
    cluster: Cluster, verb: str, args: dict[str, Any], event: str
) -> None:
    getattr(up(cluster), verb)(cluster.links(), **args)
    cluster.seen(event, within_ms=A_LONG_TIME_MS)
    settle_it(cluster, verb)


@pytest.mark.cluster(nodes=3)
def test_a_second_copy_is_discarded_and_hurts_nobody(cluster: Cluster) -> None:
    up(cluster).duplicate(cluster.links())
    cluster.seen("discarded", why="duplicate")
    events = events_of(cluster)
    assert any(isinstance(e, Duplicated) for e in events)
    assert any(isinstance(e, Discarded) and e.why == "duplicate" for e in events)
    assert cluster.judge().as_expected


@pytest.mark.cluster(**ANYTHING, expect={"GM82-1a": "excused", "GM82-1b": "excused"})
@pytest.mark.parametrize("contract", ["buffer", "drop"])
def test_a_paused_node_has_a_backlog_or_not_by_its_contract(
    cluster: Cluster, contract: str
) -> None:
    up(cluster).pause(3, contract)
    cluster.settled()
    cluster.resume(3)
    last = [e for e in events_of(cluster) if isinstance(e, Witnessed)][-1]
    assert last.state == "T"
    assert (last.backlog > 0) == (contract == "buffer")
    settle_it(cluster, "pause")


@pytest.mark.cluster(nodes=3)
def test_a_fault_that_touched_nothing_is_named_as_idle(cluster: Cluster) -> None:
    rule = up(cluster).cut([(1, 2)])  # 1 has nothing to say to 2
    cluster.mend(rule)
    assert evidence(cluster, "cut").idle
    assert "IDLE" in _report(cluster)


@pytest.mark.cluster(nodes=3)
def test_a_killed_node_is_reaped_and_a_restarted_one_has_a_new_life(cluster: Cluster) -> None:
    up(cluster).kill(3)
    cluster.settled()
    cluster.restart(3)
    cluster.settled()
    assert "signal 9" in evidence(cluster, "kill").evidence
    events = events_of(cluster)
    again = next(i for i, e in enumerate(events) if isinstance(e, Injected) and e.verb == "restart")
    before, after = (  # a busy machine may make node 3 late, and so give it a life more
        [e.inc for e in some if isinstance(e, Started) and e.node == 3]
        for some in (events[:again], events[again:])
    )
    assert before[0] == 1
    assert after[0] == before[-1] + 1


@pytest.mark.cluster(nodes=3)
def test_a_node_that_overslept_right_before_it_was_killed_is_dead(cluster: Cluster) -> None:
    """Its last lines, a new life among them, are read together with the word of its death."""
    up(cluster).pause(2)
    cluster.elapse(2 * cluster.info.timing.t_p_ms)
    part = cluster.recorder.dir.parts / "node-2.1.jsonl"
    cluster.engine._nursery.signal(2, SIGCONT)  # type: ignore[attr-defined]
    deadline = monotonic() + A_LONG_TIME_MS / 1000
    while b'"inc":2' not in part.read_bytes():  # the controller does not look meanwhile
        assert monotonic() < deadline
    cluster.kill(2)
    assert 2 not in cluster.live.up
    assert 2 not in cluster.live.state
    assert cluster.live.inc[2] > 1
    cluster.restart(2)
    cluster.settled()


@pytest.mark.cluster(nodes=3)
def test_a_port_stays_the_nodes_own_while_it_is_dead(cluster: Cluster, tmp_path: Path) -> None:
    import socket

    up(cluster).kill(3)
    port = cluster.engine._addresses[3][1]  # type: ignore[attr-defined]
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief,
        pytest.raises(OSError, match="in use"),
    ):
        thief.bind(("127.0.0.1", port))
    cluster.restart(3)  # at once: the news of its death must not be taken for its next one's
    cluster.settled()


def test_no_port_is_reserved_twice() -> None:
    """Were SO_REUSEADDR set before the bind, about 11 of these 800 would be somebody else's."""
    from contextlib import ExitStack

    with ExitStack() as held:
        ports = [held.enter_context(reserve()).getsockname()[1] for _ in range(800)]
        assert len(set(ports)) == len(ports)


def _report(cluster: Cluster) -> str:
    from reports.terminal import render_text

    outcome = cluster.judge()
    return render_text(outcome.run, outcome.verdicts)

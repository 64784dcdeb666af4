"""The relay as a process: how it starts, ends, is signalled, overrun and given up."""

import os
import resource
import signal
import socket
import time
from itertools import permutations
from pathlib import Path

import pytest

from harness.relay import Address, relay_main
from harness.relay_client import RelayClient, RelayError, RelayGone
from harness.rules import Delay, Drop
from tests.relay_field import DEADLINE_S, Field, read
from traces import events
from traces.events import Counted, Dropped, Ruled

# --- the process -----------------------------------------------------------------------------


def few_files(
    control: socket.socket, trace: Path, seed: int, addresses: dict[int, Address]
) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
    relay_main(control, trace, seed, addresses)


def soft_limit(
    control: socket.socket, trace: Path, seed: int, addresses: dict[int, Address]
) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
    relay_main(control, trace, seed, addresses)


@pytest.mark.parametrize("politely", [True, False])
def test_the_relay_writes_its_counts_and_leaves_when_the_controller_does(
    field: Field, politely: bool
) -> None:
    field.client.install(1, Drop(), [(2, 3)])
    field.send((1, 2), b"a", b"b")
    field.send((2, 3), b"c")
    assert [field.receive(2), field.receive(2)] == [b"a", b"b"]
    field.wait_for(Dropped, 1)
    if politely:
        field.client.close()
        field.client.close()
    else:
        field.client.control.close()
    assert field.leave() == 0
    counted = field.events(Counted)
    assert [(e.src, e.dst, e.taken, e.forwarded, e.dropped) for e in counted] == [
        (1, 2, 2, 2, 0),
        (2, 3, 1, 0, 1),
    ]
    trace = read(field.trace)
    assert [e.n for e in trace] == list(range(len(trace)))
    assert {(e.node, e.inc) for e in trace} == {(0, events.RELAY)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_whole_group_leaves_the_relay_in_place(field: Field, number: int) -> None:
    field.client.ports()  # it is up
    os.kill(field.process.pid or 0, number)
    field.send((1, 2), b"x")
    assert field.receive(2) == b"x"
    field.client.close()
    assert field.leave() == 0


def test_a_relay_that_died_is_an_error_that_says_so(field: Field) -> None:
    field.client.ports()
    field.process.kill()
    field.leave()
    with pytest.raises(RelayGone, match="the relay is gone"):
        field.client.counts()
    with pytest.raises(RelayGone, match="the relay is gone"):
        field.client.install(1, Drop(), [(1, 2)])


def test_a_relay_that_does_not_answer_is_given_up(field: Field) -> None:
    field.client.ports()
    impatient = RelayClient(field.client.control, deadline_s=0.05)
    stop(field.process.pid or 0)
    with pytest.raises(RelayGone, match=r"did not answer in 0\.05 s"):
        impatient.counts()
    os.kill(field.process.pid or 0, signal.SIGCONT)
    assert field.leave() == 0


def test_what_overran_the_relay_is_counted_as_dropped(field: Field) -> None:
    field.send((1, 2), b"up")
    assert field.receive(2) == b"up"
    stop(field.process.pid or 0)
    field.send((1, 2), *[bytes(60_000)] * 400)  # 24 MB, three times what a link can queue
    os.kill(field.process.pid or 0, signal.SIGCONT)
    deadline = time.monotonic() + DEADLINE_S
    while (counts := field.client.counts()[1, 2]).taken + counts.dropped < 401:
        assert time.monotonic() < deadline
    assert counts.taken + counts.dropped == 401
    assert counts.dropped > 0
    assert field.events(Dropped) == []


def test_too_few_open_files_are_reported_before_anything_runs(tmp_path: Path) -> None:
    field = Field(tmp_path / "relay.jsonl", nodes=10, main=few_files)
    with pytest.raises(RelayError, match=r"10 nodes need \d+ open files and the limit is 40"):
        field.client.ports()
    assert field.leave() == 1
    field.end()


def test_the_soft_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    field = Field(tmp_path / "relay.jsonl", nodes=10, main=soft_limit)
    assert len(field.client.ports()) == 90
    field.end()


def test_a_hundred_nodes_fit(tmp_path: Path) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 10_000:
        pytest.skip("this system does not allow 10,000 open files")
    field = Field(tmp_path / "relay.jsonl", nodes=100)
    links = set(permutations(range(1, 101), 2))
    assert set(field.client.ports()) == links
    field.client.install(1, Delay(0), links)
    field.send((99, 100), b"far")
    assert field.receive(100) == b"far"
    assert set(field.events(Ruled)[0].links) == links
    field.client.close()
    assert field.leave() == 0
    field.end()


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + DEADLINE_S
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        assert time.monotonic() < deadline

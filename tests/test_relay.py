"""The relay passes datagrams on, and does to them what the rules of their link say."""

import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from itertools import permutations
from pathlib import Path

import pytest

from harness.relay import Relay
from harness.relay_client import RelayClient, RelayError
from harness.rules import Delay, Drop, Duplicate, Hold, Installed, Reorder, decide
from tests.relay_field import DEADLINE_S, SEED, Field, node_socket, read, silent
from traces import events
from traces.events import Counted, Delayed, Dropped, Held, Released, Ruled
from traces.writer import Writer

# --- passing ---------------------------------------------------------------------------------


def test_every_directed_link_has_a_port_of_its_own(field: Field) -> None:
    ports = field.client.ports()
    assert set(ports) == set(permutations((1, 2, 3), 2))
    assert len({*ports.values(), *(port for _, port in field.addresses.values())}) == 6 + 3


def test_a_node_sees_a_datagram_come_from_where_it_sends_its_own(field: Field) -> None:
    field.send((1, 2), b"hello")
    data, source = field.sockets[2].recvfrom(100)
    assert data == b"hello"
    assert source == ("127.0.0.1", field.ports[2, 1])


@pytest.mark.parametrize("size", [0, 1, 65_507])
def test_datagrams_of_any_size_pass_whole(field: Field, size: int) -> None:
    field.send((1, 2), bytes(size))
    assert field.receive(2) == bytes(size)


def test_only_the_node_that_owns_a_link_can_use_it(field: Field) -> None:
    field.send((1, 2), b"first")
    assert field.receive(2) == b"first"
    field.sockets[3].sendto(b"forged", ("127.0.0.1", field.ports[1, 2]))
    field.send((1, 2), b"second")
    assert field.receive(2) == b"second"
    assert field.client.counts()[1, 2].taken == 2


def test_what_passes_plainly_is_counted_and_not_logged(field: Field) -> None:
    field.send((1, 2), b"a", b"b")
    assert [field.receive(2), field.receive(2)] == [b"a", b"b"]
    counts = field.client.counts()
    assert set(counts) == {(1, 2)}
    assert (counts[1, 2].taken, counts[1, 2].forwarded) == (2, 2)
    assert read(field.trace) == []


# --- rules -----------------------------------------------------------------------------------


def test_a_rule_is_acknowledged_with_the_stamp_of_its_event(field: Field) -> None:
    on = field.client.install(4, Drop(), {(2, 1), (1, 2)})
    off = field.client.remove(4)
    assert [(e.at, e.rule, e.verb, e.links, e.on) for e in field.events(Ruled)] == [
        (on, 4, "drop", ((1, 2), (2, 1)), True),
        (off, 4, "drop", ((1, 2), (2, 1)), False),
    ]


def test_a_rule_is_installed_between_two_datagrams_not_within_one(field: Field) -> None:
    field.send((1, 2), b"0")
    stop = threading.Event()

    def flood() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            field.send((1, 2), b"%d" % n)

    field.sockets[2].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sender = threading.Thread(target=flood)
    sender.start()
    for _ in range(20):
        field.receive(2)  # the flood is running
    field.client.install(1, Drop(), [(1, 2)])
    field.wait_for(Dropped, 20)
    stop.set()
    sender.join()
    field.client.close()  # what is still queued is taken by nobody: the counts are final
    assert field.leave() == 0
    (counts,) = field.events(Counted)
    dropped = field.events(Dropped)
    assert isinstance(read(field.trace)[0], Ruled)
    assert [e.k for e in dropped] == list(range(counts.forwarded + 1, counts.taken + 1))


def test_a_dropped_datagram_is_evidence_on_its_link_alone(field: Field) -> None:
    field.client.install(1, Drop(), [(1, 2)])
    field.send((1, 2), b"lost")
    field.send((1, 3), b"kept")
    field.send((2, 1), b"back")
    assert (field.receive(3), field.receive(1)) == (b"kept", b"back")
    (dropped,) = field.wait_for(Dropped, 1)
    assert (dropped.src, dropped.dst, dropped.k, dropped.rule) == (1, 2, 1, 1)
    assert silent(field.sockets[2])


def test_the_first_rule_of_a_link_decides(field: Field) -> None:
    field.client.install(1, Hold(), [(1, 2)])
    field.client.install(2, Drop(), [(1, 2)])
    field.send((1, 2), b"a")
    assert field.wait_for(Held, 1)[0].rule == 1
    field.client.remove(1)
    assert field.receive(2) == b"a"
    field.send((1, 2), b"b")
    assert field.wait_for(Dropped, 1)[0].rule == 2


def test_removing_a_hold_releases_what_it_held_in_order(field: Field) -> None:
    field.client.install(1, Hold(), [(1, 2), (3, 2)])
    for number, link in enumerate([(1, 2), (3, 2), (1, 2), (1, 2)]):
        field.send(link, b"%d" % number)
        field.wait_for(Held, number + 1)
    assert silent(field.sockets[2])
    field.client.remove(1)
    assert [field.receive(2) for _ in range(4)] == [b"0", b"1", b"2", b"3"]
    released = field.events(Released)
    assert [(e.src, e.k) for e in released] == [(1, 1), (3, 1), (1, 2), (1, 3)]
    assert all(e.at > field.events(Ruled)[1].at for e in released)


def test_a_delayed_datagram_is_never_early(field: Field) -> None:
    field.client.install(1, Delay(3, 5), [(1, 2)])
    late_ns = []
    for _ in range(20):
        field.send((1, 2), b"x")
        field.receive(2)
        arrived = time.monotonic_ns()
        delayed = field.events(Delayed)[-1]
        late_ns.append(arrived - delayed.at - delayed.by)
    assert min(late_ns) >= 0


def test_a_delayed_datagram_keeps_its_time_when_the_rule_goes(field: Field) -> None:
    field.client.install(1, Delay(200), [(1, 2)])
    field.send((1, 2), b"slow")
    (delayed,) = field.wait_for(Delayed, 1)
    field.client.remove(1)
    field.send((1, 2), b"fast")
    assert field.receive(2) == b"fast"
    assert field.receive(2) == b"slow"
    assert time.monotonic_ns() >= delayed.at + 200_000_000


def test_delays_are_those_of_the_pure_function(field: Field) -> None:
    rule = Delay(0.5, 4)
    field.client.install(9, rule, [(1, 2)])
    field.send((1, 2), *[b"x"] * 30)
    installed = [Installed(9, rule)]
    expected = [decide(installed, SEED, (1, 2), k).delay_ns for k in range(1, 31)]
    assert [e.by for e in field.wait_for(Delayed, 30)] == expected


def test_a_delay_of_nothing_is_logged_and_forwarded_at_once(field: Field) -> None:
    field.client.install(1, Delay(0), [(1, 2)])
    field.send((1, 2), b"x")
    assert field.receive(2) == b"x"
    assert [(e.k, e.by) for e in field.events(Delayed)] == [(1, 0)]


@pytest.mark.parametrize("after_ms", [0, 5])
def test_a_duplicate_arrives_at_once_and_again(field: Field, after_ms: int) -> None:
    field.client.install(1, Duplicate(after_ms=after_ms), [(1, 2)])
    field.send((1, 2), b"x")
    assert field.receive(2) == field.receive(2) == b"x"
    (duplicated,) = field.events(events.Duplicated)
    assert time.monotonic_ns() >= duplicated.at + duplicated.by
    assert duplicated.by == after_ms * 1_000_000
    counts = field.client.counts()[1, 2]
    assert (counts.taken, counts.forwarded) == (1, 2)


def test_later_datagrams_overtake_a_reordered_one(field: Field) -> None:
    rule = Reorder(0.5, 100)
    field.client.install(1, rule, [(1, 2)])
    installed = [Installed(1, rule)]
    slow = [k for k in range(1, 9) if decide(installed, SEED, (1, 2), k).delay_ns]
    fast = [k for k in range(1, 9) if k not in slow]
    assert slow[0] < fast[-1], "this seed reorders nothing"
    field.send((1, 2), *(b"%d" % k for k in range(1, 9)))
    assert [int(field.receive(2)) for _ in range(8)] == fast + slow


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda client: client.install(1, Drop(), [(1, 2)]), "rule 1 is installed already"),
        (lambda client: client.install(0, Drop(), [(1, 2)]), "rule id 0"),
        (lambda client: client.install(2, Drop(), [(1, 2), (1, 9)]), "no such link: 1->9"),
        (lambda client: client.remove(3), "rule 3 is not installed"),
    ],
)
def test_an_impossible_request_is_refused_and_changes_nothing(
    field: Field, ask: Callable[[RelayClient], int], why: str
) -> None:
    field.client.install(1, Drop(), [(1, 3)])
    with pytest.raises(RelayError, match=why):
        ask(field.client)
    assert len(field.events(Ruled)) == 1
    field.send((1, 2), b"x")
    assert field.receive(2) == b"x"


# --- dead nodes ------------------------------------------------------------------------------


def test_a_dead_node_refuses_and_its_next_life_misses_nothing(field: Field) -> None:
    field.send((1, 2), b"alive")
    assert field.receive(2) == b"alive"
    field.sockets[2].close()
    deadline = time.monotonic() + DEADLINE_S
    sent = 0
    while (counts := field.client.counts()[1, 2]).refused < 3:
        assert time.monotonic() < deadline
        sent += 1
        field.send((1, 2), b"to the dead")
    field.sockets[2] = node_socket(field.addresses[2])
    field.send((1, 2), b"back again")
    while field.receive(2) == b"to the dead":  # some may be on their way still
        pass
    counts = field.client.counts()[1, 2]
    assert (counts.taken, counts.forwarded, counts.dropped) == (sent + 2, sent + 2, 0)
    assert 3 <= counts.refused <= sent


def test_held_datagrams_for_a_node_that_died_are_refused(field: Field) -> None:
    field.client.install(1, Hold(), [(1, 2)])
    field.send((1, 2), b"a", b"b")
    field.wait_for(Held, 2)
    field.sockets[2].close()
    field.client.remove(1)
    deadline = time.monotonic() + DEADLINE_S
    while field.client.counts()[1, 2].refused < 2:
        assert time.monotonic() < deadline


def test_what_the_kernel_will_not_send_is_dropped_by_no_rule(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, node_socket() as one, node_socket() as two:
        addresses = {1: one.getsockname(), 2: two.getsockname()}
        trace = tmp_path / "relay.jsonl"
        with closing(Writer(trace, node=0, inc=events.RELAY)) as writer:
            relay = Relay(theirs, writer, SEED, addresses)
            relay.wires[2, 1].sock.shutdown(socket.SHUT_WR)
            one.sendto(b"x", relay.wires[1, 2].sock.getsockname())
            select.select([relay.wires[1, 2].sock], [], [], DEADLINE_S)
            relay.take(relay.wires[1, 2], 1)
        (dropped,) = read(trace)
        assert isinstance(dropped, Dropped)
        assert (dropped.src, dropped.dst, dropped.k, dropped.rule) == (1, 2, 1, 0)

"""What a message costs a node, against a blocking echo with the same codec.

A real node program answers AreYouThere, which does nothing: every receipt and every answer is
in its trace, every lateness check is made. The echo takes a datagram, decodes it, encodes the
answer and sends it back. The figure is CPU time of the process (/proc/PID/schedstat), code and
kernel. Rules:

- One request at a time, as a CALL is: both fall asleep before the next one. In bursts (WINDOW
  requests on their way) neither sleeps; that figure is printed beside.
- All three share one core, or the figure is about where the scheduler happens to put them.
"""

import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.table import Row, in_turn, ratio
from nodes import config as contract
from nodes import program
from nodes.config import NodeConfig
from nodes.wire import LARGEST, Message, decode, encode
from traces.run import Timing

WINDOW, REQUESTS, ROUNDS = 32, 5_000, 15
KEY, NODE, PEER = 7, 1, 2
PATIENCE_S = 10.0

fork = multiprocessing.get_context("fork")
Address = tuple[str, int]


class Peer:
    """Node 2, as far as node 1 can tell: asks, and counts the answers."""

    def __init__(self) -> None:
        self.socket = _bound()
        self.socket.settimeout(PATIENCE_S)
        self.sent = dict[Address, int]()

    def cpu_us(self, pid: int, address: Address, window: int) -> float:
        """The CPU time of the process behind this address for each of REQUESTS."""
        before = _cpu_ns(pid)
        self._ask(address, window)
        return (_cpu_ns(pid) - before) / REQUESTS / 1e3

    def _ask(self, address: Address, window: int) -> None:
        m, answered, on_their_way = self.sent.get(address, 0), 0, 0
        last = m + REQUESTS
        while answered < REQUESTS:
            while on_their_way < window and m < last:
                m += 1
                on_their_way += 1
                request = Message(KEY, PEER, 1, m, "AreYouThere", False, m)
                self.socket.sendto(encode(request), address)
            if decode(self.socket.recv(LARGEST)).ack:  # else it is a CALL of the node's own
                answered += 1
                on_their_way -= 1
        self.sent[address] = m


def echo(bound: socket.socket) -> None:
    """The least there is: take, decode, encode, send back."""
    while True:
        data, address = bound.recvfrom(LARGEST + 1)
        m = decode(data)
        answer = Message(m.key, NODE, 1, m.m, m.kind, True, m.call)
        bound.sendto(encode(answer), address)


@contextmanager
def node(peer: Peer) -> Iterator[tuple[int, Address]]:
    """A node of two, that has given up on the other one and coordinates itself."""
    with tempfile.TemporaryDirectory() as place:
        here, trace = Path(place), Path(place) / "trace.jsonl"
        with _bound() as free:
            address: Address = free.getsockname()
        config = NodeConfig(
            node=NODE,
            incarnation=1,
            nodes=(NODE, PEER),
            bind=address,
            peers={PEER: peer.socket.getsockname()},
            cells=str(here / "cells"),
            trace=str(trace),
            protocol="nodes.bully:Bully",
            timing=Timing(t_m_ms=100, t_p_ms=500, check_ms=3_600_000, timeout_ms=3_600_000),
            key=KEY,
        )
        contract.write(here / "node.json", config)
        with _running(program.main, str(here / "node.json")) as pid:
            deadline = time.monotonic() + PATIENCE_S
            while not (trace.exists() and b'"Normal"' in trace.read_bytes()):
                if time.monotonic() > deadline:
                    raise TimeoutError("the node did not become Normal")
                time.sleep(0.01)
            yield pid, address


def rows() -> Iterator[Row]:
    """The ratio."""
    peer, bound = Peer(), _bound()
    echoes: Address = bound.getsockname()
    with _one_core(), node(peer) as (node_pid, answers), _running(echo, bound) as echo_pid:
        node_us, echo_us, node_burst_us, echo_burst_us = in_turn(
            ROUNDS,
            lambda: peer.cpu_us(node_pid, answers, 1),
            lambda: peer.cpu_us(echo_pid, echoes, 1),
            lambda: peer.cpu_us(node_pid, answers, WINDOW),
            lambda: peer.cpu_us(echo_pid, echoes, WINDOW),
        )
    times, in_bursts = ratio(node_us, echo_us), ratio(node_burst_us, echo_burst_us)
    yield Row(
        "node CPU per message, traced",
        "blocking echo, same codec",
        f"{times:.2f}x ({median(node_us):.1f} / {median(echo_us):.1f} us); "
        f"in bursts {in_bursts:.2f}x",
        "<= 2",
        times <= 2,
    )


@contextmanager
def _one_core() -> Iterator[None]:
    """This process, and all it starts meanwhile, on one core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _running(target: object, *args: object) -> Iterator[int]:
    process = fork.Process(target=target, args=args, daemon=True)  # type: ignore[arg-type]
    process.start()
    assert process.pid is not None
    try:
        yield process.pid
    finally:
        process.kill()
        process.join()


def _bound() -> socket.socket:
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, program.BUFFER)
    udp.bind(("127.0.0.1", 0))
    return udp


def _cpu_ns(pid: int) -> int:
    with open(os.path.join("/proc", str(pid), "schedstat"), encoding="ascii") as line:
        return int(line.read().split()[0])

"""How much the relay costs, always against the same load without it.

One process sends as all nodes, another receives as all nodes; the sender stops when WINDOW
datagrams are on their way, so nothing overflows and only arrivals are counted. The relay works
in full: a Delay(0) on every link decides, logs and forwards each datagram. Every ratio is the
median over rounds that measure both sides within one second of each other, because the
machine's speed drifts. socat is compared where it is installed.
"""

import multiprocessing
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice, repeat
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from benchmarks.table import Row, in_turn, ratio
from harness.relay import Address, relay_main
from harness.relay_client import RelayClient
from harness.rules import Delay, Link

SIZE, WINDOW, CREDIT = 200, 128, 32  # a default receive buffer holds 166 of these
ROUNDS, DATAGRAMS, PINGS = 9, 30_000, 3_000
SOCAT_LOSES = 30  # tolerated: it was seen to lose one or two of 30,000, for reasons not known
GIVE_UP_S = 2.0
# Between two messages everybody falls asleep, the CPU too. A virtual one polls for a while before
# it halts (200 us by default), and pings that come at about that pace find it now halted, now not.
ASLEEP_S = 0.001

fork = multiprocessing.get_context("fork")
Route = tuple[Callable[[bytes, Address], int], Address]


class Field:
    """The sockets of n nodes, a relay between them, and the two ways from node to node."""

    def __init__(self, sockets: dict[int, socket.socket], ports: dict[Link, int]) -> None:
        self.sockets = sockets
        self.direct: list[Route] = [(sockets[i].sendto, sockets[j].getsockname()) for i, j in ports]
        self.relayed: list[Route] = [
            (sockets[i].sendto, ("127.0.0.1", port)) for (i, _), port in ports.items()
        ]


@contextmanager
def field(nodes: int) -> Iterator[Field]:
    """A field of n nodes, with a Delay(0) on every link of its relay."""
    sockets = {node: node_socket() for node in range(1, nodes + 1)}
    addresses = {node: sock.getsockname() for node, sock in sockets.items()}
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryDirectory() as directory:

        def run() -> None:
            ours.close()
            relay_main(theirs, Path(directory) / "relay.jsonl", 1, addresses)

        relay = fork.Process(target=run, daemon=True)
        relay.start()
        theirs.close()
        client = RelayClient(ours, deadline_s=30)
        ports = client.ports()
        client.install(1, Delay(0), ports)
        try:
            yield Field(sockets, ports)
        finally:
            client.close()
            relay.join()
    for sock in sockets.values():
        sock.close()


def node_socket() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    sock.bind(("127.0.0.1", 0))
    return sock


# --- throughput ------------------------------------------------------------------------------


def throughput(
    sockets: Sequence[socket.socket], routes: Sequence[Route], may_lose: int = 0
) -> float:
    """Datagrams a second that arrive when sent over the routes in turn."""
    credit_out, credit_in = os.pipe()
    result, report = fork.Pipe(duplex=False)
    receiver = fork.Process(target=receive, args=(sockets, credit_in, report), daemon=True)
    receiver.start()
    os.close(credit_in)
    report.close()
    payload, on_their_way, began = bytes(SIZE), 0, time.monotonic_ns()
    for sendto, address in islice(chain.from_iterable(repeat(routes)), DATAGRAMS):
        if on_their_way == WINDOW:
            if not os.read(credit_out, 1):
                break
            on_their_way -= CREDIT
        sendto(payload, address)
        on_their_way += 1
    arrived, ended = result.recv()
    receiver.join()
    os.close(credit_out)
    if arrived < DATAGRAMS - may_lose:
        raise RuntimeError(f"only {arrived} of {DATAGRAMS} datagrams arrived")
    return float(arrived / (ended - began) * 1e9)


def receive(sockets: Sequence[socket.socket], credit: int, report: Connection) -> None:
    """Count arrivals, hand out credit, tell how many came until when."""
    epoll, takers = select.epoll(), {}
    for sock in sockets:
        epoll.register(sock, select.EPOLLIN)
        takers[sock.fileno()] = sock.recv_into
    buffer, arrived, ended = bytearray(SIZE), 0, 0
    while arrived < DATAGRAMS and (ready := epoll.poll(GIVE_UP_S)):
        for fd, _ in ready:
            take = takers[fd]
            try:
                for _ in range(CREDIT):
                    take(buffer, 0, socket.MSG_DONTWAIT)
                    arrived += 1
                    if not arrived % CREDIT:
                        os.write(credit, b"+")
            except BlockingIOError:
                pass
        ended = time.monotonic_ns()
    report.send((arrived, ended))


def throughput_rows() -> Iterator[Row]:
    """Relay of 5 nodes to none, and relay of 50 nodes to one of 5."""
    with field(5) as five, field(50) as fifty:
        direct, small, large = in_turn(
            ROUNDS,
            lambda: throughput([*five.sockets.values()], five.direct),
            lambda: throughput([*five.sockets.values()], five.relayed),
            lambda: throughput([*fifty.sockets.values()], fifty.relayed),
        )
    cost, scale = ratio(small, direct), ratio(large, small)
    yield Row(
        "relay throughput, 5 nodes, rules and trace on",
        "direct loopback",
        f"{cost:.2f} ({_thousands(small)} / {_thousands(direct)} datagrams/s)",
        ">= 0.30",
        cost >= 0.30,
    )
    yield Row(
        "relay throughput, 50 nodes (2,450 links)",
        "the same with 5 nodes",
        f"{scale:.2f} ({_thousands(large)} / {_thousands(small)} datagrams/s)",
        ">= 0.5",
        scale >= 0.5,
    )


def _thousands(rates: Sequence[float]) -> str:
    return f"{median(rates) / 1e3:.0f}k"


# --- socat -----------------------------------------------------------------------------------


def socat_row() -> Row:
    """Relay to socat over one link, each in full; no figure where there is no socat."""
    what, against, reach = "relay throughput, one link", "socat", ">= 1"
    if shutil.which("socat") is None:
        return Row(what, against, "socat not installed", reach, None)
    with field(5) as five:
        relay, socat = in_turn(
            ROUNDS,
            lambda: throughput([five.sockets[2]], five.relayed[:1]),
            lambda: socat_throughput(five),
        )
    times = ratio(relay, socat)
    figures = f"{times:.2f} ({_thousands(relay)} / {_thousands(socat)} datagrams/s)"
    return Row(what, against, figures, reach, times >= 1)


def socat_throughput(five: Field) -> float:
    """The same single link, node 1 to node 2, through a socat of its own."""
    with node_socket() as probe:
        port = probe.getsockname()[1]
    target = five.sockets[2].getsockname()[1]
    command = ["socat", f"UDP4-LISTEN:{port},bind=127.0.0.1", f"UDP4:127.0.0.1:{target}"]
    socat = subprocess.Popen(command)
    try:
        table, bound = Path("/proc/net/udp"), f":{port:04X} "
        while bound not in table.read_text():
            if socat.poll() is not None:
                raise RuntimeError("socat did not start")
        way: Route = (five.sockets[1].sendto, ("127.0.0.1", port))
        return throughput([five.sockets[2]], [way], SOCAT_LOSES)
    finally:
        socat.kill()
        socat.wait()


# --- latency ---------------------------------------------------------------------------------


def latency_row() -> Row:
    """One-way p50, one datagram on its way at a time, direct and relayed in turn."""
    with field(5) as five:
        ours, theirs = socket.socketpair()
        ours.settimeout(GIVE_UP_S)
        result, report = fork.Pipe(duplex=False)
        receiver = fork.Process(
            target=clock_arrivals, args=(five.sockets[2], theirs, report), daemon=True
        )
        receiver.start()
        ways = [five.direct[0], five.relayed[0]]  # node 1 to node 2
        for sendto, address in islice(chain.from_iterable(repeat(ways)), PINGS):
            time.sleep(ASLEEP_S)
            sendto(time.monotonic_ns().to_bytes(8) + bytes(SIZE - 8), address)
            ours.recv(1)
        took_ns: list[int] = result.recv()
        receiver.join()
    direct, relayed = median(took_ns[0::2]) / 1e3, median(took_ns[1::2]) / 1e3
    added = relayed - direct
    return Row(
        "relay added one-way latency p50",
        "direct loopback p50",
        f"{added / direct:.2f}x ({added:.0f} / {direct:.0f} us), so {relayed / direct:.2f}x in all",
        "<= 2.5 in all",
        relayed / direct <= 2.5,
    )


def clock_arrivals(sock: socket.socket, ack: socket.socket, report: Connection) -> None:
    """How long each of PINGS datagrams took, by the stamp it carries."""
    took_ns = []
    for _ in range(PINGS):
        data = sock.recv(SIZE)
        took_ns.append(time.monotonic_ns() - int.from_bytes(data[:8]))
        ack.send(b"+")
    report.send(took_ns)


def rows() -> Iterator[Row]:
    """Throughput, socat, latency."""
    yield from throughput_rows()
    yield socat_row()
    yield latency_row()

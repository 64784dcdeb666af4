"""A field for relay tests: a relay in its own process, real sockets in the nodes' place."""

import multiprocessing
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from harness.relay import Address, relay_main
from harness.relay_client import RelayClient
from harness.rules import Link
from traces import events
from traces.events import AnyEvent

E = TypeVar("E", bound=events.Event)
SEED = 11
DEADLINE_S = 10.0
context = multiprocessing.get_context("forkserver")  # a clean process: none of our sockets


class Field:
    """A relay in its own process, and real sockets that play the nodes."""

    def __init__(self, trace: Path, nodes: int = 3, main: Callable[..., None] = relay_main) -> None:
        self.trace = trace
        self.sockets = {node: node_socket() for node in range(1, nodes + 1)}
        self.addresses = {n: sock.getsockname() for n, sock in self.sockets.items()}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.process = context.Process(target=main, args=(theirs, trace, SEED, self.addresses))
        self.process.start()
        theirs.close()
        self.client = RelayClient(ours, DEADLINE_S)

    def send(self, link: Link, *payloads: bytes) -> None:
        if not hasattr(self, "ports"):
            self.ports = self.client.ports()
        for payload in payloads:
            self.sockets[link[0]].sendto(payload, ("127.0.0.1", self.ports[link]))

    def receive(self, node: int) -> bytes:
        return self.sockets[node].recv(65_536)

    def events(self, kind: type[E]) -> list[E]:
        return [event for event in read(self.trace) if isinstance(event, kind)]

    def wait_for(self, kind: type[E], count: int) -> list[E]:
        deadline = time.monotonic() + DEADLINE_S
        while len(found := self.events(kind)) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} {kind.__name__}"
        return found

    def leave(self) -> int | None:
        self.process.join(DEADLINE_S)
        return self.process.exitcode

    def end(self) -> None:
        self.client.control.close()
        if self.leave() is None:
            self.process.kill()
        for sock in self.sockets.values():
            sock.close()


def node_socket(address: Address = ("127.0.0.1", 0)) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(DEADLINE_S)
    sock.bind(address)
    return sock


def read(trace: Path) -> list[AnyEvent]:
    whole, _, _ = trace.read_bytes().rpartition(b"\n")
    return events.decode_lines(whole) if whole else []


def silent(sock: socket.socket) -> bool:
    return not select.select([sock], [], [], 0)[0]

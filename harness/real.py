"""The real engine: one process a node, UDP on loopback, CLOCK_MONOTONIC.

The controller holds one reserved port a node, one nursery (the parent of all processes) and
one relay (the only way from node to node). It learns what happened from the trace files, which
it reads as they grow. Rules:

- A node's port is bound by the kernel and held for the whole run by a socket that is connected
  to itself: it takes no datagram, and no other program takes the port while the node is dead.
- Each verb returns when its effect was seen: the process reaped, stopped, running; the rule in
  force; the first event of a life written.
- A node that dies on its own ends the run: that is a fault nobody injected.
- What is read of the trace at one time puts the nursery last. It tells of a death after the
  node's last line, so no line of a node that is dead ever follows the word of its death.

Limit: what the controller sees of the trace is up to a poll (1 ms and more) old; a trigger that
must be exact is a point (`arm`), where the node stops itself.
"""

import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns, sleep

import msgspec

from harness.engine import EngineError
from harness.linux import become_realtime, sleep_until, udp_backlog
from harness.nursery import Command, Spawn
from harness.nursery_client import Nursery, State
from harness.relay_client import RelayClient
from harness.rules import Link, Rule
from nodes import config as contract
from nodes.config import Address, Ask, NodeConfig, Point
from traces.events import (
    CONTROLLER,
    AnyEvent,
    Armed,
    Asked,
    Closed,
    Died,
    Started,
    Suspended,
    Witnessed,
    decode,
    decode_lines,
)
from traces.run import RunInfo
from traces.writer import Writer

LOOPBACK = "127.0.0.1"
POLL_S = 0.001
BLOCK = 1 << 20  # bytes
PATIENCE_NS = 20_000_000_000  # for what the machine alone decides: a start, a stop, an answer


class Tail:
    """The events of one growing part of the trace."""

    def __init__(self, path: Path) -> None:
        self.path, self._fd, self._rest = path, -1, b""

    def read(self) -> list[AnyEvent]:
        """The events whose lines are whole since the last call."""
        if self._fd < 0:
            try:
                self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return []
        data = more = os.read(self._fd, BLOCK)
        while len(more) == BLOCK:
            data += (more := os.read(self._fd, BLOCK))
        if not data:
            return []
        whole, newline, self._rest = (self._rest + data).rpartition(b"\n")
        return _decoded(whole) if newline else []

    def close(self) -> None:
        """Forget the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class RealEngine:
    """Processes, sockets and signals on this machine."""

    name = "real"

    def __init__(
        self,
        info: RunInfo,
        parts: Path,
        pulse: Callable[[], None] = lambda: None,
    ) -> None:
        self.events: list[AnyEvent] = []
        self._info, self._parts, self._pulse = info, parts, pulse
        self._nodes = tuple(range(1, info.nodes + 1))
        self._key = secrets.randbits(62)
        self._tails: list[Tail] = []
        self._born: dict[int, int] = {}  # the life each node's process began with
        self._ended: set[tuple[int, int]] = set()  # (node, life) that is meant to be dead
        self._reserved = {node: reserve() for node in self._nodes}
        self._addresses: dict[int, Address] = {
            node: (LOOPBACK, reserved.getsockname()[1]) for node, reserved in self._reserved.items()
        }
        self._writer = Writer(parts / "controller.jsonl", 0, CONTROLLER)
        self._nursery = self._found_nursery()
        try:
            self._relay = self._found_relay()
            self._ports = self._relay.ports()
        except BaseException:
            self._nursery.close()
            raise
        self._policy = os.sched_getscheduler(0)
        info.notes.append(become_realtime())

    def _found_nursery(self) -> Nursery:
        module = self._info.protocol.partition(":")[0]
        preload = ["nodes.program", "harness.relay", module]
        nursery = Nursery(self._part("nursery"), preload, self._parts / "nursery.stderr")
        self._tails.append(Tail(self._part("nursery")))
        return nursery

    def _found_relay(self) -> RelayClient:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        addresses = [(node, *address) for node, address in self._addresses.items()]
        with theirs:
            self._nursery.spawn(
                0,
                1,
                "harness.relay:main",
                [str(self._part("relay")), self._info.seed, addresses],
                self._parts / "relay.stderr",
                [theirs.fileno()],
            )
        self._tails.append(Tail(self._part("relay")))
        return RelayClient(ours)

    # --- the engine's verbs -------------------------------------------------------------------

    def now(self) -> int:
        """CLOCK_MONOTONIC."""
        return monotonic_ns()

    def record(self, event: AnyEvent) -> int:
        """An event of the controller."""
        at = self._writer.write(event)
        self.events.append(event)
        return at

    def spawn(self, lives: Mapping[int, int]) -> None:
        """Hand each node its file and start it; wait for the first event of each."""
        self._born.update(lives)
        seen = len(self.events)
        self._nursery.spawn_many(self._birth(node, inc) for node, inc in lives.items())
        waiting = dict(lives)

        def all_started() -> bool:
            nonlocal seen
            for event in self.events[seen:]:
                if isinstance(event, Started):
                    waiting.pop(event.node, None)
            seen = len(self.events)
            return not waiting

        self._must(all_started, lambda: f"node {min(waiting)} did not start")

    def kill(self, node: int) -> None:
        """SIGKILL, until it is reaped."""
        self._ended.add((node, self._born[node]))
        self._signal(node, signal.SIGKILL, "dead")

    def suspend(self, node: int) -> None:
        """SIGSTOP, until the kernel says it stopped."""
        self._signal(node, signal.SIGSTOP, "stopped")

    def resume(self, node: int) -> None:
        """SIGCONT, until the kernel says it runs."""
        self._signal(node, signal.SIGCONT, "running")

    def _signal(self, node: int, signo: int, state: State) -> None:
        self._nursery.signal(node, signo)
        self._nursery.wait_state(node, state, PATIENCE_NS / 1e9)
        self._read_tails()

    def arm(self, node: int, points: Sequence[Point]) -> None:
        """New points in its file, SIGUSR1 to make it look, and its word that it did."""
        config = contract.read(self._config(node))
        config.points = tuple(points)
        self._order(config, Armed, "can this program be armed?")

    def ask(self, node: int, ask: Ask) -> None:
        """One more request in its file, SIGUSR1 to make it look, and its word that it did."""
        config = contract.read(self._config(node))
        config.asks = (*config.asks, ask)
        self._order(config, Asked, "can this program be asked?")

    def _order(self, config: NodeConfig, word: type[Armed | Asked], otherwise: str) -> None:
        """A node that stops at a point just now will look when it goes on."""
        node, seen = config.node, len(self.events)
        contract.write(self._config(node), config)
        self._nursery.signal(node, signal.SIGUSR1)
        self._must(
            lambda: any(
                (isinstance(e, word) and e.node == node)
                or (isinstance(e, Suspended) and e.target == node)
                for e in self.events[seen:]
            ),
            lambda: f"node {node} did not answer SIGUSR1; {otherwise}",
        )

    def install(self, rule_id: int, rule: Rule, links: Iterable[Link]) -> None:
        """Put a rule on these links, at one instant."""
        self._relay.install(rule_id, rule, links)

    def remove(self, rule_id: int) -> None:
        """Take it off; what it held goes on."""
        self._relay.remove(rule_id)

    def witness(self, step: int, node: int) -> None:
        """What /proc shows of the process and of its socket."""
        backlog = udp_backlog(self._addresses[node][1])
        self.record(
            Witnessed(
                step=step,
                target=node,
                state={"stopped": "T", "running": "R", "sleeping": "S"}.get(
                    self._nursery.seen(node), "?"
                ),
                backlog=backlog.queued_bytes,
                overflow=backlog.drops,
            )
        )

    def advance(self, done: Callable[[], bool] | None, until: int) -> bool:
        """Read the trace until `done`, or come back at `until` sharp."""
        nap = max(POLL_S, 0.00004 * len(self._tails))
        while True:
            self._read()
            if done is not None and done():
                return True
            rest = (until - monotonic_ns()) / 1e9
            if rest <= 2 * nap:
                sleep_until(until)
                self._read()
                return done is not None and done()
            self._pulse()
            sleep(nap)

    def close(self, why: str = "") -> None:
        """End every process and give back every port."""
        try:
            with suppress(Exception):  # a relay that died has said so already
                self._relay.close()
            self._nursery.close()
            self._read_tails()
            self.record(Closed(why=why))
        finally:
            self._writer.close()
            for tail in self._tails:
                tail.close()
            for reserved in self._reserved.values():
                reserved.close()
            with suppress(OSError):
                os.sched_setscheduler(0, self._policy, os.sched_param(0))

    # --- nodes --------------------------------------------------------------------------------

    def _part(self, name: str) -> Path:
        return self._parts / f"{name}.jsonl"

    def _config(self, node: int) -> Path:
        return self._parts / f"node-{node}.json"

    def _birth(self, node: int, inc: int) -> Spawn | Command:
        part = self._part(f"node-{node}.{inc}")
        config = NodeConfig(
            node=node,
            incarnation=inc,
            nodes=self._nodes,
            bind=self._addresses[node],
            peers={j: (LOOPBACK, self._ports[node, j]) for j in self._nodes if j != node},
            cells=str(self._parts / "cells" / str(node)),
            trace=str(part),
            protocol=self._info.protocol,
            timing=self._info.timing,
            lateness=self._info.lateness,
            key=self._key,
            parameters=self._info.parameters,
        )
        contract.write(self._config(node), config)
        self._tails.append(Tail(part))
        stderr, path = str(self._parts / f"node-{node}.stderr"), str(self._config(node))
        if self._info.command:
            return Command(node, inc, stderr, (*self._info.command, path))
        return Spawn(node, inc, stderr, "nodes.program:main", (path,))

    def _must(self, done: Callable[[], bool], otherwise: Callable[[], str]) -> None:
        if not self.advance(done, monotonic_ns() + PATIENCE_NS):
            raise EngineError(f"{otherwise()} within {PATIENCE_NS / 1e9:.0f} s")

    # --- the trace ----------------------------------------------------------------------------

    def _read(self) -> None:
        self._read_tails()
        for report in self._nursery.poll():
            if isinstance(report, Died) and (report.target, report.life) not in self._ended:
                raise EngineError(self._obituary(report))

    def _read_tails(self) -> None:
        nursery, *others = self._tails
        said = nursery.read()  # read first, told last: what it follows is there to be read by now
        for tail in others:
            self.events.extend(tail.read())
        self.events.extend(said)

    def _obituary(self, report: Died) -> str:
        who = f"node {report.target}" if report.target else "the relay"
        how = f"by signal {report.signal}" if report.signal else f"with status {report.status}"
        name = f"node-{report.target}" if report.target else "relay"
        last = _last_line(self._parts / f"{name}.stderr")
        return f"{who} ended on its own, {how}{': ' + last if last else ''} ({name}.stderr)"


def reserve() -> socket.socket:
    """A port for a node: bound by the kernel, deaf, and held."""
    holder = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    holder.bind((LOOPBACK, 0))
    # Only now: for a socket that may share, port 0 may be a port that another such socket has.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.connect(holder.getsockname())
    return holder


def _decoded(lines: bytes) -> list[AnyEvent]:
    """The events in these lines; a line that is none is for the analyzer to name."""
    try:
        return decode_lines(lines)
    except msgspec.MsgspecError:
        events = []
        for line in lines.splitlines():
            with suppress(msgspec.MsgspecError):
                events.append(decode(line))
        return events


def _last_line(path: Path) -> str:
    with suppress(OSError):
        lines = path.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""
    return ""

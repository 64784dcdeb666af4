"""The node program: a kernel and its protocol in a real process, on loopback UDP.

One loop on epoll. It wakes at least twice every T_p, so that it notices when it was not
running: a node that was late fails itself and starts its next life (Assumption 9), unless the
rule is switched off. SIGUSR1 makes it read its `points` and `asks` again; at a point it stops
itself with SIGSTOP right after writing the matching event and before that event's effect.

Limit: between the last look at the clock and sendto() lie a few instructions; a pause that
hits exactly there lets one datagram out late.
"""

import os
import select
import signal
import socket
import sys
from time import monotonic_ns

from nodes.cells import SafeCells
from nodes.config import Address, load_protocol, read
from nodes.kernel import MS, Kernel
from nodes.protocol import Vector
from nodes.wire import LARGEST, UNREADABLE, Message, decode, encode, refusal
from traces.events import AnyEvent, Armed, Became, Discarded, Overslept, Received, Sent, Stored
from traces.writer import Writer

BURST = 64  # datagrams taken before the timers get a look
BUFFER = 4 << 20  # bytes the kernel may queue for a paused node
NAMED = {Sent, Received}  # the kernel wrote node and life into these: nearly all events
EFFECTS = {Sent, Became, Stored}  # the events after which something is to be done
ASLEEP = 5_000  # ns: a wait that took less was none
SLOW = 500_000  # ns from waking up to the last effect: what is due is put off by that
NEVER = 1 << 62  # ns


class OversleptError(Exception):
    """The node was not running for longer than T_p."""


class Node:
    """One process of the node contract, life after life."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.config = config = read(path)
        self.socket = _bind(config.bind)
        self.writer = Writer(config.trace, config.node, config.incarnation)
        self.cells = SafeCells(config.cells)
        self.points = config.points
        self.asked = 0  # the number of the newest request that was taken up
        self.key, self.addresses = config.key, config.peers
        self.peers = {address: j for j, address in config.peers.items()}
        self.tolerance = round(config.timing.t_p_ms * MS) if config.lateness else NEVER
        self.awake = monotonic_ns()
        self.recvfrom, self.sendto = self.socket.recvfrom, self.socket.sendto
        self.kernel = self._boot()

    def _boot(self) -> Kernel:
        config = self.config
        protocol = load_protocol(config.protocol)
        make: type[Kernel] = getattr(protocol, "kernel", Kernel)
        kernel = make(
            config.node,
            self.writer.inc,
            config.nodes,
            protocol,
            config.timing,
            self.cells.load(),
            self.cells.marks(max(config.nodes) + 1),
            config.key,
            config.parameters,
        )
        kernel.start(self.awake, os.getpid())
        return kernel

    def run(self) -> None:
        """Live until killed."""
        poll = select.epoll()
        poll.register(self.socket.fileno(), select.EPOLLIN)
        poll.register(_wakeup(), select.EPOLLIN)
        wait, inbox = poll.poll, self.socket.fileno()
        nap = self.tolerance // 2
        nap_s = nap / 1e9
        while True:
            try:
                if self.kernel.out:
                    self._perform()
                before = monotonic_ns()
                left = self.kernel.deadline - before
                ready = wait(nap_s if left > nap else left / 1e9 if left > 0 else 0)
                self._woke()
                for fd, _ in ready:
                    if fd == inbox:
                        # Who slept until one came will rarely find a second, and looking is dear.
                        self._drain(BURST if self.awake - before < ASLEEP else 1)
                    else:
                        self._rearm(fd)
                if self.kernel.deadline <= self.awake:
                    self._drain(BURST)  # an answer that is here has come in time
                    self.kernel.tick(self.awake)
            except OversleptError:
                self._fail()

    def _woke(self) -> None:
        now = monotonic_ns()
        if now - self.awake > self.tolerance:
            raise OversleptError
        self.awake = now

    def _fail(self) -> None:
        """GM82 II, Assumption 9: halt all processes, reset the state, recover."""
        late = monotonic_ns() - self.awake
        self._forget()
        self.writer.write(Overslept(since=self.awake, late=late))
        self.writer.inc += 1
        self.awake = monotonic_ns()
        self.kernel = self._boot()

    def _forget(self) -> None:
        """What arrived while the node was Down was never received."""
        while True:
            try:
                data, address = self.socket.recvfrom(LARGEST + 1)
            except BlockingIOError:
                return
            src = self.peers.get(address, 0)
            self.writer.write(Discarded(why="down", size=len(data), src=src))

    # --- in ---------------------------------------------------------------------------------

    def _drain(self, at_most: int) -> None:
        """Take datagrams, each of them handled and answered before the next is looked for."""
        kernel = self.kernel
        while True:
            try:
                data, address = self.recvfrom(LARGEST + 1)
            except BlockingIOError:
                return
            message = self._admit(data, address)
            if message is not None:
                kernel.receive(self.awake, message.src, message)
            self._perform()
            at_most -= 1
            if not at_most:
                return
            self._woke()

    def _admit(self, data: bytes, address: Address) -> Message | None:
        """The message in a datagram, if it is one of this run from the peer it names."""
        try:
            message = decode(data) if len(data) <= LARGEST else None
        except UNREADABLE:
            message = None
        peer = self.peers.get(address)
        if message is not None and message.src == peer and message.key == self.key:
            return message
        why = "foreign" if peer is None or message else refusal(data)
        self.kernel.out.append(Discarded(why=why, size=len(data), src=peer or 0))
        return None

    # --- out --------------------------------------------------------------------------------

    def _perform(self) -> None:
        """Stamp each event, and write all before doing what the last one says; never when late.

        Events without an effect wait for the next that has one: nothing shows before that.
        """
        out, points, spent = self.kernel.out, self.points, 0
        put, stage, flush = self.writer.put, self.writer.stage, self.writer.flush
        for event in out:
            if type(event) in NAMED:
                put(event)
            else:
                stage(event)
            if points:
                self._stop_at(event)
                points = self.points
            if type(event) in EFFECTS:
                flush()
                spent = monotonic_ns() - self.awake
                if spent > self.tolerance:
                    raise OversleptError
                if type(event) is Sent:
                    self._send(event)
                else:
                    self._keep(event)
        flush()
        out.clear()
        if spent > SLOW:
            self.kernel.put_off(spent)

    def _keep(self, event: AnyEvent) -> None:
        if type(event) is Became:
            self.cells.store("S", Vector(event.s, event.c, event.h, event.up, event.d, event.g))
        elif type(event) is Stored:
            self.cells.store(event.cell, event.value)

    def _send(self, event: Sent) -> None:
        to, args = event.to, event.args
        # The fields of a Message in a tuple: the same bytes, and no object to be made.
        message = (
            self.key, event.node, event.inc, event.m, event.kind, event.ack, event.call, args, to
        )  # fmt: skip
        try:
            self.sendto(encode(message), self.addresses[to])
        except OSError as error:
            # A datagram the kernel will not take is lost, as any datagram may be.
            print(f"node {event.node}: send to {to}: {error}", file=sys.stderr)

    def _stop_at(self, event: AnyEvent) -> None:
        for point in self.points:
            if point.matches(event):
                self.points = tuple(p for p in self.points if p is not point)
                self.writer.flush()
                os.kill(os.getpid(), signal.SIGSTOP)
                return

    def _rearm(self, fd: int) -> None:
        os.read(fd, 512)
        config = read(self.path)
        fresh = [ask for ask in config.asks if ask.number > self.asked]
        for ask in fresh:
            self.asked = ask.number
            self.kernel.ask(self.awake, ask.number, ask.kind, ask.args)
        if not fresh:
            self.points = config.points
            self.kernel.out.append(Armed(points=len(self.points)))


def _bind(address: Address) -> socket.socket:
    """The node's socket. The harness holds the port meanwhile: hence SO_REUSEADDR."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    udp.setblocking(False)
    udp.bind(tuple(address))
    return udp


def _wakeup() -> int:
    """A descriptor that becomes readable when SIGUSR1 arrives."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def main(path: str) -> None:
    """Run the node that this config file describes."""
    node = Node(path)
    node.run()

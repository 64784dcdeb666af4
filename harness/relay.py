"""The relay: every datagram between nodes passes here, and here it is dropped, delayed, held.

One process; one UDP socket L_ij per directed link i->j on 127.0.0.1, connected to node i. What
arrives on L_ij leaves on L_ji, so that j sees it come from the address j itself uses to reach
i, and the kernel takes only datagrams of the node that owns the link. Rules:

- Log, then act. Only what is not plainly passed on is logged; the rest is counted.
- k counts the datagrams taken on a link since the start, from 1, whatever became of them.
- Requests come as one JSON message a packet (SOCK_SEQPACKET), are applied between two
  datagrams and acknowledged with the stamp of their event. A long list comes in several
  packets, all but the last flagged `more`. The end of the control socket is the end.
- A decision is final: a released or delayed datagram meets no further rule.
- Due datagrams leave by select() on the epoll's own descriptor, which knows microseconds where
  epoll_wait knows milliseconds: never early, typically 0.1 ms late, no spinning.

Counts: `forwarded` went out to the kernel (a duplicate twice); `refused` of these came back
because no process had the node's port, a lower bound; `dropped` includes what the kernel
dropped before the relay could take it (no line in the trace, so a count above the lines says
that the relay was overrun); `foreign` came from elsewhere while the link was being bound.

Limits: held and delayed datagrams live in memory and are lost at the end; 100 nodes need 9,900
descriptors. Whoever forks the relay must close the other end of `control` in it.
"""

import gc
import heapq
import os
import resource
import select
import signal
import socket
import struct
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns

from harness.relay_client import BIGGEST, Reply, Request, decode_request, encode, parts
from harness.rules import DELAY, DROP, HOLD, PASS, Installed, Link, constant, decide
from traces.events import RELAY, Counted, Delayed, Dropped, Duplicated, Held, Released, Ruled
from traces.writer import Writer

Address = tuple[str, int]
Kept = tuple["Wire", int, bytes]  # datagram k of a link, on its way later

BATCH = 64  # datagrams a wake-up, over all ready links: bounds how late a timer can be
PIECE = 16  # datagrams that are logged in one piece, and go on when that is written
RCVBUF = 4 << 20
SO_RCVBUFFORCE, SO_MEMINFO = 33, 55  # asm-generic/socket.h
MEMINFO = struct.Struct("9I")  # linux/sock_diag.h; the last one is SK_MEMINFO_DROPS


def relay_main(
    control: socket.socket, trace: Path, seed: int, addresses: dict[int, Address]
) -> None:
    """Run the relay until it is told to close or `control` ends."""
    # Ctrl-C and `timeout` signal the whole group; the relay is needed until all is mended.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    gc.disable()  # nothing here makes cycles, and a full collection would pause every link
    control.setblocking(True)
    try:
        relay = Relay(control, Writer(trace, node=0, inc=RELAY), seed, addresses)
    except OSError as error:
        if control.recv(BIGGEST):
            control.send(encode(Reply(why=f"the relay cannot start: {error}")))
        raise SystemExit(1) from error
    relay.run()


class Wire:
    """One directed link: its socket, its way out, its rules and its counts."""

    __slots__ = ("back", "dropped", "fixed", "foreign", "forwarded", "link", "recv", "refused",
                 "rules", "send", "sock", "taken")  # fmt: skip

    def __init__(self, link: Link, sock: socket.socket) -> None:
        self.link, self.sock, self.recv = link, sock, sock.recv
        self.obey(())
        self.taken = self.forwarded = self.dropped = self.refused = self.foreign = 0

    def obey(self, rules: tuple[Installed, ...]) -> None:
        """From the next datagram on."""
        self.rules, self.fixed = rules, constant(rules)

    def join(self, back: "Wire") -> None:
        """Send on the socket of the opposite link."""
        self.back, self.send = back, back.sock.send

    def count(self) -> Counted:
        """The counts as they are now, with what the kernel dropped on its own."""
        memory = self.sock.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, MEMINFO.size)
        overrun = MEMINFO.unpack(memory)[-1]
        src, dst = self.link
        return Counted(
            src=src, dst=dst, taken=self.taken, forwarded=self.forwarded,
            dropped=self.dropped + overrun, refused=self.refused, foreign=self.foreign,
        )  # fmt: skip


def bind_links(addresses: dict[int, Address]) -> dict[Link, Wire]:
    """A wire for each ordered pair of nodes."""
    links = [(i, j) for i in addresses for j in addresses if i != j]
    allow_files(len(links), f"{len(addresses)} nodes")
    reserved = set(addresses.values())
    wires = {}
    for link in links:
        wires[link] = wire = Wire(link, _bind(reserved))
        wire.sock.connect(addresses[link[0]])
        with suppress(BlockingIOError):
            while True:  # nobody has been told this port, so these came by themselves
                wire.recv(BIGGEST)
                wire.foreign += 1
    for (i, j), wire in wires.items():
        wire.join(wires[j, i])
    return wires


def allow_files(links: int, whose: str) -> None:
    """Raise the soft limit of open files as far as `links` need it."""
    need = links + len(os.listdir("/proc/self/fd")) + 1  # noqa: PTH208 (a count, no paths)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if need > hard != resource.RLIM_INFINITY:
        raise OSError(f"{whose} need {need:,} open files and the limit is {hard:,} (ulimit -Hn)")
    if need > soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _bind(reserved: set[Address]) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:  # the limit of a buffer, not its size: an idle link costs nothing
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RCVBUF)
    sock.bind(("127.0.0.1", 0))
    if sock.getsockname() not in reserved:
        return sock
    with sock:  # a node that is not up yet owns this port: keep it until there is another
        return _bind(reserved)


class Relay:
    """The wires, the rules on them and the datagrams kept back."""

    def __init__(
        self, control: socket.socket, writer: Writer, seed: int, addresses: dict[int, Address]
    ) -> None:
        self.control, self.seed = control, seed
        self.write, self.put, self.flush = writer.write, writer.put, writer.flush
        self.epoll = select.epoll()  # before the links: select() needs a low descriptor
        self.epoll.register(control, select.EPOLLIN)
        self.wires = bind_links(addresses)
        self.by_fd = {wire.sock.fileno(): wire for wire in self.wires.values()}
        for fd in self.by_fd:
            self.epoll.register(fd, select.EPOLLIN)
        self.installed: dict[int, tuple[Installed, list[Link]]] = {}
        self.arriving: list[Link] = []
        self.held: dict[int, list[Kept]] = {}
        self.due: list[tuple[int, int, Kept]] = []
        self.ready: list[Kept] = []  # go on as soon as the log is written
        self.piece = 1  # how many of them are waited for
        self.pushed = 0

    def run(self) -> None:
        """Serve datagrams and requests until closed."""
        by_fd, take = self.by_fd, self.take
        while True:
            ready = self.wait()
            # Draining a socket costs one vain recv: worth it only where few are ready.
            each = BATCH // (len(ready) or 1)
            self.piece = 1
            for fd, _ in ready:
                if fd in by_fd:
                    take(by_fd[fd], each)
                    continue
                self.settle()
                if not self.serve():
                    return
            self.settle()

    def wait(self) -> list[tuple[int, int]]:
        """Send what is due, then tell which descriptors are ready."""
        if not self.due:
            return self.epoll.poll(-1, BATCH)
        while self.due and self.due[0][0] <= monotonic_ns():
            self.forward(*heapq.heappop(self.due)[2])
        ready = self.epoll.poll(0, BATCH)
        if self.due and not ready:
            select.select([self.epoll], [], [], max(0, self.due[0][0] - monotonic_ns()) / 1e9)
        return ready

    def take(self, wire: Wire, at_most: int) -> None:
        """Take datagrams off one link and do with each what the rules decide.

        The first of a wake-up goes on at once, as one that comes alone should; those behind it
        are logged piece by piece.
        """
        recv = wire.recv
        for _ in range(at_most):
            try:
                data = recv(BIGGEST)
            except BlockingIOError:
                return
            except ConnectionRefusedError:  # of what went out on this socket, the other way
                wire.back.refused += 1
                continue
            wire.taken = k = wire.taken + 1
            if not wire.rules:
                self.forward(wire, k, data)
                continue
            self.judge(wire, k, data)
            if len(self.ready) >= self.piece:
                self.settle()

    def judge(self, wire: Wire, k: int, data: bytes) -> None:
        """Log what the rules decide; `settle` does it, when the log is written."""
        action, by, rule = wire.fixed or decide(wire.rules, self.seed, wire.link, k)
        src, dst = wire.link
        if action is PASS:
            self.ready.append((wire, k, data))
        elif action is DELAY:
            at = self.put(Delayed(src, dst, k, rule, by, inc=RELAY))
            self.forward_at(at, by, (wire, k, data))
        elif action is DROP:
            self.put(Dropped(src, dst, k, rule, inc=RELAY))
            wire.dropped += 1
        elif action is HOLD:
            self.put(Held(src, dst, k, rule, inc=RELAY))
            self.held.setdefault(rule, []).append((wire, k, data))
        else:
            at = self.put(Duplicated(src, dst, k, rule, by, inc=RELAY))
            self.ready.append((wire, k, data))
            self.forward_at(at, by, (wire, k, data))

    def settle(self) -> None:
        """Write what was decided about the datagrams just taken, then send those that go on."""
        self.flush()
        if self.ready:
            for wire, k, data in self.ready:
                try:  # as in `forward`, and without the call
                    wire.send(data)
                    wire.forwarded += 1
                except OSError as error:
                    self.send_again(wire, k, data, error)
            self.ready.clear()
            self.piece = PIECE

    def forward_at(self, at: int, by: int, kept: Kept) -> None:
        """Send it `by` ns after `at`; with the others that are ready if that is 0."""
        if not by:
            self.ready.append(kept)
            return
        self.pushed += 1  # equal times leave in the order they came
        heapq.heappush(self.due, (at + by, self.pushed, kept))

    def forward(self, wire: Wire, k: int, data: bytes) -> None:
        """Send it on now."""
        try:
            wire.send(data)
            wire.forwarded += 1
        except OSError as error:
            self.send_again(wire, k, data, error)

    def send_again(self, wire: Wire, k: int, data: bytes, error: OSError) -> None:
        """It has not left: an earlier one came back; or the kernel will not take it."""
        if isinstance(error, ConnectionRefusedError):
            wire.refused += 1
            try:
                wire.send(data)
                wire.forwarded += 1
            except ConnectionRefusedError:
                wire.refused += 1
            except OSError:
                pass
            else:
                return
        self.lose(wire, k)

    def lose(self, wire: Wire, k: int) -> None:
        """Record that it ends here, by no rule."""
        src, dst = wire.link
        self.write(Dropped(src=src, dst=dst, k=k, rule=0))
        wire.dropped += 1

    def serve(self) -> bool:
        """Answer one request; false when it was the last."""
        packet = b""
        with suppress(ConnectionError):  # the controller left with our answer unread
            packet = self.control.recv(BIGGEST)
        request = decode_request(packet) if packet else Request("close")
        try:
            replies = self.answer(request)
        except ValueError as error:
            replies = [Reply(why=str(error))]
        with suppress(ConnectionError):
            for reply in replies:
                self.control.send(encode(reply))
        return request.verb != "close"

    def answer(self, request: Request) -> list[Reply]:
        """Do what is asked; nothing is changed where it raises ValueError."""
        match request.verb:
            case "ports":
                ports = [(*link, w.sock.getsockname()[1]) for link, w in self.wires.items()]
                return [Reply(ports=part, more=more) for part, more in parts(ports)]
            case "counts":
                return [Reply(counts=part, more=more) for part, more in parts(self.counts())]
            case "install":
                self.arriving += request.links
                return [] if request.more else [Reply(at=self.install(request))]
            case "remove":
                return [Reply(at=self.remove(request.rule_id))]
            case "close":
                for counted in self.counts():
                    self.write(counted)
                return [Reply(at=monotonic_ns())]

    def install(self, request: Request) -> int:
        """Append the rule to the lists of all links that arrived with it."""
        links, self.arriving = sorted(set(self.arriving)), []
        if request.rule is None:
            raise ValueError("no rule to install")
        if request.rule_id in self.installed:
            raise ValueError(f"rule {request.rule_id} is installed already")
        if unknown := [link for link in links if link not in self.wires]:
            raise ValueError(f"no such link: {', '.join(f'{i}->{j}' for i, j in unknown)}")
        rule = Installed(request.rule_id, request.rule)
        at = self.write(Ruled(rule=rule.rule_id, verb=rule.rule.verb, links=tuple(links)))
        for link in links:
            self.wires[link].obey((*self.wires[link].rules, rule))
        self.installed[rule.rule_id] = rule, links
        return at

    def remove(self, rule_id: int) -> int:
        """Take the rule off its links, then let go of what it held, in order of arrival."""
        if rule_id not in self.installed:
            raise ValueError(f"rule {rule_id} is not installed")
        rule, links = self.installed.pop(rule_id)
        at = self.write(Ruled(rule=rule_id, verb=rule.rule.verb, links=tuple(links), on=False))
        for link in links:
            wire = self.wires[link]
            wire.obey(tuple(other for other in wire.rules if other is not rule))
        for wire, k, data in self.held.pop(rule_id, ()):
            src, dst = wire.link
            self.write(Released(src=src, dst=dst, k=k, rule=rule_id))
            self.forward(wire, k, data)
        return at

    def counts(self) -> list[Counted]:
        """The counts of all links that had any traffic."""
        counts = [wire.count() for wire in self.wires.values()]
        return [one for one in counts if one.taken or one.dropped or one.foreign]


def main(trace: str, seed: int, addresses: list[tuple[int, str, int]], control: int) -> None:
    """The relay as the nursery starts it: plain values and one descriptor."""
    nodes = {node: (host, port) for node, host, port in addresses}
    relay_main(socket.socket(fileno=control), Path(trace), seed, nodes)

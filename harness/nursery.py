"""The nursery: one small process that has everything imported and forks all others.

A fork of it is a ready node in under a millisecond where an interpreter takes fifty. It is
single-threaded, the direct parent of every node and of the relay, and the only one to wait for
them. The controller's handle on it is harness.nursery_client. Rules:

- Requests come as JSON, one a packet, on a SOCK_SEQPACKET socket. Its answers are the very
  events it has just written to its trace: write, then tell. `Spawned` carries a pidfd, opened
  while the child is unreaped for sure, so that a signal can never hit a stranger.
- A child is held at a gate until its `Spawned` is in the trace; and it is not told of before it
  has shed what is the nursery's, or one stopped that early would outlive it and hide its end.
- The controller's end ends everything: an end of file on the socket, or its pidfd (the socket
  may live on in a process the controller forked). The children are killed and reaped, then the
  nursery exits. Its own end, however it comes, kills them through PR_SET_PDEATHSIG.
- What fails here fails the nursery whole, with a traceback on its stderr.

Limits: the kernel merges state changes nobody has fetched yet. A quick SIGSTOP and SIGCONT may
show as `Continued` alone. Of a quick SIGCONT and SIGSTOP (a node goes on and is at a point at once)
only the stop is left: who stops twice ran in between, and gets a `Continued` then. Processes that
a child forks are the child's own affair: argv must be the node, not a wrapper that forks it.
"""

import gc
import importlib
import os
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from harness.linux import die_with_parent
from traces.events import NURSERY, Continued, Died, NurseryEvent, Spawned, Suspended, encoder
from traces.writer import Writer

PACKET_BYTES = 65536  # the largest request
PASSED_FDS = 8  # the most descriptors one request may carry
_LISTEN_S = 5.0  # a controller that leaves 200 reports unread for so long is as good as dead
_CHANGES = os.WEXITED | os.WSTOPPED | os.WCONTINUED


class Request(msgspec.Struct, tag_field="do", frozen=True):
    """What the controller may ask for."""


class Birth(Request, frozen=True):
    """A process is to live life `life` of `target`; stdout and stderr go to file `stderr`."""

    target: int
    life: int
    stderr: str


class Spawn(Birth, tag="spawn", frozen=True):
    """Fork, and call `entry` ("module:function") with args and the numbers of passed fds."""

    entry: str
    args: tuple[Any, ...] = ()


class Command(Birth, tag="command", frozen=True):
    """Fork, and exec argv: a node in any language."""

    argv: tuple[str, ...]


class Close(Request, tag="close", frozen=True):
    """Kill and reap all, then exit; the end of file is the answer."""


_decoder: msgspec.json.Decoder[Spawn | Command | Close] = msgspec.json.Decoder(
    Spawn | Command | Close
)


def receive(control: socket.socket, most_fds: int) -> tuple[bytes, list[int]]:
    """One packet and the descriptors with it; empty when the other side is gone."""
    try:
        packet, fds, _, _ = socket.recv_fds(
            control, PACKET_BYTES, most_fds, socket.MSG_CMSG_CLOEXEC
        )
    except ConnectionError:  # gone, and something we sent it was never read
        return b"", []
    return packet, fds


def main(control_fd: int, controller: int, trace: str, preload: Sequence[str]) -> None:
    """Run the nursery of process `controller`, which holds the other end of `control_fd`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # No collection before the fork, and none of what is here now after it: a collection writes
    # to every object's header, and each page written is a page no longer shared.
    gc.disable()
    for module in preload:
        importlib.import_module(module)
    nursery = Nursery(socket.socket(fileno=control_fd), controller, Writer(Path(trace), 0, NURSERY))
    gc.freeze()
    nursery.serve()


class Nursery:
    """The loop and the children."""

    def __init__(self, control: socket.socket, controller: int, trace: Writer) -> None:
        self._pid = os.getpid()
        self._children: dict[int, Birth] = {}
        self._unborn: dict[int, socket.socket] = {}  # forked, and not yet on their own
        self._stopped: set[int] = set()
        self._closing = False
        self._control, self._trace = control, trace
        control.settimeout(_LISTEN_S)
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._woken.setblocking(False)
        # The handler does nothing; it is there so that the byte is written to the socket.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._woken.fileno(), warn_on_full_buffer=False)
        self._controller = os.fdopen(os.pidfd_open(controller), "rb", buffering=0)
        self._closing = os.getppid() != controller  # already an orphan: that pid is a stranger's
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ, self._obey)
        self._selector.register(self._wake, selectors.EVENT_READ, self._look)
        self._selector.register(self._controller, selectors.EVENT_READ, self._orphaned)

    def serve(self) -> None:
        """Serve until the controller says so or ends; leave no child."""
        while not self._closing:
            for key, _ in self._selector.select():
                key.data()
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)  # also ends the stopped, and the dead do not mind
        while self._children:
            self._fetch(_CHANGES)

    # --- what can happen ------------------------------------------------------------------

    def _obey(self) -> None:
        """A request, or the controller's end of file."""
        packet, fds = receive(self._control, PASSED_FDS)
        request = _decoder.decode(packet) if packet else Close()
        if isinstance(request, Close):
            self._closing = True
        else:
            self._bear(request, fds)

    def _look(self) -> None:
        """SIGCHLD: some children changed state."""
        self._wake.recv(4096)
        while self._children and self._fetch(_CHANGES | os.WNOHANG):
            pass

    def _orphaned(self) -> None:
        """The controller is gone."""
        self._closing = True

    # --- births and what follows ----------------------------------------------------------

    def _bear(self, request: Spawn | Command, fds: list[int]) -> None:
        """Fork; the child sheds what is ours while the next request is served."""
        ours, gate = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            for other in (ours, *self._unborn.values()):
                other.close()  # or a sibling would never see the end of file at its gate
            self._live(request, fds, gate)
        gate.close()
        for fd in fds:
            os.close(fd)
        self._children[pid], self._unborn[pid] = request, ours
        self._selector.register(ours, selectors.EVENT_READ, partial(self._present, pid))

    def _present(self, pid: int) -> None:
        """The child is on its own (or dead already): record it, let it go and report it."""
        request, ours = self._children[pid], self._unborn.pop(pid)
        self._selector.unregister(ours)
        ours.recv(1)
        spawned = Spawned(target=request.target, life=request.life, pid=pid)
        self._trace.write(spawned)
        ours.close()
        pidfd = os.pidfd_open(pid)
        self._tell(spawned, pidfd)
        os.close(pidfd)

    def _fetch(self, options: int) -> bool:
        """Fetch one change of state, record and report it; False when there is none."""
        peek = os.waitid(os.P_ALL, 0, options | os.WNOWAIT)
        if peek is None:
            return False
        pid, unborn = peek.si_pid, peek.si_pid in self._unborn
        if unborn and peek.si_code not in (os.CLD_STOPPED, os.CLD_CONTINUED):
            self._present(pid)  # before it is reaped: nobody dies who was not born
            unborn = False
        change = os.waitid(os.P_PID, pid, _CHANGES | os.WNOHANG)
        if change is None or unborn:
            return True  # nobody has been told of it yet
        child = self._children[pid]
        target, life, number = child.target, child.life, change.si_status
        event: NurseryEvent
        if change.si_code == os.CLD_STOPPED:
            if pid in self._stopped:
                self._report(Continued(target=target, life=life))
            self._stopped.add(pid)
            event = Suspended(target=target, life=life)
        elif change.si_code == os.CLD_CONTINUED:
            self._stopped.discard(pid)
            event = Continued(target=target, life=life)
        else:
            del self._children[pid]
            self._stopped.discard(pid)
            exited = change.si_code == os.CLD_EXITED
            cause = {"status": number} if exited else {"signal": number}
            event = Died(target=target, life=life, **cause)
        self._report(event)
        return True

    def _report(self, event: NurseryEvent) -> None:
        """Write, then tell."""
        self._trace.write(event)
        self._tell(event)

    def _tell(self, event: NurseryEvent, *fds: int) -> None:
        """Report an event; a controller that is gone is noticed by the loop."""
        try:
            socket.send_fds(self._control, [encoder.encode(event)], fds)
        except ConnectionError:
            self._closing = True

    # --- in the child ---------------------------------------------------------------------

    def _live(self, request: Spawn | Command, fds: list[int], gate: socket.socket) -> NoReturn:
        """Shed all that is the nursery's, pass the gate, live, and never return."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            own = self._control, self._trace, self._wake, self._woken, self._controller
            for thing in (*own, self._selector):
                thing.close()
            die_with_parent(self._pid)
            gate.send(b".")
            gate.recv(1)  # end of file: Spawned is in the trace, or the nursery is dead
            gate.close()
            _redirect(request.stderr)
            gc.freeze()  # what the nursery made since, too: the first collection is not for it
            gc.enable()
            status = _run(request, fds)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status & 0xFF)


def _redirect(path: str) -> None:
    """Send stdout and stderr to a file; stdin is /dev/null already, as the nursery's is."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)


def _run(request: Spawn | Command, fds: list[int]) -> int:
    """Do what the child was born for; return its exit status."""
    if isinstance(request, Command):
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # ignored by Python, not by others
            signal.signal(number, signal.SIG_DFL)
        os.execvp(request.argv[0], request.argv)
    module, _, function = request.entry.partition(":")
    try:
        getattr(importlib.import_module(module), function)(*request.args, *fds)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return 0

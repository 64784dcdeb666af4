"""The controller's handle on the nursery (harness.nursery).

    with Nursery(parts / "nursery.jsonl", ["nodes.program"], parts / "nursery.err") as nursery:
        nursery.spawn(1, 1, "nodes.program:main", [config], parts / "node-1.err")
        nursery.signal(1, SIGSTOP)
        nursery.wait_state(1, "stopped")

Rules:

- A target is a node's number, or 0 for the relay; it has one living process at most.
- States come from the nursery's reports alone: what the kernel told the parent.
- Signals go straight from here through a pidfd, in microseconds; through the nursery they would
  wait for its wake-up. The stamp returned is from before the call.
- `poll` returns every report once, also those that another method read off the socket, so
  look there before waiting on `fileno`.
- Leaving the `with` in any way leaves no process; nor does dropping the handle, nor the death
  of the controller by any signal (the nursery sees to that).

Limits: not for several threads. A quick SIGSTOP and SIGCONT may be merged by the kernel: wait
for the state in between.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec
import psutil

from harness.linux import readable
from harness.nursery import PACKET_BYTES, PASSED_FDS, Close, Command, Spawn, receive
from traces.events import Continued, Died, NurseryEvent, Spawned, Suspended, encoder

State = Literal["running", "stopped", "dead"]
_Popen = subprocess.Popen[bytes]

_ROOT = str(Path(__file__).resolve().parent.parent)
_BIRTH_S = 30.0  # the first one waits for the preloading
_CLOSE_S = 10.0  # then the nursery itself is killed
_WINDOW = 32  # unanswered requests: both directions stay far from a full socket
_TAIL_BYTES = 2000
_decoder: msgspec.json.Decoder[NurseryEvent] = msgspec.json.Decoder(NurseryEvent)


class NurseryGone(RuntimeError):  # noqa: N818 (it says what happened)
    """The nursery ended on its own, and all processes with it."""


class ProcessGone(RuntimeError):  # noqa: N818 (it says what happened)
    """The process something was asked of, or expected of, is dead."""


def _name(target: int) -> str:
    return f"node {target}" if target else "the relay"


@dataclass
class _Child:
    """What is known of the latest life of a target."""

    life: int
    stderr: Path
    pid: int = 0
    pidfd: int = -1
    state: State = "running"
    died: Died | None = None

    def let_go(self) -> None:
        """It is dead: close the pidfd, if there is one."""
        self.state = "dead"
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


class Nursery:
    """Starts the nursery; spawns, signals and watches processes; ends them all."""

    def __init__(self, trace: Path, preload: Sequence[str], stderr: Path) -> None:
        self._stderr = stderr
        self._children: dict[int, _Child] = {}
        self._reports: list[NurseryEvent] = []
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(stderr, "ab") as log:
            self._process = _start(theirs.fileno(), trace, preload, log.fileno())
        self._finalizer = weakref.finalize(
            self, _end, os.getpid(), self._control, self._process, self._children
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        # What went wrong first is what the caller should hear of.
        with suppress(*((NurseryGone,) if kind else ())):
            self.close()

    # --- births ---------------------------------------------------------------------------

    def spawn(
        self,
        target: int,
        life: int,
        entry: str,
        args: Sequence[Any],
        stderr: Path,
        fds: Sequence[int] = (),
    ) -> int:
        """Fork a process that calls `entry` with args and its numbers of `fds`; return its pid."""
        self._request(Spawn(target, life, str(stderr), entry, tuple(args)), fds)
        return self._born(target)

    def spawn_command(self, target: int, life: int, argv: Sequence[str], stderr: Path) -> int:
        """Start a program in any language; return its pid."""
        self._request(Command(target, life, str(stderr), tuple(argv)))
        return self._born(target)

    def spawn_many(self, births: Iterable[Spawn | Command]) -> list[int]:
        """Start many, without waiting for one before asking for the next; return their pids."""
        targets: list[int] = []
        for birth in births:
            if len(targets) >= _WINDOW:
                self._born(targets[-_WINDOW])
            self._request(birth)
            targets.append(birth.target)
        return [self._born(target) for target in targets]

    # --- signals and states ---------------------------------------------------------------

    def signal(self, target: int, signo: int) -> int:
        """Send a signal; return the stamp from right before."""
        child = self._children[target]
        if child.pidfd < 0:
            raise self._gone(target)
        at = time.monotonic_ns()
        try:
            signal.pidfd_send_signal(child.pidfd, signo)
        except ProcessLookupError:
            self.wait_state(target, "dead")
            raise self._gone(target) from None
        return at

    def pid(self, target: int) -> int:
        """The process of the target's latest life."""
        return self._children[target].pid

    def state(self, target: int) -> State:
        """The state last reported; call `poll` first to have the latest."""
        return self._children[target].state

    def seen(self, target: int) -> str:
        """What /proc says right now, in psutil's words ("stopped" is T), or "" when gone."""
        try:
            return str(psutil.Process(self.pid(target)).status())
        except psutil.NoSuchProcess:
            return ""

    def wait_state(self, target: int, state: State, within_s: float = 5.0) -> None:
        """Wait until the state is reported; TimeoutError, or ProcessGone if it died instead."""
        child = self._children[target]
        deadline = time.monotonic() + within_s
        while child.state != state:
            if child.state == "dead":
                raise self._gone(target)
            if not self._read(deadline - time.monotonic()):
                raise TimeoutError(f"{_name(target)} is {child.state}, not {state}")

    def poll(self) -> list[NurseryEvent]:
        """All reports that came since the last call; does not block."""
        while self._read(0):
            pass
        reports, self._reports = self._reports, []
        return reports

    def fileno(self) -> int:
        """For a selector: readable when there are reports to read."""
        return self._control.fileno()

    def close(self) -> None:
        """Kill and reap all processes; the second time, nothing. NurseryGone if it had ended."""
        if self._finalizer.detach() is None:
            return
        deadline = time.monotonic() + _CLOSE_S
        with suppress(ConnectionError):
            self._control.send(encoder.encode(Close()))
        with suppress(NurseryGone):  # which is the end of file asked for
            while self._read(deadline - time.monotonic()):
                pass
        _end(os.getpid(), self._control, self._process, self._children)
        if self._process.returncode != 0:
            raise self._nursery_gone()

    # --- the socket -----------------------------------------------------------------------

    def _request(self, birth: Spawn | Command, fds: Sequence[int] = ()) -> None:
        known = self._children.get(birth.target)
        if known is not None and known.state != "dead":
            raise ValueError(f"{_name(birth.target)} has a living process already")
        packet = encoder.encode(birth)
        if len(packet) > PACKET_BYTES or len(fds) > PASSED_FDS:
            raise ValueError(f"{len(packet)} bytes with {len(fds)} descriptors are too many")
        try:
            socket.send_fds(self._control, [packet], fds)
        except ConnectionError:
            raise self._nursery_gone() from None
        self._children[birth.target] = _Child(birth.life, Path(birth.stderr))

    def _born(self, target: int) -> int:
        """Read reports until the process exists; return its pid."""
        child = self._children[target]
        while child.pid == 0:
            if not self._read(_BIRTH_S):
                raise TimeoutError("the nursery does not answer")
        return child.pid

    def _read(self, timeout_s: float) -> bool:
        """Take one report if it comes in time; NurseryGone at the end of file."""
        if not readable(self._control.fileno(), timeout_s):
            return False
        packet, fds = receive(self._control, 1)
        if not packet:
            raise self._nursery_gone()
        self._note(_decoder.decode(packet), fds)
        return True

    def _note(self, event: NurseryEvent, fds: list[int]) -> None:
        self._reports.append(event)
        child = self._children[event.target]
        match event:
            case Spawned():
                child.pid, child.pidfd = event.pid, fds[0]
            case Suspended():
                child.state = "stopped"
            case Continued():
                child.state = "running"
            case Died():
                child.died = event
                child.let_go()

    def _gone(self, target: int) -> ProcessGone:
        child = self._children[target]
        how = "ended with the nursery"
        if child.died and child.died.signal:
            how = f"was ended by signal {child.died.signal}"
        elif child.died:
            how = f"ended with status {child.died.status}"
        return ProcessGone(f"{_name(target)} (life {child.life}) {how}{_tail(child.stderr)}")

    def _nursery_gone(self) -> NurseryGone:
        status = self._process.wait()
        return NurseryGone(f"the nursery ended with status {status}{_tail(self._stderr)}")


def _start(control: int, trace: Path, preload: Sequence[str], log: int) -> _Popen:
    """Start the nursery: no site (it takes as long as all the rest), our own path instead."""
    path = [str(Path(entry).resolve()) for entry in sys.path] + [_ROOT]
    arguments = (control, os.getpid(), str(trace), list(preload))
    code = f"import sys; sys.path = {path}; from harness.nursery import main; main(*{arguments})"
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-u", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=[control],
        start_new_session=True,  # out of reach of the terminal's Ctrl-C and Ctrl-Z
    )


def _end(owner: int, control: socket.socket, nursery: _Popen, children: dict[int, _Child]) -> None:
    """End the nursery by end of file, and see all processes gone."""
    if os.getpid() != owner:
        return  # a fork of the controller exits; the processes are not its own
    control.close()
    try:
        nursery.wait(_CLOSE_S)
    except subprocess.TimeoutExpired:
        nursery.kill()
        nursery.wait()
    for child in children.values():
        if child.pidfd >= 0:  # orphan of a dead nursery, being killed by PR_SET_PDEATHSIG
            readable(child.pidfd, _CLOSE_S)
        child.let_go()


def _tail(path: Path) -> str:
    """The end of a file of complaints, in a form to append to a sentence."""
    text = path.read_bytes()[-_TAIL_BYTES:].decode(errors="replace") if path.exists() else ""
    return f"; its stderr ends:\n{text.rstrip()}" if text.strip() else ""

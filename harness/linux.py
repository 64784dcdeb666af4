"""What Linux offers and the standard library does not: a few calls, and evidence from /proc.

Rules: nothing here keeps state, and importing it is cheap (the nursery does, so no psutil).

Limits: Linux only. /proc/net/udp shows the sockets of the caller's own network namespace, and
its `rx_queue` counts kernel memory (a 200-byte datagram takes about 1280), not payload.
"""

import ctypes
import os
import select
import signal
import time
from typing import NamedTuple

_PR_SET_PDEATHSIG = 1
_SPIN_NS = 200_000  # time.sleep comes back up to this late; spin for the rest
_prctl = ctypes.CDLL(None, use_errno=True).prctl  # looked up here, once, and not in every fork


def die_with_parent(parent: int) -> None:
    """Be killed when process `parent` ends, or right now when it already has."""
    if _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:  # it ended before the prctl: no signal will come
        os.kill(os.getpid(), signal.SIGKILL)


def become_realtime() -> str:
    """Put this process, not its children, ahead of normal ones if allowed; say what came of it.

    For the controller only: it sleeps nearly always and its injections must be on time. On the
    relay or on nodes real-time priority makes latency worse.
    """
    try:
        policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(1))
    except PermissionError:
        return "the controller has normal priority: real-time is not allowed here"
    return "the controller has real-time priority (SCHED_RR 1), its children have not"


def sleep_until(at_ns: int) -> None:
    """Come back at `at_ns` on CLOCK_MONOTONIC: sleep, then spin for the last 200 us."""
    rest = at_ns - time.monotonic_ns() - _SPIN_NS
    if rest > 0:
        time.sleep(rest / 1e9)
    while time.monotonic_ns() < at_ns:
        pass


def readable(fd: int, timeout_s: float) -> bool:
    """Wait for it; unlike select(), poll() takes descriptors above 1023."""
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    return bool(poller.poll(max(timeout_s, 0) * 1000))


class Backlog(NamedTuple):
    """What waits in a socket's receive queue, and how many datagrams found it full."""

    queued_bytes: int
    drops: int


def udp_backlog(port: int) -> Backlog:
    """The backlog of the IPv4 UDP sockets bound to a local port; zeros when there is none."""
    queued = drops = 0
    with open("/proc/net/udp", encoding="ascii") as table:
        next(table)
        for line in table:
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == port:
                queued += int(fields[4].rpartition(":")[2], 16)
                drops += int(fields[-1])
    return Backlog(queued, drops)

"""The nursery, with real processes and real signals: births, reports, and no survivors."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest

from harness.linux import readable, udp_backlog
from harness.nursery import Command, Spawn
from harness.nursery_client import Nursery, NurseryGone, ProcessGone
from traces.events import NURSERY, AnyEvent, Continued, Died, Spawned, Suspended, decode_lines

STAND_IN = """
import json, os, signal, socket, time
from pathlib import Path

def bind(port_file):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        Path(port_file + ".new").write_text(str(own.getsockname()[1]))
        os.rename(port_file + ".new", port_file)
        time.sleep(3600)

def stamp(file):
    Path(file).write_text(str(time.monotonic_ns()))

def describe(file):
    fds = [os.readlink(f"/proc/self/fd/{fd}") for fd in sorted(os.listdir("/proc/self/fd"))[:-1]]
    Path(file).write_text(json.dumps([fds, signal.getsignal(signal.SIGINT), os.getsid(0)]))

def halting():
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)

def answer(word, fd):
    socket.socket(fileno=fd).send(word.encode())
"""

CONTROLLER = """
import os, signal, sys, time
from pathlib import Path
import psutil
from harness.nursery_client import Nursery
here = Path(sys.argv[1])
say = lambda: print(*pids, flush=True)
sys.path.insert(0, sys.argv[1])
with Nursery(here / "nursery.jsonl", ["stand_in"], here / "nursery.err") as nursery:
    for node in (1, 2, 3):
        nursery.spawn(node, 1, "stand_in:bind", [str(here / f"port-{node}")], here / "node.err")
    while len(list(here.glob("port-?"))) < 3:
        time.sleep(0.001)
    nursery.signal(2, signal.SIGSTOP)
    nursery.wait_state(2, "stopped")
    pids = [nursery.pid(node) for node in (1, 2, 3)]
    pids.append(psutil.Process(pids[0]).ppid())
    exec(sys.argv[2])
"""


def until(condition: Callable[[], bool], within_s: float = 10.0) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def gone(*pids: int) -> bool:
    """Not even a zombie is left (orphans are reaped by init, which may take its time)."""
    return until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def trace(here: Path) -> list[AnyEvent]:
    return decode_lines((here / "nursery.jsonl").read_bytes())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def nursery(here: Path) -> Iterator[Nursery]:
    with Nursery(here / "nursery.jsonl", ["stand_in"], here / "nursery.err") as nursery:
        yield nursery


def sleeper(nursery: Nursery, here: Path, target: int = 1, life: int = 1) -> int:
    return nursery.spawn(target, life, "time:sleep", [3600], here / f"{target}.err")


# --- births -------------------------------------------------------------------------------


def test_a_process_runs_its_entry_with_its_arguments(nursery: Nursery, here: Path) -> None:
    pid = nursery.spawn(1, 1, "os:mkdir", [str(here / "made")], here / "1.err")
    nursery.wait_state(1, "dead")
    assert (here / "made").is_dir()
    spawned, died = nursery.poll()
    common = {"target": 1, "life": 1, "inc": NURSERY}
    assert spawned == Spawned(**common, pid=pid, at=spawned.at)
    assert died == Died(**common, status=0, at=died.at, n=1)


def test_a_birth_is_stamped_before_anything_the_child_does(nursery: Nursery, here: Path) -> None:
    err = str(here / "err")
    nursery.spawn_many(Spawn(k, 1, err, "stand_in:stamp", (str(here / f"{k}"),)) for k in range(50))
    for k in range(50):
        nursery.wait_state(k, "dead")
    spawned = {e.target: e.at for e in trace(here) if isinstance(e, Spawned)}
    assert len(spawned) == 50
    assert all(at < int((here / f"{k}").read_text()) for k, at in spawned.items())


def test_a_child_has_nothing_of_the_nurserys(nursery: Nursery, here: Path) -> None:
    nursery.spawn(1, 1, "stand_in:describe", [str(here / "out")], here / "1.err")
    nursery.wait_state(1, "dead")
    fds, on_interrupt, session = json.loads((here / "out").read_text())
    assert fds == ["/dev/null", str(here / "1.err"), str(here / "1.err")]
    assert on_interrupt == signal.SIG_IGN
    assert session != os.getsid(0)


def test_a_descriptor_can_be_passed_to_a_child(nursery: Nursery, here: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        fds = [theirs.fileno()]
        nursery.spawn(0, 1, "stand_in:answer", ["hello"], here / "relay.err", fds)
        assert ours.recv(100) == b"hello"


@pytest.mark.parametrize(
    ("birth", "words"),
    [
        (Spawn(1, 1, "err", "sys:exit", (3,)), r"node 1 \(life 1\) ended with status 3$"),
        (Spawn(1, 1, "err", "math:sqrt", (-1,)), r"(?s)status 1; its stderr.*ValueError: math dom"),
        (
            Command(0, 1, "err", ("sh", "-c", "echo $0; exit 4", "x.json")),
            r"(?s)relay.* 4;.*x.json",
        ),
        (Command(1, 1, "err", ("./no-such-program",)), r"(?s)status 1; .*FileNotFoundError"),
    ],
    ids=["exit", "exception", "another-language", "not-there"],
)
def test_a_process_that_ends_too_early_is_quoted(
    nursery: Nursery, here: Path, birth: Spawn | Command, words: str
) -> None:
    nursery.spawn_many([msgspec.structs.replace(birth, stderr=str(here / "err"))])
    with pytest.raises(ProcessGone, match=words):
        nursery.wait_state(birth.target, "stopped")


def test_a_hundred_processes_live_at_once_and_are_all_reaped(nursery: Nursery, here: Path) -> None:
    err = str(here / "err")
    births: list[Spawn | Command] = [Spawn(k, 1, err, "time:sleep", (3600,)) for k in range(100)]
    births.append(Command(100, 1, err, ("sleep", "3600")))
    pids = nursery.spawn_many(births)
    assert len(set(pids)) == 101
    assert all(psutil.pid_exists(pid) for pid in pids)
    nursery.close()
    nursery.close()  # the second time, nothing
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert {nursery.state(birth.target) for birth in births} == {"dead"}
    died = [e for e in trace(here) if isinstance(e, Died)]
    assert {(e.target, e.signal) for e in died} == {(k, signal.SIGKILL) for k in range(101)}


def test_a_target_has_one_living_process_and_many_lives(nursery: Nursery, here: Path) -> None:
    sleeper(nursery, here, life=1)
    with pytest.raises(ValueError, match="node 1 has a living process"):
        sleeper(nursery, here, life=2)
    nursery.signal(1, signal.SIGKILL)
    nursery.wait_state(1, "dead")
    pid = sleeper(nursery, here, life=2)
    assert (nursery.state(1), nursery.pid(1)) == ("running", pid)


# --- signals and states -------------------------------------------------------------------


def test_every_change_of_state_is_reported_and_in_the_trace(nursery: Nursery, here: Path) -> None:
    sleeper(nursery, here)
    stopped = nursery.signal(1, signal.SIGSTOP)
    nursery.wait_state(1, "stopped")
    assert nursery.seen(1) == "stopped"
    continued = nursery.signal(1, signal.SIGCONT)
    nursery.wait_state(1, "running")
    killed = nursery.signal(1, signal.SIGKILL)
    assert readable(nursery.fileno(), 5)
    reports = nursery.poll()
    assert (nursery.state(1), nursery.seen(1)) == ("dead", "")
    assert [type(e) for e in reports] == [Spawned, Suspended, Continued, Died]
    assert reports == trace(here)
    at = [e.at for e in reports]
    assert at[0] < stopped < at[1] < continued < at[2] < killed < at[3]
    assert [e.n for e in reports] == [0, 1, 2, 3]


def test_who_stops_again_at_once_is_seen_to_have_run(nursery: Nursery, here: Path) -> None:
    """As a node does that goes on from a pause and is at a point: the kernel tells of the stop."""
    nursery.spawn(1, 1, "stand_in:halting", [], here / "1.err")
    for _ in range(20):
        nursery.wait_state(1, "stopped")
        nursery.signal(1, signal.SIGCONT)
        nursery.wait_state(1, "running")
    nursery.wait_state(1, "stopped")
    assert [type(e) for e in trace(here)] == [Spawned, *[Suspended, Continued] * 20, Suspended]


def test_a_signal_to_the_dead_says_how_they_died(nursery: Nursery, here: Path) -> None:
    pid = sleeper(nursery, here)
    os.kill(pid, signal.SIGTERM)
    assert gone(pid)  # reaped, though its report is still unread
    with pytest.raises(ProcessGone, match="was ended by signal 15"):
        nursery.signal(1, signal.SIGSTOP)


def test_a_state_that_does_not_come_is_a_timeout(nursery: Nursery, here: Path) -> None:
    sleeper(nursery, here)
    assert not readable(nursery.fileno(), 0)
    with pytest.raises(TimeoutError, match="node 1 is running, not stopped"):
        nursery.wait_state(1, "stopped", within_s=0.01)


def test_a_paused_process_has_a_backlog(nursery: Nursery, here: Path) -> None:
    nursery.spawn(1, 1, "stand_in:bind", [str(here / "port")], here / "1.err")
    assert until((here / "port").exists)
    port = int((here / "port").read_text())
    assert udp_backlog(port) == (0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(3000):
            sender.sendto(bytes(200), ("127.0.0.1", port))
    backlog = udp_backlog(port)
    assert backlog.queued_bytes > 10 * 200
    assert 0 < backlog.drops < 3000


# --- ends ---------------------------------------------------------------------------------


def test_a_forgotten_handle_leaves_no_process(here: Path) -> None:
    nursery = Nursery(here / "nursery.jsonl", [], here / "nursery.err")
    pid = sleeper(nursery, here)
    parent = psutil.Process(pid).ppid()
    del nursery
    assert not psutil.pid_exists(pid)
    assert not psutil.pid_exists(parent)


def test_a_module_that_cannot_be_preloaded_is_named(here: Path) -> None:
    with (
        pytest.raises(NurseryGone, match="No module named 'no_such_protocol'"),
        Nursery(here / "nursery.jsonl", ["no_such_protocol"], here / "nursery.err") as nursery,
    ):
        sleeper(nursery, here)


def test_no_child_survives_a_sigkill_of_the_nursery(here: Path) -> None:
    nursery = Nursery(here / "nursery.jsonl", [], here / "nursery.err")
    running, stopped = sleeper(nursery, here, 1), sleeper(nursery, here, 2)
    nursery.signal(2, signal.SIGSTOP)
    nursery.wait_state(2, "stopped")
    os.kill(psutil.Process(running).ppid(), signal.SIGKILL)
    with pytest.raises(NurseryGone, match="ended with status -9"):
        nursery.wait_state(1, "stopped")
    assert gone(running, stopped)
    with pytest.raises(NurseryGone):
        nursery.close()


@pytest.mark.parametrize(
    ("ending", "signo"),
    [
        ("say(); time.sleep(60)", signal.SIGKILL),
        ("say(); time.sleep(60)", signal.SIGTERM),
        ("say(); time.sleep(60)", signal.SIGINT),
        ("say(); 1 / 0", 0),
        ("say(); os._exit(0)", 0),
        ("os.fork() and say(); time.sleep(60)", signal.SIGKILL),
    ],
    ids=["sigkill", "sigterm", "ctrl-c", "exception", "abrupt-exit", "sigkill-after-a-fork"],
)
def test_no_child_survives_the_end_of_the_controller(here: Path, ending: str, signo: int) -> None:
    argv = [sys.executable, "-c", CONTROLLER, str(here), ending]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
    ) as controller:
        assert controller.stdout is not None
        pids = [int(word) for word in controller.stdout.readline().split()]
        assert len(pids) == 4  # three nodes and the nursery
        if signo:  # Ctrl-C goes to the whole group of the terminal
            (os.killpg if signo == signal.SIGINT else os.kill)(controller.pid, signo)
        controller.wait(10)
        none_left = gone(*pids)
        if "fork" in ending:  # the copy is the test's own to end, and its pipe with it
            os.killpg(controller.pid, signal.SIGKILL)
        assert none_left
    died = {e.target: e.signal for e in trace(here) if isinstance(e, Died)}
    assert died == dict.fromkeys((1, 2, 3), signal.SIGKILL)
    for node in (1, 2, 3):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
            again.bind(("127.0.0.1", int((here / f"port-{node}").read_text())))


def test_the_real_time_priority_of_the_controller_is_not_inherited() -> None:
    code = (
        "import os; from harness.linux import become_realtime; note = become_realtime()\n"
        "allowed = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR\n"
        "assert ('has real-time' in note) == allowed, note\n"
        "pid = os.fork() or os._exit(os.sched_getscheduler(0) != os.SCHED_OTHER)\n"
        "assert os.waitpid(pid, 0)[1] == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

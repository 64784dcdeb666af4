"""The node program, a real process on a real socket, spoken to as a peer would."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.real import reserve
from nodes.bully import Bully
from nodes.config import NodeConfig, Point, write
from nodes.protocol import Call, Procedure
from nodes.wire import LARGEST, Message, decode, encode
from traces.events import AnyEvent, Received, Sent, TimedOut, decode_lines
from traces.run import Timing

KEY = 77


class Slow(Bully):
    """Computes for a while before its first request leaves."""

    def recovery(self) -> Procedure:
        until = time.monotonic_ns() + 15_000_000
        while time.monotonic_ns() < until:
            pass
        yield Call(1, "AreYouThere")


class Bench:
    """One node, and this test in the place of its only peer, node 1."""

    def __init__(
        self,
        folder: Path,
        lateness: bool = False,
        t_p_ms: float = 20,
        protocol: type[Bully] = Bully,
        **settings: Any,
    ) -> None:
        # A node that this machine made late forgets what it was sent: off, unless a test asks.
        self.peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.peer.bind(("127.0.0.1", 0))
        self.peer.settimeout(5)
        self.holder = reserve()
        self.address = self.holder.getsockname()
        self.trace, self.path = folder / "trace.jsonl", folder / "config.json"
        # Node 2 of {1, 2} asks nobody above it, so what it sends is what this test provokes.
        self.config = NodeConfig(
            node=2, incarnation=1, nodes=(1, 2), bind=self.address,
            peers={1: self.peer.getsockname()}, cells=str(folder / "cells"),
            trace=str(self.trace), protocol=f"{protocol.__module__}:{protocol.__name__}", key=KEY,
            timing=Timing(t_p_ms=t_p_ms, check_ms=60_000, timeout_ms=60_000),
            lateness=lateness, **settings,
        )  # fmt: skip
        write(self.path, self.config)
        self.process = subprocess.Popen([sys.executable, "-m", "nodes", str(self.path)])
        self.m = 0
        self.wait(lambda es: any(e.__struct_config__.tag == "started" for e in es))

    def events(self) -> list[AnyEvent]:
        data = self.trace.read_bytes() if self.trace.exists() else b""
        return decode_lines(data[: data.rfind(b"\n") + 1])

    def wait(self, done: Callable[[list[AnyEvent]], bool]) -> list[AnyEvent]:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            events = self.events()
            if done(events):
                return events
            time.sleep(0.002)  # between two looks at the trace
        raise AssertionError(f"it never came: {self.events()[-5:]}")

    def discards(self, count: int) -> list[str]:
        def found(events: list[AnyEvent]) -> list[str]:
            return [e.why for e in events if hasattr(e, "why")]

        return found(self.wait(lambda events: len(found(events)) >= count))

    def send(self, data: bytes) -> None:
        self.peer.sendto(data, self.address)

    def message(self, kind: str = "AreYouThere", **fields: Any) -> bytes:
        self.m += 1
        values: dict[str, Any] = {
            "key": KEY, "src": 1, "inc": 1, "m": self.m, "kind": kind, "ack": False,
            "call": 1000 + self.m, "args": (),
        } | fields  # fmt: skip
        return encode(Message(**values))

    def asked(self, kind: str) -> Message:
        """The next datagram of this kind that is a request."""
        while True:
            message = decode(self.peer.recv(LARGEST))
            if not message.ack and message.kind == kind:
                return message

    def answer(self, kind: str) -> Message:
        """The next datagram of this kind that is an answer."""
        while True:
            message = decode(self.peer.recv(LARGEST))
            if message.ack and message.kind == kind:
                return message


@pytest.fixture
def bench(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Bench]:
    made = Bench(tmp_path, **getattr(request, "param", {}))
    yield made
    made.process.kill()
    made.process.wait()
    made.peer.close()
    made.holder.close()


def test_a_peer_gets_its_answer(bench: Bench) -> None:
    bench.send(bench.message())
    answer = bench.answer("AreYouThere")
    assert (answer.src, answer.inc, answer.call) == (2, 1, 1001)


def test_garbage_truncated_oversized_and_foreign_datagrams_are_counted_and_ignored(
    bench: Bench,
) -> None:
    whole = bench.message()
    stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    bench.send(b"\xc1\xff nonsense")
    bench.send(b"")
    bench.send(whole[:-4])
    bench.send(whole + b"x" * LARGEST)
    bench.send(bench.message(key=KEY + 1))
    bench.send(bench.message(src=7))
    bench.send(msgspec.msgpack.encode({"not": "a message"}))
    stranger.sendto(whole, bench.address)
    stranger.close()
    found = bench.discards(8)
    assert {why: found.count(why) for why in found} == {
        "garbage": 2, "truncated": 2, "oversized": 1, "foreign": 3,
    }  # fmt: skip
    bench.send(bench.message())
    assert bench.answer("AreYouThere").call == 1000 + bench.m


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_random_datagrams_do_not_hurt_it(bench: Bench, seed: int) -> None:
    import random

    chance = random.Random(seed)
    for _ in range(1000):
        bench.send(chance.randbytes(chance.choice([0, 1, 3, 20, 200, 3000])))
    bench.send(bench.message())
    assert bench.answer("AreYouThere")
    assert bench.process.poll() is None


@pytest.mark.parametrize("bench", [{"lateness": True}], indirect=True)
def test_a_node_that_was_stopped_too_long_starts_a_new_life(bench: Bench) -> None:
    os.kill(bench.process.pid, signal.SIGSTOP)
    bench.send(bench.message())
    time.sleep(0.1)  # longer than T_p is the point
    os.kill(bench.process.pid, signal.SIGCONT)
    events = bench.wait(lambda es: any(e.inc == 2 for e in es))
    names = [type(e).__name__ for e in events]
    slept = names.index("Overslept")
    assert names[slept + 1] == "Started"
    assert "Discarded" in names[:slept]  # what came while it was Down was never received


@pytest.mark.parametrize("bench", [{"lateness": True, "t_p_ms": 0.001}], indirect=True)
def test_a_node_that_is_late_in_the_first_steps_of_a_life_starts_another(bench: Bench) -> None:
    bench.wait(lambda es: any(e.inc == 4 for e in es))
    assert bench.process.poll() is None


@pytest.mark.parametrize("bench", [{"protocol": Slow}], indirect=True)
def test_t_counts_from_the_instant_at_which_a_request_leaves(bench: Bench) -> None:
    events = bench.wait(lambda es: any(isinstance(e, TimedOut) for e in es))
    asked = next(e for e in events if isinstance(e, Sent))
    gave_up = next(e for e in events if isinstance(e, TimedOut))
    assert gave_up.at - asked.at >= bench.config.timing.t_ms * 1e6


@pytest.mark.parametrize("bench", [{"protocol": Slow}], indirect=True)
def test_an_answer_that_is_here_when_its_time_is_up_has_come_in_time(bench: Bench) -> None:
    asked = bench.asked("AreYouThere")
    bench.process.send_signal(signal.SIGSTOP)
    os.waitpid(bench.process.pid, os.WUNTRACED)
    for _ in range(3):  # others before it
        bench.send(bench.message())
    bench.send(bench.message(ack=True, call=asked.call, args=(True,)))
    time.sleep(bench.config.timing.t_ms / 1e3)  # longer than it waits is the point
    bench.process.send_signal(signal.SIGCONT)
    events = bench.wait(lambda es: sum(isinstance(e, Received) for e in es) == 4)
    assert not any(isinstance(e, TimedOut) for e in events)


def test_an_armed_node_stops_itself_before_the_effect_of_the_event(bench: Bench) -> None:
    bench.config.points = (Point("sent", {"kind": "AreYouNormal", "ack": True}),)
    write(bench.path, bench.config)
    bench.process.send_signal(signal.SIGUSR1)
    bench.wait(lambda es: any(type(e).__name__ == "Armed" for e in es))
    bench.send(bench.message("AreYouNormal"))
    pid, status = os.waitpid(bench.process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    last = bench.events()[-1]
    assert getattr(last, "kind", "") == "AreYouNormal"
    bench.peer.settimeout(0.2)
    with pytest.raises(TimeoutError):
        bench.answer("AreYouNormal")
    os.kill(pid, signal.SIGKILL)


def test_a_sigkill_loses_no_event_that_had_an_effect(bench: Bench) -> None:
    answered = 0
    for _ in range(200):
        bench.send(bench.message())
        answered = bench.answer("AreYouThere").call
    bench.process.kill()
    bench.process.wait()
    calls = [e.call for e in bench.events() if type(e).__name__ == "Sent" and e.ack]  # type: ignore[union-attr]
    assert answered in calls


def test_a_wrong_config_is_one_clear_failure(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "nodes"], capture_output=True, text=True)
    assert done.returncode != 0
    assert "usage: python -m nodes CONFIG" in done.stderr

"""Failure detectors (S97 2): what each asks, when it reports, and to whom it plays dead."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.execute import Outcome
from harness.run import Run
from harness.scenario import scenario
from nodes.attendance import Ring
from nodes.detectors import Detector, Heartbeat, Piggyback, Ping
from nodes.kernel import MS, Kernel
from nodes.protocol import on
from nodes.reactive import Reactive
from nodes.wire import Message
from traces.events import AnyEvent, Played, Sent, Suspected, Watched
from traces.merge import read_trace
from traces.run import Timing

TIMING = Timing()
EVERY = [Ping, Heartbeat, Piggyback, Ring]
FOREVER = 20_000


class Client(Reactive):
    """Notes what its detector says; it asks for nothing itself."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.told: list[int] = []

    def down_sig(self, j: int) -> None:
        self.told.append(j)

    def on_recovery(self) -> None:
        pass

    def periodically(self) -> None:
        pass

    @on("Word")
    def word(self, j: int) -> None:
        """A message of the protocol."""


class Pair:
    """Nodes with this detector; a message takes a millisecond; the clock is the test's."""

    def __init__(self, detector: type[Detector], nodes: tuple[int, ...] = (1, 2, 3)) -> None:
        client = type("C", (Client,), {"detector": detector})
        self.now, self.events = 0, list[AnyEvent]()
        self.at: dict[int, Kernel] = {}
        self.flying: list[tuple[int, int, Sent]] = []
        self.late_ms: dict[tuple[int, int], int] = {}  # a link that is slower
        for i in nodes:
            self.at[i] = Kernel(i, 1, nodes, client, TIMING, {}, [0] * 9)
            self.at[i].start(0)

    def client(self, i: int) -> Client:
        made = self.at[i].protocol
        assert isinstance(made, Client)
        return made

    def fd(self, i: int) -> Detector:
        return self.client(i).fd

    def run(self, ms: float) -> "Pair":
        """Let this much time pass, a tenth of a millisecond a step."""
        end = self.now + round(ms * MS)
        while self.now < end:
            self.now += MS // 10
            for kernel in list(self.at.values()):
                if kernel.deadline <= self.now:
                    kernel.tick(self.now)
            for due, i, sent in [it for it in self.flying if it[0] <= self.now]:
                self.flying.remove((due, i, sent))
                if sent.to in self.at:
                    message = Message(0, i, 1, sent.m, sent.kind, sent.ack, sent.call, sent.args)
                    self.at[sent.to].receive(self.now, i, message)
            self._post()
        for kernel in self.at.values():
            kernel.tick(self.now)  # the test is about to ask something of it
        return self

    def _post(self) -> None:
        for i, kernel in self.at.items():
            for event in kernel.out:
                event.node, event.at = i, self.now
                self.events.append(event)
                if isinstance(event, Sent):
                    late = self.late_ms.get((i, event.to), 1)
                    self.flying.append((self.now + late * MS, i, event))
            kernel.out.clear()

    def sent(self, i: int, *kinds: str) -> int:
        return sum(isinstance(e, Sent) and e.node == i and e.kind in kinds for e in self.events)

    def suspected(self, i: int) -> list[tuple[int, float]]:
        return [
            (e.peer, e.at / MS) for e in self.events if isinstance(e, Suspected) and e.node == i
        ]


@pytest.mark.parametrize("detector", EVERY)
def test_a_monitored_node_that_is_up_is_never_reported(detector: type[Detector]) -> None:
    pair = Pair(detector)
    pair.fd(1).start(2, 3)
    assert pair.run(FOREVER / 10).client(1).told == []


@pytest.mark.parametrize("detector", EVERY)
@pytest.mark.parametrize("crashed_ms", [0.5, 3, 77, 130, 333, 512])
def test_a_crash_is_reported_once_and_within_the_latency_it_promises(
    detector: type[Detector], crashed_ms: float
) -> None:
    pair = Pair(detector)
    pair.fd(1).start(2, 3)
    pair.run(crashed_ms)
    del pair.at[2]
    pair.run(2 * detector.latency_ms(TIMING, 3))
    ((peer, at),) = pair.suspected(1)
    assert peer == 2
    assert at <= crashed_ms + detector.latency_ms(TIMING, 3)


@pytest.mark.parametrize("detector", EVERY)
def test_a_node_that_was_down_before_start_fd_is_reported(detector: type[Detector]) -> None:
    pair = Pair(detector)
    del pair.at[2]
    pair.fd(1).start(2)
    pair.run(TIMING.t_ms + 1)
    assert pair.client(1).told == [2]


@pytest.mark.parametrize("detector", EVERY)
def test_after_stop_fd_nothing_is_reported_and_nothing_sent(detector: type[Detector]) -> None:
    pair = Pair(detector)
    pair.fd(1).start(2)
    pair.run(30).fd(1).stop(2)
    pair.run(5)
    before = pair.sent(1, "AreYouAlive", "Watch") + pair.sent(2, "IAmAlive")
    del pair.at[3]  # so that no token goes round either
    pair.run(1)
    silent = pair.sent(1, "AreYouAlive", "Watch") + pair.sent(2, "IAmAlive") == before
    del pair.at[2]
    assert pair.run(3 * detector.latency_ms(TIMING, 3)).client(1).told == []
    assert silent


@pytest.mark.parametrize("detector", EVERY)
def test_start_fd_begins_anew_and_forgets_what_was_under_way(detector: type[Detector]) -> None:
    pair = Pair(detector)
    del pair.at[2]
    pair.fd(1).start(2)
    pair.run(TIMING.t_ms - 5).fd(1).start(2)
    assert pair.run(TIMING.t_ms - 5).client(1).told == []
    assert pair.run(6).client(1).told == [2]


@pytest.mark.parametrize("detector", EVERY)
def test_after_a_report_only_the_next_start_fd_makes_another(detector: type[Detector]) -> None:
    pair = Pair(detector)
    del pair.at[2]
    pair.fd(1).start(2)
    assert pair.run(3 * detector.latency_ms(TIMING, 3)).client(1).told == [2]
    pair.fd(1).start(2)
    assert pair.run(TIMING.t_ms + 1).client(1).told == [2, 2]


@pytest.mark.parametrize("detector", EVERY)
def test_who_plays_dead_is_reported_by_those_it_plays_dead_to_and_by_nobody_else(
    detector: type[Detector],
) -> None:
    pair = Pair(detector)
    pair.fd(1).start(2)
    pair.fd(3).start(2)
    pair.run(10).fd(2).play_dead(3)
    pair.run(2 * detector.latency_ms(TIMING, 3))
    assert pair.client(3).told == [2]
    assert pair.client(1).told == []


@pytest.mark.parametrize("detector", EVERY)
def test_who_plays_alive_again_is_not_reported(detector: type[Detector]) -> None:
    pair = Pair(detector)
    pair.fd(2).play_dead(3)
    pair.run(1).fd(2).play_alive(3)
    pair.fd(3).start(2)
    assert pair.run(2 * detector.latency_ms(TIMING, 3)).client(3).told == []


def test_a_watch_that_came_while_playing_dead_is_answered_on_playing_alive() -> None:
    pair = Pair(Heartbeat)
    pair.fd(2).play_dead(1)
    pair.fd(1).start(2)
    pair.run(10).fd(2).play_alive(1)
    assert pair.run(FOREVER / 20).client(1).told == []


@pytest.mark.parametrize("detector", EVERY)
def test_all_that_a_detector_is_told_and_says_is_in_the_trace(detector: type[Detector]) -> None:
    pair = Pair(detector)
    del pair.at[2]
    fd = pair.fd(1)
    fd.start(2)
    pair.run(TIMING.t_ms + 1)
    fd.stop(2, 3)
    fd.play_dead(2, 3)
    fd.play_alive(2, 3)
    pair.run(1)
    kinds = (Watched, Suspected, Played)
    said = [e for e in pair.events if isinstance(e, kinds) and e.node == 1]
    assert [type(e).__name__ for e in said] == [
        "Watched", "Suspected", "Watched", "Played", "Played",
    ]  # fmt: skip
    assert [getattr(e, "on", None) for e in said] == [True, None, False, None, None]
    assert [getattr(e, "dead", None) for e in said] == [None, None, None, True, False]


@pytest.mark.parametrize("detector", [Ping, Heartbeat])
def test_too_little_patience_reports_a_node_that_is_up(detector: type[Detector]) -> None:
    pair = Pair(type("Hasty", (detector,), {"patience": 0.01}))
    pair.fd(1).start(2)
    assert pair.run(10).client(1).told == [2]


def test_an_answer_to_an_earlier_question_is_none() -> None:
    pair = Pair(Ping)
    pair.late_ms[2, 1] = 45
    pair.fd(1).start(2)
    pair.run(20).fd(1).start(2)  # the first answer comes after this
    pair.late_ms[2, 1] = 1000
    pair.run(60)
    assert pair.client(1).told == [2]


def test_a_heartbeat_nobody_asked_for_is_told_to_stop() -> None:
    pair = Pair(Heartbeat)
    pair.late_ms[1, 2] = 1
    pair.fd(1).start(2)
    pair.run(5)
    watcher = pair.fd(1)
    assert isinstance(watcher, Heartbeat)
    watcher.forget(2)  # as if its Unwatch were lost
    pair.run(2 * TIMING.check_ms)
    before = pair.sent(2, "IAmAlive")
    assert pair.run(5 * TIMING.check_ms).sent(2, "IAmAlive") == before


def test_a_message_of_the_protocol_is_as_good_as_a_heartbeat() -> None:
    pair = Pair(Piggyback)
    pair.fd(1).start(2)
    pair.run(5)
    before = pair.sent(2, "IAmAlive")
    for _ in range(20):
        pair.client(2).send("Word", to=(1,))
        pair.run(TIMING.check_ms)
    assert pair.sent(2, "IAmAlive") == before
    assert pair.client(1).told == []
    del pair.at[2]
    assert pair.run(Piggyback.latency_ms(TIMING, 3)).client(1).told == [2]


def test_ping_asks_once_a_period_and_heartbeat_saves_the_question() -> None:
    messages = {}
    for detector in (Ping, Heartbeat):
        pair = Pair(detector)
        pair.fd(1).start(2)
        pair.run(10 * TIMING.check_ms)
        messages[detector] = pair.sent(1, "AreYouAlive", "Watch") + pair.sent(2, "IAmAlive")
    assert messages[Ping] == 20
    assert messages[Heartbeat] == 11  # one Watch


def test_one_token_goes_round_however_many_monitor_each_other() -> None:
    pair = Pair(Ring, (1, 2, 3, 4, 5))
    for i in pair.at:
        pair.fd(i).start(*(j for j in pair.at if j != i))
    period = Ring.period_ms(TIMING, 5)
    pair.run(4 * period)
    asked = sum(pair.sent(i, "AreYouAlive") for i in pair.at)
    before = sum(pair.sent(i, "Token") for i in pair.at)
    pair.run(10 * period)
    assert sum(pair.sent(i, "AreYouAlive") for i in pair.at) == asked
    assert sum(pair.sent(i, "Token") for i in pair.at) - before == 50


def test_a_ring_closes_again_without_the_dead_and_with_who_returns() -> None:
    pair = Pair(Ring, (1, 2, 3, 4))
    pair.run(1000)
    gone = pair.at.pop(3)
    pair.run(2000)
    before = pair.sent(4, "Token")
    assert pair.run(2000).sent(4, "Token") > before  # 2 passes it to 4
    pair.at[3] = gone
    pair.fd(3).start(1)
    before = pair.sent(3, "Token")
    assert pair.run(3000).sent(3, "Token") > before


@pytest.mark.parametrize("detector", EVERY)
@pytest.mark.parametrize("nodes", [2, 5, 20])
def test_a_latency_covers_the_period_and_the_time_out(detector: type[Detector], nodes: int) -> None:
    least = detector.period_ms(TIMING, nodes) + TIMING.t_ms
    assert detector.latency_ms(TIMING, nodes) > least


@pytest.mark.parametrize("engine", ["virtual", "real"])
@pytest.mark.parametrize("protocol", ["BullyFD", "BullyFDHeartbeat", "BullyFDRing"])
def test_every_monitored_crash_is_reported_in_time_on_both_engines(
    engine: str, protocol: str, run: Callable[..., Outcome]
) -> None:
    @scenario(nodes=4, protocol=f"nodes.bully_fd:{protocol}", expect={"S97-FD1": "holds"})
    def crash_after_crash(run: Run) -> None:
        """S97-FD1, FD2: the leader crashes, and its successor, long after they were elected."""
        run.start()
        for _ in range(2):
            run.settled()
            run.elapse(run.info.tau_fd_ms)
            run.kill("coordinator")
        run.settled()

    outcome = run(crash_after_crash, engine=engine)
    assert outcome.as_expected
    assert outcome["S97-FD2"] == "holds"
    assert any(isinstance(e, Suspected) for e in read_trace(outcome.run.trace))

"""Traces by hand: one method an event, a clock that moves a microsecond each time.

    t = Trace(3)
    t.start(1, 2, 3)
    t.elect(3, 1, 2)
    t.wait(5)
    t.kill(3)

Every method returns the event it wrote, so that a test can bend it afterwards.
"""

from collections import defaultdict
from typing import Any, TypeVar

from traces.chapters import State
from traces.cuts import Swept, sweep
from traces.events import (
    CONTROLLER,
    NURSERY,
    RELAY,
    AnyEvent,
    Became,
    Closed,
    Continued,
    Died,
    Dropped,
    Event,
    Injected,
    Opened,
    Overslept,
    Played,
    Received,
    Ruled,
    Sent,
    Started,
    Suspected,
    Suspended,
    TimedOut,
    Watched,
)
from traces.judge import judge
from traces.lives import History
from traces.margins import EVERY_CUT, Scope
from traces.properties import STOLLER_ASYNCHRONOUS, STOLLER_SYNCHRONOUS
from traces.run import RunInfo, Timing
from traces.verdicts import Verdict

E = TypeVar("E", bound=Event)
MS = 1_000_000
TIMING = Timing(t_m_ms=10.0, t_p_ms=10.0, check_ms=50.0, timeout_ms=100.0)


def info(nodes: int, lateness: bool = True) -> RunInfo:
    """A run of the bully with short times: T = 30 ms."""
    return RunInfo("by-hand", "", "bully", "virtual", 1, nodes, TIMING, lateness)


def stoller(nodes: int, asynchronous: bool = False, tau_fd_ms: float = 60.0) -> RunInfo:
    """A run of S97's algorithms with the same times: delta = 20 ms, tau = 50 ms."""
    about = info(nodes)
    about.properties = STOLLER_ASYNCHRONOUS if asynchronous else STOLLER_SYNCHRONOUS
    about.tau_fd_ms = tau_fd_ms
    return about


class Trace:
    """Events in their global order, as if recorded."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.events: list[AnyEvent] = []
        self.now = 1000 * MS
        self.inc: dict[int, int] = defaultdict(int)
        self.numbers: dict[int, int] = defaultdict(int)
        self.datagrams: dict[tuple[int, int], int] = defaultdict(int)
        self.calls = self.steps = 0
        self.controller(Opened(scenario="by-hand", engine="virtual", nodes=nodes))

    # --- writing ----------------------------------------------------------------------------

    def wait(self, ms: float) -> None:
        """Let time pass."""
        self.now += round(ms * MS)

    def _write(self, event: E, node: int, inc: int, stream: int) -> E:
        self.now += 1000
        event.at, event.node, event.inc, event.n = self.now, node, inc, self.numbers[stream]
        self.numbers[stream] += 1
        self.events.append(event)  # type: ignore[arg-type]
        return event

    def put(self, node: int, event: E) -> E:
        """Any event of a node."""
        return self._write(event, node, self.inc[node], node)

    def controller(self, event: E) -> E:
        return self._write(event, 0, CONTROLLER, -CONTROLLER)

    def relay(self, event: E) -> E:
        return self._write(event, 0, RELAY, -RELAY)

    def nursery(self, event: E) -> E:
        return self._write(event, 0, NURSERY, -NURSERY)

    def inject(self, verb: str, *nodes: int, **fields: Any) -> Injected:
        self.steps += 1
        return self.controller(Injected(step=self.steps, verb=verb, nodes=nodes, **fields))

    # --- lives ------------------------------------------------------------------------------

    def start(self, *nodes: int) -> None:
        """New processes: Started, then Down."""
        for node in nodes:
            self.inc[node] += 1
            self.numbers[node] = 0
            self.put(node, Started(protocol="bully"))
            self.became(node, "Down")

    def kill(self, node: int) -> Injected:
        killed = self.inject("kill", node)
        self.died(node, 9)
        return killed

    def died(self, node: int, signal: int = 0) -> Died:
        return self.nursery(Died(target=node, life=self.inc[node], signal=signal))

    def pause(self, node: int, asked: bool = True) -> Suspended:
        if asked:
            self.inject("pause", node, args={"contract": "buffer"})
        return self.nursery(Suspended(target=node, life=self.inc[node]))

    def resume(self, node: int) -> Continued:
        self.inject("resume", node)
        return self.nursery(Continued(target=node, life=self.inc[node]))

    def overslept(self, node: int, since: int) -> Overslept:
        """The node fails itself; its next life goes on in the same file."""
        event = self.put(node, Overslept(since=since, late=self.now - since))
        self.inc[node] += 1
        self.put(node, Started(protocol="bully"))
        self.became(node, "Down")
        return event

    def close(self) -> None:
        self.controller(Closed())

    # --- the protocol -----------------------------------------------------------------------

    def became(self, node: int, s: str, c: int = 0, **fields: Any) -> Became:
        return self.put(node, Became(s=s, c=c, **fields))

    def normal(self, coordinator: int, *nodes: int, d: str = "task") -> None:
        """These nodes are Normal under the coordinator."""
        for node in nodes:
            self.became(node, "Normal", coordinator, h=coordinator, d=d)

    def group(self, leader: int, *nodes: int, g: str) -> None:
        """These nodes are Normal in group g under the leader."""
        for node in nodes:
            self.became(node, "Normal", leader, g=g, d="task")

    def elect(self, p: int, *up: int, d: str = "task") -> None:
        """A whole election of p with these others, as GM82 Appendix I has it."""
        self.became(p, "Election", h=p)
        for k, j in enumerate(up):
            self.call(p, j, "Halt", Became(s="Election", h=p))
            self.became(p, "Election", h=p, up=up[: k + 1])
        self.became(p, "Reorganization", p, h=p, up=up)
        for j in up:
            self.call(p, j, "NewCoordinator", Became(s="Reorganization", c=p, h=p))
        for j in up:
            self.call(p, j, "Ready", Became(s="Normal", c=p, h=p, d=d))
        self.became(p, "Normal", p, h=p, up=up, d=d)

    def call(self, i: int, j: int, kind: str, effect: Became | None = None) -> None:
        """A CALL that is answered at once."""
        request = self.receive(self.send(i, j, kind))
        if effect is not None:
            self.put(j, effect)
        self.receive(self.answer(request))

    def send(self, i: int, j: int, kind: str = "AreYouThere", call: int = 0, **more: Any) -> Sent:
        self.calls += 1
        self.datagrams[i, j] += 1
        m = self.datagrams[i, j]
        return self.put(i, Sent(to=j, m=m, kind=kind, call=call or self.calls, **more))

    def receive(self, sent: Sent) -> Received:
        event = Received(src=sent.node, sinc=sent.inc, m=sent.m, kind=sent.kind, ack=sent.ack,
                         call=sent.call, args=sent.args)  # fmt: skip
        return self.put(sent.to, event)

    def answer(self, request: Received) -> Sent:
        return self.send(request.node, request.src, request.kind, request.call, ack=True)

    def tell(self, i: int, j: int, kind: str = "Norm?") -> Received:
        """A message that is no CALL, received at once."""
        self.datagrams[i, j] += 1
        return self.receive(self.put(i, Sent(to=j, m=self.datagrams[i, j], kind=kind)))

    def silence(self, i: int, j: int) -> TimedOut:
        """A CALL that is not answered within T."""
        sent = self.send(i, j)
        self.wait(TIMING.t_ms)
        return self.gave_up(sent)

    def gave_up(self, sent: Sent) -> TimedOut:
        return self.put(sent.node, TimedOut(to=sent.to, call=sent.call, kind=sent.kind))

    # --- a failure detector (S97 2) -------------------------------------------------------------

    def watch(self, i: int, *peers: int) -> Watched:
        return self.put(i, Watched(peers=peers))

    def unwatch(self, i: int, *peers: int) -> Watched:
        return self.put(i, Watched(peers=peers, on=False))

    def suspect(self, i: int, j: int) -> Suspected:
        return self.put(i, Suspected(peer=j))

    def play(self, j: int, *peers: int, dead: bool = True) -> Played:
        return self.put(j, Played(peers=peers, dead=dead))

    # --- the relay --------------------------------------------------------------------------

    def cut(self, rule: int, *links: tuple[int, int]) -> Ruled:
        return self.rule(rule, "cut", *links)

    def rule(self, rule: int, verb: str, *links: tuple[int, int]) -> Ruled:
        self.inject(verb, links=links, rule=rule)
        return self.relay(Ruled(rule=rule, verb=verb, links=links))

    def mend(self, rule: int, *links: tuple[int, int]) -> Ruled:
        self.inject("mend", links=links, rule=rule)
        return self.relay(Ruled(rule=rule, verb="cut", links=links, on=False))

    def drop(self, sent: Sent, rule: int) -> Dropped:
        return self.relay(Dropped(src=sent.node, dst=sent.to, k=sent.m, rule=rule))

    # --- reading ----------------------------------------------------------------------------

    def history(self) -> History:
        return History(self.events, self.nodes)

    def sweep(self, by_group: bool = False) -> tuple[Swept, Swept]:
        return sweep(self.history(), by_group)

    def state(self, node: int) -> State:
        """The last state of a node."""
        return [state for _, state in self.history().steps if state.node == node][-1]

    def judge(self, lateness: bool = True, scope: Scope = EVERY_CUT) -> dict[str, Verdict]:
        """Close the run if need be, and judge it."""
        return self.judge_as(info(self.nodes, lateness), scope)

    def judge_as(self, about: RunInfo, scope: Scope = EVERY_CUT) -> dict[str, Verdict]:
        """Close the run if need be, and judge it as this one."""
        if not isinstance(self.events[-1], Closed):
            self.wait(TIMING.t_ms)
            self.close()
        return {verdict.id: verdict for verdict in judge(self.events, about, scope)}

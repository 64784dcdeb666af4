"""The obvious way to judge A8 and A9: every send, pause, request and time-out on its own.

Shares no code with the analyzer. It says what is broken, not by what: causes are tied to sends
by link and time (docs/verdicts.md, Limits), so where a rule dropped and a node was paused at
once either assumption may be named.
"""

from dataclasses import dataclass, field

from tests.oracle_lives import (
    LifeSpan,
    Stop,
    all_lives,
    horizon_of,
    is_closed,
    last_line,
    stops_of,
)
from traces.events import AnyEvent, Dropped, Received, Sent, TimedOut
from traces.run import RunInfo
from traces.validity import event_id
from traces.verdicts import EventId

Named = dict[EventId, set[str]]


@dataclass
class Broken:
    """Sends not delivered in time with the assumptions that may be named; pauses; requests."""

    sends: Named = field(default_factory=dict)
    pauses: set[EventId] = field(default_factory=set)
    requests: set[EventId] = field(default_factory=set)


class Environment:
    """The trace, and the few lists every question needs."""

    def __init__(self, events: list[AnyEvent], info: RunInfo) -> None:
        self.events, self.horizon = events, horizon_of(events)
        self.t_m, self.t_p = (round(ms * 1e6) for ms in (info.timing.t_m_ms, info.timing.t_p_ms))
        self.lives = all_lives(events, info.nodes)
        self.stops = [stop for node in self.lives for stop in stops_of(events, node)]
        self.sends = [e for e in events if isinstance(e, Sent)]
        self.receipts = [e for e in events if isinstance(e, Received)]

    def broken(self) -> Broken:
        found = Broken()
        for sent in self.sends:
            if self.undelivered(sent):
                found.sends[event_id(sent)] = self.names(sent)
        for stop in self.stops:
            lasted = (stop.end if stop.how != "open" else self.horizon) - stop.start
            if stop.how in ("resumed", "open") and lasted > self.t_p:
                found.pauses.add(event_id(stop.seen))
        found.requests = {event_id(r) for r in self.receipts if self.is_slow(r)}
        found.requests |= {
            event_id(request)
            for e in self.events
            if isinstance(e, TimedOut)
            for request in self.unanswered(e)
        }
        return found

    def life_up(self, node: int, a: int, b: int) -> LifeSpan | None:
        return next((life for life in self.lives[node] if life.up_during(a, b)), None)

    def receipt(self, sent: Sent) -> Received | None:
        """The first receipt of this datagram."""
        name = sent.node, sent.inc, sent.to, sent.m
        return next((r for r in self.receipts if (r.src, r.sinc, r.node, r.m) == name), None)

    # --- A8 -------------------------------------------------------------------------------

    def undelivered(self, sent: Sent) -> bool:
        """It was owed within T_m, and did not come."""
        due, receipt = sent.at + self.t_m, self.receipt(sent)
        if receipt is not None and receipt.at <= due:
            return False
        owed = due <= self.horizon and self.life_up(sent.to, sent.at, due) is not None
        return owed and (receipt is not None or self.was_sent(sent))

    def was_sent(self, sent: Sent) -> bool:
        """Its sender lived to send what it wrote."""
        for life in self.lives[sent.node]:
            if life.inc == sent.inc:
                last = last_line(self.events, life) is sent
                if life.down is None:
                    return is_closed(self.events) or not last
                return life.down > sent.at and not last
        return True

    def names(self, sent: Sent) -> set[str]:
        due = sent.at + self.t_m
        ends = [s for s in self.stops if s.node in (sent.node, sent.to)]
        if not any(s.start <= due and self.ran_again(s) >= sent.at for s in ends):
            return {"A8"}
        dropped = any(
            isinstance(e, Dropped) and (e.src, e.dst) == (sent.node, sent.to)
            and sent.at <= e.at <= due
            for e in self.events
        )  # fmt: skip
        return {"A8", "A9"} if dropped else {"A9"}

    def ran_again(self, stop: Stop) -> int:
        return stop.end if stop.how != "open" else self.events[-1].at

    # --- A9 -------------------------------------------------------------------------------

    def answers(self, request: Received) -> list[Sent]:
        return [
            s for s in self.sends
            if s.ack and (s.node, s.inc, s.to, s.call)
            == (request.node, request.inc, request.src, request.call)
        ]  # fmt: skip

    def is_first(self, request: Received) -> bool:
        name = request.src, request.sinc, request.node, request.m
        first = next(r for r in self.receipts if (r.src, r.sinc, r.node, r.m) == name)
        return first is request

    def is_slow(self, request: Received) -> bool:
        """A request whose first answer took more than T_p, of a node that was up meanwhile."""
        if request.ack or not request.call or not self.is_first(request):
            return False
        answers = self.answers(request)
        return bool(answers) and answers[0].at - request.at > self.t_p and any(
            life.inc == request.inc and life.up_during(request.at, answers[0].at)
            for life in self.lives[request.node]
        )  # fmt: skip

    def unanswered(self, gave_up: TimedOut) -> list[Received]:
        """The request, if it was received by a node that stayed up and never answered."""
        calls = [
            s for s in self.sends
            if not s.ack and (s.node, s.inc, s.to, s.call)
            == (gave_up.node, gave_up.inc, gave_up.to, gave_up.call)
        ]  # fmt: skip
        if not calls or not gave_up.call or gave_up.at > self.horizon:
            return []
        life = self.life_up(gave_up.to, calls[-1].at, gave_up.at)
        request = self.receipt(calls[-1])
        if life is None or request is None or request.inc != life.inc:
            return []
        answered = any(
            s.ack and (s.node, s.inc, s.to, s.call)
            == (life.node, life.inc, gave_up.node, gave_up.call)
            for s in self.sends
        )  # fmt: skip
        return [] if answered else [request]

    # --- effects --------------------------------------------------------------------------

    def felt(self, sent: Sent) -> int:
        """Until when a message is felt that came late or never: the last time-out it led to."""
        receipt = self.receipt(sent)
        came = receipt.at if receipt else sent.at
        caller = sent.to if sent.ack else sent.node
        gave_up = [
            e for e in self.events
            if isinstance(e, TimedOut) and (e.node, e.call) == (caller, sent.call)
            and (sent.ack or e.inc == sent.inc)
        ]  # fmt: skip
        return max([came, *(self.last_silence(e) for e in gave_up)]) + self.t_p

    def last_silence(self, gave_up: TimedOut) -> int:
        """The process goes on to ask others within T_p, and may wait for them in vain too."""
        asked = [
            s.call for s in self.sends
            if not s.ack and (s.node, s.inc) == (gave_up.node, gave_up.inc)
            and gave_up.at <= s.at <= gave_up.at + self.t_p
        ]  # fmt: skip
        later = [
            e for e in self.events
            if isinstance(e, TimedOut) and (e.node, e.inc) == (gave_up.node, gave_up.inc)
            and e.call in asked and e.at > gave_up.at
        ]  # fmt: skip
        return max([gave_up.at, *(self.last_silence(e) for e in later)])

"""Why a message was late or lost, in words, from what the relay and the nursery recorded.

Rules, first that fits: a rule dropped it; the receiver or the sender was paused (A9); a rule
held or delayed it; the receiver's buffer overflowed; it came out of order and was discarded
(GM82 II, Assumption 7); nobody asked for it.

Limits: relay events are tied to sends by link and time (traces.traffic).
"""

from collections.abc import Hashable

from traces.chapters import Pause
from traces.events import Delayed, Dropped, Held, Received, Sent
from traces.lives import History
from traces.traffic import Carried, Traffic
from traces.validity import event_id
from traces.verdicts import Break

HOW = {
    "pause": "was paused",
    "point": "stopped at a trace point",
    "nobody": "was stopped, nobody asked for it,",
}


class Blame:
    """Finds the cause of one late or lost message. Ask in the order of the sends."""

    def __init__(self, history: History, traffic: Traffic, t_m: int) -> None:
        self.history, self.traffic, self.t_m = history, traffic, t_m
        self._done: Carried | None = None

    def pause_of(self, sent: Sent, received: Received | None) -> Pause | None:
        """The pause that made it late, unless a rule dropped it anyway."""
        due = sent.at + self.t_m
        self._done = self.traffic.claim(sent.node, sent.to, sent.at, due)
        if isinstance(self._done, Dropped) and self._verb(self._done) != "pause":
            return None
        pause = self.history.paused(sent.to, sent.at, due)
        return pause or self.history.paused(sent.node, sent.at, due)

    def of(self, i: int, sent: Sent, received: Received | None) -> tuple[Hashable, Break]:
        """The break of A8 that send i shows, and its cause (equal causes are one break)."""
        cause, words, end = self._cause(i, sent, received)
        message = f"{sent.kind}{'/ack' if sent.ack else ''} {sent.node}->{sent.to}"
        events = [event_id(sent)] + ([event_id(received)] if received else [])
        link = (sent.node, sent.to)
        return cause, Break("A8", sent.at, end, f"{message} {words}", link, (link,),
                            events=events, asked=self._done is not None)  # fmt: skip

    def _cause(self, i: int, sent: Sent, received: Received | None) -> tuple[Hashable, str, int]:
        done, end = self._done, received.at if received else sent.at + self.t_m
        if done is not None:
            rule = self.history.rules.get(done.rule)
            by = rule.words if rule else f"rule {done.rule}"
            off = (rule.off if rule else None) or self.history.ended
            match done:
                case Dropped():
                    return ("rule", done.rule), f"was dropped by {by}", max(end, off)
                case Held():
                    end = received.at if received else max(end, off)
                    return ("rule", done.rule), f"was held by {by}", end
                case Delayed():
                    words = f"was delayed by {done.by / 1e6:.1f} ms by {by}"
                    return ("rule", done.rule), words, max(end, done.at + done.by)
        return ("send", i), self._unasked(sent, received), end

    def _unasked(self, sent: Sent, received: Received | None) -> str:
        if received is not None:
            took = (received.at - sent.at) / 1e6
            return f"took {took:.1f} ms: nobody asked for it, the machine was slow"
        datagram = sent.node, sent.inc, sent.to, sent.m
        if datagram in self.traffic.discarded:
            return f"was discarded as {self.traffic.discarded[datagram].why}"
        if any(w.target == sent.to and w.overflow and w.at >= sent.at
               for w in self.history.witnessed):  # fmt: skip
            return f"was lost: the receive buffer of node {sent.to} overflowed"
        return "was lost: nobody asked for it"

    def _verb(self, done: Carried) -> str:
        rule = self.history.rules.get(done.rule)
        return rule.verb if rule else ""

    def pause_words(self, pause: Pause) -> str:
        """The pause as a cause."""
        how = HOW[pause.by]
        if pause.until is None:
            return f"node {pause.node} {how} and did not go on"
        return f"node {pause.node} {how} for {(pause.until - pause.at) / 1e6:.1f} ms"

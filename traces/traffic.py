"""The messages of a run: every send with its receipt, and what the relay did to the links.

Rules: a datagram is named by (src, life of src, dst, m). The first receipt is its receipt;
any other is an echo. What the relay did is tied to a send by link and time, because the relay
does not read what it carries.

Limits: two losses on one link within T_m may swap their causes; the counts stay right.
"""

from collections import defaultdict

from traces.events import AnyEvent, Delayed, Discarded, Dropped, Held, Received, Released, Sent

Datagram = tuple[int, int, int, int]
Carried = Dropped | Delayed | Held | Released


class Traffic:
    """Sends and receipts by datagram, as indices into the trace; read in one pass."""

    def __init__(self, events: list[AnyEvent]) -> None:
        self.events = events
        self.sent: dict[Datagram, int] = {}
        self.received: dict[Datagram, int] = {}
        self.echoes: list[tuple[Datagram, int]] = []
        self.discarded: dict[Datagram, Discarded] = {}
        self.carried: defaultdict[tuple[int, int], list[Carried]] = defaultdict(list)
        self._claimed: defaultdict[tuple[int, int], int] = defaultdict(int)
        for i, event in enumerate(events):
            kind = type(event)
            if kind is Sent:
                self.sent[event.node, event.inc, event.to, event.m] = i  # type: ignore[union-attr]
            elif kind is Received:
                self._receive(i, event)  # type: ignore[arg-type]
            elif isinstance(event, Carried):
                self.carried[event.src, event.dst].append(event)
            elif isinstance(event, Discarded) and event.m:
                self.discarded[event.src, event.sinc, event.node, event.m] = event

    def _receive(self, i: int, event: Received) -> None:
        datagram = event.src, event.sinc, event.node, event.m
        if datagram in self.received:
            self.echoes.append((datagram, i))
        else:
            self.received[datagram] = i

    def send_of(self, datagram: Datagram) -> Sent | None:
        """The send of a datagram, if the trace has it."""
        at = self.sent.get(datagram)
        return None if at is None else self.events[at]  # type: ignore[return-value]

    def receipt_of(self, datagram: Datagram) -> Received | None:
        """The first receipt of a datagram, if there is one."""
        at = self.received.get(datagram)
        return None if at is None else self.events[at]  # type: ignore[return-value]

    def claim(self, src: int, dst: int, start: int, end: int) -> Carried | None:
        """The next thing the relay did to this link in [start, end], each given out once.

        Ask in the order of the sends.
        """
        done = self.carried.get((src, dst), [])
        at = self._claimed[src, dst]
        while at < len(done) and (done[at].at < start or isinstance(done[at], Released)):
            at += 1
        if at < len(done) and done[at].at <= end:
            self._claimed[src, dst] = at + 1
            return done[at]
        self._claimed[src, dst] = at
        return None

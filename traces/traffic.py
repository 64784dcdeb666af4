"""The messages of a run: every send with its receipt, and what the relay did to the links.

Rules: a datagram is named by (src, life of src, dst, m). The first receipt is its receipt;
any other is an echo. What the relay did is tied to a send by link and time, because the relay
does not read what it carries.

Limits: two losses on one link within T_m may swap their causes; the counts stay right.
"""

from array import array
from collections import defaultdict
from typing import cast

from traces.events import AnyEvent, Delayed, Discarded, Dropped, Held, Received, Released, Sent

Datagram = tuple[int, int, int, int]
Carried = Dropped | Delayed | Held | Released
NONE = -1


class Traffic:
    """Sends and receipts, as indices into the trace; read in one pass."""

    def __init__(self, events: list[AnyEvent]) -> None:
        self.events = events
        self.sends, self.receipts = array("i"), array("i")  # four bytes each, echoes included
        self._receipt = array("i", [NONE]) * len(events)  # of each send: its receipt
        self._send = array("i", [NONE]) * len(events)  # of each receipt, and each echo: its send
        self.discarded: dict[Datagram, Discarded] = {}
        self.carried: defaultdict[tuple[int, int], list[Carried]] = defaultdict(list)
        self._claimed: defaultdict[tuple[int, int], int] = defaultdict(int)
        sent: dict[Datagram, int] = {}
        for i, event in enumerate(events):
            if type(event) is Sent:
                sent[event.node, event.inc, event.to, event.m] = i
                self.sends.append(i)
            elif type(event) is Received:
                self._receive(i, sent.get((event.src, event.sinc, event.node, event.m), NONE))
            elif isinstance(event, Carried):
                self.carried[event.src, event.dst].append(event)
            elif isinstance(event, Discarded) and event.m:
                self.discarded[event.src, event.sinc, event.node, event.m] = event

    def _receive(self, i: int, of: int) -> None:
        self.receipts.append(i)
        self._send[i] = of
        if of != NONE and self._receipt[of] == NONE:
            self._receipt[of] = i

    def send_of(self, i: int) -> Sent | None:
        """The send of what was received at i; None if nothing before it explains it."""
        of = self._send[i]
        return None if of == NONE else cast(Sent, self.events[of])

    def receipt_of(self, i: int) -> Received | None:
        """The receipt of what was sent at i, if there is one."""
        at = self._receipt[i]
        return None if at == NONE else cast(Received, self.events[at])

    def received_at(self, i: int) -> int:
        """Where the receipt of what was sent at i is, or NONE."""
        return self._receipt[i]

    def is_echo(self, i: int) -> bool:
        """Whether the datagram received at i had been received before."""
        of = self._send[i]
        return of != NONE and self._receipt[of] != i

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

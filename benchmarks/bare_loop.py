"""The least that does what the virtual engine does: a heap, generators and a seeded latency.

Five nodes run Check every period; the coordinator's asks each of the others whether it is
normal and waits for the answer or T. A message is a tuple, an answer is looked up by the number
of its call, every call leaves a time-out in the heap. There is no trace, no rule, no order of
links, no crash but a node that is deaf, and nothing is checked.
"""

from collections.abc import Generator
from heapq import heappop, heappush
from random import Random
from typing import Any

from harness.virtual import FASTEST, SPREAD
from traces.run import Timing

MS = 1_000_000
TIMEOUT = object()

Message = tuple[int, str, bool, int, tuple[Any, ...]]  # (src, kind, ack, call, args)
Procedure = Generator[tuple[int, str, tuple[Any, ...]], Any, None]


class BareLoop:
    """`events` counts sends, receipts and time-outs."""

    def __init__(self, nodes: tuple[int, ...], seed: int, timing: Timing) -> None:
        self.nodes, self.up, self.coordinator = nodes, set(nodes), nodes[-1]
        self.events = self.clock = self.calls = self.pushed = 0
        self.random = Random(seed).random
        self.t, self.check = round(timing.t_ms * MS), round(timing.check_ms * MS)
        self.heap: list[tuple[int, int, int, Message | int | None]] = []
        self.waiting: dict[int, Procedure] = {}
        self.immediates = {"AreYouNormal": self.are_you_normal}
        for node in nodes:
            self.push(0, node, None)

    def are_you_normal(self, node: int, asker: int) -> bool:
        return node in self.up

    def checked(self, node: int) -> Procedure:
        if node == self.coordinator:
            for j in self.nodes:
                if j != node:
                    answer = yield j, "AreYouNormal", ()
                    if answer is not TIMEOUT and not answer:
                        return

    def run(self, until: int) -> None:
        """Take what is due: a message, a call to time out, or None for Check."""
        heap = self.heap
        while heap[0][0] <= until:
            self.clock, _, node, what = heappop(heap)
            if node not in self.up:
                continue
            if type(what) is tuple:
                self.receive(node, what)
            elif what is None:
                self.push(self.clock + self.check, node, None)
                self.resume(node, self.checked(node), None)
            elif what in self.waiting:
                self.events += 1
                self.resume(node, self.waiting.pop(what), TIMEOUT)

    def receive(self, node: int, message: Message) -> None:
        src, kind, ack, call, args = message
        self.events += 1
        if not ack:
            self.send(node, src, kind, True, call, (self.immediates[kind](node, src, *args),))
        elif call in self.waiting:
            self.resume(node, self.waiting.pop(call), args[0])

    def resume(self, node: int, procedure: Procedure, value: Any) -> None:
        try:
            to, kind, args = procedure.send(value)
        except StopIteration:
            return
        self.calls += 1
        self.waiting[self.calls] = procedure
        self.push(self.clock + self.t, node, self.calls)
        self.send(node, to, kind, False, self.calls, args)

    def send(
        self, src: int, to: int, kind: str, ack: bool, call: int, args: tuple[Any, ...]
    ) -> None:
        self.events += 1
        at = self.clock + FASTEST + int(self.random() * SPREAD)
        self.push(at, to, (src, kind, ack, call, args))

    def push(self, at: int, node: int, what: Message | int | None) -> None:
        self.pushed += 1
        heappush(self.heap, (at, self.pushed, node, what))

"""Reactive style: `On <M, t> from j`, Periodically, On recovery, and a failure detector (S97 2, 4).

    @on("Halt")
    def halt(self, j: int, t: str) -> None: ...    On <Halt, t> from j
    self.send("Ack", t, to=(j,))                   send <Ack, t> to j, or to a set
    self.fd.start(j), self.fd.stop(*S)             Start_FD(j), Stop_FD(S)
    def down_sig(self, j: int) -> None: ...        On <DownSig, j>

A handler runs to its end at one instant and waits for nothing. The detector is a module of the
node with messages of its own; which one it is, the protocol does not know. Nothing here CALLs,
and the kernel's Timeout is not used: what GM82 does there, a DownSig does here (S97 4).
"""

from collections.abc import Callable
from typing import Any, ClassVar

from nodes.detectors import Detector, Ping
from nodes.protocol import Procedure, Protocol, System, Vector


class Reactive(Protocol):
    """A protocol of handlers, with the detector its class names."""

    abstract = True
    detector: ClassVar[type[Detector]] = Ping

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, state: Vector) -> None:
        super().__init__(i, nodes, system, state)
        self.fd = self.detector(i, nodes, system, self)

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """The protocol's, which the detector may listen to, and the detector's own."""
        return self.fd.listening(super().handlers()) | self.fd.handlers()

    def send(self, kind: str, *args: Any, to: tuple[int, ...]) -> None:
        """`send <kind, args> to S`, one after the other: no atomicity is implied (S97 4)."""
        for j in to:
            self.fd.sending(j)
            self.system.send(j, kind, args)

    def down_sig(self, j: int) -> None:
        """On <DownSig, j>."""
        raise NotImplementedError

    def on_recovery(self) -> None:
        """On recovery."""
        raise NotImplementedError

    def periodically(self) -> None:
        """Periodically(tau), tau the time between two Checks."""
        raise NotImplementedError

    def recovery(self) -> Procedure:
        """Run when the node starts up."""
        self.fd.open()
        self.on_recovery()
        return
        yield  # a procedure to the kernel, though it has no CALL

    def check(self) -> Procedure:
        """Run periodically."""
        self.periodically()
        return
        yield

    def timeout(self) -> Procedure:
        """S97 4, item 1: a detector takes the place of procedure Timeout."""
        return
        yield

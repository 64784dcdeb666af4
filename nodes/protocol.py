"""What a protocol is written in: the facilities that GM82 Appendix I gives its algorithms.

A protocol is a pure state machine. Its procedures are generators that read like the listing:

    answer = yield Call(j, "Ready", (x,))  CALL Ready(j, i, x), ONTIMEOUT(T): answer is TIMEOUT
    yield self.election()                  CALL Election(i), at this very node
    yield Wait(50)                         "wait a reasonable time"
    self.stop()                            CALL STOP
    self.become(s=ELECTION, h=j)           [[ S(i).s := "Election"; S(i).h := j ]]

IMMEDIATE procedures are plain methods: they run in the message handler, contain no CALL, and
what they return is the answer. Where a paper is written in reactive style, its `On <M> from j` is
a plain method too, and nothing is answered (nodes.reactive). A protocol never sees a socket, a
clock, a file or a random number; a test enforces that these modules import nothing that has one.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, final
from typing import Protocol as Interface

import msgspec

from traces.events import AnyEvent
from traces.properties import SYNCHRONOUS
from traces.run import Timing

DOWN, ELECTION, REORGANIZATION, NORMAL = "Down", "Election", "Reorganization", "Normal"
UNDEFINED = 0  # no node has this number

Procedure = Generator[Any, Any, Any]


class Vector(msgspec.Struct, frozen=True):
    """The state vector S(i) (GM82 II and Appendix I)."""

    s: str = DOWN
    c: int = UNDEFINED
    h: int = UNDEFINED
    up: tuple[int, ...] = ()
    d: str = ""
    g: str = ""


@final
class Call(msgspec.Struct, frozen=True, gc=False):
    """CALL kind(to, *args), ONTIMEOUT(T). Yield it; the answer or TIMEOUT comes back."""

    to: int
    kind: str
    args: tuple[Any, ...] = ()


@final
class Wait(msgspec.Struct, frozen=True, gc=False):
    """Let so many milliseconds go by. Yield it; nothing comes back."""

    ms: float


class Timeout:
    """The type of TIMEOUT, the answer of a CALL that was not answered within T."""

    def __repr__(self) -> str:
        return "TIMEOUT"


TIMEOUT = Timeout()


class System(Interface):
    """The operating system under a protocol (nodes.kernel)."""

    inc: int
    timing: Timing
    parameters: Mapping[str, Any]  # of the protocol, as the scenario sets them
    cells: dict[str, Any]  # as they are, or will be before anything else happens

    def became(self, state: Vector) -> None: ...  # noqa: D102 (named in Protocol.become)
    def store(self, cell: str, value: Any) -> None:
        """Replace a safe cell, before anything that follows has an effect."""

    def stop(self) -> None: ...  # noqa: D102 (named in Protocol.stop)
    def hasten(self, ms: float) -> None:
        """Let the next Check come within so many milliseconds."""

    def send(self, to: int, kind: str, args: tuple[Any, ...]) -> None:
        """Send a message that has no answer."""

    def note(self, event: AnyEvent) -> None:
        """Write an event that has no effect, before anything that follows."""

    def after(self, ms: float, ring: Callable[[], None]) -> int:
        """Call back when so many milliseconds have gone by; returns the timer's number."""

    def cancel(self, timer: int) -> None:
        """Never ring this one, whether it has rung or not."""


CO_GENERATOR = 0x20  # of a code object (inspect has it, and takes its time to import)

F = TypeVar("F", bound=Callable[..., Any])


def immediate(kind: str) -> Callable[[F], F]:
    """Declare an IMMEDIATE procedure: the message handler itself runs it, so it has no CALL."""
    return _declare(kind, False)


def procedure(kind: str) -> Callable[[F], F]:
    """Declare a procedure that remote nodes may CALL; a process is made to run it."""
    return _declare(kind, True)


def on(kind: str) -> Callable[[F], F]:
    """Declare a handler, `On <kind, ...> from j` (S97 4): no CALL in it, and no answer to it."""
    return _declare(kind, False)


def request(kind: str) -> Callable[[F], F]:
    """Declare what a client may ask of the node that is its own: no CALL in it, no answer."""

    def mark(function: F) -> F:
        setattr(function, "request", kind)  # noqa: B010 (F has no such attribute)
        return function

    return mark


def _declare(kind: str, may_call: bool) -> Callable[[F], F]:
    def mark(function: F) -> F:
        if bool(function.__code__.co_flags & CO_GENERATOR) != may_call:
            raise TypeError(f"{kind}: an IMMEDIATE procedure has no yield, any other has one")
        setattr(function, "kind", kind)  # noqa: B010 (F has no such attribute)
        return function

    return mark


class Declared:
    """What has procedures or handlers for messages, each declared with its kind."""

    remote: ClassVar[dict[str, str]] = {}  # what messages from elsewhere run, by their kind
    requests: ClassVar[dict[str, str]] = {}  # what a client may ask for, by its kind

    def __init_subclass__(cls) -> None:
        """Collect the declared procedures; a method that overrides one is one."""
        made = [it for base in reversed(cls.__mro__) for it in vars(base).items()]
        cls.remote = {it.kind: name for name, it in made if hasattr(it, "kind")}
        cls.requests = {it.request: name for name, it in made if hasattr(it, "request")}

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """What is run when a message comes, by its kind."""
        return {kind: getattr(self, name) for kind, name in self.remote.items()}


class Protocol(Declared):
    """Base of all protocols: node i among `nodes`, its state vector, and its system."""

    claims: ClassVar[tuple[str, ...]] = SYNCHRONOUS  # the properties its paper claims for it
    abstract: ClassVar[bool] = True  # of a class that says so itself: others are made from it

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, state: Vector) -> None:
        self.i, self.nodes, self.system, self.state = i, nodes, system, state
        self.others = tuple(j for j in nodes if j != i)

    @classmethod
    def refusal(cls, parameters: Mapping[str, Any], nodes: Sequence[int]) -> str:
        """Why no node can run with these parameters, for people; nothing, if they will do."""
        return ""

    def become(self, **changes: Any) -> None:
        """[[ ... ]]: one atomic change of the state vector, one event in the trace."""
        self.state = msgspec.structs.replace(self.state, **changes)
        self.system.became(self.state)

    def stop(self) -> None:
        """CALL STOP: end every process of this node, but let the calling one finish."""
        self.system.stop()

    def heard(self, kind: str, args: tuple[Any, ...]) -> bool:
        """Whether this message of its coordinator keeps Timeout away."""
        return True

    def recovery(self) -> Procedure:
        """Run when the node starts up after a failure."""
        raise NotImplementedError

    def check(self) -> Procedure:
        """Run periodically."""
        raise NotImplementedError

    def timeout(self) -> Procedure:
        """Run when the coordinator was not heard for a long time."""
        raise NotImplementedError

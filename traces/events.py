"""The events of a trace.

A trace is JSON Lines; each line is one event, and the field `e` names its type. The same
types serve both engines, the analyzer and nodes in other languages (docs/trace-format.md
describes every field). Rules:

- `node` and `inc` name the timeline: a node and its incarnation. Node 0 is the harness:
  its `inc` 1 is the controller, 2 the relay, 3 the nursery (the parent of all nodes).
- `n` counts the lines of one file without gaps; `at` is CLOCK_MONOTONIC in nanoseconds.
- Stamp, write, then act: an event is in the file before its effect is in the world.
- Events are named in the past tense. Defaults are left out of the line.

Limits: one machine, one clock. Stamps of two machines are not comparable.
"""

from typing import Any

import msgspec

CONTROLLER, RELAY, NURSERY = 1, 2, 3  # incarnations of node 0


class Event(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="e", gc=False):
    """One line. `at`, `node`, `inc` and `n` are filled in by whoever writes it."""

    at: int = 0
    node: int = 0
    inc: int = 0
    n: int = 0


# --- a node -------------------------------------------------------------------------------


class Started(Event, tag="started"):
    """First event of a life: the node is up, its socket bound, from here on."""

    pid: int = 0
    protocol: str = ""


class Loaded(Event, tag="loaded"):
    """A safe cell as found at the start of a life (GM82 II, Assumption 4)."""

    cell: str
    value: Any = None


class Stored(Event, tag="stored"):
    """A safe cell is about to be replaced by `value`."""

    cell: str
    value: Any = None


class Began(Event, tag="began"):
    """A process started to run a procedure: Recovery, Check, Timeout, Election."""

    proc: str


class Became(Event, tag="became"):
    """The state vector S(i) after one atomic change, whole (GM82 II and Appendix I)."""

    s: str
    c: int = 0
    h: int = 0
    up: tuple[int, ...] = ()
    d: str = ""
    g: str = ""


class Sent(Event, tag="sent"):
    """Datagram number `m` of this life to node `to` is about to be sent."""

    to: int
    m: int
    kind: str
    ack: bool = False
    call: int = 0
    args: tuple[Any, ...] = ()


class Received(Event, tag="received"):
    """Datagram `m` from life `sinc` of node `src` is about to be handled."""

    src: int
    sinc: int
    m: int
    kind: str
    ack: bool = False
    call: int = 0
    args: tuple[Any, ...] = ()


class Discarded(Event, tag="discarded"):
    """A datagram was ignored: late, duplicate, garbage, truncated, oversized or foreign."""

    why: str
    size: int = 0
    src: int = 0
    sinc: int = 0
    m: int = 0


class TimedOut(Event, tag="timed_out"):
    """T went by without an answer to this CALL; its ONTIMEOUT statement runs now."""

    to: int
    call: int
    kind: str


class Stopped(Event, tag="stopped"):
    """CALL STOP: these procedures' processes ended here and now."""

    procs: tuple[str, ...] = ()


class Overslept(Event, tag="overslept"):
    """The node found it was late by `late` ns and fails itself (Assumption 9).

    It was Down from `since`, the last instant at which it knew itself to be awake. The next
    event opens its next life, in the same file.
    """

    since: int
    late: int


class Armed(Event, tag="armed"):
    """The node will stop itself right after writing an event that matches a point."""

    points: int = 0


class Asked(Event, tag="asked"):
    """The run asks something of the node, as a client would; it is about to be done."""

    number: int
    kind: str
    args: dict[str, Any] = {}


# --- a failure detector (S97 2) -------------------------------------------------------------


class Watched(Event, tag="watched"):
    """Start_FD was called for these nodes, or Stop_FD (`on` false)."""

    peers: tuple[int, ...]
    on: bool = True


class Suspected(Event, tag="suspected"):
    """<DownSig, peer> is about to be received by the detector's client."""

    peer: int


class Played(Event, tag="played"):
    """PlayDead_FD was called for these nodes, or PlayAlive_FD (`dead` false)."""

    peers: tuple[int, ...]
    dead: bool = True


# --- the nursery: what the parent of all processes saw ------------------------------------


class Spawned(Event, tag="spawned"):
    """Process `pid` was made to run life `life` of `target` (target 0: the relay)."""

    target: int
    life: int
    pid: int


class Suspended(Event, tag="suspended"):
    """The kernel reported the process stopped (waitid WSTOPPED; /proc state T)."""

    target: int
    life: int


class Continued(Event, tag="continued"):
    """The kernel reported the process running again."""

    target: int
    life: int


class Died(Event, tag="died"):
    """The process is reaped. `signal` is what killed it, else 0 and `status` counts."""

    target: int
    life: int
    signal: int = 0
    status: int = 0


# --- the relay ----------------------------------------------------------------------------


class Ruled(Event, tag="ruled"):
    """Rule `rule` was put on these directed links, or taken off (`on` false), atomically."""

    rule: int
    verb: str
    links: tuple[tuple[int, int], ...]
    on: bool = True


class Dropped(Event, tag="dropped"):
    """The relay dropped datagram `k` of link src->dst because of `rule`."""

    src: int
    dst: int
    k: int
    rule: int


class Delayed(Event, tag="delayed"):
    """The relay will deliver datagram `k` of the link after `by` ns."""

    src: int
    dst: int
    k: int
    rule: int
    by: int


class Held(Event, tag="held"):
    """The relay keeps datagram `k` until the rule is taken off."""

    src: int
    dst: int
    k: int
    rule: int


class Released(Event, tag="released"):
    """A held datagram goes on."""

    src: int
    dst: int
    k: int
    rule: int


class Duplicated(Event, tag="duplicated"):
    """The relay delivers datagram `k` now and once more after `by` ns."""

    src: int
    dst: int
    k: int
    rule: int
    by: int


class Counted(Event, tag="counted"):
    """Datagrams of one link since the start of the run, written when the relay closes."""

    src: int
    dst: int
    taken: int = 0
    forwarded: int = 0
    dropped: int = 0
    refused: int = 0
    foreign: int = 0


# --- the controller -----------------------------------------------------------------------


class Opened(Event, tag="opened"):
    """First event of a run."""

    scenario: str
    engine: str
    nodes: int


class Injected(Event, tag="injected"):
    """A fault verb with its targets resolved, stamped before it acts."""

    step: int
    verb: str
    nodes: tuple[int, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    rule: int = 0
    args: dict[str, Any] = {}


class Waited(Event, tag="waited"):
    """A condition the scenario waited for came true (or not, when `gave_up`)."""

    step: int
    what: str
    gave_up: bool = False
    args: dict[str, Any] = {}


class Witnessed(Event, tag="witnessed"):
    """Evidence about one process, read from /proc: its state, backlog and drops."""

    step: int
    target: int
    state: str = ""
    backlog: int = 0
    overflow: int = 0


class Closed(Event, tag="closed"):
    """Last event of a run: everything is mended, every process is gone."""

    why: str = ""


NodeEvent = (
    Started | Loaded | Stored | Began | Became | Sent | Received | Discarded | TimedOut
    | Stopped | Overslept | Armed | Asked | Watched | Suspected | Played
)  # fmt: skip
NurseryEvent = Spawned | Suspended | Continued | Died
RelayEvent = Ruled | Dropped | Delayed | Held | Released | Duplicated | Counted
ControllerEvent = Opened | Injected | Waited | Witnessed | Closed
AnyEvent = NodeEvent | NurseryEvent | RelayEvent | ControllerEvent

encoder = msgspec.json.Encoder()
decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
decode = decoder.decode
decode_lines = decoder.decode_lines

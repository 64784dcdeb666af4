"""Random runs of the Bully and its mutants on the virtual engine: material for the oracles.

Same seed, same run. A trace is handed out as it would be read from the disk. `bend` alters a
few lines of it and keeps it valid, so that what no protocol would do is judged as well.
"""

from random import Random

from msgspec.structs import replace

from harness.run import Run
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from traces.events import (
    AnyEvent,
    Became,
    Died,
    Discarded,
    Injected,
    Loaded,
    Opened,
    Received,
    Sent,
    Stored,
    TimedOut,
    decode_lines,
    encoder,
)
from traces.run import RunInfo

BULLY = "nodes.bully:Bully"
KINDS = ("AreYouThere", "AreYouNormal", "Halt", "NewCoordinator", "Ready")
CRASHES = ("kill", "restart", "restart", "arm", "kill_stopped", "resume")
PAUSES = ("pause", "drop_pause", "resume", "resume")
LINKS = ("cut", "split", "delay", "lose", "hold", "reorder", "duplicate", "mend", "mend", "mend")


def random_run(
    seed: int,
    verbs: tuple[str, ...] = CRASHES + PAUSES + LINKS,
    *,
    protocol: str = BULLY,
    lateness: bool = True,
    steps: int = 20,
    nodes: int = 6,
    slow_links: bool = False,
) -> tuple[list[AnyEvent], RunInfo]:
    """A run of up to this many random steps and nodes, as stored, and what is known of it."""
    rng = Random(seed)
    n = rng.randint(2, nodes)
    info = RunInfo("random", "", protocol, "virtual", seed, n, timing_for(n), lateness)
    run = Run(info, VirtualEngine(info))
    run.engine.record(Opened(scenario="random", engine="virtual", nodes=n))
    if slow_links:  # each link its own delay below T_m, for the whole run: A8 holds
        for link in run.links():
            run.delay([link], ms=rng.random() * (info.timing.t_m_ms - 0.5))
    run.start([i for i in run.nodes if rng.random() < 0.8] or [1])
    for _ in range(rng.randint(3, steps)):
        run.live.catch_up()
        _step(run, rng, rng.choice(verbs))
        longest = rng.choice((0.0, 0.3, info.timing.t_m_ms, info.timing.t_ms,
                              4 * info.timing.t_ms, info.timing.settles_ms(n)))  # fmt: skip
        run.elapse(longest * rng.random())
    if not slow_links and rng.random() < 0.8:
        run.finish()
    if rng.random() < 0.5:
        run.elapse(1.2 * info.timing.settles_ms(n))
    run.live.catch_up()
    end = Injected(step=len(run.steps) + 1, verb="end", nodes=tuple(sorted(run.live.up)))
    run.engine.record(end)
    assert isinstance(run.engine, VirtualEngine)
    run.engine.close()
    return decode_lines(encoder.encode_lines(run.engine.events)), info


def _step(run: Run, rng: Random, verb: str) -> None:
    """Do this, if it can be done now."""
    running, t = sorted(run.live.running), run.info.timing.t_ms
    stopped = sorted(run.live.stopped & run.live.up)
    down = sorted(set(run.nodes) - run.live.up)
    some = [link for link in run.links() if rng.random() < 0.4] or [(1, 2)]
    match verb:
        case "kill" if run.live.up:
            run.kill(rng.choice(sorted(run.live.up)))
        case "restart" if down:
            run.restart(rng.choice(down))
        case "arm" if running:
            _arm(run, rng, rng.choice(running))
        case "kill_stopped" if stopped:
            run.kill(rng.choice(stopped))
        case "pause" if running:
            run.pause(rng.choice(running))
        case "drop_pause" if running:
            run.pause(rng.choice(running), "drop")
        case "resume" if stopped:
            run.resume(rng.choice(stopped))
        case "cut":
            run.cut(some)
        case "split":
            run.split(rng.sample(run.nodes, rng.randint(1, len(run.nodes) - 1)))
        case "delay":
            run.delay(some, ms=rng.random() * 2 * t, jitter_ms=rng.random() * t)
        case "lose":
            run.lose(some, p=rng.random())
        case "hold":
            run.hold(some)
        case "reorder":
            run.reorder(some, p=rng.random(), ms=rng.random() * t)
        case "duplicate":
            run.duplicate(some, p=rng.random(), after_ms=rng.random() * 3 * t)
        case "mend":
            run.mend()


def _arm(run: Run, rng: Random, node: int) -> None:
    if rng.random() < 0.3:
        run.arm(node, "became", s=rng.choice(("Election", "Reorganization", "Normal")))
    else:
        event, kind = rng.choice(("sent", "received")), rng.choice(KINDS)
        run.arm(node, event, kind=kind, ack=rng.random() < 0.5)


# --- what no protocol would do ------------------------------------------------------------


def bend(events: list[AnyEvent], rng: Random, times: int = 3) -> list[AnyEvent]:
    """Alter a few lines in place; the trace stays valid."""
    for _ in range(times):
        match rng.choice(("state", "cell", "content", "swap", "late", "echo", "forget", "ghost")):
            case "state":
                _alter_state(events, rng)
            case "cell":
                for event in _some(events, rng, Loaded, Stored):
                    event.value = rng.choice((None, 0, 1000, 2000, 5000))  # type: ignore[union-attr]
            case "content":
                for event in _some(events, rng, Received):
                    event.call = rng.randint(0, 9)  # type: ignore[union-attr]
            case "swap":
                _swap_receipts(events, rng)
            case "late":
                _delay_rest(events, rng)
            case "echo":
                _echo(events, rng)
            case "forget":
                forget(events, rng, Became, Received, Loaded, Stored, TimedOut, Discarded)
            case "ghost":
                _haunt(events, rng)
    return events


def _some(events: list[AnyEvent], rng: Random, *kinds: type) -> list[AnyEvent]:
    """One event of these kinds, if there is one."""
    found = [e for e in events if isinstance(e, kinds)]
    return [rng.choice(found)] if found else []


def _alter_state(events: list[AnyEvent], rng: Random) -> None:
    assert isinstance(events[0], Opened)
    nodes = range(1, events[0].nodes + 1)
    for event in _some(events, rng, Became):
        assert isinstance(event, Became)
        match rng.choice(("s", "c", "h", "d", "up")):
            case "s":
                event.s = rng.choice(("Down", "Election", "Reorganization", "Normal"))
            case "c":
                event.c = rng.choice(nodes)
            case "h":
                event.h = rng.choice(nodes)
            case "d":
                event.d = "another task"
            case "up":
                event.up = tuple(sorted(set(rng.sample(nodes, 2)) - {event.node}))


def _swap_receipts(events: list[AnyEvent], rng: Random) -> None:
    """Two messages of one link change places where they are received."""
    for event in _some(events, rng, Received):
        assert isinstance(event, Received)
        link = [
            e
            for e in events
            if isinstance(e, Received)
            and (e.node, e.inc, e.src, e.sinc) == (event.node, event.inc, event.src, event.sinc)
        ]
        other = rng.choice(link)
        a, b = sorted((event, other), key=lambda e: e.at)
        sent = next(e for e in events if isinstance(e, Sent)
                    and (e.node, e.inc, e.to, e.m) == (b.src, b.sinc, b.node, b.m))  # fmt: skip
        if sent.at < a.at:
            for field in ("m", "kind", "ack", "call", "args"):
                mine, its = getattr(a, field), getattr(b, field)
                setattr(a, field, its)
                setattr(b, field, mine)


def _delay_rest(events: list[AnyEvent], rng: Random) -> None:
    """From some event on everything comes later: answers, receipts, whatever was under way."""
    start, by = rng.randrange(len(events)), rng.randrange(60_000_000)
    for event in events[start:]:
        event.at += by


def _echo(events: list[AnyEvent], rng: Random) -> None:
    """A message is received once more, by the same life or a later one."""
    for event in _some(events, rng, Received):
        after = [k for k, e in enumerate(events) if e.node == event.node and e.at > event.at]
        if after:
            k = rng.choice(after)
            _insert(events, k + 1, replace(event, inc=events[k].inc, n=events[k].n + 1))


def forget(events: list[AnyEvent], rng: Random, *kinds: type) -> None:
    """A line of one of these kinds was never written."""
    for event in _some(events, rng, *kinds):
        k = next(k for k, e in enumerate(events) if e is event)
        del events[k]
        _renumber(events, k, event, -1)


def _haunt(events: list[AnyEvent], rng: Random) -> None:
    """A life writes once more after its process died."""
    for death in _some(events, rng, Died):
        assert isinstance(death, Died)
        k = next(k for k, e in enumerate(events) if e is death) + rng.randint(1, 9)
        mine = [e for e in events[:k] if e.node == death.target]
        if mine and k <= len(events):
            inc, n = mine[-1].inc, mine[-1].n + 1
            _insert(events, k, Became(s="Normal", c=1, node=death.target, inc=inc, n=n))


def _insert(events: list[AnyEvent], k: int, event: AnyEvent) -> None:
    """Put a line in before event k; what follows is a nanosecond later."""
    event.at = events[k - 1].at + 1
    for later in events[k:]:
        later.at += 1
    events.insert(k, event)
    _renumber(events, k + 1, event, 1)


def _renumber(events: list[AnyEvent], k: int, event: AnyEvent, by: int) -> None:
    """The later lines of the same file count on; a file begins with number 0."""
    for later in events[k:]:
        if later.node == event.node and later.n == 0:
            return
        if later.node == event.node:
            later.n += by

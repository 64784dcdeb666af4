"""Random traces: crashes, restarts, pauses, oversleeps and state changes without any protocol.

A trace is valid, and about half of them violate Assertion 1. Same seed, same trace. `traces()`
leaves the chance to Hypothesis, which then shrinks what it finds. Safe cells have a generator of
their own: nodes that store and load, lose their last store or do not, and make mistakes.
"""

from random import Random

from hypothesis import strategies as st

from traces.events import Died, Loaded, Stored

from .build import Trace

STATUSES = ("Election", "Reorganization", "Normal", "Normal")


def traces() -> st.SearchStrategy[Trace]:
    """Valid traces as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(build_trace)


def random_trace(seed: int) -> Trace:
    """The trace of this seed."""
    return build_trace(Random(seed))


def build_trace(rng: Random) -> Trace:
    """A valid trace; how unruly its nodes are is drawn too."""
    t = Trace(rng.randint(2, 5))
    loyal = rng.choice((0.0, 0.5, 0.9, 1.0, 1.0))  # how often a node follows the usual leader
    paused: dict[int, int] = {}
    for _ in range(rng.randint(5, 40)):
        node = rng.randint(1, t.nodes)
        up = _up(t)
        if node not in up:
            if rng.random() < 0.6:
                t.start(node)
        elif node in paused:
            _end_pause(t, rng, node, paused.pop(node))
        else:
            _live(t, rng, node, loyal, paused)
        if rng.random() < 0.3:
            t.wait(rng.choice((0.5, 25.0)) * rng.random())
    return t


def _up(t: Trace) -> set[int]:
    died = {(e.target, e.life) for e in t.events if isinstance(e, Died)}
    return {i for i in range(1, t.nodes + 1) if t.inc[i] and (i, t.inc[i]) not in died}


def _live(t: Trace, rng: Random, node: int, loyal: float, paused: dict[int, int]) -> None:
    match rng.choices(("become", "kill", "die", "pause", "stop"), (12, 1, 1, 1, 1))[0]:
        case "become":
            _become(t, rng, node, loyal)
        case "kill":
            t.inject("kill", node)
            if rng.random() < 0.5:
                _become(t, rng, node, loyal)  # written between the stamp and the kill
            t.died(node, 9)
        case "die":
            t.died(node)
        case "pause":
            since = t.now
            if rng.random() < 0.5:
                _become(t, rng, node, loyal)
            t.pause(node)
            paused[node] = since
        case "stop":
            paused[node] = t.now
            _become(t, rng, node, loyal)
            t.pause(node, asked=False)


def _end_pause(t: Trace, rng: Random, node: int, since: int) -> None:
    match rng.choice(("kill", "resume", "oversleep")):
        case "kill":
            t.kill(node)
        case "resume":
            t.resume(node)
        case "oversleep":
            t.resume(node)
            if rng.random() < 0.3:
                _become(t, rng, node, 0.5)  # written before it noticed
            t.overslept(node, since)


def _become(t: Trace, rng: Random, node: int, loyal: float) -> None:
    follows = rng.random() < loyal
    c = t.nodes if follows else rng.randint(1, t.nodes)
    d = "task" if follows else rng.choice(("task", "other"))
    t.became(node, rng.choice(STATUSES), c, d=d)


# --- safe cells ---------------------------------------------------------------------------


def cell_traces() -> st.SearchStrategy[Trace]:
    """Traces of safe cells as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(build_cells)


def build_cells(rng: Random) -> Trace:
    """One or two nodes, a growing counter and a word each, many crashes."""
    t = Trace(2)
    honest = rng.choice((0.8, 0.97, 1.0))
    disk: dict[tuple[int, str], object] = {}
    for _ in range(rng.randint(3, 10)):
        node = rng.randint(1, 2)
        t.start(node)
        if rng.random() < 0.9:
            for cell in ("calls", "word"):
                held = disk.get((node, cell))
                if held is not None or rng.random() < 0.3:
                    value = held if rng.random() < honest else rng.choice((None, 1, 2, 3, "a"))
                    t.put(node, Loaded(cell=cell, value=value))
        for left in reversed(range(rng.randint(0, 4))):
            cell = rng.choice(("calls", "word"))
            fresh: object = rng.choice(("a", "b", "c"))
            if cell == "calls":
                held = disk.get((node, cell))
                least = held if isinstance(held, int) and rng.random() < honest else 0
                fresh = rng.randint(least, least + 2)
            t.put(node, Stored(cell=cell, value=fresh))
            if left or rng.random() < 0.5:  # the crash may come before the act
                disk[node, cell] = fresh
        t.kill(node)
    return t


# --- elections ----------------------------------------------------------------------------


def election_traces() -> st.SearchStrategy[Trace]:
    """Elections as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(build_elections)


def build_elections(rng: Random) -> Trace:
    """Elections of the Bully's shape; now and then a step is left out or something interferes."""
    t = Trace(rng.randint(2, 4))
    careful = rng.choice((0.85, 0.95, 1.0))
    t.start(*(i for i in range(1, t.nodes + 1) if rng.random() < 0.8))
    for _ in range(rng.randint(1, 5)):
        up = sorted(_up(t))
        down = sorted(set(range(1, t.nodes + 1)) - set(up))
        if down and rng.random() < 0.5:
            t.start(rng.choice(down))
        elif up:
            _elect(t, rng, rng.choice((up[-1], rng.choice(up))), careful)
        t.wait(rng.choice((0.1, 15, 40, 900)) * rng.random())
    return t


def _elect(t: Trace, rng: Random, p: int, careful: float) -> None:
    """An election of p, step by step as in GM82 Appendix I, each step if chance has it so."""
    members = [j for j in range(1, p) if j in _up(t) or rng.random() > careful]
    task = f"{p}.{len(t.events)}"
    steps: list[tuple[int, str, int, tuple[int, ...]]] = [(p, "Election", 0, ())]
    steps += [(j, "Election", 0, ()) for j in members]
    steps += [(p, "Election", 0, tuple(members)), (p, "Reorganization", p, tuple(members))]
    steps += [(j, "Reorganization", p, ()) for j in members]
    steps += [(j, "Ready", p, ()) for j in members]
    steps += [(p, "Normal", p, tuple(members))]
    for j, status, c, up in steps:
        if rng.random() > careful:
            _interfere(t, rng)
        if p not in _up(t):
            return
        if rng.random() > careful:
            continue
        if status == "Ready":
            t.send(p, j, "Ready")
        if j in _up(t):
            s = "Normal" if status == "Ready" else status
            t.became(j, s, c, h=p, up=up, d=task if s == "Normal" else "")


def _interfere(t: Trace, rng: Random) -> None:
    """Something happens to a node that is up."""
    for node in rng.sample(sorted(_up(t)), min(1, len(_up(t)))):
        match rng.choice(("kill", "restart", "pause", "halt", "normal")):
            case "kill":
                t.kill(node)
            case "restart":
                t.kill(node)
                t.start(node)
            case "pause":
                t.pause(node)
                t.wait(rng.choice((1, 30)))
                t.resume(node)
            case "halt":
                t.became(node, "Election", h=rng.randint(1, t.nodes))
            case "normal":
                t.normal(rng.randint(1, t.nodes), node)

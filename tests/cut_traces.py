"""Small random traces with messages and time-outs, for every consistent cut to be walked.

States follow no protocol, so that many traces violate something. Same seed, same trace. Some have
stamps that several events share.
"""

from random import Random

from tests.build import Trace
from traces.events import Died, Overslept, Sent, Started, TimedOut

STEPS = {2: 16, 3: 15, 4: 12, 5: 11}
VERBS = ("become", "send", "receive", "call", "time out", "kill", "restart", "watch", "suspect",
         "oversleep")  # fmt: skip
WEIGHTS = (10, 4, 5, 3, 6, 3, 2, 1, 2, 1)


def cut_trace(seed: int) -> Trace:
    """The trace of this seed."""
    rng = Random(seed)
    t = Trace(rng.randint(2, 5))
    for node in range(1, t.nodes + 1):
        if rng.random() < 0.9:
            _start(t, node)
    flying: list[Sent] = []
    calls: list[Sent] = []
    groups = rng.choice((1, 2))
    for _ in range(STEPS[t.nodes]):
        node = rng.randint(1, t.nodes)
        up = node in _up(t)
        peer = rng.choice([j for j in range(1, t.nodes + 1) if j != node])
        match rng.choices(VERBS, WEIGHTS)[0]:
            case "become" if up:
                status = rng.choice(("Election", "Normal", "Normal", "Reorganization"))
                group = str(rng.randint(1, groups))
                t.became(node, status, rng.randint(1, 2), d=rng.choice("xy"), g=group)
            case "send" if up:
                flying.append(t.send(node, peer))
            case "call" if up:
                calls.append(t.send(node, peer))
                if rng.random() < 0.5:
                    flying.append(calls[-1])
            case "receive":
                _receive(t, rng, flying)
            case "time out":
                if up and rng.random() < 0.5:
                    calls.append(t.send(node, peer))
                _time_out(t, rng, calls)
            case "kill" if up:
                t.kill(node)
            case "restart" if not up:
                _start(t, node)
            case "watch" if up:
                rng.choice((t.watch, t.unwatch))(node, peer)
            case "suspect" if up:
                if rng.random() < 0.5:
                    t.watch(node, peer)
                t.suspect(node, peer)
            case "oversleep" if up:
                born = max(e.at for e in t.events if e.node == node and type(e) is Started)
                t.overslept(node, max(born, t.now - rng.randint(0, 5000)))
                _forget_down(t, node)
        if rng.random() < 0.3:
            t.wait(rng.choice((0.02, 12)) * rng.random())
    if rng.random() < 0.3 and not any(type(event) is Overslept for event in t.events):
        for event in t.events:
            event.at -= event.at % 10_000
    return t


def _start(t: Trace, node: int) -> None:
    t.start(node)
    _forget_down(t, node)


def _forget_down(t: Trace, node: int) -> None:
    """It is Down from its start, whether it says so or not: fewer cuts to walk."""
    t.events.pop()
    t.numbers[node] -= 1


def _up(t: Trace) -> set[int]:
    died = {(e.target, e.life) for e in t.events if isinstance(e, Died)}
    return {i for i in range(1, t.nodes + 1) if t.inc[i] and (i, t.inc[i]) not in died}


def _receive(t: Trace, rng: Random, flying: list[Sent]) -> None:
    ready = [sent for sent in flying if sent.to in _up(t)]
    if ready:
        sent = rng.choice(ready)
        flying.remove(sent)
        request = t.receive(sent)
        if rng.random() < 0.3 and not sent.ack:
            flying.append(t.answer(request))


def _time_out(t: Trace, rng: Random, calls: list[Sent]) -> None:
    mine = [sent for sent in calls if sent.node in _up(t) and t.inc[sent.node] == sent.inc]
    if mine:
        sent = rng.choice(mine)
        calls.remove(sent)
        t.put(sent.node, TimedOut(to=sent.to, call=sent.call, kind=sent.kind))

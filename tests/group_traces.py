"""Random traces of groups: nodes that call each other over links that fail, without any protocol.

Valid, and short enough for an oracle that reads a trace again for every question. Some nodes
follow a plan that satisfies Assertion 4', some do not. Same seed, same trace.
"""

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from tests.build import Trace
from traces.events import Became, Began, Died, Discarded, Received, Sent, TimedOut

VERBS = ("cut", "cut", "hold", "lose", "delay", "duplicate")


def group_traces() -> st.SearchStrategy[Trace]:
    """Traces of groups as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(build_groups)


def build_groups(rng: Random) -> Trace:
    """Two to five nodes, a few faults, some quiet time."""
    return Play(rng).play()


class Play:
    """What happens in such a trace; `acts` are its kinds of deeds, each with a weight."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.t = rng, Trace(rng.randint(2, 5))
        self.honest = rng.choice((0.7, 0.97, 1.0, 1.0))  # how often a link does what it should
        self.rules: dict[int, tuple[str, tuple[tuple[int, int], ...]]] = {}
        self.paused: set[int] = set()
        self.ruled = 0
        self.acts: dict[Callable[[], None], int] = {
            self.fault: 3,
            self.unite: 4,
            self.one: 1,
            self.talk: 5,
            self.stall: 1,
        }

    def play(self) -> Trace:
        t, rng = self.t, self.rng
        t.start(*(i for i in range(1, t.nodes + 1) if rng.random() < 0.9))
        for _ in range(rng.randint(3, 14)):
            rng.choices(list(self.acts), list(self.acts.values()))[0]()
            t.wait(rng.choice((0.0, 1.0, 4.0, 30.0, 250.0)) * rng.random())
        if rng.random() < 0.8:
            t.wait(40)
            t.close()
        return t

    def up(self) -> list[int]:
        died = {(e.target, e.life) for e in self.t.events if isinstance(e, Died)}
        nodes = range(1, self.t.nodes + 1)
        return [i for i in nodes if self.t.inc[i] and (i, self.t.inc[i]) not in died]

    def running(self) -> list[int]:
        return [i for i in self.up() if i not in self.paused]

    def fault(self) -> None:
        t, rng, up = self.t, self.rng, self.running()
        match rng.choice(("kill", "start", "pause", "rule", "rule", "mend", "mend")):
            case "kill" if up:
                t.kill(rng.choice(up))
            case "start" if len(self.up()) < t.nodes:
                t.start(rng.choice([i for i in range(1, t.nodes + 1) if i not in self.up()]))
            case "pause" if self.paused and rng.random() < 0.8:
                t.resume(self.paused.pop())
            case "pause" if up:
                self.paused.add(node := rng.choice(up))
                t.pause(node, asked=rng.random() < 0.7)
            case "rule":
                self._rule()
            case "mend" if self.rules:
                rule = rng.choice(sorted(self.rules))
                t.mend(rule, *self.rules.pop(rule)[1])

    def _rule(self) -> None:
        t, rng = self.t, self.rng
        self.ruled += 1
        verb, both = rng.choice(VERBS), rng.random() < 0.8
        pairs = [(i, j) for i in range(1, t.nodes + 1) for j in range(1, i)]
        some = [pair for pair in pairs if rng.random() < 0.4] or pairs[:1]
        links = tuple(link for i, j in some for link in ((i, j), (j, i))[: 1 + both])
        self.rules[self.ruled] = verb, links
        t.rule(self.ruled, verb, *links)

    def unite(self) -> None:
        """Some nodes become one group, wherever they can be reached."""
        t, rng, up = self.t, self.rng, self.running()
        while up:
            leader = up[0]
            joined = [
                i for i in up if i == leader or (self._open(i, leader) and rng.random() < 0.9)
            ]
            t.group(leader, *joined, g=f"{leader}.{len(t.events)}")
            up = [i for i in up if i not in joined]

    def one(self) -> None:
        """One node is in any state."""
        t, rng, up = self.t, self.rng, self.running()
        if up:
            s, g = (
                rng.choice(("Normal", "Election", "Reorganization")),
                rng.choice(("1.1", "", "2.1")),
            )
            t.became(rng.choice(up), s, rng.randint(0, t.nodes), g=g)

    def _open(self, i: int, j: int) -> bool:
        return not any({(i, j), (j, i)} & set(links) for _, links in self.rules.values())

    def talk(self) -> None:
        """Some nodes call some others: requests and answers on time, late or lost."""
        t, rng, up = self.t, self.rng, self.running()
        for i in up:
            for j in up:
                if i != j and rng.random() < 0.5:
                    request = self._carry(t.send(i, j))
                    if request is not None and rng.random() < 0.9:
                        self._carry(t.answer(request))

    def _carry(self, sent: Sent) -> Received | None:
        t, rng, link = self.t, self.rng, (sent.node, sent.to)
        verbs = [verb for verb, links in self.rules.values() if link in links]
        passes = rng.random() < self.honest and not set(verbs) - {"duplicate"}
        if not passes and rng.random() < 0.7:
            if rng.random() < 0.3:
                t.put(sent.to, Discarded(why="late", src=sent.node, sinc=sent.inc, m=sent.m))
            return None
        if not passes:
            t.wait(rng.choice((9.9, 10.0, 12.0)))
        return t.receive(sent)

    def stall(self) -> None:
        """A CALL times out; the request was received, the answer comes late or never."""
        t, rng, up = self.t, self.rng, self.running()
        if len(up) < 2:
            return
        i, j = rng.sample(up, 2)
        sent = t.send(i, j, "Invitation")
        t.wait(rng.choice((0.0, 0.0, 11.0)))
        request = t.receive(sent)
        if rng.random() < 0.4:
            t.put(j, Began(proc=rng.choice(("Invitation", "Check"))))
        t.wait(rng.choice((0.0, 9.0, 15.0)))
        if rng.random() < 0.4:
            t.answer(request)
        t.wait(20)
        t.put(i, TimedOut(to=j, call=sent.call, kind=sent.kind))
        if rng.random() < 0.3:
            t.put(i, Became(s="Normal", c=i, g=f"{i}.{len(t.events)}"))

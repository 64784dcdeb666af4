"""Random traces of S97: nodes with failure detectors, without any protocol.

As tests.group_traces, and besides each node watches some others, is told that they are down,
rightly or not, in time or late, and plays dead. Same seed, same trace.
"""

from random import Random

from hypothesis import strategies as st

from tests.build import Trace
from tests.group_traces import Play
from traces.events import Became

STATUSES = ("Normal", "Elec1", "Elec2", "Wait", "Reorganization")


def stoller_traces() -> st.SearchStrategy[Trace]:
    """Traces with detectors as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(build_stoller)


def build_stoller(rng: Random) -> Trace:
    """Two to five nodes and their detectors."""
    return _Detected(rng).play()


class _Detected(Play):
    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.acts |= {
            self.watch: 5,
            self.alarm: 4,
            self.pretend: 2,
            self.rest: 2,
            self.crash: 2,
            self.one: 4,
        }
        self.alert = rng.choice((0.3, 0.8, 1.0))  # how often a node that is down is reported
        self.calm = rng.choice((0.0, 0.0, 0.2))  # how often one that is up

    def watch(self) -> None:
        """Some node starts or stops monitoring some others."""
        t, rng, up = self.t, self.rng, self.running()
        others = [j for j in range(1, t.nodes + 1) if rng.random() < 0.6]
        for i in up:
            peers = [j for j in others if j != i]
            if peers and rng.random() < 0.6:
                (t.watch if rng.random() < 0.8 else t.unwatch)(i, *peers)

    def alarm(self) -> None:
        """Some nodes are told that others are down."""
        t, rng = self.t, self.rng
        up = set(self.up())
        for i in self.running():
            for j in range(1, t.nodes + 1):
                if i != j and rng.random() < (self.calm if j in up else self.alert):
                    t.wait(rng.choice((0.0, 0.0, 15.0)) * rng.random())
                    t.suspect(i, j)

    def pretend(self) -> None:
        """A node plays dead towards some others, or alive again."""
        t, rng, up = self.t, self.rng, self.running()
        if up:
            j = rng.choice(up)
            peers = [i for i in range(1, t.nodes + 1) if i != j and rng.random() < 0.6]
            if peers:
                t.play(j, *peers, dead=rng.random() < 0.6)

    def crash(self) -> None:
        """A monitored node dies, and is reported soon."""
        t, rng, up = self.t, self.rng, self.running()
        if len(up) > 1:
            j = rng.choice(up)
            watchers = [i for i in up if i != j]
            for i in watchers:
                t.watch(i, j)
            t.kill(j)
            t.wait(rng.choice((5.0, 18.0, 25.0)))
            for i in watchers:
                if rng.random() < self.alert:
                    t.suspect(i, j)

    def rest(self) -> None:
        """Nothing happens for a while, to those who are as they should be or not."""
        if self.rng.random() < 0.6:
            self.unite()
        self.t.wait(self.rng.choice((25.0, 100.0, 600.0)))

    def one(self) -> None:
        """One node is in any state."""
        t, rng, up = self.t, self.rng, self.running()
        if up:
            g = rng.choice(("1.1.0", "", "2.1.0"))
            t.became(rng.choice(up), rng.choice(STATUSES), rng.randint(0, t.nodes), g=g)
        states = [e for e in t.events if isinstance(e, Became) and e.s == "Normal"]
        if up and states and rng.random() < 0.4:  # in the group of another, under anybody
            t.became(rng.choice(up), "Normal", rng.randint(1, t.nodes), g=states[-1].g)

"""Votes that move, and the worked examples of BGS86, driven exactly: cut and held links, no luck.

Links are cut or held so that only the votes a figure shows can arrive, and let go one after the
other. Nodes are numbered as in the paper's figures; a, b, c, d of Figure 1 are nodes 1 to 4.
"""

from harness.run import Run
from harness.scenario import INCREASING, REASSIGNING, scenario

ONE = {"BGS86-T211": "holds", "BGS86-C211": "holds"}
FIGURE_1 = {"votes": [1, 1, 1, 2], "patience": 0}


def _holds(run: Run, node: int, votes: list[int], versions: list[int] | None = None) -> None:
    """Until a node has just these votes in its safe cell (since the last fault)."""
    value = {"V": votes, "N": versions or [0] * len(votes)}
    run.seen("stored", node=node, cell="votes", value=value)


def _has(run: Run, node: int, votes: int) -> None:
    """Until that many votes of a node are in force (since the last fault)."""
    run.seen("became", node=node, d=f"{votes} votes")


def _installs(run: Run, node: int, votes: list[int], versions: list[int] | None = None) -> None:
    """Both, of its own votes."""
    _holds(run, node, votes, versions)
    _has(run, node, votes[node - 1])


@scenario(nodes=9, protocol=INCREASING, lateness=False, parameters={"patience": 0}, expect={
    "BGS86-T211": "holds", "BGS86-L213": "holds", "BGS86-L214": "holds",
    "BGS86-L211": "vacuous", "BGS86-L212": "vacuous", "BGS86-C211": "holds",
})  # fmt: skip
def figures_2_and_3(run: Run) -> None:
    """BGS86-T211: I2 sees I1, I3 sees I2 and I1 sees I3: increments that no order fits."""
    run.start()
    x, y, z = 1, 4, 9
    lost = run.cut((z, j) for j in (4, 5, 6))
    late = run.hold((z, j) for j in (7, 8))
    run.ask(z, "Increase", votes=3)  # I1: 1, 2 and 3 vote
    for j in (1, 2, 3):
        run.seen("received", node=z, src=j, kind="Vote")
    for j in (4, 5, 6):
        run.seen("dropped", src=z, dst=j)
    run.mend(lost)
    run.cut((x, j) for j in (7, 8, 9))
    run.ask(x, "Increase", votes=3)  # I2: 2 to 6 vote, and x itself
    _installs(run, x, [3, 1, 1, 1, 1, 1, 1, 1, 3])
    run.cut((y, j) for j in (1, 2, 3))
    run.ask(y, "Increase", votes=3)  # I3: 5 to 9 vote, and y itself
    _installs(run, y, [3, 1, 1, 3, 1, 1, 1, 1, 1])
    run.release(late)  # I1: now 7 and 8 vote too
    _installs(run, z, [1, 1, 1, 3, 1, 1, 1, 1, 3])


@scenario(nodes=4, protocol=INCREASING, lateness=False, parameters=FIGURE_1, expect={
    "BGS86-T211": "holds", "BGS86-L213": "holds", "BGS86-L214": "holds",
})  # fmt: skip
def deadlock_anomaly(run: Run) -> None:
    """BGS86 2.1: a and b raise 1 to 5 at once; each counts the other's old votes, and succeeds.

    Each is told of the other's increase before any vote on its own arrives.
    """
    run.start()
    a, b = 1, 2
    votes = run.hold((j, i) for i in (a, b) for j in (3, 4))
    between = run.hold([(a, b), (b, a)])
    run.ask(a, "Increase", votes=5)
    run.ask(b, "Increase", votes=5)
    run.release(between)
    for i, other in ((a, b), (b, a)):
        run.seen("received", node=i, src=other, kind="Vote")
    run.release(votes)
    _installs(run, a, [5, 5, 1, 2])
    _installs(run, b, [5, 5, 1, 2])


@scenario(nodes=4, protocol=INCREASING, lateness=False, parameters=FIGURE_1, expect={
    "BGS86-T211": "holds", "BGS86-C211": "holds", "BGS86-L212": "holds", "BGS86-L211": "holds",
})  # fmt: skip
def ten_of_seventeen(run: Run) -> None:
    """BGS86 1.1: cut off from d, a, b and c take 5 votes each; then a and b have 10 of 17.

    With a third partition in mind a takes 15. Nobody but d is left out, and d cannot follow.
    """
    run.start()
    a, b, c, d = run.nodes
    run.isolate(d)
    for i, votes in ((a, [5, 1, 1, 2]), (b, [5, 5, 1, 2]), (c, [5, 5, 5, 2])):
        run.ask(i, "Increase", votes=5)
        _installs(run, i, votes)
    run.ask(d, "Increase", votes=12)
    run.split([a, b], [c, d])
    run.ask(a, "Increase", votes=15)
    _installs(run, a, [15, 5, 5, 2])


@scenario(nodes=3, protocol=INCREASING, lateness=False, expect=ONE)
def initiator_killed_before_it_installs(run: Run) -> None:
    """BGS86 2.1, P2: an initiator dies with its majority in hand; others recorded what never was.

    It returns with its old votes, and raises them again.
    """
    run.start()
    run.arm(1, "stored", cell="votes", value={"V": [4, 1, 1], "N": [0, 0, 0]})
    run.ask(1, "Increase", votes=4)
    run.reached(1)
    run.kill(1)
    run.ask(2, "Increase", votes=2)
    run.seen("received", node=2, src=3, kind="Vote")  # 2 of 6: no majority while node 1 is dead
    run.restart(1)
    run.ask(1, "Increase", votes=4)
    _has(run, 1, 4)
    run.ask(2, "Increase", votes=3)
    _has(run, 2, 3)


@scenario(nodes=3, protocol=INCREASING, lateness=False, expect=ONE)
def participant_killed_before_it_votes(run: Run) -> None:
    """BGS86 2.1, P2: what a participant recorded is safe when it dies with its vote unsaid."""
    run.start()
    run.cut([(1, 3)])
    run.arm(2, "sent", kind="Vote")
    run.ask(1, "Increase", votes=3)
    run.reached(2)
    run.seen("dropped", src=1, dst=3)
    run.kill(2)
    run.restart(2)
    run.mend()
    run.ask(1, "Increase", votes=5)
    _installs(run, 1, [5, 1, 1])
    run.ask(2, "Increase", votes=7)
    _installs(run, 2, [5, 7, 1])


@scenario(nodes=5, protocol=INCREASING, lateness=False,
          parameters={"votes": [2, 1, 1, 1, 1], "patience": 0},
          expect={**ONE, "BGS86-L212": "violated"})  # fmt: skip
def forgotten_increment(run: Run) -> None:
    """BGS86-L212 fails: who uses an increment may not see what it saw. T211 holds.

    The lemma is "obvious by the properties of Protocol P1". But by P1 a) a node that votes is
    taken at its word: what others have recorded of an increase of it that is pending is not
    passed on. I1 is that of node 1; node 5 hears of it from node 2, in I2, and forgets it; so I3,
    which uses I2, has not heard of it.
    """
    run.start()
    pending = run.hold([(2, 1), (3, 1), (4, 1)])
    unaware = run.cut([(1, 5)])
    run.ask(1, "Increase", votes=4)
    run.seen("received", node=2, src=1, kind="Increase")
    run.seen("dropped", src=1, dst=5)
    run.mend(unaware)
    run.cut([(5, 3), (5, 4)])
    late = run.hold([(2, 5)])
    run.ask(5, "Increase", votes=2)
    run.seen("received", node=5, src=1, kind="Vote")
    run.release(late)
    _installs(run, 5, [2, 1, 1, 1, 2])
    run.cut([(5, 2)])
    run.ask(5, "Increase", votes=3)
    _installs(run, 5, [2, 1, 1, 1, 3])
    run.release(pending)
    _installs(run, 1, [4, 1, 1, 1, 3])


@scenario(nodes=4, protocol=REASSIGNING, lateness=False, parameters=FIGURE_1, expect={
    "BGS86-T221": "holds", "BGS86-L221": "holds", "BGS86-L222": "holds",
})  # fmt: skip
def votes_given_back(run: Run) -> None:
    """BGS86-T221: votes are taken while d is cut off, and given back when it returns."""
    run.start()
    a, b, d = 1, 2, 4
    cut = run.isolate(d)
    run.ask(a, "Increase", votes=5)
    _installs(run, a, [5, 1, 1, 2], [1, 0, 0, 0])
    run.ask(b, "Increase", votes=5)
    _installs(run, b, [5, 5, 1, 2], [1, 1, 0, 0])
    run.mend(cut)
    run.ask(a, "Decrease", votes=1)
    run.seen("received", node=d, src=a, kind="Decrease")
    run.ask(b, "Decrease", votes=1)
    run.seen("received", node=d, src=b, kind="Decrease")
    run.ask(d, "Increase", votes=4)
    _has(run, d, 4)


@scenario(nodes=3, protocol=REASSIGNING, lateness=False, parameters={"patience": 1}, expect={
    "BGS86-T221": "holds",
})  # fmt: skip
def cancelled_increase(run: Run) -> None:
    """BGS86 2.2, P3: an increase that timed out is taken back by a newer version.

    Node 2 recorded 9 votes for node 1, as version 1; node 1 gave up, and says version 2.
    """
    run.start()
    run.cut([(2, 1), (1, 3), (3, 1)])
    run.ask(1, "Increase", votes=9)
    _holds(run, 2, [9, 1, 1], [1, 0, 0])
    _holds(run, 1, [1, 1, 1], [2, 0, 0])
    run.mend()
    run.ask(2, "Increase", votes=3)
    _has(run, 2, 3)
    run.ask(1, "Increase", votes=2)
    _has(run, 1, 2)

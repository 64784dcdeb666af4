"""Theorem 2.2.1 of BGS86 fails: two increments of Scenario Two that do not see each other.

The proof (Lemma 2.2.4) says of a node x that voted on I_j: "whenever x informs other nodes of an
operation in post(theta), it will also inform them of I_j". It does; but by Protocol P3 a) who is
told does not keep it, if the node of I_j, where I_j is still pending, was there to vote as well:
then v_k is what k itself says. So the newer and fewer votes of x go on, and I_j does not.

In Scenario One the same forgetting (`forgotten-increment`) does no harm, because votes that were
counted once are never worth less to others.
"""

from harness.run import Run
from harness.scenario import REASSIGNING, scenario


def _has(run: Run, node: int, votes: int) -> None:
    """Until that many votes of a node are in force (since the last fault)."""
    run.seen("became", node=node, d=f"{votes} votes")


@scenario(nodes=5, protocol=REASSIGNING, lateness=False,
          parameters={"votes": [1, 5, 1, 1, 1], "patience": 0}, expect={
    "BGS86-T221": "violated", "BGS86-L222": "violated", "BGS86-L224": "violated",
})  # fmt: skip
def two_majorities(run: Run) -> None:
    """BGS86-T221 fails: a vote that is under way counts more than its node has by then.

    I1 of node 1 gets the five votes of node 2, which arrive late. Meanwhile node 2 keeps one of
    them (P5); node 3 hears of that, in I2, from node 2, which tells of I1 too, but node 1 says that
    it has 1 vote. So for nodes 3 to 5 there are six votes, four of them theirs, and I3 passes.
    Then I1 does. In the end both sides of a partition increase their votes at will.
    """
    run.start()
    late = run.hold([(2, 1)])
    unaware = run.cut([(1, 3), (1, 4), (1, 5)])
    run.ask(1, "Increase", votes=9)  # I1
    run.seen("received", node=2, src=1, kind="Increase")
    for j in (3, 4, 5):
        run.seen("dropped", src=1, dst=j)
    run.mend(unaware)
    unheard = run.cut([(2, 3), (2, 4), (2, 5)])
    run.ask(2, "Decrease", votes=1)
    for j in (3, 4, 5):
        run.seen("dropped", src=2, dst=j)
    run.mend(unheard)
    silent = run.cut([(4, 3), (5, 3)])
    second = run.hold([(2, 3)])
    run.ask(3, "Increase", votes=2)  # I2: by 1, then 2, and 3 itself
    run.seen("received", node=3, src=1, kind="Vote")
    run.release(second)
    _has(run, 3, 2)
    run.mend(silent)
    run.split({1, 2}, {3, 4, 5})
    run.ask(4, "Increase", votes=7)  # I3: by 3, 4 and 5
    _has(run, 4, 7)
    run.release(late)
    _has(run, 1, 9)
    run.ask(4, "Increase", votes=8)
    _has(run, 4, 8)
    run.ask(1, "Increase", votes=10)
    _has(run, 1, 10)

"""Nodes that reassign votes by themselves: the worked situations of BGS86 1.1, 4.3 and 4.4.

Nobody is asked for anything: links are cut, and the votes come out to the number. Nodes a, b, c, d
of Figure 1 are nodes 1 to 4. In 4.3 they have 6, 5, 5 and 5 votes.
"""

from typing import Any

from harness.run import Run
from harness.scenario import AUTONOMOUS_ONE, AUTONOMOUS_TWO, CONSENSUS, scenario

A, B, C, D = 1, 2, 3, 4
ONE = {"BGS86-T211": "holds"}
TWO = {"BGS86-T221": "holds"}


def _run_by(strategy: str, **more: Any) -> dict[str, Any]:
    return {"strategy": strategy, "votes": [6, 5, 5, 5], **more}


def _has(run: Run, node: int, votes: int) -> None:
    """Until that many votes of a node are in force (since the last fault)."""
    run.seen("became", node=node, d=f"{votes} votes")


def _remembers(run: Run, node: int, last: list[int], away: bool = False) -> None:
    """Until a node with its first votes knows that it was in this group (since the last fault)."""
    n = len(run.nodes)
    value = {
        "V": run.info.parameters["votes"], "N": [0] * n, "table": [0] * n, "last": last,
        "away": away, "resets": 0,
    }  # fmt: skip
    run.seen("stored", node=node, cell="votes", value=value)


def _cut_off(run: Run, b: int, c: int, d: int) -> int:
    """BGS86 4.3: a is cut off, and knows; b, c and d have these votes now."""
    run.start()
    for node, votes in zip(run.nodes, run.info.parameters["votes"], strict=True):
        _has(run, node, votes)
    cut = run.isolate(A)
    _remembers(run, A, [A, B, C, D], away=True)
    for node, votes in ((B, b), (C, c), (D, d)):
        if votes != 5:
            _has(run, node, votes)
    return cut


def _cut_off_without_token(run: Run) -> int:
    """BGS86 4.3: a is cut off at the point where b has the token from it.

    Whoever has it sends it on with its next look at the group. From d it would go to a again: the
    others are to find out before it is there, and so it has the longest way to go.
    """
    run.arm(B, "received", kind="Token")
    run.reached(B)
    cut = run.isolate(A)
    run.resume(B)
    return cut


def _gives_back(run: Run, cut: int, *takers: int) -> None:
    """BGS86 4.4.2: a returns, and those who took votes on have five again."""
    run.mend(cut)
    for node in takers:
        _has(run, node, 5)


@scenario(nodes=4, protocol=AUTONOMOUS_ONE, lateness=False, expect=ONE,
          parameters=_run_by("alliance-2v-catch-up"))  # fmt: skip
def catch_up_to_52(run: Run) -> None:
    """BGS86 4.3, 4.4.1: 17, 17 and 17; b is cut off too; a returns, and catches up to 52.

    Of the two that are left when b is cut off only the first takes votes on (BGS86 4.2): c has 51,
    as in the paper, and d stays at 17. For a that makes no difference.
    """
    cut = _cut_off(run, 17, 17, 17)
    run.isolate(B)
    _has(run, C, 51)
    run.mend(cut)
    _has(run, A, 52)


@scenario(nodes=4, protocol=AUTONOMOUS_ONE, lateness=False, expect=ONE,
          parameters=_run_by("alliance-2v-catch-up", votes=[1, 1, 1, 2]))  # fmt: skip
def fifteen_of_twenty_seven(run: Run) -> None:
    """BGS86 1.1: without d, a, b and c take 5 votes each; without c, a takes 15; then it is alone.

    A third partition finds a with 15 of 27 votes: it takes on those of b, which has lost them.
    """
    run.start()
    run.isolate(D)
    for node in (A, B, C):
        _has(run, node, 5)
    run.isolate(C)
    _has(run, A, 15)
    run.isolate(B)
    _has(run, A, 25)


@scenario(nodes=4, protocol=AUTONOMOUS_ONE, lateness=False, expect=ONE,
          parameters=_run_by("alliance-v-catch-up"))  # fmt: skip
def catch_up_to_12(run: Run) -> None:
    """BGS86 4.3, 4.4.1: 11, 11 and 11; a returns, and takes as many as any other took, 6."""
    cut = _cut_off(run, 11, 11, 11)
    run.mend(cut)
    _has(run, A, 12)


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False, expect=TWO,
          parameters=_run_by("alliance-2v-decrease"))  # fmt: skip
def seventeen_and_back(run: Run) -> None:
    """BGS86 4.3, 4.4.2: 17, 17 and 17; a returns, and all is as it was."""
    _gives_back(run, _cut_off(run, 17, 17, 17), B, C, D)


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False, expect=TWO,
          parameters=_run_by("alliance-v-decrease"))  # fmt: skip
def eleven_and_back(run: Run) -> None:
    """BGS86 4.3, 4.4.2: 11, 11 and 11; a returns, and all is as it was."""
    _gives_back(run, _cut_off(run, 11, 11, 11), B, C, D)


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False, expect=TWO,
          parameters=_run_by("alliance-2v-over-n-decrease"))  # fmt: skip
def nine_and_back(run: Run) -> None:
    """BGS86 4.3, 4.4.2: 9, 9 and 9; a returns, and all is as it was."""
    _gives_back(run, _cut_off(run, 9, 9, 9), B, C, D)


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False,
          parameters=_run_by("overthrow-ranking-decrease"))  # fmt: skip
def supplanted_by_rank(run: Run) -> None:
    """BGS86 4.3: b, "of lowest rank", has 17, c and d keep 5; a returns, and all is as it was."""
    _gives_back(run, _cut_off(run, 17, 5, 5), B)


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False,
          parameters=_run_by("overthrow-token-decrease"))  # fmt: skip
def supplanted_by_token(run: Run) -> None:
    """BGS86 4.3: whoever has the token has 17, and one only; a returns, and all is as it was."""
    run.start()
    cut = _cut_off_without_token(run)
    run.seen("became", d="17 votes")
    run.mend(cut)
    run.seen("became", d="5 votes")


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False,
          parameters=_run_by("overthrow-token-decrease"))  # fmt: skip
def token_outside(run: Run) -> None:
    """BGS86 5.2: the token is out of the group, and "no node gets extra votes" until it is back.

    It is cut off before it can say that the token arrived. So it is told again, and has it once.
    """
    run.start()
    run.arm(C, "received", kind="Token")
    run.reached(C)
    cut = run.isolate(C)
    run.resume(C)
    for node in (A, B, D):
        _remembers(run, node, [A, B, D])
    run.mend(cut)
    _cut_off_without_token(run)
    run.seen("became", d="17 votes")


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False, expect=TWO,
          parameters=_run_by("alliance-2v-catch-up", threshold=18))  # fmt: skip
def back_to_the_start(run: Run) -> None:
    """BGS86 4.4.1: a returns and catches up to 18, the threshold; all are here: 6, 5, 5 and 5."""
    cut = _cut_off(run, 17, 17, 17)
    run.mend(cut)
    _has(run, A, 18)
    for node, votes in ((A, 6), (B, 5), (C, 5), (D, 5)):
        _has(run, node, votes)


@scenario(nodes=4, protocol=AUTONOMOUS_TWO, lateness=False, expect={"BGS86-MAJ": "vacuous"},
          parameters=_run_by("static"))  # fmt: skip
def static_votes(run: Run) -> None:
    """BGS86 5.1: votes that do not move: a is cut off, and nobody does anything about it."""
    run.start()
    cut = run.isolate(A)
    run.elapse(3 * run.info.timing.check_ms)
    run.mend(cut)
    run.elapse(3 * run.info.timing.check_ms)


@scenario(protocol=CONSENSUS, lateness=False,
          parameters={"links": [[1, 2], [2, 3], [3, 4], [4, 5], [5, 1]]})  # fmt: skip
def votes_by_consensus(run: Run) -> None:
    """BGS86 1.2, GM82-RO: the votes go to those in the active group, however it shrinks and grows.

    Without 4 and 5 the others share the votes. Then 2 and 3 are left with 4 of 5 votes; nodes 1, 4
    and 5, three of five nodes, have one, and assign nothing.
    """
    run.start()
    run.settled()
    run.split({1, 2, 3}, {4, 5})
    _decides(run, [1, 2, 3])
    run.mend()
    run.split({2, 3}, {1, 4, 5})
    _decides(run, [2, 3])
    run.settled([1, 4, 5])
    run.seen("received", node=1, src=5, kind="AreYouMember")  # the end of a Check of node 5
    run.mend()
    _decides(run, [1, 2, 3, 4, 5])
    run.kill(1)
    _decides(run, [2, 3, 4, 5])


def _decides(run: Run, group: list[int]) -> None:
    """Until a coordinator of this group has decided on its votes, and told all members."""
    *members, _ = group  # the last one coordinates
    for node in members:
        run.seen("received", node=node, kind="Commit", ack=False)
    run.settled(group)

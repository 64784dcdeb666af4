"""A search for false verdicts: the correct Bully under hundreds of random schedules.

GM82 Theorem 1: inside the assumptions nothing is ever broken. Theorem 2: outside them something
may be, and is then excused. The named cases below are what the search has found.
"""

from collections import Counter

import pytest

from harness.run import Run
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from tests.oracle_runs import CRASHES, LINKS, PAUSES, random_run
from traces.events import AnyEvent, Became, Injected, Opened, decode_lines, encoder
from traces.judge import judge
from traces.run import RunInfo
from traces.verdicts import Verdict

CLAIMS = ("GM82-1a", "GM82-1b", "GM82-2", "CJ97-c1", "CJ97-c2", "CJ97-c3", "CJ97-c4")
OBLIGATIONS = ("A3", "A4", "A5", "A6", "A7")
ORDERLY = tuple(verb for verb in LINKS if verb not in ("duplicate", "delay", "reorder"))
RUNS = 300


def results(events: list[AnyEvent], info: RunInfo) -> dict[str, str]:
    return {verdict.id: verdict.result for verdict in judge(events, info)}


# --- Theorem 1 ----------------------------------------------------------------------------


@pytest.mark.parametrize("slow_links", [False, True], ids=["fast", "slow"])
def test_under_crashes_restarts_and_points_every_claim_holds(slow_links: bool) -> None:
    held: Counter[str] = Counter()
    for seed in range(RUNS):
        events, info = random_run(seed, CRASHES, steps=25, slow_links=slow_links)
        found = results(events, info)
        if "violated" in (found["A8"], found["A9"]):
            continue  # a stop shorter than T_p that made a message late
        wrong = {it: found[it] for it in (*CLAIMS, *OBLIGATIONS)
                 if found[it] not in ("holds", "vacuous")}  # fmt: skip
        assert not wrong, f"seed {seed}: {wrong}"
        held.update(it for it in CLAIMS if found[it] == "holds")
    assert min(held[it] for it in CLAIMS) > 0.8 * RUNS


# --- Theorem 2 ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verbs", "lateness"),
    [(CRASHES + ORDERLY, True), (CRASHES + PAUSES, True), (CRASHES + PAUSES[:1], False)],
    ids=["links", "pauses", "pauses that go unnoticed"],
)
def test_outside_the_assumptions_nothing_is_worse_than_excused(
    verbs: tuple[str, ...], lateness: bool
) -> None:
    excused = 0
    for seed in range(RUNS):
        events, info = random_run(seed, verbs, steps=25, lateness=lateness)
        found = results(events, info)
        wrong = {it: found[it] for it in (*CLAIMS, *OBLIGATIONS)
                 if found[it] in ("violated", "unknown")}  # fmt: skip
        assert not wrong, f"seed {seed}: {wrong}"
        excused += any(found[it] == "excused" for it in CLAIMS)
    assert excused or lateness


# --- what was found -----------------------------------------------------------------------


class Found:
    """A run by hand on the virtual engine."""

    def __init__(self, nodes: int) -> None:
        info = RunInfo("found", "", "nodes.bully:Bully", "virtual", 1, nodes, timing_for(nodes))
        self.engine, self.info = VirtualEngine(info), info
        self.run = Run(info, self.engine)
        self.engine.record(Opened(scenario="found", engine="virtual", nodes=nodes))

    def judged(self) -> tuple[list[AnyEvent], dict[str, Verdict]]:
        self.run.live.catch_up()
        self.engine.record(Injected(step=99, verb="end", nodes=tuple(sorted(self.run.live.up))))
        self.engine.close()
        events = decode_lines(encoder.encode_lines(self.engine.events))
        return events, {verdict.id: verdict for verdict in judge(events, self.info)}


def test_a_coordinator_that_gave_way_to_one_that_then_crashed_never_tries_again() -> None:
    """A flaw of the algorithm as published: GM82-2 is broken inside all assumptions.

    2 has passed its election point (Reorganization under 2) when 1 crashes. Its CALL of
    NewCoordinator times out, and "the simplest thing is to restart": the new Election asks 3, in
    vain, and 4, which has just come up and is still waiting for the dead 3 to be halted. 4
    answers, so 2 returns and lets it win; but 4 crashes before it gets to halt 2. Now 2 is the
    highest node up, Reorganization, with S(2).c = 2, and runs no Election. Check looks only at
    Normal nodes. Timeout asks S(2).c, that is 2 itself, whether it is there: it always is.

    The proof of Theorem A2 says "if node i is not the coordinator already, it will try to become
    one", and takes every node that names itself for a Normal coordinator.
    """
    found = Found(4)
    run, timing = found.run, found.info.timing
    run.start([1, 2])
    run.arm(1, "received", kind="NewCoordinator")
    run.reached(1)
    run.kill(1)
    run.seen("timed_out", node=2, kind="NewCoordinator")
    run.elapse(0.9 * timing.t_ms)
    run.start([4])
    run.seen("received", node=2, src=4, ack=True)
    run.kill(4)
    run.elapse(3 * timing.settles_ms(4))
    events, verdicts = found.judged()
    last = [e for e in events if isinstance(e, Became) and e.node == 2][-1]
    assert (last.s, last.c) == ("Reorganization", 2)
    assert verdicts["GM82-2"].result == "violated"
    assert all(verdicts[it].result == "holds" for it in (*OBLIGATIONS, "A8", "A9"))


def test_a_claim_broken_by_echoes_from_before_a_restart_is_laid_to_a7() -> None:
    """3's messages to 1 arrive again long after; 1 has restarted, 3 is dead, 2 leads.

    A kernel that forgets what it has handled takes the echoes of Halt, NewCoordinator and Ready
    for new ones, and 1 follows a dead coordinator beside 2. GM82 II speaks of nodes, not of
    lives: such a kernel breaks Assumption 7, and must be told so.
    """
    found = Found(3)
    run = found.run
    echoes = run.duplicate(run.links(3, [1]), after_ms=400)
    run.start()
    run.settled()
    run.mend(echoes)
    run.kill(1)
    run.restart(1)
    run.kill(3)
    run.settled()
    run.elapse(400)
    _, verdicts = found.judged()
    broken = verdicts["GM82-1a"].result != "holds"
    assert (verdicts["A7"].result == "violated") == broken


def test_a_silence_that_is_felt_after_the_mend_is_still_in_the_shadow_of_the_cut() -> None:
    """2 asks 3 and hears nothing; the cut is mended; only when 4 too is silent does 2 elect.

    Nobody had noticed anything, so the nodes were settled all the time, also after the mend.
    """
    found = Found(4)
    run = found.run
    run.start([1, 2, 3])
    run.settled()
    cut = run.cut([(2, 3), (3, 2)])
    run.seen("began", node=2, proc="Timeout")
    run.seen("sent", node=2, to=4, kind="AreYouThere")
    run.mend(cut)
    run.seen("became", node=2, s="Reorganization", c=2)
    run.finish()
    _, verdicts = found.judged()
    assert verdicts["GM82-1a"].result == "excused"
    assert verdicts["A8"].result == "violated"


def test_a_node_that_overslept_before_it_could_store_is_no_breach_of_a4() -> None:
    """It stopped between the line and the cell, woke late, and emptied its socket first."""
    found = Found(3)
    run = found.run
    run.start([1, 2])
    run.settled()
    run.arm(1, "became", s="Normal")
    run.start([3])
    run.reached(1)
    run.elapse(100)
    run.resume(1)
    run.settled()
    _, verdicts = found.judged()
    assert verdicts["A4"].result == "holds"

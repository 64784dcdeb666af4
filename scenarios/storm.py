"""Everything at once: crashes, pauses, partitions and lossy links, one on top of the other."""

from random import Random

from harness.run import Run
from harness.scenario import INVITATION, scenario

LASTS_MS = 60_000


def _crash(run: Run, chance: Random) -> None:
    dead = sorted(set(run.nodes) - run.live.up)
    if len(dead) < 2:
        run.kill("one")
    else:
        run.restart(chance.choice(dead))


def _pause(run: Run, chance: Random) -> None:
    stopped = sorted(run.live.stopped & run.live.up)
    if stopped:
        run.resume(stopped[0])
    else:
        run.pause("one", contract=chance.choice(("buffer", "drop")))


def _partition(run: Run, chance: Random) -> None:
    nodes = list(run.nodes)
    chance.shuffle(nodes)
    shapes = (
        lambda: run.split(nodes[:2]),
        lambda: run.split(nodes[:2], nodes[2:4]),
        lambda: run.one_way(nodes[:3], nodes[3:]),
        lambda: run.bridge(nodes[0]),
        run.ring,
        lambda: run.overlap(nodes[:3], nodes[2:]),
    )
    chance.choice(shapes)()


def _spoil(run: Run, chance: Random) -> None:
    t_m = run.info.timing.t_m_ms
    shapes = (
        lambda: run.lose(run.links(), p=0.2),
        lambda: run.delay(run.links(), ms=0.2 * t_m, jitter_ms=2 * t_m),
        lambda: run.duplicate(run.links(), p=0.5, after_ms=t_m),
        lambda: run.reorder(run.links(), p=0.3, ms=t_m),
    )
    chance.choice(shapes)()


def _mend(run: Run, _: Random) -> None:
    run.mend()


@scenario(protocol=INVITATION, lateness=False)
def everything_at_once(run: Run) -> None:
    """GM82-3: for a minute nothing is as it should be, and no two of a group ever disagree."""
    chance = Random(run.info.seed)
    run.start()
    run.settled()
    while run.passed_ms < LASTS_MS:
        chance.choice((_crash, _pause, _partition, _spoil, _mend, _mend))(run, chance)
        run.elapse(chance.uniform(0.5, 8) * run.info.timing.t_ms)
    run.mend()
    for node in sorted(run.live.stopped & run.live.up):
        run.resume(node)
    run.settled()

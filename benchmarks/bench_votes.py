"""The verdicts on 3,000 vote increments: what they cost beyond the decode (BGS86 2.1, 2.2).

Nodes under virtual time raise their votes two at a time, in Scenario One, and in Two, where they
give votes back between: five, as in the networks of BGS86 5, and nine, as in its Figure 2.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from random import Random
from statistics import median

from benchmarks.table import Row, cpu_s, in_turn
from harness.scenario import INCREASING, REASSIGNING
from harness.timing import timing_for
from harness.virtual import VirtualEngine
from nodes.config import Ask, load_protocol
from traces.events import AnyEvent, Opened, decode_lines, encoder
from traces.judge import judge
from traces.memory import uncollected
from traces.run import RunInfo

INCREMENTS, ROUNDS = 3_000, 3


def increments(protocol: str, count: int) -> tuple[bytes, RunInfo]:
    """A run with so many of them."""
    info = RunInfo("bench", "", protocol, "virtual", 1, count, timing_for(count), False,
                   properties=load_protocol(protocol).claims)  # fmt: skip
    engine, rng, nodes = VirtualEngine(info), Random(1), range(1, count + 1)
    engine.record(Opened(scenario="bench", engine="virtual", nodes=count))
    engine.spawn(dict.fromkeys(nodes, 1))
    votes, asked = dict.fromkeys(nodes, 1), 0
    for _ in range(INCREMENTS // 2):
        for i in rng.sample(nodes, 2):
            if protocol == REASSIGNING and votes[i] > 20:
                votes[i] = rng.randint(0, 9)
                engine.ask(i, Ask(asked := asked + 1, "Decrease", {"votes": votes[i]}))
            votes[i] += rng.randint(1, 3)
            engine.ask(i, Ask(asked := asked + 1, "Increase", {"votes": votes[i]}))
        engine.advance(None, engine.now() + 1_000_000)
    engine.close()
    return encoder.encode_lines(engine.events), info


def check(events: list[AnyEvent], info: RunInfo) -> None:
    """All verdicts, as the judge comes to them."""
    with uncollected():
        verdicts = {v.id: v for v in judge(events, info)}
    if verdicts["BGS86-MAJ"].examined["increments"] < INCREMENTS:
        raise RuntimeError("not all increments were examined")


def rows() -> Iterator[Row]:
    """One for each Scenario; nine nodes make so many more events that they have no target."""
    scenarios = (("One", INCREASING), ("Two", REASSIGNING))
    for count, (name, protocol) in product((5, 9), scenarios):
        data, info = increments(protocol, count)
        events: list[AnyEvent] = decode_lines(data)

        decode_s, check_s = in_turn(
            ROUNDS,
            partial(cpu_s, partial(decode_lines, data)),
            partial(cpu_s, partial(check, events, info)),
        )
        yield Row(
            f"verdicts on {INCREMENTS:,} increments of {count} nodes, Scenario {name}, "
            f"{len(events):,} events",
            f"bare typed decode, {median(decode_s):.2f} s", f"{median(check_s):.2f} s",
            "< 1 s" if count == 5 else "", median(check_s) < 1 if count == 5 else None,
        )  # fmt: skip

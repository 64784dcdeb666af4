"""Every consistent cut: pairs of concurrent words against a walk of the whole lattice."""

from collections import Counter
from collections.abc import Mapping

from tests.build import TIMING, Trace
from tests.cut_traces import cut_trace
from tests.oracle_cuts import RECORDED, Lattice, disagreements, time_edges
from traces import timeouts
from traces.causality import Place
from traces.chapters import ACTIVE
from traces.concurrent import Unrecorded, Word, unrecorded, words

TRACES = 2000
T_M = round(TIMING.t_m_ms * 1e6)
Margins = dict[frozenset[tuple[int, int]], int]
"""Of each pair of words that disagree somewhere, the smallest eps at which they do."""


def name_of(word: Word) -> tuple[int, int]:
    return word.node, word.key // 2


def margins(found: Unrecorded, some: list[Word]) -> Margins:
    """What the analyzer found, as the oracle says it."""
    pairs: Margins = {}
    for k, a in enumerate(some):
        for b in some[k + 1 :]:
            if b.key < a.end and a.node != b.node and a.group == b.group and a.says != b.says:
                pairs[frozenset((name_of(a), name_of(b)))] = RECORDED
    for case in found.found:
        assert found.clocks is not None
        late, node = case.later, case.earlier.node
        known = found.clocks.split(found.clocks.at[late.key, late.node])[1][node - 1]
        every = [a for a in some if a.node == node and a.group == late.group
                 and a.says != late.says and a.end <= late.key and a.number > known]  # fmt: skip
        assert len(every) == case.pairs
        for a in every:
            pairs[frozenset((name_of(a), name_of(late)))] = max(0, late.at - a.until)
        assert case.gap == min(late.at - a.until for a in every)
    return pairs


def found_in(t: Trace, by_group: bool, edges: Mapping[Place, Place]) -> tuple[Margins, Margins]:
    history = t.history()
    said = words(history, by_group, ACTIVE)
    a, b = unrecorded(history, said, edges)
    return margins(a, said[0]), margins(b, said[1])


def expected_in(t: Trace, by_group: bool, timed: bool) -> tuple[Margins, Margins]:
    edges = time_edges(t.events, t.nodes, T_M) if timed else None
    lattice = Lattice(t.events, t.nodes, edges)
    active = disagreements(lattice, ("Normal", "Reorganization"), "c", by_group)
    return active, disagreements(lattice, ("Normal",), "d", by_group)


def judged_alike(seed: int) -> Counter[str]:
    """How many pairs disagree where, by the analyzer and the walk alike."""
    t, counted = cut_trace(seed), Counter[str]()
    by_group, timed = bool(seed % 2), bool(seed % 3)
    edges = timeouts.time_edges(t.history(), TIMING) if timed else {}
    found, expected = found_in(t, by_group, edges), expected_in(t, by_group, timed)
    assert found == expected, f"seed {seed}"
    gaps = [gap for some in found for gap in some.values()]
    counted["traces"] += 1
    counted["violating"] += bool(gaps)
    counted["only unrecorded"] += bool(gaps) and RECORDED not in gaps
    counted["pairs"] += len(gaps)
    counted["unrecorded pairs"] += sum(gap != RECORDED for gap in gaps)
    counted["time edges"] += len(edges)
    return counted


def test_every_pair_that_a_walk_of_the_lattice_finds_is_found_with_its_margin() -> None:
    counted = sum((judged_alike(seed) for seed in range(TRACES)), Counter[str]())
    print(", ".join(f"{count:,} {what}" for what, count in counted.items()))
    assert counted["violating"] > TRACES / 4

"""Every consistent cut: pairs of concurrent words against a walk of the whole lattice."""

import tracemalloc
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import TIMING, Trace
from tests.cut_traces import cut_trace
from tests.oracle_cuts import RECORDED, Edges, Lattice, disagreements, time_edges
from traces import causality, timeouts
from traces.causality import Clocks, Place, least_cut
from traces.clocks import WIDTH, Lanes
from traces.concurrent import Unrecorded, Word, unrecorded
from traces.cuts import Swept
from traces.lattice import count_cuts
from traces.lives import History

TRACES = 2000
EPS = (RECORDED, 0, 100_000, 10_000_000, float("inf"))  # ns
T_M = round(TIMING.t_m_ms * 1e6)
NEVER = 1 << 62
Pair = tuple[int, int]
Margins = dict[frozenset[tuple[int, int]], int]
"""Of each pair of words that disagree somewhere, the smallest eps at which they do."""


@dataclass(frozen=True)
class Said:
    """A word, from the turn that began it to the one that ended it."""

    node: int
    group: str
    says: object
    key: int
    at: int
    end: int
    until: int

    @property
    def name(self) -> tuple[int, int]:
        return self.node, self.key // 2


def words(swept: Swept) -> list[Said]:
    """All of them, in the order they began."""
    found = []
    turns = list(swept.turns())
    for k, (key, at, node, _, _, group, says) in enumerate(turns):
        if says is not None:
            ends = [turn for turn in turns[k + 1 :] if turn.node == node]
            end, until = ends[0][:2] if ends else (NEVER, NEVER)
            found.append(Said(node, group, says, key, at, end, until))
    return found


def margins(found: Unrecorded, some: list[Said], clocks: Mapping[Place, Sequence[int]]) -> Margins:
    """What the analyzer found, as the oracle says it; given of which ends each word knows."""
    pairs: Margins = {}
    for a, b in combinations(some, 2):
        if b.key < a.end and a.node != b.node and a.group == b.group and a.says != b.says:
            pairs[frozenset((a.name, b.name))] = RECORDED
    for case in found.found:
        late = next(it for it in some if (it.key, it.node) == (case.later.key, case.later.node))
        known = clocks[late.key, late.node][case.earlier.node - 1]
        every = [a for a in some if a.node == case.earlier.node and a.group == late.group
                 and a.says != late.says and known < a.end <= late.key]  # fmt: skip
        assert len(every) == case.pairs
        assert (every[-1].key, every[-1].end) == (case.earlier.key, case.end)
        assert case.gap == min(late.at - a.until for a in every)
        pairs |= {frozenset((a.name, late.name)): late.at - a.until for a in every}
    return pairs


def found_in(t: Trace, by_group: bool, edges: Mapping[Place, Place]) -> tuple[Margins, Margins]:
    history, swept = t.history(), t.sweep(by_group)
    a, b = unrecorded(history, swept, edges)
    starts = [(it.key, it.node) for some in swept for it in words(some)]
    clocks = {place: last_known(history, place, edges) for place in starts}
    return margins(a, words(swept[0]), clocks), margins(b, words(swept[1]), clocks)


def last_known(history: History, place: Place, edges: Mapping[Place, Place]) -> list[int]:
    """The last key of each node that is before this place."""
    last = least_cut(history, [place], edges)
    return [last.get(node, -1) for node in range(1, history.nodes + 1)]


def expected_in(t: Trace, by_group: bool, timed: bool) -> tuple[Margins, Margins]:
    edges = time_edges(t.events, t.nodes, T_M) if timed else None
    lattice = Lattice(t.events, t.nodes, edges)
    active = disagreements(lattice, ("Normal", "Reorganization"), "c", by_group)
    return active, disagreements(lattice, ("Normal",), "d", by_group)


def judged_alike(seed: int) -> Counter[str]:
    """How many pairs disagree where, by the analyzer and the walk alike."""
    t, counted = cut_trace(seed), Counter[str](traces=1)
    by_group, timed = bool(seed % 2), bool(seed % 3)
    edges = timeouts.time_edges(t.history(), TIMING) if timed else {}
    found, expected = found_in(t, by_group, edges), expected_in(t, by_group, timed)
    for eps in EPS:
        within = [within_eps(some, eps) for some in found]
        assert within == [within_eps(some, eps) for some in expected], f"seed {seed}, eps {eps}"
        counted[f"eps {eps}"] += any(within)
    assert found == expected, f"seed {seed}"
    recorded = any(RECORDED in some.values() for some in found)
    counted["only unrecorded"] += any(found) and not recorded
    counted["time edges"] += len(edges)
    return counted


def within_eps(some: Margins, eps: float) -> set[frozenset[tuple[int, int]]]:
    return {pair for pair, least in some.items() if least <= eps}


def test_every_pair_that_a_walk_of_the_lattice_finds_is_found_at_every_eps() -> None:
    counted = sum((judged_alike(seed) for seed in range(TRACES)), Counter[str]())
    print(f"of {TRACES:,} random traces {counted['eps inf']:,} violate something, "
          f"{counted['only unrecorded']:,} of them on unrecorded cuts only")  # fmt: skip
    assert counted["eps -1"] > TRACES / 5
    assert counted["only unrecorded"] > TRACES / 20
    assert counted["eps -1"] < counted["eps 0"] < counted[f"eps {EPS[2]}"] < counted["eps inf"]
    assert counted["time edges"] > TRACES / 10


class Nothing:
    """No event is of this type."""


def off_by(one: int) -> object:
    """Clocks that know of an end too many, or too few."""
    behind = Clocks.behind

    def wrong(self: Clocks, k: int) -> Iterator[tuple[int, int]]:
        for node, known in behind(self, k):
            at = bisect_right(self.ticked[node], known) + one
            yield node, self.ticked[node][at - 1] if at > 0 else -1

    return wrong


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (causality, "Received", Nothing),  # no receipt informs
        (causality, "Sent", Nothing),  # no datagram carries a clock
        (timeouts, "time_edges", lambda *_: {}),  # no time-out knows anything
        (Clocks, "behind", off_by(1)),
        (Clocks, "behind", off_by(-1)),
    ],
)
def test_an_analyzer_that_is_wrong_somewhere_is_told_from_the_walk(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, wrong: object
) -> None:
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises(AssertionError):
        sum((judged_alike(seed) for seed in range(TRACES)), Counter[str]())


@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 1)] * 2), min_size=1, max_size=60))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_packed_clocks_merge_and_compare_component_by_component(pairs: list[Pair]) -> None:
    lanes = Lanes(len(pairs))
    a, b = (sum(n << WIDTH * k for k, n in enumerate(side)) for side in zip(*pairs, strict=True))
    assert lanes.values(lanes.merge(a, b)) == tuple(max(pair) for pair in pairs)
    assert lanes.covers(a, b) == all(x >= y for x, y in pairs)
    merged = lanes.merge(a, b)
    assert lanes.merge(merged, a) is merged  # nothing new


# --- cuts -----------------------------------------------------------------------------------


def cuts_of(t: Trace, edges: Edges) -> list[tuple[tuple[int, ...], int]]:
    lattice = Lattice(t.events, t.nodes, edges)
    return [(cut, lattice.apart(cut)) for cut in lattice.cuts(from_start=True)]


def test_consistent_cuts_are_counted_as_the_walk_meets_them() -> None:
    for seed in range(0, TRACES, 20):
        t = cut_trace(seed)
        edges = timeouts.time_edges(t.history(), TIMING)
        every = cuts_of(t, time_edges(t.events, t.nodes, T_M))
        for eps in (0, EPS[2], None):
            within = sum(eps is None or apart <= eps for _, apart in every)
            assert count_cuts(t.history(), edges, eps, 10**6) == within, f"seed {seed}"
            assert count_cuts(t.history(), edges, eps, within - 1) is None


def test_where_the_recorded_cuts_alone_are_too_many_no_clock_is_kept() -> None:
    t = Trace(50)
    for node in range(1, 51):
        for _ in range(100):
            t.became(node, "Election")

    def peak(budget: int) -> int:
        tracemalloc.start()
        assert count_cuts(history, {}, 0, budget) == (5001 if budget > 5000 else None)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return taken

    history = t.history()
    assert 3 * peak(5000) < peak(5001)


def test_the_witness_is_the_least_cut_within_its_margin_that_has_both_states() -> None:
    compared = 0
    for seed in range(0, TRACES, 4):
        t = cut_trace(seed)
        edges = timeouts.time_edges(t.history(), TIMING)
        a, b = unrecorded(t.history(), t.sweep(), edges)
        lattice = Lattice(t.events, t.nodes, time_edges(t.events, t.nodes, T_M))
        for it in [*a.found, *b.found]:
            starts = [(word.key, word.node) for word in (it.earlier, it.later)]
            last = least_cut(t.history(), starts, edges, it.gap)
            near = (cut for cut in lattice.cuts(from_start=True) if lattice.apart(cut) <= it.gap)
            both = (it.earlier, it.end), (it.later, NEVER)
            within = [cut for cut in near if all(has(lattice, cut, *word) for word in both)]
            least = tuple(map(min, zip(*within, strict=True)))
            assert least in within
            assert least == tuple(
                sum(2 * i + crashed <= last.get(node, -1) for i, crashed, _ in items)
                for node, items in lattice.items.items()
            ), f"seed {seed}"
            compared += 1
    assert compared > 25


def has(lattice: Lattice, cut: tuple[int, ...], word: Word, end: int) -> bool:
    """Whether this word has begun at the cut, and not ended."""
    keys = [2 * i + crashed for i, crashed, _ in lattice.items[word.node][: cut[word.node - 1]]]
    return bool(keys) and word.key <= keys[-1] < end

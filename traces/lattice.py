"""How many consistent cuts a run has, counted one by one within a budget.

Nothing is decided here: the count only says how much more the consistent cuts are than the recorded
ones that stand for them. Rules:

- A cut is how many events of each node are in it (crashes count as events), packed like a clock.
  The next event of a node may join it if the cut has all that its clock has; with eps, also all
  events that are more than eps older (traces.concurrent).
- Cuts of one size are known together, so that none is counted twice.

Limits: their number grows with the power of the nodes; hence the budget.
"""

from bisect import bisect_left
from collections.abc import Mapping

from traces.causality import Clocks, Place, stop_at
from traces.clocks import Lanes, unit
from traces.lives import History

BUDGET = 200_000
"""Cuts that are counted where nobody asks for more: a second or two."""


def count_cuts(
    history: History, edges: Mapping[Place, Place], eps_ns: int | None, budget: int
) -> int | None:
    """Their number, the empty cut among them; None if there are more than the budget."""
    nodes = range(1, history.nodes + 1)
    stamps: dict[int, list[tuple[int, int]]] = {node: [] for node in nodes}  # (key, stamp)
    for i, event in enumerate(history.events):
        if event.node:
            stamps[event.node].append((2 * i, event.at))
    for crash in history.crashes:
        stamps[crash.node].append((2 * crash.index + 1, crash.at))
    for some in stamps.values():
        some.sort()
    if sum(map(len, stamps.values())) >= budget:  # the recorded cuts alone are more
        return None
    stops = sorted(stop_at(key, node, True) for node in nodes for key, _ in stamps[node])
    clocks = Clocks(history.nodes, history.events, stops, edges)
    clock_at = dict(zip(stops, clocks.at, strict=True))
    ats = {node: [at for _, at in some] for node, some in stamps.items()}
    needs: dict[int, list[int]] = {node: [] for node in nodes}
    for node, some in stamps.items():
        for key, at in some:
            need = list(clocks.lanes.values(clock_at[stop_at(key, node, True)]))
            need[node - 1] -= 1
            if eps_ns is not None:
                older = (bisect_left(ats[k], at - eps_ns) for k in nodes)
                need = list(map(max, need, older))
            needs[node].append(sum(unit(k) * count for k, count in enumerate(need)))
    return _walk(needs, budget)


def _walk(needs: dict[int, list[int]], budget: int) -> int | None:
    """Size by size, from the empty cut to the whole run."""
    covers = Lanes(len(needs)).covers
    level, count = {0: (0,) * len(needs)}, 1
    while level:
        after: dict[int, tuple[int, ...]] = {}
        for cut, sizes in level.items():
            for node, mine in needs.items():
                size = sizes[node - 1]
                if size < len(mine) and covers(cut, mine[size]):
                    more = cut + unit(node - 1)
                    if more not in after:
                        after[more] = (*sizes[: node - 1], size + 1, *sizes[node:])
        count += len(after)
        if count > budget:
            return None
        level = after
    return count

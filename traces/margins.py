"""One agreement on every consistent cut: the recorded ones, those within eps, and all others.

GM82-3 and S97-ALE1 rest on unique group numbers alone, and must hold on all cuts that are
consistent with the messages. GM82-1 and S97-SLE1 rest on time-outs too; by messages alone a
crashed coordinator's last Normal state is concurrent with its successor. Their order has an edge
from each crash and each pause to the time-outs it explains (traces.timeouts); what messages alone
would have said is counted beside, as false alarms. Rules:

- eps < 0: the recorded cuts; then those within eps; without eps all. The margin does not depend on
  the eps that is asked for.
- A case on unrecorded cuts lasts, as to its excuse, from the end of the earlier state to the start
  of the later one: a shadow (traces.settled) anywhere between excuses it, for there the one was
  not told of the other.
- A program that writes no time-out at all does not show what it knew by time. Of such a run the
  claims that rest on time-outs are judged on recorded cuts only, and have no margin.

Limits: as in traces.concurrent and traces.timeouts.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from traces.causality import Place, least_cut
from traces.chapters import ACTIVE, State
from traces.concurrent import Hidden, Unrecorded, unrecorded
from traces.cuts import Swept, sweep
from traces.events import Suspected, TimedOut
from traces.lattice import count_cuts
from traces.lives import History
from traces.shots import in_words
from traces.validity import event_id
from traces.verdicts import RECORDED, SHOWN, Break, Evidence, Front, Margin

if TYPE_CHECKING:
    from traces.rulings import Case

Excuse = Callable[[int, int, int | None], Break | None]
"""The break that excuses a cut with this key and stamp, or an instant from there to a later one."""
BY_MESSAGES, BY_TIME_OUTS = "messages", "messages and time-outs"


class Scope(NamedTuple):
    """Which cuts are judged (without `eps_ns` all), and up to how many of them are counted."""

    eps_ns: int | None = None
    counted: int = 0


EVERY_CUT = Scope()
COMPARED = 100_000
"""Up to so many events the orders are compared, asked or not: it takes a fraction of a second."""


class Looked(NamedTuple):
    """One agreement, on the recorded cuts and on the others (none where they say nothing)."""

    swept: Swept
    others: Unrecorded | None
    order: str
    counts: dict[str, int]
    alone: Unrecorded | None = None
    """By messages alone, where that was asked."""

    @property
    def margin(self) -> Margin | None:
        """The smallest eps at which it fails."""
        if self.others is None:
            return Margin(RECORDED, self.order) if self.swept.found else None
        least = min((it.gap for it in self.others.found), default=None)
        return Margin(RECORDED if self.swept.found else least, self.order)

    @property
    def pairs(self) -> int:
        """How many pairs of states met on some cut."""
        return self.swept.pairs + (self.others.pairs if self.others else 0)

    @property
    def examined(self) -> dict[str, int]:
        """What was looked at."""
        counts = {"cuts": self.swept.cuts, "pairs": self.swept.pairs}
        if self.others is not None and self.others.clocks:
            counts["unrecorded_pairs"] = self.others.pairs
            if self.alone is not None:
                accused, real = (sum(it.pairs for it in some.found)
                                 for some in (self.alone, self.others))  # fmt: skip
                counts["false_alarms_by_messages"] = accused - real
        return counts | self.counts


def look_at(
    case: "Case", by_group: bool = False, active: frozenset[str] = ACTIVE
) -> tuple[Looked, Looked]:
    """Agreement on the coordinator and on the task; within a group by messages alone."""
    history, order = case.history, BY_MESSAGES if by_group else BY_TIME_OUTS
    recorded = sweep(history, by_group, active)
    if not by_group and case.info.command and not _writes_time_outs(history):
        a, b = (Looked(swept, None, order, {}) for swept in recorded)
        return a, b
    edges = {} if by_group else case.time_edges
    others = unrecorded(history, recorded, edges)
    alone: list[Unrecorded] | list[None] = [None, None]
    if not by_group and (case.scope.counted or len(history.events) <= COMPARED):
        alone = unrecorded(history, recorded, {})
    counts = counted(case, edges)
    a, b = (
        Looked(swept, some, order, counts, by_messages)
        for swept, some, by_messages in zip(recorded, others, alone, strict=True)
    )
    return a, b


def counted(case: "Case", edges: dict[Place, Place]) -> dict[str, int]:
    """How many cuts the recorded ones stand for, where that was asked."""
    eps_ns, most = case.scope
    if not most or (eps_ns is not None and eps_ns < 0):
        return {}
    count = count_cuts(case.history, edges, eps_ns, most)
    return {"consistent_cuts_more_than": most} if count is None else {"consistent_cuts": count}


def _writes_time_outs(history: History) -> bool:
    return any(isinstance(event, TimedOut | Suspected) for _, event in history.silences)


# --- evidence -------------------------------------------------------------------------------


def cases(
    case: "Case", looked: Looked, excuse: Excuse | None, what: Callable[[State, State], str]
) -> tuple[list[Evidence], int]:
    """What the other cuts show, the worst and nearest first, and how many more there are."""
    if looked.others is None:
        return [], 0
    eps = case.scope.eps_ns
    found = [it for it in looked.others.found if eps is None or it.gap <= eps]
    judged = [(_cause(it, excuse), it) for it in found]
    judged.sort(key=lambda both: (both[0] is not None, both[1].gap, both[1].later.key))
    edges = {} if looked.order == BY_MESSAGES else case.time_edges
    shown = []
    for cause, it in judged[:SHOWN]:
        evidence = _evidence(case, it, edges, what)
        case.excuse(evidence, cause)
        shown.append(evidence)
    return shown, len(judged) - len(shown)


def _cause(it: Hidden, excuse: Excuse | None) -> Break | None:
    return excuse(it.end, it.later.at - it.gap, it.later.at) if excuse else None


def _evidence(
    case: "Case", it: Hidden, edges: dict[Place, Place], what: Callable[[State, State], str]
) -> Evidence:
    """The least cut on which both states are there, and the states of both on it."""
    history, a, b = case.history, it.earlier, it.later
    last = least_cut(history, [(a.key, a.node), (b.key, b.node)], edges, it.gap)
    both = [history.state_at(node, last[node]) for node in sorted((a.node, b.node))]
    apart = f"{it.gap / 1e6:,.3f} ms"
    says = (f"{what(both[0], both[1])}, on a cut that was never recorded: node {a.node} had ceased "
            f"to be so {apart} before, and nothing had told node {b.node}")  # fmt: skip
    evidence = case.evidence(b.key, b.at, says, both)
    evidence.eps_ns = it.gap
    evidence.cut = [front(history, node, last[node]) for node in sorted(last)]
    return evidence


def front(history: History, node: int, key: int) -> Front:
    """How far a cut reaches on this node."""
    i = key >> 1
    while history.events[i].node != node:  # a crash follows the last line, or the kill
        i -= 1
    event, lives = history.events[i], history.lives[node]
    born = bool(lives) and 2 * lives[0].start <= key
    says = in_words(history.state_at(node, key)) if born else f"node {node} is Down"
    return Front(node, event_id(event), history.ms(event.at), says)

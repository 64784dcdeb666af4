"""From the locks of a run to BGS86-C22, on the recorded cuts and on all others.

Rules: a transaction that holds an object is a word of its node about that object, and two of them
are judged as any agreement is (traces.concurrent), by messages alone: that a lock is free is told
by messages, and by nothing else. Nothing excuses a case.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from traces.causality import least_cut, stop_at
from traces.concurrent import Hidden, unrecorded
from traces.cuts import Change, Swept
from traces.locks import Lock, LockRecord, rests_on
from traces.margins import BY_MESSAGES, counted, front
from traces.shared_rulings import at_others
from traces.validity import event_id
from traces.verdicts import RECORDED, SHOWN, Evidence, Margin, Verdict, many, verdict_of
from traces.words import nodes_in_words

if TYPE_CHECKING:
    from traces.rulings import Case


class LockRulings:
    """What is said about the locks of one run."""

    def __init__(self, case: "Case", versions: bool) -> None:
        self.case, self.events = case, case.history.events
        self.record = LockRecord(case.history, versions)
        self.taken = self.record.locks

    def exclusion(self) -> Verdict:
        """BGS86 3, Corollary 2.2."""
        record, taken = self.record, self.taken
        recorded, others = self.overlaps(), self._elsewhere()
        examined = {
            "asked": sum(record.asked.values()), "taken": len(taken),
            "contended": record.contended, "objects": record.objects,
        }  # fmt: skip
        fine = f"{many(len(taken), 'lock')} taken, {many(record.contended, 'request')} for "
        fine += "what another one held"
        vacuous = "" if record.objects or recorded else "no object was asked for twice, and taken"
        shown = [self._unrecorded(it) for it in others[:SHOWN]]
        looked = ""
        if self.case.scope.counted:
            examined["cuts"] = cuts = len(self.events) + len(self.case.history.crashes)
            examined |= counted(self.case, {})
            reach = at_others(self.case, BY_MESSAGES, examined)
            looked = f"; looked at {many(cuts, 'recorded cut')}{reach}"
        verdict = verdict_of(
            "BGS86-C22", examined, [*recorded, *shown], fine, vacuous, len(others[SHOWN:])
        )
        verdict.because += looked
        if not vacuous:
            least = min((it.gap for it in self.hidden), default=None)
            verdict.margin = Margin(RECORDED if recorded else least, BY_MESSAGES)
        return verdict

    def few(self) -> list[Evidence]:
        """Locks that were taken without a majority of the votes that counted."""
        return [
            self._evidence(f"{it.words} took {it.object} with {_votes(it)}", it)
            for it in self.taken
            if 2 * it.votes <= sum(it.v)
        ]

    def overlaps(self) -> list[Evidence]:
        """Locks that were taken while another transaction held the object."""
        return [
            self._evidence(
                f"{other.words} took {it.object} with {_votes(other)}, while {it.words} held it, "
                f"since {self.case.history.ms(self.events[it.taken].at)} ms, with {_votes(it)}",
                it, other,
            )
            for it, other in self.record.overlaps
        ]  # fmt: skip

    # --- cuts that were not recorded ------------------------------------------------------------

    @cached_property
    def hidden(self) -> list[Hidden]:
        """Locks that one who took the object later did not know to be free."""
        history, found = self.case.history, list[Hidden]()
        for changes in _changes(self.taken, self.case):
            stops = [change[0] for change in changes]
            swept = Swept(0, stops, partial(list, changes), many={""})
            (others,) = unrecorded(history, [swept], {})
            found += others.found
        return sorted(found, key=lambda it: (it.gap, it.later.key))

    def _elsewhere(self) -> list[Hidden]:
        eps = self.case.scope.eps_ns
        return [it for it in self.hidden if eps is None or it.gap <= eps]

    def _unrecorded(self, it: Hidden) -> Evidence:
        """The least cut on which both hold the object."""
        a, b = (self._lock(word.says, word.key) for word in (it.earlier, it.later))
        evidence = self._evidence(
            f"{b.words} took {b.object} with {_votes(b)}, while {a.words} held it, on a cut that "
            f"was never recorded: it had been given up {it.gap / 1e6:,.3f} ms before, and nothing "
            f"had told node {b.node}", a, b,
        )  # fmt: skip
        places = [(it.earlier.key, a.node), (it.later.key, b.node)]
        last = least_cut(self.case.history, places, {}, it.gap)
        evidence.cut = [front(self.case.history, node, last[node]) for node in sorted(last)]
        evidence.eps_ns = it.gap
        return evidence

    def _lock(self, name: object, key: int) -> Lock:
        return next(it for it in self.taken if it.name == name and 2 * it.taken == key)

    def _evidence(self, says: str, *locks: Lock) -> Evidence:
        at = self.events[max(it.taken for it in locks)].at
        events = sorted({i for it in locks for i in rests_on(it)})
        return Evidence(
            at=at, ms=self.case.history.ms(at), says=says,
            nodes=tuple(dict.fromkeys(it.node for it in locks)),
            events=[event_id(self.events[i]) for i in events],
        )  # fmt: skip


def _changes(locks: list[Lock], case: "Case") -> Iterator[list[Change]]:
    """Of each object that several transactions took: when which node began and ceased to hold it.

    A node that holds it by two transactions at once is a recorded case; here the last one counts.
    """
    objects: defaultdict[str, list[Lock]] = defaultdict(list)
    for it in locks:
        objects[it.object].append(it)
    events = case.history.events
    for mine in objects.values():
        if len(mine) < 2:
            continue
        ends = [(it.released, it, False) for it in mine if it.released is not None]
        held: dict[int, str] = {}
        changes: list[Change] = []
        for i, it, begins in sorted(
            [*((it.taken, it, True) for it in mine), *ends], key=lambda at: (at[0], at[2])
        ):
            before, now = held.get(it.node), it.name if begins else None
            if begins or before == it.name:
                changes.append((stop_at(2 * i, it.node, before is not None), events[i].at, now))
                held.pop(it.node, None)
                held |= {it.node: it.name} if begins else {}
        yield changes


def _votes(it: Lock) -> str:
    """`the votes of nodes 3-4, 3 of 5 (v = 1 1 1 2)`."""
    v = " ".join(map(str, it.v))
    return f"the votes of {nodes_in_words(it.group)}, {it.votes} of {sum(it.v)} (v = {v})"

"""From the votes and the locks of a run to verdicts: BGS86 2.1, 2.2 and 3.

Rules: the lemmas and theorems are judged in the reading in which the paper proves them, by
awareness. Beside it the verdict says how many pairs are blind as counted, by the definition
(papers guide, trap 7). Nothing excuses a case: BGS86 1.3 assumes neither A8 nor A9.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from traces.lock_rulings import LockRulings
from traces.validity import event_id
from traces.verdicts import Evidence, Verdict, many, verdict_of
from traces.vote_graph import Pair, VoteGraph, bits
from traces.vote_record import Increment, VoteRecord
from traces.words import nodes_in_words

if TYPE_CHECKING:
    from traces.rulings import Case


def rule_votes(case: "Case") -> Iterator[Verdict]:
    """The verdicts on every vote change of the run."""
    two, locks = (name in case.info.properties for name in ("BGS86-T221", "BGS86-C22"))
    record = LockRulings(case, two) if locks else None
    rulings = _Rulings(case, VoteRecord(case.history, versions=two), record)
    yield from rulings.all()
    if record is not None:
        yield record.exclusion()


class _Rulings:
    """The verdicts on one run."""

    def __init__(self, case: "Case", record: VoteRecord, locks: LockRulings | None) -> None:
        self.locks = locks
        self.events, self.ms = case.history.events, case.history.ms
        self.record, self.graph = record, VoteGraph(record)
        self.as_counted = VoteGraph(record, counted=True, like=self.graph)
        self.scenario = "22" if record.versions else "21"
        self.lone = "" if len(record.increments) > 1 else "there were not two increments"

    def all(self) -> Iterator[Verdict]:
        yield self._majority()
        yield self._acyclic()
        yield self._inherited()
        blind = list(self.graph.blind())
        sharing, mutual = self.graph.sharing(), self.graph.mutual()
        yield self._shared(blind, sharing)
        yield self._mutual(blind, sharing, mutual)
        yield self._theorem(blind)
        if not self.record.versions:
            yield self._corollary()

    def _verdict(
        self, number: str, examined: dict[str, int], cases: list[Evidence], fine: str, vacuous: str
    ) -> Verdict:
        name = (
            number if number.startswith("BGS86") else f"BGS86-{number[0]}{self.scenario}{number[1]}"
        )
        return verdict_of(name, examined, cases, fine, "" if cases else vacuous)

    def _evidence(self, says: str, *increments: Increment) -> Evidence:
        """When the last of them was installed, with every message they rest on."""
        at = self.events[max(it.installed for it in increments)].at
        events = sorted({i for it in increments for i in _rests_on(it)})
        return Evidence(
            at=at, ms=self.ms(at), says=says,
            nodes=tuple(dict.fromkeys(it.node for it in increments)),
            events=[event_id(self.events[i]) for i in events],
        )  # fmt: skip

    def _majority(self) -> Verdict:
        made, taken = self.record.increments, self.locks.taken if self.locks else []
        cases = [
            self._evidence(
                f"{it.words} was installed with {it.majv} of {sum(it.counted)} votes, "
                f"those of {nodes_in_words(it.majg)}", it,
            )
            for it in made if it.majv <= it.minv
        ]  # fmt: skip
        examined = {"increments": len(made), "decrements": len(self.record.decrements)}
        fine = f"{many(len(made), 'increment')}"
        if self.locks:
            cases += [*self.locks.few(), *self.locks.overlaps()]
            examined["locks"] = len(taken)
            fine += f" and {many(len(taken), 'lock')}"
        vacuous = "" if made or taken else "no votes increased"
        return self._verdict("BGS86-MAJ", examined, cases, f"{fine}, each with a majority", vacuous)

    def _acyclic(self) -> Verdict:
        cycle, edges = self.graph.cycle(), self.graph.edges()
        cases = []
        if cycle:
            chain = " => ".join(it.words for it in reversed([*cycle, cycle[0]]))
            cases = [self._evidence(f"each uses the one before: {chain}", *cycle)]
        fine = f"no cycle in {many(edges, 'use')} of increments"
        return self._verdict("L1", {"uses": edges}, cases, fine, "" if edges else "none was used")

    def _inherited(self) -> Verdict:
        edges = self.graph.edges()
        cases = [
            self._evidence(
                f"{k.words} uses {j.words}, which sees {x.words}; {k.name} does not: "
                f"{_knows(k, x)}", x, j, k,
            )
            for x, j, k in self.graph.forgetful()
        ]  # fmt: skip
        fine = f"along {many(edges, 'use')} of increments all that was seen was passed on"
        return self._verdict("L2", {"uses": edges}, cases, fine, "" if edges else "none was used")

    def _shared(self, blind: list[Pair], sharing: list[int]) -> Verdict:
        examined = {"pairs": sum(mask.bit_count() for mask in sharing) // 2}
        cases = self._blind(p for p in blind if set(p.one.majg) & set(p.other.majg))
        fine = f"{many(examined['pairs'], 'pair')} with a node in common"
        vacuous = "" if examined["pairs"] else "no two majorities shared a node"
        return self._verdict("L3", examined, cases, fine, vacuous)

    def _mutual(self, blind: list[Pair], sharing: list[int], mutual: list[int]) -> Verdict:
        examined = {"pairs": sum(mask.bit_count() for mask in mutual) // 2}
        made = self.record.increments
        if self.record.versions:
            cases = self._blind(
                p for p in blind if mutual[p.one.number - 1] >> p.other.number - 1 & 1
            )
        else:
            apart = (
                (made[a], made[b])
                for a, mask in enumerate(mutual)
                for b in bits(mask & ~sharing[a])
                if a < b
            )
            cases = [
                self._evidence(
                    f"{a.words} with {nodes_in_words(a.majg)} and {b.words} with "
                    f"{nodes_in_words(b.majg)} see all that the other one uses, and share no node",
                    a, b,
                )
                for a, b in apart
            ]  # fmt: skip
        fine = f"{many(examined['pairs'], 'pair')} that see what the other one uses"
        vacuous = "" if examined["pairs"] else "no two increments saw all that the other one uses"
        return self._verdict("L4", examined, cases, fine, vacuous)

    def _theorem(self, blind: list[Pair]) -> Verdict:
        as_counted = sum(1 for _ in self.as_counted.blind())
        examined = {"pairs": self.graph.pairs, "blind": len(blind), "blind_as_counted": as_counted}
        fine = f"{many(self.graph.pairs, 'pair')}"
        if as_counted:
            fine += f"; as counted, {as_counted} of them see neither the other"
        return self._verdict("T1", examined, self._blind(blind), fine, self.lone)

    def _corollary(self) -> Verdict:
        after = self.graph.after()
        cases = [
            self._evidence(
                f"{pair.other.words} began after {pair.one.words} was installed, and does not "
                f"see it: {_knows(pair.other, pair.one)}", pair.one, pair.other,
            )
            for pair in self.graph.belated()
        ]  # fmt: skip
        fine = f"{many(after, 'pair')} of which one began after the other was installed"
        vacuous = "" if after else "none began after another one was installed"
        return self._verdict("C1", {"pairs": after}, cases, fine, vacuous)

    def _blind(self, pairs: Iterable[Pair]) -> list[Evidence]:
        return [
            self._evidence(
                f"neither of {a.words} with the votes of {nodes_in_words(a.majg)} and {b.words} "
                f"with those of {nodes_in_words(b.majg)} sees the other: {_knows(a, b)}; "
                f"{_knows(b, a)}", a, b,
            )
            for a, b in ((pair.one, pair.other) for pair in pairs)
        ]  # fmt: skip


def _rests_on(it: Increment) -> Iterator[int]:
    """Where it began, the votes it had received, where it was installed."""
    yield it.begun
    if it.ballot is not None:
        yield from (i for i, _ in it.ballot.received.values())
    yield it.installed


def _knows(it: Increment, other: Increment) -> str:
    """`I2 counts 1 vote for node 9`, and what any vector it had says."""
    z = other.node - 1
    shown = {
        j: value["V"][z] for j, (_, value) in (it.ballot.received if it.ballot else {}).items()
    }
    shown[it.node] = it.own["V"][z]
    vectors = ", ".join(f"V{j}[{other.node}] = {v}" for j, v in sorted(shown.items()))
    return f"{it.name} counts {many(it.counted[z], 'vote')} for node {other.node} ({vectors})"

"""Verdicts: what the analyzer says about one property of one run, with its evidence.

Rules:

- `holds`: examined, and never broken. `violated`: broken, and nothing excuses it. `excused`:
  broken, but only in the shadow of a broken assumption the claim depends on. `vacuous`: its
  antecedent never happened. `unknown`: nothing can be said, because the trace is invalid or a
  search ran out of its budget.
- The worst wins: violated > unknown > vacuous > excused > holds.
- Everything here is plain data, and goes to `verdicts.json` as it is.

Limits: evidence is kept for the first `SHOWN` cases of a verdict; `count` counts them all.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from traces.properties import PROPERTIES

Result = Literal["holds", "excused", "vacuous", "unknown", "violated"]
EventId = tuple[int, int, int]
"""(node, inc, n): names one line of the trace, together with its process."""

BEST_TO_WORST: tuple[Result, ...] = ("holds", "excused", "vacuous", "unknown", "violated")
SHOWN = 10
RECORDED = -1
"""The cuts within this eps are the recorded ones."""


def worst(results: Iterable[Result]) -> Result:
    """The worst of them; `holds` when there are none."""
    return max(results, key=BEST_TO_WORST.index, default="holds")


class StateShot(msgspec.Struct, frozen=True):
    """S(i) at a cut: the whole state vector, and the event that made it so (GM82 II)."""

    node: int
    inc: int
    s: str
    c: int = 0
    h: int = 0
    up: tuple[int, ...] = ()
    d: str = ""
    g: str = ""
    since_ms: float = 0.0
    event: EventId | None = None


class Front(msgspec.Struct, frozen=True):
    """How far a cut that was never recorded reaches on one node: its last event in it."""

    node: int
    event: EventId
    ms: float
    says: str


class Evidence(msgspec.Struct):
    """One case: when, in words, who, the states at that cut, and the events that led there.

    `eps_ns` and `cut` are of a cut that was never recorded: how far from the recorded order it
    is, and how far it reaches on each node.
    """

    at: int
    ms: float
    says: str
    nodes: tuple[int, ...] = ()
    states: list[StateShot] = []
    events: list[EventId] = []
    result: Result = "violated"
    until_ms: float | None = None
    eps_ns: int | None = None
    cut: list[Front] = []


class Margin(msgspec.Struct, frozen=True):
    """The smallest eps at which a property fails on some cut within eps (docs/verdicts.md).

    None: it fails on no consistent cut. RECORDED: it fails on a recorded one. `order` is what the
    cuts are consistent with.
    """

    eps_ns: int | None
    order: str

    @property
    def words(self) -> str:
        """`none`, `recorded` or `1.3 ms`."""
        if self.eps_ns is None or self.eps_ns < 0:
            return "none" if self.eps_ns is None else "recorded"
        return f"{-(-self.eps_ns // 1000) / 1e3:,.3f} ms"  # rounded up: at that it fails


class Break(msgspec.Struct):
    """An assumption about the environment was broken from `start` to `end` (ns), and by what."""

    assumption: str
    start: int
    end: int
    by: str
    nodes: tuple[int, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    count: int = 1
    events: list[EventId] = []
    asked: bool = True
    """Whether a fault explains it; if not, the machine did it."""
    felt: int = 0
    """Until when what it caused may first show, if that is after its end."""


class Verdict(msgspec.Struct):
    """What is said about one property, why, on what evidence, and how much was examined."""

    id: str
    claim: str
    result: Result
    examined: dict[str, int]
    because: str
    evidence: list[Evidence] = []
    count: int = 0
    margin: Margin | None = None
    """Of a property that is decided on cuts."""


def verdict_of(
    name: str,
    examined: dict[str, int],
    cases: list[Evidence],
    fine: str,
    vacuous: str = "",
    more: int = 0,
) -> Verdict:
    """`fine` if there is no case against it, unless it is `vacuous`; else the worst case.

    There may be `more` cases that are no worse than those given.
    """
    claim = PROPERTIES[name]
    if vacuous:
        return Verdict(name, claim, "vacuous", examined, vacuous)
    if not cases:
        return Verdict(name, claim, "holds", examined, fine)
    cases = sorted(cases, key=lambda evidence: -BEST_TO_WORST.index(evidence.result))
    result = worst(evidence.result for evidence in cases)
    because = f"at {cases[0].ms} ms {cases[0].says}"
    return Verdict(name, claim, result, examined, because, cases[:SHOWN],
                   len(cases) + more)  # fmt: skip


class InvalidTrace(Exception):  # noqa: N818 - it names a state of the trace
    """The trace cannot be trusted: never a verdict about a protocol."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems[:3]) + (" ..." if len(problems) > 3 else ""))
        self.problems = problems


def many(count: int, noun: str) -> str:
    """Count and noun, in words that agree: `1 cut`, `1,200 cuts`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def encode(verdicts: list[Verdict]) -> bytes:
    """As stored in verdicts.json, indented for people."""
    return msgspec.json.format(msgspec.json.encode(verdicts), indent=1) + b"\n"


def decode(data: bytes) -> list[Verdict]:
    """Read back from verdicts.json."""
    return msgspec.json.decode(data, type=list[Verdict])

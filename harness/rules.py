"""What may be done to a datagram on its way, and the pure function that decides it.

A link is a directed pair (i, j). It carries an ordered list of rules; each answers pass, drop,
deliver after d, hold or duplicate, and the first that does not pass decides. Rules:

- A rule is data: it is sent to the relay and written in schedules as JSON, `verb` names it.
- Datagram k of a link (counted from 1) gets from each random rule one number that is a hash of
  (seed, link, k, rule id). Nothing is drawn from a generator and nothing is recorded, yet the
  same k meets the same fate on both engines and on every run of a seed.
- Rule ids are chosen by the controller, from 1; id 0 stands for "no rule".

Limits: a rule sees the number of a datagram, never its content or its time; the hash is good
enough to spread faults, not to keep secrets.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import msgspec

Link = tuple[int, int]
LONGEST_MS = 24 * 3_600_000  # of anything that lasts: a day


class Action(Enum):
    """What a rule may answer."""

    PASS = "pass"
    DROP = "drop"
    DELAY = "delay"
    HOLD = "hold"
    DUPLICATE = "duplicate"


class Answer(NamedTuple):
    """One rule's word on one datagram; `delay_ns` is for DELAY and DUPLICATE."""

    action: Action
    delay_ns: int = 0


class Decision(NamedTuple):
    """The word that counts, and the id of the rule that spoke it (0: all passed)."""

    action: Action
    delay_ns: int
    rule: int


PASS, DROP, DELAY, HOLD, DUPLICATE = Action  # a member looked up in its class costs more
PASSING = Answer(PASS)
PASSED = Decision(PASS, 0, 0)


class _Rule(msgspec.Struct, frozen=True, tag_field="verb", forbid_unknown_fields=True):
    """Base of all rules; every number is checked, made here or read from a file."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value, most = getattr(self, name), 1 if name == "p" else LONGEST_MS
            if not 0 <= value <= most:  # a NaN fails this too
                raise ValueError(f"{name} of {self.verb} is {value}; it must be in 0..{most:,}")

    @property
    def verb(self) -> str:
        """The name of the rule in traces and schedules."""
        return str(self.__struct_config__.tag)


class Drop(_Rule, frozen=True, tag="drop"):
    """Nothing goes through."""

    def answer(self, u: float) -> Answer:
        """Always drop."""
        return Answer(DROP)


class Lose(_Rule, frozen=True, tag="lose"):
    """Each datagram is dropped with probability `p`."""

    p: float

    def answer(self, u: float) -> Answer:
        """Drop when u falls below p."""
        return Answer(DROP) if u < self.p else PASSING


class Delay(_Rule, frozen=True, tag="delay"):
    """Each datagram arrives `ms` to `ms + jitter_ms` later; jitter may reorder them."""

    ms: float
    jitter_ms: float = 0.0

    def answer(self, u: float) -> Answer:
        """Stretch u over the jitter."""
        return Answer(DELAY, _ns(self.ms + u * self.jitter_ms))


class Hold(_Rule, frozen=True, tag="hold"):
    """Everything is kept, and goes on in order when the rule is removed."""

    def answer(self, u: float) -> Answer:
        """Always hold."""
        return Answer(HOLD)


class Duplicate(_Rule, frozen=True, tag="duplicate"):
    """With probability `p` a datagram arrives at once and again `after_ms` later."""

    p: float = 1.0
    after_ms: float = 0.0

    def answer(self, u: float) -> Answer:
        """Duplicate when u falls below p."""
        return Answer(DUPLICATE, _ns(self.after_ms)) if u < self.p else PASSING


class Reorder(_Rule, frozen=True, tag="reorder"):
    """With probability `p` a datagram arrives `ms` later, so that later ones overtake it."""

    p: float
    ms: float

    def answer(self, u: float) -> Answer:
        """Delay when u falls below p."""
        return Answer(DELAY, _ns(self.ms)) if u < self.p else PASSING


Rule = Drop | Lose | Delay | Hold | Duplicate | Reorder


class Installed:
    """A rule on a link under the controller's id, with its constant decision if it has one."""

    __slots__ = ("fixed", "rule", "rule_id")

    def __init__(self, rule_id: int, rule: Rule) -> None:
        if rule_id < 1:
            raise ValueError(f"rule id {rule_id}: ids count from 1")
        self.rule_id, self.rule = rule_id, rule
        # Answers are monotone in u: where both ends agree, no number needs to be hashed.
        least, most = rule.answer(0.0), rule.answer(_ALMOST_ONE)
        self.fixed = Decision(*least, rule_id) if least == most else None

    def decide(self, seed: int, link: Link, k: int) -> Decision:
        """The decision about datagram k when chance has a part in it."""
        return Decision(*self.rule.answer(unit(seed, link, k, self.rule_id)), self.rule_id)


def decide(rules: Sequence[Installed], seed: int, link: Link, k: int) -> Decision:
    """The fate of datagram k of the link: the first rule that does not pass decides."""
    for rule in rules:
        decision = rule.fixed or rule.decide(seed, link, k)
        if decision[0] is not PASS:
            return decision
    return PASSED


def constant(rules: Sequence[Installed]) -> Decision | None:
    """What `decide` says of every datagram, where chance has no part in it."""
    for rule in rules:
        if rule.fixed is None or rule.fixed.action is not PASS:
            return rule.fixed
    return PASSED


def unit(seed: int, link: Link, k: int, rule_id: int) -> float:
    """A number in [0, 1) that depends on nothing but the arguments."""
    i, j = link
    # Odd multipliers keep the parts apart, splitmix64's last steps spread them over all bits.
    x = seed * _SEED + i * _FROM + j * _TO + k * _K + rule_id * _RULE & _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return ((x ^ x >> 31) >> 11) * 2.0**-53


def _ns(ms: float) -> int:
    return round(ms * 1_000_000)


_MASK = (1 << 64) - 1
_SEED, _FROM, _TO = 0xD1342543DE82EF95, 0xAEF17502108EF2D9, 0xDA942042E4DD58B5
_K, _RULE = 0x9E3779B97F4A7C15, 0xF1357AEA2E62A9C5
_ALMOST_ONE = 1 - 2.0**-53

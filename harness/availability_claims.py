"""The sentences of BGS86 5.2 as claims, each beside our figures.

A claim says something of each of some networks, or of all of them together. Rules:

- "Better" is a lead whose 95% interval lies above 0, of runs compared pair by pair. What the
  paper's words mean in points is said once, below, for all claims.
- A claim is *confirmed* if it is so on all the networks it speaks of, or on more than half of
  them where it says "most" or "in general"; else it is *not confirmed*.
- It *depends on the variant* if it is so for one of the two graphs that I2 may be (or I3) and not
  for the other, or if it comes out otherwise in another reading (`READINGS`).

Limits: the paper's graphs are lost: its words can be laid beside our figures, not its own.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, NamedTuple

from harness.availability import CONSENSUS, ONCE, READINGS, RIVALS, TOKEN, TWICE
from harness.availability_study import Cell, Estimate

SLIGHT, LEVEL, FAR = 3.0, 2.0, 5.0  # points: "slightly" at most, "equivalent", "substantially"
Result = Literal["confirmed", "not confirmed", "depends on the variant"]
RANKING, STATIC = "overthrow-ranking-decrease", "static"
TWICE_LESS, ONCE_LESS = "alliance-2v-decrease", "alliance-v-decrease"
SPREAD = "alliance-2v-over-n-decrease"
ALLIANCES = (TWICE, ONCE, SPREAD, TWICE_LESS, ONCE_LESS)
AUTONOMOUS = (*ALLIANCES, RANKING, TOKEN)
BUT_SPREAD = (TWICE, ONCE, TWICE_LESS, ONCE_LESS)
BUT_TOKEN = (*ALLIANCES, RANKING, CONSENSUS)
EVERY = ("R5", "I1", "I2a", "I2b", "I3a", "I3b", "I4", "C5")
SPARSE, DENSE = EVERY[:2], EVERY[2:]
MIDDLE = EVERY[1:-1]


class Piece(NamedTuple):
    """What one network says to a claim, and by how many points."""

    network: str
    holds: bool
    lead: Estimate


@dataclass(frozen=True)
class Results:
    """All cells, by network and mix; `read` has the readings in place of the usual ones."""

    cells: Mapping[tuple[str, str], Cell]
    read: Mapping[str, str] = field(default_factory=dict)

    def uptime(self, mix: str, network: str, name: str) -> Estimate:
        """In percent."""
        return percent(self.cells[network, mix].uptime(self.read.get(name, name)))

    def lead(self, mix: str, network: str, name: str, other: str) -> Estimate:
        """In points."""
        one, two = self.read.get(name, name), self.read.get(other, other)
        return percent(self.cells[network, mix].lead(one, two))


Test = Callable[[Results, str], tuple[bool, Estimate]]


class Claim(NamedTuple):
    """A sentence, the mix it speaks of, the networks, and what has to be so on each."""

    mix: str
    words: str
    networks: Sequence[str]
    test: Test
    mostly: bool = False


class Finding(NamedTuple):
    """What became of a claim."""

    claim: Claim
    result: Result
    pieces: list[Piece]
    otherwise: list[str]
    """The readings in which it comes out otherwise."""


def percent(it: Estimate) -> Estimate:
    """A fraction in points."""
    return Estimate(100 * it.mean, 100 * it.half)


def ahead(it: Estimate) -> bool:
    """Better, beyond chance."""
    return it.mean - it.half > 0


def slight(it: Estimate) -> bool:
    """Better, but not by much."""
    return ahead(it) and it.mean <= SLIGHT


def level(it: Estimate) -> bool:
    """As good as the same."""
    return abs(it.mean) <= LEVEL


def far(it: Estimate) -> bool:
    """Better by a good deal."""
    return it.mean - it.half > FAR


def least(
    mix: str, names: Iterable[str], others: Iterable[str], ok: Callable[[Estimate], bool]
) -> Test:
    """Each of these against each of those; the least lead speaks for all."""
    pairs = [(a, b) for a, b in product(names, others) if a != b]

    def test(results: Results, network: str) -> tuple[bool, Estimate]:
        leads = [results.lead(mix, network, a, b) for a, b in pairs]
        return all(map(ok, leads)), min(leads)

    return test


def widest(mix: str, names: Sequence[str]) -> Test:
    """These are all equivalent; the widest gap speaks for all."""

    def test(results: Results, network: str) -> tuple[bool, Estimate]:
        leads = [results.lead(mix, network, a, b) for a, b in product(names, names) if a != b]
        return level(max(leads)), max(leads)

    return test


def slightly_ahead_of_the_next(mix: str, name: str, others: Sequence[str]) -> Test:
    """Better than each of the others, and not by much better than the best of them."""

    def test(results: Results, network: str) -> tuple[bool, Estimate]:
        leads = [results.lead(mix, network, name, other) for other in others if other != name]
        return ahead(min(leads)) and slight(min(leads)), min(leads)

    return test


def slightly_behind_the_last(mix: str, name: str, others: Sequence[str]) -> Test:
    """Worse than each of the others, and not by much worse than the worst of them."""

    def test(results: Results, network: str) -> tuple[bool, Estimate]:
        lead = min(results.lead(mix, network, other, name) for other in others)
        return slight(lead), lead

    return test


def between(
    one: tuple[str, str, str], other: tuple[str, str, str], ok: Callable[[Estimate], bool]
) -> Test:
    """The lead of one (mix, strategy, strategy) less that of another; "" is nothing."""

    def value(results: Results, network: str, of: tuple[str, str, str]) -> Estimate:
        mix, name, than = of
        return (
            results.lead(mix, network, name, than) if than else results.uptime(mix, network, name)
        )

    def test(results: Results, network: str) -> tuple[bool, Estimate]:
        a, b = value(results, network, one), value(results, network, other)
        gap = Estimate(a.mean - b.mean, (a.half**2 + b.half**2) ** 0.5)  # of different histories
        return ok(gap), gap

    return test


def everyone_better_without_link_failures(results: Results, network: str) -> tuple[bool, Estimate]:
    """Mix 2 against mix 1, whatever the strategy; the least gain speaks for all."""
    gains = [between(("2", name, ""), ("1", name, ""), ahead)(results, network) for name in RIVALS]
    return all(ok for ok, _ in gains), min(gain for _, gain in gains)


def every_gain_less_without_link_failures(results: Results, network: str) -> tuple[bool, Estimate]:
    """Mix 2 against mix 1, over static votes; the least difference speaks for all."""
    rivals = (*AUTONOMOUS, CONSENSUS)
    found = [
        between(("1", name, STATIC), ("2", name, STATIC), ahead)(results, network)
        for name in rivals
    ]
    return all(ok for ok, _ in found), min(less for _, less in found)


def closer_than_in_the_ring(results: Results, network: str) -> tuple[bool, Estimate]:
    """2v/N against 2v, here and in R5."""
    here, ring = (results.lead("1", one, SPREAD, TWICE_LESS) for one in (network, "R5"))
    gap = Estimate(here.mean - ring.mean, (here.half**2 + ring.half**2) ** 0.5)
    return ahead(gap), gap


def none_is_better_by_much(results: Results, network: str) -> tuple[bool, Estimate]:
    """What the best strategy that can be had without consensus gains on static votes."""
    best = max(results.lead("3", network, name, STATIC) for name in AUTONOMOUS)
    return best.mean <= FAR, best


def perfect(results: Results, network: str) -> tuple[bool, Estimate]:
    """Never halted, in no run."""
    up = results.uptime("3", network, CONSENSUS)
    return up == Estimate(100.0, 0.0), up


CLAIMS = (
    Claim("1", "any of the reconfiguration strategies proved more effective than static", EVERY,
          least("1", (*AUTONOMOUS, CONSENSUS), [STATIC], ahead)),
    Claim("1", "group consensus showed a slight gain over the autonomous techniques in all cases",
          EVERY, slightly_ahead_of_the_next("1", CONSENSUS, AUTONOMOUS)),
    Claim("1", "2v with catching up yielded the best results among the alliances, especially in "
          "the intermediate cases", MIDDLE, least("1", [TWICE], ALLIANCES, ahead)),
    Claim("1", "2v with vote decreasing worked as well for R5 and I1", SPARSE,
          least("1", [TWICE_LESS], [TWICE], lambda it: it.mean >= -LEVEL)),
    Claim("1", "in general catching up is better than decreasing for higher connectivity (2v)",
          DENSE, least("1", [TWICE], [TWICE_LESS], ahead), True),
    Claim("1", "in general catching up is better than decreasing for higher connectivity (v)",
          DENSE, least("1", [ONCE], [ONCE_LESS], ahead), True),
    Claim("1", "2v performed better than v, with catching up", EVERY,
          least("1", [TWICE], [ONCE], ahead)),
    Claim("1", "2v performed better than v, with decreasing", EVERY,
          least("1", [TWICE_LESS], [ONCE_LESS], ahead)),
    Claim("1", "2v/N showed relative improvement as the connectivity increased (against 2v with "
          "decreasing, and R5)", EVERY[1:], closer_than_in_the_ring),
    Claim("1", "overthrow by token did not work as well as the other reconfiguration strategies",
          EVERY, least("1", BUT_TOKEN, [TOKEN], ahead)),
    Claim("1", "overthrow by ranking was slightly better than the alliances for R5 and I1", SPARSE,
          slightly_ahead_of_the_next("1", RANKING, ALLIANCES)),
    Claim("1", "... but worse for I2, I3, I4 and C5", DENSE,
          least("1", ALLIANCES, [RANKING], ahead)),
    Claim("2", "all strategies yielded higher uptimes than in mix 1", EVERY,
          everyone_better_without_link_failures),
    Claim("2", "the gain from any type of reconfiguring was less than in mix 1", EVERY,
          every_gain_less_without_link_failures),
    Claim("2", "... but still substantial", EVERY,
          least("2", (*AUTONOMOUS, CONSENSUS), [STATIC], far)),
    Claim("2", "2v with catching up gave a slight improvement over the other alliances in most "
          "cases", EVERY, slightly_ahead_of_the_next("2", TWICE, ALLIANCES), True),
    Claim("2", "catching up in general is better than decreasing (2v)", EVERY,
          least("2", [TWICE], [TWICE_LESS], ahead), True),
    Claim("2", "catching up in general is better than decreasing (v)", EVERY,
          least("2", [ONCE], [ONCE_LESS], ahead), True),
    Claim("2", "2v/N was the worst of the alliances", EVERY,
          least("2", BUT_SPREAD, [SPREAD], ahead)),
    Claim("2", "overthrow by ranking was comparable to the alliances for rings and low "
          "connectivity (2v with catching up)", SPARSE,
          least("2", [RANKING], [TWICE], level)),
    Claim("2", "... but lost out as more links were added", DENSE,
          least("2", [TWICE], [RANKING], ahead)),
    Claim("2", "the token did not perform as badly relative to the others as in mix 1 (against 2v "
          "with catching up)", EVERY,
          between(("2", TOKEN, TWICE), ("1", TOKEN, TWICE), ahead)),
    Claim("2", "group consensus performed better than all autonomous techniques", EVERY,
          least("2", [CONSENSUS], AUTONOMOUS, ahead)),
    Claim("2", "... not significantly better than 2v for the intermediate graphs", MIDDLE,
          least("2", [CONSENSUS], [TWICE], level)),
    Claim("2", "... only slightly for the ring", ("R5",),
          least("2", [CONSENSUS], [TWICE], slight)),
    Claim("2", "... substantially for the complete graph", ("C5",),
          least("2", [CONSENSUS], [TWICE], far)),
    Claim("3", "a large increase in the effectiveness of static votes (over mix 1)", EVERY,
          between(("3", STATIC, ""), ("1", STATIC, ""), far)),
    Claim("3", "for I3, I4 and C5 a dynamic means is questionable (best of the autonomous)",
          EVERY[4:], none_is_better_by_much),
    Claim("3", "the perfect performance of group consensus", EVERY, perfect),
    Claim("3", "the token showed a slightly poorer performance (than the other alliances)", EVERY,
          slightly_behind_the_last("3", TOKEN, BUT_SPREAD)),
    Claim("3", "2v/N showed a slightly poorer performance (than the other alliances)", EVERY,
          slightly_behind_the_last("3", SPREAD, BUT_SPREAD)),
    Claim("3", "the other alliances performed nearly equivalently", EVERY,
          widest("3", BUT_SPREAD)),
    Claim("3", "overthrow by ranking was slightly better than the alliances for the less dense "
          "networks", SPARSE, slightly_ahead_of_the_next("3", RANKING, ALLIANCES)),
)  # fmt: skip


def findings(cells: Sequence[Cell]) -> list[Finding]:
    """What became of each claim; with the other readings, where the cells have them."""
    by_name = {(cell.setting.network.name, cell.setting.mix.name): cell for cell in cells}
    there = {name for name, _ in cells[0].setting.rivals}
    readings = {
        reading: {name: f"{name}, {reading}" for name in changed}
        for reading, changed in READINGS.items()
        if all(f"{name}, {reading}" in there for name in changed)
    }
    return [finding(claim, by_name, readings) for claim in CLAIMS]


def finding(
    claim: Claim,
    cells: Mapping[tuple[str, str], Cell],
    readings: Mapping[str, Mapping[str, str]],
) -> Finding:
    """What became of one."""
    pieces = tested(claim, Results(cells))
    result = decided(claim, pieces)
    otherwise = [
        reading
        for reading, read in readings.items()
        if decided(claim, tested(claim, Results(cells, read))) != result
    ]
    return Finding(claim, "depends on the variant" if otherwise else result, pieces, otherwise)


def tested(claim: Claim, results: Results) -> list[Piece]:
    """What each network says."""
    return [Piece(network, *claim.test(results, network)) for network in claim.networks]


def decided(claim: Claim, pieces: Sequence[Piece]) -> Result:
    """All networks, or most; for each choice between the two graphs of I2 and of I3."""
    families: dict[str, list[bool]] = {}
    for piece in pieces:
        families.setdefault(piece.network.rstrip("ab"), []).append(piece.holds)
    outcomes = {
        2 * sum(choice) > len(choice) if claim.mostly else all(choice)
        for choice in product(*families.values())
    }
    if len(outcomes) > 1:
        return "depends on the variant"
    return "confirmed" if outcomes.pop() else "not confirmed"

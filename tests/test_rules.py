import msgspec
import pytest

from harness.rules import (
    PASSED,
    Action,
    Decision,
    Delay,
    Drop,
    Duplicate,
    Hold,
    Installed,
    Lose,
    Reorder,
    Rule,
    decide,
    unit,
)

LINK = (1, 2)
EVERY_RULE: list[Rule] = [
    Drop(), Lose(0.25), Delay(3, 2), Hold(), Duplicate(0.5, 1), Reorder(0.125, 4),
]  # fmt: skip


def fate(*rules: Rule, k: int = 1) -> Decision:
    return decide([Installed(n, rule) for n, rule in enumerate(rules, 1)], 7, LINK, k)


def fates(rule: Rule, count: int = 4_000) -> list[Decision]:
    return [fate(rule, k=k) for k in range(1, count + 1)]


def test_a_link_without_rules_passes_everything() -> None:
    assert fate() == PASSED


@pytest.mark.parametrize(
    ("rule", "decision"),
    [
        (Drop(), Decision(Action.DROP, 0, 1)),
        (Delay(1.5), Decision(Action.DELAY, 1_500_000, 1)),
        (Hold(), Decision(Action.HOLD, 0, 1)),
        (Duplicate(after_ms=2), Decision(Action.DUPLICATE, 2_000_000, 1)),
        (Lose(1), Decision(Action.DROP, 0, 1)),
        (Lose(0), PASSED),
        (Reorder(1, 3), Decision(Action.DELAY, 3_000_000, 1)),
    ],
)
def test_a_rule_without_chance_decides_every_datagram_alike(rule: Rule, decision: Decision) -> None:
    assert set(fates(rule, 50)) == {decision}


def test_the_first_rule_that_does_not_pass_decides() -> None:
    assert fate(Lose(0), Hold(), Drop()) == Decision(Action.HOLD, 0, 2)
    assert fate(Drop(), Hold()) == Decision(Action.DROP, 0, 1)


@pytest.mark.parametrize("rule", [Lose(0.3), Duplicate(0.3, 1), Reorder(0.3, 1)])
def test_a_probability_is_the_share_of_datagrams_it_strikes(rule: Rule) -> None:
    struck = sum(one is not PASSED for one in fates(rule))
    assert 0.26 < struck / 4_000 < 0.34


def test_jitter_fills_its_range_and_never_leaves_it() -> None:
    delays = [one.delay_ns for one in fates(Delay(10, 5))]
    assert 10_000_000 <= min(delays) < 10_050_000
    assert 14_950_000 < max(delays) <= 15_000_000


def test_chance_repeats_for_the_same_seed_link_datagram_and_rule() -> None:
    assert fates(Delay(1, 9), 100) == fates(Delay(1, 9), 100)
    assert unit(7, LINK, 3, 1) == unit(7, LINK, 3, 1)


def test_the_hash_is_the_same_in_every_version_of_the_harness() -> None:
    # A recorded schedule must lose the same datagrams when it is replayed years later.
    assert unit(7, LINK, 3, 1) == 0.4968216003437851


def test_chance_differs_by_seed_by_link_by_datagram_and_by_rule() -> None:
    around = [
        unit(7, LINK, 3, 1),
        unit(8, LINK, 3, 1),
        unit(7, (2, 1), 3, 1),
        unit(7, LINK, 4, 1),
        unit(7, LINK, 3, 2),
    ]
    assert len(set(around)) == len(around)


def test_two_lossy_rules_on_a_link_strike_independently() -> None:
    both = [fate(Lose(0.5), Lose(0.5), k=k) for k in range(1, 4_001)]
    assert 0.21 < sum(one is PASSED for one in both) / 4_000 < 0.29


@pytest.mark.parametrize("seed", [-1, 0, 1 << 80])
def test_any_integer_is_a_seed(seed: int) -> None:
    assert 0 <= unit(seed, LINK, 1, 1) < 1


@pytest.mark.parametrize("rule", EVERY_RULE, ids=lambda rule: str(rule.verb))
def test_a_rule_survives_being_written_and_read(rule: Rule) -> None:
    line = msgspec.json.encode(rule)
    assert f'"verb":"{rule.verb}"'.encode() in line
    assert msgspec.json.decode(line, type=Rule) == rule


def test_a_number_out_of_range_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="p of lose is 2"):
        Lose(2)
    with pytest.raises(ValueError, match="ms of delay is -1"):
        Delay(-1)
    with pytest.raises(ValueError, match="jitter_ms of delay is nan"):
        Delay(1, float("nan"))
    with pytest.raises(ValueError, match="ms of reorder is inf"):
        Reorder(0.5, float("inf"))
    with pytest.raises(msgspec.ValidationError, match="p of duplicate is 2"):
        msgspec.json.decode(b'{"verb":"duplicate","p":2}', type=Rule)


def test_rule_ids_count_from_one() -> None:
    with pytest.raises(ValueError, match="rule id 0"):
        Installed(0, Drop())

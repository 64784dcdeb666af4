"""Messages counted, beside what S97 section 7 claims."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from harness.messages import ALGORITHMS, DETECTION, Case, curves, fitted, measure, measure_real
from reports.curves import Line, chart

QUIET = {
    "Invitation": lambda n: 2 * (n - 1),
    "Async. Bully": lambda n: 3 * (n - 1),  # Fig. 3 to the letter
    "  Stop_FD by the leader": lambda n: 2 * (n - 1),
    "  piggybacked": lambda n: n - 1,
}


def test_a_curve_is_fitted_through_points_that_lie_on_one() -> None:
    fit = fitted([(n, 1.5 * n * n - 4 * n + 7) for n in range(3, 20)])
    assert (fit.c2, fit.c1, fit.c0) == pytest.approx((1.5, -4, 7))
    line = fitted([(3, 4), (5, 8)])
    assert (line.c2, line.c1, line.c0) == pytest.approx((0, 2, -2))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("nodes", [3, 6, 11])
def test_a_quiet_period_takes_as_many_messages_as_are_claimed(algorithm: str, nodes: int) -> None:
    assert measure(Case(algorithm, nodes, 1)).quiet == QUIET[algorithm](nodes)


def test_of_a_crash_the_messages_of_the_election_count_and_no_detector() -> None:
    for algorithm in ALGORITHMS:
        found = measure(Case(algorithm, 5, 2))
        assert found.crash == sum(found.election.values()) > 0
        assert not DETECTION & found.election.keys()
    assert measure(Case("Async. Bully", 5, 2)).election.keys() <= {"Halt", "Ack", "Rej", "Ldr"}


def test_the_invitation_algorithm_grows_with_the_square_and_asks_most_of_all() -> None:
    found = [measure(Case("Invitation", n, seed)) for n in (5, 10, 20, 30) for seed in range(1, 6)]
    average = next(curve for curve in curves(found) if curve.what == "crash")
    assert 0.7 < average.fit.c2 < 2.0
    asked = sum(count for kind, count in average.kinds.items() if "AreYouCoordinator" in kind)
    assert asked > 0.7 * sum(average.kinds.values())


def test_the_asynchronous_bully_stays_far_below_half_the_square() -> None:
    """S97 7 lets N/2 nodes start an election; only those of ever higher priority do."""
    found = [measure(Case("Async. Bully", 40, seed)) for seed in range(1, 6)]
    assert max(counts.crash for counts in found) < 40 * 40 / 2


def test_the_worst_of_the_seeds_is_no_better_than_their_average() -> None:
    found = [measure(Case("Invitation", n, seed)) for n in (4, 7) for seed in (1, 2, 3)]
    _, average, worst = curves(found)
    for (n, mean), (m, most) in zip(average.points, worst.points, strict=True):
        assert n == m
        assert most >= mean


@pytest.mark.parametrize("algorithm", ["Invitation", "  piggybacked"])
def test_real_processes_send_as_much_in_a_quiet_period(algorithm: str, tmp_path: Path) -> None:
    found = measure_real(Case(algorithm, 3, 1), tmp_path)
    assert not found.disturbed
    assert found.quiet == pytest.approx(QUIET[algorithm](3), rel=0.3)
    assert found.crash > 0


def test_a_chart_is_plain_svg_with_every_line_named() -> None:
    text = chart(
        "a & b", "nodes", [Line("measured", [(3, 4), (40, 900)]), Line("N<2", [(3, 9)], True)]
    )
    root = ElementTree.fromstring(text)
    words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a & b", "nodes", "measured", "N<2", "40", "800"} <= set(words)
    assert text.count("http") == 1

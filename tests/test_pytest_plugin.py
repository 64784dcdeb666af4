"""A user's own suite: fixtures, markers, and what a failed test shows, also under xdist."""

import pytest

GOOD = """
import pytest

@pytest.mark.cluster(nodes=3)
def test_the_successor_takes_over(cluster):
    cluster.start()
    cluster.settled()
    cluster.kill("coordinator")
    cluster.settled()
    assert cluster.judge()["GM82-1a"] == "holds"

@pytest.mark.cluster(nodes=3, engine="virtual")
def test_in_virtual_time(cluster):
    cluster.start()
    cluster.settled()

@pytest.mark.parametrize("engine", ["virtual", "real"])
def test_a_scenario(run, engine):
    assert run("coordinator-crash", engine=engine).as_expected
"""
BAD = '''
import pytest
from harness.scenario import scenario
from nodes.bully import Bully

class Rude(Bully):
    def recovery(self):
        self.become(s="Down")
        self.become(s="Normal", c=self.i, d=str(self.i))
        yield from ()

@scenario(nodes=2, protocol="test_bad:Rude")
def rude(run):
    """GM82-1: each for itself."""
    run.start()

def test_a_rude_scenario(run):
    assert run(rude, engine="virtual").as_expected

@pytest.mark.cluster(nodes=2, engine="virtual", protocol="test_bad:Rude")
def test_a_rude_cluster_that_nobody_judged(cluster):
    cluster.start()

@pytest.mark.cluster(nodes=2)
def test_a_cluster_whose_test_fails(cluster):
    cluster.start()
    assert cluster.live.coordinator() == 99

@scenario(nodes=2)
def impossible(run):
    """None: nobody can do that, and so the harness says."""
    run.start()
    run.settled()
    run.restart(1)

@pytest.mark.parametrize("engine", ["real"])
def test_where_the_harness_fails(run, engine):
    run(impossible, engine=engine)

def test_a_wrong_name(run):
    run("coordinater-crash")
'''


@pytest.mark.parametrize("xdist", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_suite_of_ones_own_passes(pytester: pytest.Pytester, xdist: list[str]) -> None:
    pytester.makepyfile(test_good=GOOD)
    result = pytester.runpytest_subprocess("--strict-markers", *xdist)
    result.assert_outcomes(passed=4)


@pytest.mark.parametrize("xdist", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_failed_test_shows_the_report_and_the_path_of_its_run(
    pytester: pytest.Pytester, xdist: list[str]
) -> None:
    pytester.makepyfile(test_bad=BAD)
    result = pytester.runpytest_subprocess(*xdist)
    # A cluster that is not as expected when the test is over is an error of its teardown.
    result.assert_outcomes(failed=4, passed=1, errors=1)
    words = result.stdout.str()
    assert words.count("GM82-1a violated") >= 2
    assert "runs/rude-1" in words
    assert "not as expected: GM82-1a: expected holds, got violated" in words
    assert "did you mean coordinator-crash" in words
    assert "test_a_cluster_whose_test_fails-1" in words
    assert "restart: node 1 is up already" in words
    kept = pytester.path / "runs" / "failed"
    for name in (
        "test_a_rude_scenario-1/rude-1",
        "test_a_rude_cluster_that_nobody_judged-1/test_a_rude_cluster_that_nobody_judged-1",
        "test_a_cluster_whose_test_fails-1/test_a_cluster_whose_test_fails-1",
        "test_where_the_harness_fails-real-1/impossible-1",
    ):
        assert (kept / name / "trace.jsonl").exists()
        assert f"kept in {(kept / name).parent}\n" in words
        report = (kept / name).parent.joinpath("report.txt").read_text()
        assert "A3-9      holds" in report
        assert "Error" in report or "not as expected" in report  # and why the test failed
    assert words.count("hustings kept") == 4


MISTAKEN = """
import pytest

@pytest.mark.cluster(3)
def test_of_three(cluster):
    cluster.start()

@pytest.mark.cluster(node=3)
def test_of_node_three(cluster):
    cluster.start()

@pytest.mark.cluster(expect={"GM82-1": "holds"})
def test_of_a_property_that_there_is_not(cluster):
    cluster.start()

@pytest.mark.cluster(engine="virtaul")
def test_virtaul(cluster):
    cluster.start()

def test_a_virtaul_run(run):
    run("cold-start", engine="virtaul")
"""


def test_a_setting_that_there_is_not_is_named_and_not_ignored(pytester: pytest.Pytester) -> None:
    """Else the test would run with five nodes, or on the real engine, and say nothing."""
    pytester.makepyfile(test_mistaken=MISTAKEN)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1, errors=4)
    words = result.stdout.str()
    assert "cluster(3): it takes " in words
    assert "cluster(node): it takes " in words
    assert "no property 'GM82-1' to expect: did you mean GM82-1b or GM82-1a?" in words
    assert words.count("no engine 'virtaul'; there are real and virtual") >= 2


def test_the_markers_and_fixtures_are_listed(pytester: pytest.Pytester) -> None:
    assert "cluster(nodes=5" in pytester.runpytest_subprocess("--markers").stdout.str()
    fixtures = pytester.runpytest_subprocess("--fixtures").stdout.str()
    assert "A cluster of its own for this test" in fixtures

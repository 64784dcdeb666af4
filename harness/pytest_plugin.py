"""pytest fault suites: a live `cluster`, or a whole scenario by `run`.

    @pytest.mark.cluster(nodes=3)
    def test_the_successor_takes_over(cluster):
        cluster.start()
        cluster.settled()
        cluster.kill("coordinator")
        cluster.settled()
        assert cluster.judge()["GM82-1a"] == "holds"

    def test_a_scenario(run):
        assert run("coordinator-crash", engine="virtual").as_expected

A test that fails shows the report of its runs and where they are, under xdist too. A cluster
that was not judged is judged when the test ends, and must come out as expected. Each test has
run directories of its own, and ports bound by the kernel: safe under `-n auto`.
"""

from collections.abc import Callable, Generator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.catalog import UnknownName, find
from harness.execute import Outcome, Recorder, execute
from harness.run import Run
from harness.scenario import BULLY, Scenario, expected_of

OUTCOMES = pytest.StashKey[list[Callable[[], Outcome]]]()


class Cluster(Run):
    """A run that the test itself drives, and judges when it is done."""

    recorder: Recorder
    _outcome: Outcome | None = None

    def judge(self) -> Outcome:
        """Mend what is broken, end every process, and judge the trace; once."""
        if self._outcome is None:
            try:
                self.finish()
            finally:
                self.recorder.close()
            self._outcome = self.recorder.judge(keep=True)
        return self._outcome


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "cluster(nodes=5, engine='real', seed=1, protocol=..., lateness=True, expect={}): "
        "the setting of the `cluster` fixture",
    )


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Cluster]:
    """A cluster of its own for this test; nothing is started yet."""
    marker = request.node.get_closest_marker("cluster")
    setting: dict[str, Any] = dict(marker.kwargs) if marker else {}
    engine, seed = setting.pop("engine", "real"), setting.pop("seed", 1)
    expect = {**expected_of(setting.get("protocol", BULLY)), **setting.pop("expect", {})}
    scenario = Scenario(
        request.node.name.partition("[")[0],
        request.node.nodeid,
        _nothing,
        expect=expect,
        again=f"pytest {request.node.nodeid}",
        **setting,
    )
    recorder = Recorder(scenario, engine=engine, seed=seed, runs=tmp_path / "runs", make=Cluster)
    made = recorder.run
    assert isinstance(made, Cluster)
    made.recorder = recorder
    request.node.stash.setdefault(OUTCOMES, []).append(made.judge)
    try:
        yield made
    finally:
        judged = made._outcome is not None
        outcome = made.judge()
    if not judged and not outcome.as_expected:
        pytest.fail(f"not as expected: {'; '.join(outcome.surprises)}", pytrace=False)


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Outcome]:
    """Run a scenario, given itself or by name; returns its Outcome."""

    def run_scenario(scenario: Scenario | str, **options: Any) -> Outcome:
        if isinstance(scenario, str):
            try:
                (scenario,) = find(scenario)
            except UnknownName as error:
                pytest.fail(str(error), pytrace=False)
        outcome = execute(scenario, runs=tmp_path / "runs", keep=True, **options)
        request.node.stash.setdefault(OUTCOMES, []).append(lambda: outcome)
        return outcome

    return run_scenario


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the report of each run into the report of a failed test."""
    report = yield
    if report.failed and call.when in ("call", "teardown"):
        for outcome_of in item.stash.get(OUTCOMES, []):
            try:
                outcome = outcome_of()
            except Exception as error:
                report.sections.append(("hustings", f"the run could not be judged: {error}"))
                continue
            text = import_module("reports.terminal").render_text(outcome.run, outcome.verdicts)
            report.sections.append((f"hustings {outcome.run.path}", text))
    return report


def _nothing(_: Run) -> None:
    """The script of a cluster is its test."""

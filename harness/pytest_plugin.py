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

A test that fails shows the report of its runs and where they are, under xdist too: also where
the harness failed and not the protocol. Its runs are copied to runs/failed/ of the project, with
what was shown, since pytest forgets a test's own directory after three sessions. A cluster that
was not judged is judged when the test ends, and must come out as expected. Each test has run
directories of its own, and ports bound by the kernel: safe under `-n auto`.
"""

import re
import shutil
from collections.abc import Callable, Generator
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from harness.catalog import UnknownName, find
from harness.execute import Outcome, Recorder, execute, new_run
from harness.run import Run
from harness.scenario import BULLY, Scenario, expected_of
from traces.judge import judge_run
from traces.run import RunDir

OUTCOMES = pytest.StashKey[list[Callable[[], Outcome]]]()
KEPT = pytest.StashKey[Path]()


class Cluster(Run):
    """A run that the test itself drives, and judges when it is done."""

    recorder: Recorder
    _outcome: Outcome | None = None

    def judge(self) -> Outcome:
        """Mend what is broken, end every process, and judge the trace; once."""
        if self._outcome is None:
            with self.recorder.closing():
                self.finish()
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
    setting = _setting(request.node.get_closest_marker("cluster"))
    engine, seed = setting.pop("engine", "real"), setting.pop("seed", 1)
    expect = {**expected_of(setting.get("protocol", BULLY)), **setting.pop("expect", {})}
    try:
        scenario = Scenario(
            request.node.name.partition("[")[0],
            request.node.nodeid,
            _nothing,
            expect=expect,
            again=f"pytest {request.node.nodeid}",
            **setting,
        )
    except ValueError as error:
        pytest.fail(f"cluster: {error}", pytrace=False)
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


def _setting(marker: pytest.Mark | None) -> dict[str, Any]:
    """What the marker says; what it cannot say fails the test in words."""
    known = {"engine", "seed", *signature(Scenario).parameters} - {"name", "claim", "script"}
    if marker is None:
        return {}
    wrong = [*map(repr, marker.args), *sorted(set(marker.kwargs) - known)]
    if wrong:
        names = ", ".join(sorted(known - {"again", "stretch"}))
        pytest.fail(f"cluster({', '.join(wrong)}): it takes {names}, by name", pytrace=False)
    return dict(marker.kwargs)


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Outcome]:
    """Run a scenario, given itself or by name; returns its Outcome."""

    def run_scenario(scenario: Scenario | str, **options: Any) -> Outcome:
        if isinstance(scenario, str):
            try:
                (scenario,) = find(scenario)
            except UnknownName as error:
                pytest.fail(str(error), pytrace=False)
        runs, outcomes = tmp_path / "runs", request.node.stash.setdefault(OUTCOMES, [])
        before = set(_directories(runs))
        try:
            outcome = execute(scenario, runs=runs, keep=True, **options)
        except BaseException:
            begun = sorted(set(_directories(runs)) - before)
            outcomes.extend(partial(_as_stored, path) for path in begun)
            raise
        outcomes.append(lambda: outcome)
        return outcome

    return run_scenario


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the report of each run into the report of a failed test, and keep the run."""
    report = yield
    if report.failed:
        shown = [_shown(outcome_of) for outcome_of in item.stash.get(OUTCOMES, [])]
        report.sections += shown
        words = [report.longreprtext, *(text for _, text in shown)]
        if where := _keep(item, "\n".join(words)):
            report.sections.append(("hustings kept", where))
    return report


def _shown(outcome_of: Callable[[], Outcome]) -> tuple[str, str]:
    """What a failed test shows of one of its runs, and under which heading."""
    try:
        outcome = outcome_of()
        text = import_module("reports.terminal").render_text(outcome.run, outcome.verdicts)
    except Exception as error:
        return "hustings", f"the run could not be judged: {error}"
    return f"hustings {outcome.run.path}", text


def _keep(item: pytest.Item, words: str) -> str:
    """Copy what the test ran, and what was shown of it, to where it stays; say where."""
    made: Path | None = getattr(item, "funcargs", {}).get("tmp_path")
    if made is None or not _directories(made / "runs"):
        return ""
    try:
        if KEPT not in item.stash:  # its teardown may fail too
            name = re.sub(r"[^\w.]+", "-", item.name).strip("-")
            item.stash[KEPT] = new_run(item.config.rootpath / "runs" / "failed", name).path
            shutil.copytree(made / "runs", item.stash[KEPT], symlinks=True, dirs_exist_ok=True)
        with (item.stash[KEPT] / "report.txt").open("a") as file:
            file.write(f"{words}\n")
    except OSError as error:
        return f"the runs of this test could not be kept: {error}"
    return f"the runs of this test are kept in {item.stash[KEPT]}"


def _directories(runs: Path) -> list[Path]:
    """The runs there are."""
    return [path.parent for path in runs.glob("*/run.json") if not path.parent.is_symlink()]


def _as_stored(path: Path) -> Outcome:
    """A run that came to no outcome, judged as far as it went."""
    run = RunDir(path)
    verdicts = judge_run(run)
    return Outcome(run, run.read_info(), verdicts)


def _nothing(_: Run) -> None:
    """The script of a cluster is its test."""

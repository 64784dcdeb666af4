"""An exit code is a verdict: nobody who leaves, exits or has a namesake may change it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loguru import logger

from harness.execute import Log
from tests.test_cli import SCENARIO, WRONG, hustings

RIGHT = "from nodes.bully import Bully as Own\n"
WHOSE = '''
from harness.scenario import scenario

@scenario(nodes=2, protocol="{module}:Own")
def whose(run):
    """GM82-1: of two versions."""
    run.start()
    run.settled(within_ms=300)
'''
EXITS = '''
from harness.scenario import scenario

@scenario(nodes=2)
def exits(run):
    """GM82-1: and then it leaves."""
    run.start()
    run.settled()
    raise SystemExit(0)
'''


def test_a_full_disk_is_no_bug(tmp_path: Path) -> None:
    hustings("run", "cold-start", "--engine", "virtual", cwd=tmp_path)
    command = [sys.executable, "-m", "harness", "export", "runs/latest", "--format", "perfetto"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4
    assert done.stderr == (
        "hustings: No space left on device; make room on that disk and run it again\n"
    )


def test_words_beside_a_trace_may_be_lost_on_a_full_disk(capfd: pytest.CaptureFixture[str]) -> None:
    number = logger.add(Log(Path("/dev/full")), level="DEBUG")
    logger.info("and nobody hears of it")
    logger.remove(number)
    assert "Error" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["run", "mine.py::rude", "--engine", "virtual", "--json"], 1),
        (["check", "runs/rude-1"], 1),
        (["export", "runs/rude-1", "--format", "dot"], 0),
        (["list"], 0),
        (["networks", "--nodes", "2"], 0),
        (["networks", "--nodes", "2", "--json"], 0),
        (["--help"], 0),
    ],
)
def test_a_reader_that_has_left_is_no_violation_and_hides_none(
    tmp_path: Path, args: list[str], code: int
) -> None:
    (tmp_path / "mine.py").write_text(SCENARIO)
    (tmp_path / "wrong.py").write_text(WRONG)
    assert hustings("run", "mine.py::rude", "--engine", "virtual", cwd=tmp_path).returncode == 1
    reader, writer = os.pipe()
    os.close(reader)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    args = [sys.executable, "-m", "harness", *args]
    done = subprocess.run(args, cwd=tmp_path, env=env, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == code, done.stderr
    assert b"Error" not in done.stderr


@pytest.mark.parametrize("engine", ["real", "virtual"])
def test_a_script_that_exits_gives_no_verdict(tmp_path: Path, engine: str) -> None:
    (tmp_path / "exits.py").write_text(EXITS)
    done = hustings("run", "exits.py", "--engine", engine, cwd=tmp_path)
    assert done.returncode == 4
    assert "SystemExit: 0; evidence in runs/exits-1" in done.stderr.splitlines()[-1]
    again = hustings("check", "runs/exits-1", cwd=tmp_path)
    assert again.returncode == 3
    assert "broke off: SystemExit: 0" in again.stderr
    report = hustings("report", "runs/exits-1", cwd=tmp_path)
    assert report.stdout.startswith("? INCONCLUSIVE  exits  broke off: SystemExit: 0\n")


@pytest.mark.parametrize("engine", ["real", "virtual"])
def test_a_run_that_could_not_be_stored_is_not_as_expected_later(
    tmp_path: Path, engine: str
) -> None:
    """What is left of it, if it is cut at the end of a line, looks like a whole trace."""
    in_the_way = EXITS.replace(
        "raise SystemExit(0)", "__import__('os').mkdir('runs/latest/trace.jsonl')"
    )
    (tmp_path / "exits.py").write_text(in_the_way)
    done = hustings("run", "exits.py", "--engine", engine, cwd=tmp_path)
    assert done.returncode == 4
    (tmp_path / "runs/latest/trace.jsonl").rmdir()
    again = hustings("check", "runs/latest", cwd=tmp_path)
    assert again.returncode == 3
    assert "broke off: " in again.stderr


def test_what_a_script_prints_is_narration(tmp_path: Path) -> None:
    said = EXITS.replace("raise SystemExit(0)", "print('from the script')") + "print('at once')\n"
    (tmp_path / "exits.py").write_text(said)
    done = hustings("run", "exits.py", "--engine", "virtual", "--json", cwd=tmp_path)
    assert [outcome["code"] for outcome in json.loads(done.stdout)] == [0]
    assert "from the script" in done.stderr
    assert "at once" in done.stderr


@pytest.mark.parametrize("beside", [False, True])
def test_two_modules_of_one_name_are_not_mixed_up(tmp_path: Path, beside: bool) -> None:
    """Nodes find a protocol by the name of its module: the wrong one of two would be judged."""
    files = []
    for version, protocol in (("old", RIGHT), ("new", WRONG.replace("class Rude", "class Own"))):
        folder = tmp_path / version
        folder.mkdir()
        files.append(str(folder / (f"{version}.py" if beside else "mine.py")))
        script = WHOSE.format(module="own" if beside else "mine")
        Path(files[-1]).write_text(script if beside else protocol + script)
        (folder / "own.py").write_text(protocol)
    alone = [hustings("run", file, "--engine", "virtual", cwd=tmp_path) for file in files]
    assert [done.returncode for done in alone] == [0, 1]
    both = hustings("run", *files, "--engine", "virtual", cwd=tmp_path)
    assert both.returncode == 2
    assert "have one name" in both.stderr

"""A run that does not fit into memory gets a clear message and an exit code."""

import os
import subprocess
import sys
from pathlib import Path

from tests.build import info
from traces.memory import free_bytes
from traces.run import RunDir


def test_a_run_that_is_larger_than_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    run = RunDir(tmp_path)
    run.write_info(info(3))
    run.trace.touch()
    os.truncate(run.trace, 1 << 40)  # a hole: it takes no disk
    command = [sys.executable, "-m", "harness", "check", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"hustings: {run.trace} needs about 6,597.1 GB of memory")
    assert done.stderr.count("\n") == 1


def test_parts_that_are_larger_than_the_memory_are_refused_before_they_are_merged(
    tmp_path: Path,
) -> None:
    run = RunDir(tmp_path)
    run.write_info(info(3))
    run.parts.mkdir()
    for name in ("1-1", "2-1"):
        (run.parts / f"{name}.jsonl").touch()
        os.truncate(run.parts / f"{name}.jsonl", 1 << 39)
    command = [sys.executable, "-m", "harness", "check", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"hustings: {run.parts} needs about 7,696.6 GB of memory")
    assert done.stderr.count("\n") == 1


def test_the_limit_of_the_process_counts() -> None:
    program = "from traces.memory import free_bytes; print(free_bytes())"
    limited = f"ulimit -v 1000000 && exec {sys.executable} -c '{program}'"
    free = int(subprocess.run(["sh", "-c", limited], capture_output=True, check=True).stdout)
    assert 0 < free < min(1_024_000_000, free_bytes() + 1)

"""What a person at a terminal sees while a run is under way."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

NARRATED = """
import threading
from loguru import logger
from harness.progress import Progress

with Progress("mine"):
    logger.info("{}", "seen became s=[/Normal]")
    threads = threading.active_count()
print(threads)
"""


def on_a_terminal(args: list[str], cwd: Path) -> tuple[str, str]:
    """Its stdout, and what 80 columns of terminal were sent as stderr."""
    leader, follower = pty.openpty()
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, *args], cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=follower
    )
    os.close(follower)
    drawn = b""
    try:
        while data := os.read(leader, 65_536):
            drawn += data
    except OSError:  # EIO: the last who had the terminal has left
        os.close(leader)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, drawn
    return out.decode(), drawn.decode()


def test_the_line_tells_phase_elections_faults_and_time(tmp_path: Path) -> None:
    _, drawn = on_a_terminal(["-m", "harness", "run", "coordinator-crash"], tmp_path)
    line = r"coordinator-crash: settled  ·  elections \d  ·  faults 1  ·  \d\.\d s"
    assert re.search(line, drawn)


def test_what_is_narrated_stands_as_it_is_and_nothing_runs_beside_the_controller(
    tmp_path: Path,
) -> None:
    """A second thread would hold the interpreter when a fault is due."""
    threads, drawn = on_a_terminal(["-c", NARRATED], tmp_path)
    assert threads == "1\n"
    assert "seen became s=[/Normal]" in drawn
    assert "Traceback" not in drawn

"""Safe cells survive a SIGKILL at any instant (GM82 II, Assumption 4)."""

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import FrameType

import pytest

from harness.scenario import INVITATION
from nodes.cells import SafeCells
from nodes.config import NodeConfig, write
from nodes.program import Node
from traces.events import Became, decode_lines
from traces.run import Timing

KILLS = 60


def _count_up(directory: Path, progress: int) -> None:
    """Store growing numbers for ever; report each one that is safe."""
    cells = SafeCells(directory)
    value = int(cells.load().get("counter", 0))
    while True:
        value += 1
        cells.store("counter", value)
        os.pwrite(progress, value.to_bytes(8, "big"), 0)


def test_a_value_once_stored_survives_a_kill_at_any_instant(tmp_path: Path) -> None:
    log = tmp_path / "progress"
    log.write_bytes(bytes(8))
    chance, last = random.Random(1), 0
    for _ in range(KILLS):
        child = os.fork()
        if child == 0:
            _count_up(tmp_path / "cells", os.open(log, os.O_RDWR))
        deadline = time.monotonic() + 10
        while int.from_bytes(log.read_bytes(), "big") == last and time.monotonic() < deadline:
            time.sleep(chance.random() * 0.0005)  # a random instant is the point
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        safe = int.from_bytes(log.read_bytes(), "big")
        found = SafeCells(tmp_path / "cells").load()["counter"]
        assert found in (safe, safe + 1)  # stored, or replaced just before the report
        assert safe > last
        last = safe
        log.write_bytes(found.to_bytes(8, "big"))
        last = found


def test_marks_survive_a_kill(tmp_path: Path) -> None:
    cells = SafeCells(tmp_path / "cells")
    cells.load()
    child = os.fork()
    if child == 0:
        marks = cells.marks(4)
        for value in range(1, 1000):
            marks[3] = value
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert list(cells.marks(4)) == [0, 0, 0, 999]


def test_a_half_written_replacement_is_never_taken_for_the_cell(tmp_path: Path) -> None:
    cells = SafeCells(tmp_path)
    cells.store("x", [1, 2])
    (tmp_path / "x.new").write_bytes(b"[3,")
    assert SafeCells(tmp_path).load() == {"x": [1, 2]}


def test_a_cell_that_cannot_be_written_keeps_its_old_value(tmp_path: Path) -> None:
    cells = SafeCells(tmp_path)
    cells.store("x", 1)
    (tmp_path / "x.new").unlink(missing_ok=True)
    (tmp_path / "x.new").mkdir()
    with pytest.raises(OSError, match=r"x\.new"):
        cells.store("x", 2)
    assert cells.load() == {"x": 1}


# --- group numbers ------------------------------------------------------------------------------


def _recover(config: Path, calls: int) -> None:
    """A life of a node that is killed right before or after its so-manieth call of C code.

    What others can see, the disk and the trace, changes nowhere else.
    """
    node, left = Node(str(config)), calls

    def step(frame: FrameType, event: str, arg: object) -> None:
        nonlocal left
        left -= event in ("c_call", "c_return")
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(step)
    node._perform()  # Recovery: count, store the count, and use it
    sys.setprofile(None)
    os._exit(0)


def _groups_of_every_life(folder: Path, protocol: str) -> Iterator[str]:
    """The group number of each life that got as far as to use one, killed ever later."""
    for life in count(1):
        trace = folder / f"{life}.jsonl"
        config = NodeConfig(
            node=1, incarnation=life, nodes=(1,), bind=("127.0.0.1", 0), peers={},
            cells=str(folder / "cells"), trace=str(trace), protocol=protocol, timing=Timing(),
            lateness=False,
        )  # fmt: skip
        write(folder / "config.json", config)
        child = os.fork()
        if child == 0:
            _recover(folder / "config.json", life)
        status = os.waitpid(child, 0)[1]
        data = trace.read_bytes()
        events = decode_lines(data[: data.rfind(b"\n") + 1])
        yield from (event.g for event in events if isinstance(event, Became))
        if not status:  # it came to the end, so it was killed everywhere before
            assert life > 50
            return


def test_a_node_killed_at_every_instant_around_the_increment_uses_no_number_twice(
    tmp_path: Path,
) -> None:
    used = list(_groups_of_every_life(tmp_path, INVITATION))
    assert len(used) > 20
    assert len(set(used)) == len(used)


def test_one_that_counts_in_memory_is_seen_to_use_a_number_twice(tmp_path: Path) -> None:
    lives = _groups_of_every_life(tmp_path, "tests.mutants.invitation:ForgetfulCounter")
    assert next(lives) == next(lives)

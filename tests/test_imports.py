"""Data flows one way through the house; protocols touch nothing that does I/O."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "traces": set[str](),
    "nodes": {"traces"},
    "harness": {"nodes", "traces"},
    "scenarios": {"harness"},
    "reports": {"traces"},
}
PURE = {
    "nodes/protocol.py",
    "nodes/kernel.py",
    "nodes/task.py",
    "nodes/bully.py",
    "nodes/invitation.py",
    "nodes/restricted.py",
    "nodes/reactive.py",
    "nodes/detectors.py",
    "nodes/attendance.py",
    "nodes/stoller.py",
    "nodes/bully_fd.py",
    "nodes/async_bully.py",
    "nodes/votes.py",
    "nodes/locks.py",
    "nodes/policies.py",
    "nodes/token.py",
    "nodes/assignment.py",
    "nodes/autonomous.py",
    "nodes/autonomous_locks.py",
    "nodes/consensus.py",
}
ALLOWED_IN_PURE = {"collections", "heapq", "types", "typing", "msgspec", "nodes", "traces"}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_behind_it(room: str) -> None:
    allowed = {room} | ROOMS[room]
    for path in files(room):
        rooms = {name.partition(".")[0] for name in imported(path)} & set(ROOMS)
        assert rooms <= allowed, f"{path.relative_to(ROOT)} imports {sorted(rooms - allowed)}"


def test_protocols_and_kernel_import_nothing_that_does_io_tells_time_or_draws_numbers() -> None:
    for name in PURE:
        tops = {module.partition(".")[0] for module in imported(ROOT / name)}
        assert tops <= ALLOWED_IN_PURE, f"{name} imports {sorted(tops - ALLOWED_IN_PURE)}"
        deep = {m for m in imported(ROOT / name) if m.startswith(("nodes.", "traces."))}
        assert deep <= {
            "nodes.protocol", "nodes.task", "traces.events", "traces.properties", "traces.run",
            "nodes.invitation", "traces.group_record", "nodes.reactive", "nodes.detectors",
            "nodes.attendance", "nodes.stoller", "nodes.votes", "nodes.policies", "nodes.token",
            "nodes.restricted", "nodes.assignment", "nodes.autonomous", "nodes.locks",
        }  # fmt: skip


def test_a_node_imports_none_of_the_slow_libraries() -> None:
    slow = {"psutil", "loguru", "rich", "asyncio", "pytest", "numpy"}
    for path in files("nodes"):
        assert not {name.partition(".")[0] for name in imported(path)} & slow, path


def test_what_need_not_be_installed_is_imported_in_one_place_or_by_name_only() -> None:
    optional = {
        "matplotlib": {"reports/curves_png.py"},
        "distributed": set[str](),
        "dask": set[str](),
    }
    for package, places in optional.items():
        found = {
            str(path.relative_to(ROOT))
            for room in ROOMS
            for path in files(room)
            if package in {name.partition(".")[0] for name in imported(path)}
        }
        assert found == places, package


def test_every_module_says_what_it_is() -> None:
    for room in ROOMS:
        for path in files(room):
            assert ast.get_docstring(ast.parse(path.read_text())), path


def test_this_test_looks_at_the_real_files() -> None:
    assert sum(len(files(room)) for room in ROOMS) > 25
    assert sys.version_info >= (3, 11)

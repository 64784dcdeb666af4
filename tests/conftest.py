"""Fixtures that more than one test file uses."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.relay_field import Field

# A change is judged by the same examples each time; whoever works on it gets new ones each time.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Field]:
    made = Field(tmp_path / "relay.jsonl")
    yield made
    made.end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The scenario that lasts a minute goes first: at the end one core would wait for it."""
    items.sort(key=lambda item: "both_engines[everything-at-once]" not in item.nodeid)

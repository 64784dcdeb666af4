"""What the documents list is what there is."""

from pathlib import Path

from harness.schedule import FAULTS, WAITS
from nodes.config import NodeConfig
from traces import events

DOCS = Path(__file__).parent.parent / "docs"
ALWAYS = {"at", "node", "inc", "n"}  # of every event, described once


def rows(name: str) -> dict[str, str]:
    """The rows of a document's tables, by what the first cell quotes."""
    lines = (DOCS / name).read_text().splitlines()
    return {line.split("`")[1].partition("(")[0]: line for line in lines if line.startswith("| `")}


def test_every_event_and_every_field_of_it_is_described() -> None:
    described = rows("trace-format.md")
    kinds = [
        k for k in vars(events).values() if isinstance(k, type) and issubclass(k, events.Event)
    ]
    for kind in kinds:
        if own := set(kind.__struct_fields__) - ALWAYS:
            row = described[str(kind.__struct_config__.tag)]
            assert not {field for field in own if f"`{field}`" not in row}, row


def test_all_that_a_node_is_told_is_in_its_contract() -> None:
    assert set(NodeConfig.__struct_fields__) <= set(rows("node-contract.md"))


def test_every_verb_of_a_schedule_is_described() -> None:
    scenarios = rows("scenarios.md")
    assert {*FAULTS, *WAITS} <= set(scenarios)
    listed = (DOCS / "scenarios.md").read_text().partition("Verbs are `")[2].partition("`;")[0]
    assert {*FAULTS, *WAITS} <= set(listed.replace("`", " ").split())

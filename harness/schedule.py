"""A schedule is data: the steps of a run, in order, with every target resolved.

A step is a fault verb or a wait. Every run writes the schedule it injected; such a file drives
another run, on either engine (`hustings run NAME --schedule FILE`). Waits are kept as
conditions, not as times, so that a schedule recorded on a fast machine means the same on a
slow one.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec

from harness import MOST_NODES
from harness.rules import Link

FAULTS = (
    "start", "kill", "restart", "pause", "resume", "arm", "ask",
    "cut", "hold", "delay", "lose", "duplicate", "reorder", "mend",
)  # fmt: skip
WAITS = ("settled", "calm", "seen", "reached", "elapse")


class Step(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """One verb with its targets. `at_ms` says when it happened; nothing is read from it."""

    verb: str
    nodes: tuple[int, ...] = ()
    links: tuple[Link, ...] = ()
    rule: int = 0
    args: dict[str, Any] = {}
    at_ms: float = 0.0


class Schedule(msgspec.Struct, forbid_unknown_fields=True):
    """The steps of one run."""

    scenario: str
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MOST_NODES)]
    seed: int
    steps: list[Step]


class ScheduleError(Exception):
    """A schedule or a scenario asks for what cannot be; the message says what and where."""


def write_schedule(path: Path, schedule: Schedule) -> None:
    """Store it, one step a line, for people and for diff."""
    head = msgspec.json.encode({"scenario": schedule.scenario, "nodes": schedule.nodes,
                                "seed": schedule.seed})[:-1]  # fmt: skip
    steps = b",\n ".join(msgspec.json.encode(step) for step in schedule.steps)
    path.write_bytes(head + b',"steps":[\n ' + steps + b"\n]}\n")


def read_schedule(path: Path) -> Schedule:
    """Read it back; whatever is wrong with it is one clear error."""
    try:
        schedule = msgspec.json.decode(path.read_bytes(), type=Schedule)
    except OSError as error:
        raise ScheduleError(f"cannot read the schedule {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ScheduleError(f"{path} is no schedule: {error}") from None
    for number, step in enumerate(schedule.steps, 1):
        if step.verb not in FAULTS + WAITS:
            known = ", ".join(FAULTS + WAITS)
            raise ScheduleError(f"{path}, step {number}: no verb {step.verb!r}; there are {known}")
    return schedule

"""What a scenario is: a function that drives a run, and the verdicts it expects.

    @scenario(nodes=5, expect={"GM82-1a": "excused", "A9": "violated"})
    def paused_coordinator(run: Run) -> None:
        '''One line that says which claim it exercises. Then why.'''
        run.start()
        run.settled()
        run.pause("coordinator")
        ...

What is not named in `expect` is expected not to be violated; what the paper claims for the
protocol at any instant, to hold (MUST_HOLD).
"""

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.run import Run
from nodes.config import load_protocol
from traces.expectations import EITHER
from traces.properties import PROPERTIES, SYNCHRONOUS
from traces.run import Timing
from traces.verdicts import BEST_TO_WORST

BULLY, INVITATION = "nodes.bully:Bully", "nodes.invitation:Invitation"
RESTRICTED = "nodes.restricted:Restricted"
BULLY_FD, ASYNC_BULLY = "nodes.bully_fd:BullyFD", "nodes.async_bully:AsyncBully"
INCREASING, REASSIGNING = "nodes.votes:Increasing", "nodes.votes:Reassigning"
LOCKS_ONE, LOCKS_TWO = "nodes.locks:LocksOne", "nodes.locks:LocksTwo"
HARDENED_ONE, HARDENED_TWO = "nodes.locks:HardenedOne", "nodes.locks:HardenedTwo"
AUTONOMOUS_ONE = "nodes.autonomous:AutonomousOne"
AUTONOMOUS_TWO = "nodes.autonomous:AutonomousTwo"
AUTONOMOUS_LOCKS_ONE = "nodes.autonomous_locks:AutonomousLocksOne"
AUTONOMOUS_LOCKS_TWO = "nodes.autonomous_locks:AutonomousLocksTwo"
AUTONOMOUS_HARDENED_TWO = "nodes.autonomous_locks:AutonomousHardenedTwo"
CONSENSUS = "nodes.consensus:Consensus"
MUST_HOLD = (
    "GM82-1a", "GM82-1b", "GM82-2", "GM82-3a", "GM82-3b", "GM82-RO", "GM82-GH",
    "S97-SLE1", "S97-SLE2", "S97-ALE1", "BGS86-MAJ", "BGS86-C22",
)  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """A named script with its setting and its expectations."""

    name: str
    claim: str
    script: Callable[[Run], None]
    nodes: int = 5
    protocol: str = BULLY
    expect: Mapping[str, str] = field(default_factory=dict)
    lateness: bool = True
    command: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    again: str = ""  # what to type to run it, when it is not one of the built-in ones
    stretch: Callable[[Timing, int], Timing] = lambda timing, nodes: timing

    def __post_init__(self) -> None:
        for name, result in self.expect.items():
            _one_of(name, PROPERTIES, "property")
            _one_of(result, (*BEST_TO_WORST, EITHER), "verdict")


def _one_of(name: str, known: Collection[str], what: str) -> None:
    """A slip of the pen must not come out as a verdict that differs."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=2, cutoff=0.4) or sorted(known)
        raise ValueError(f"no {what} {name!r} to expect: did you mean {' or '.join(near)}?")


def claims_of(protocol: str) -> tuple[str, ...]:
    """What its paper claims for it; a protocol that cannot be loaded is for the engine to name."""
    try:
        return load_protocol(protocol).claims
    except (ImportError, AttributeError):
        return SYNCHRONOUS


def latency_of(protocol: str, timing: Timing, nodes: int) -> float:
    """tau_FD of its failure detector (S97 2), 0 if it has none."""
    try:
        detector = getattr(load_protocol(protocol), "detector", None)
    except (ImportError, AttributeError):
        return 0.0
    return detector.latency_ms(timing, nodes) if detector else 0.0


def expected_of(protocol: str) -> dict[str, str]:
    """What must hold unless a scenario says otherwise."""
    return {name: "holds" for name in claims_of(protocol) if name in MUST_HOLD}


def scenario(
    *,
    nodes: int = 5,
    protocol: str = BULLY,
    expect: Mapping[str, str] | None = None,
    lateness: bool = True,
    command: tuple[str, ...] = (),
    parameters: Mapping[str, Any] | None = None,
) -> Callable[[Callable[[Run], None]], Scenario]:
    """Make a scenario of a function; its docstring says which claim it exercises."""

    def make(script: Callable[[Run], None]) -> Scenario:
        claim = (inspect.getdoc(script) or "").split("\n\n")[0].replace("\n", " ")
        if not claim:
            raise ValueError(f"scenario {script.__name__} has no docstring to say its claim")
        name = script.__name__.replace("_", "-")
        expected = {**expected_of(protocol), **(expect or {})}
        return Scenario(
            name, claim, script, nodes, protocol, expected, lateness, command, parameters or {}
        )

    return make

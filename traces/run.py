"""A stored run: its directory, and what is known of it besides its events.

runs/<scenario>-<n>/
  run.json        this module's RunInfo
  trace.jsonl     all events in one global order (traces.merge)
  schedule.json   the schedule that was injected, resolved
  verdicts.json   what the analyzer said (traces.judge)
  hustings.log    the controller's narration
  parts/          one trace file a process, node files, safe cells; removed after the
                  merge unless --keep; still there when the controller was killed
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec

from traces.cliques import BUDGET
from traces.properties import PROPERTIES, SYNCHRONOUS

Positive = Annotated[float, msgspec.Meta(gt=0)]


class Timing(msgspec.Struct, frozen=True):
    """The times of a run, in one place (GM82 II A8, A9; CJ97 10.2.1)."""

    t_m_ms: Positive = 15.0
    t_p_ms: Positive = 20.0
    check_ms: Positive = 100.0
    timeout_ms: Positive = 300.0

    @property
    def t_ms(self) -> float:
        """T = 2 T_m + T_p: no answer for so long, and the node has failed."""
        return 2 * self.t_m_ms + self.t_p_ms

    def settles_ms(self, nodes: int) -> float:
        """By when Bully has settled after the last failure (docs/verdicts.md derives it)."""
        return self.timeout_ms + 2 * self.check_ms + (6 * nodes + 2) * self.t_ms

    def merges_ms(self, nodes: int) -> float:
        """c of Assertion 4': by when the Invitation Algorithm is done with merging.

        A node that lost its group knows after a Timeout and one CALL. From then on there are at
        most n rounds of a Check, the wait for the highest coordinator, and a Merge: at most n
        CALLs for each of Check, Invitation and Ready (docs/verdicts.md derives it).
        """
        wait = 2 * self.check_ms * (nodes - 1)
        one_round = self.check_ms + wait + (3 * nodes + 1) * self.t_ms
        return self.timeout_ms + self.t_ms + nodes * one_round

    @property
    def delta_ms(self) -> float:
        """S97's delta, from the send of a message until it has been handled: T_m + T_p."""
        return self.t_m_ms + self.t_p_ms

    def stoller_sync_ms(self, nodes: int, tau_fd_ms: float) -> float:
        """c_S (S97 (5)): by when Bully_FD has a leader; tau is the Check period."""
        delta = self.delta_ms
        detected = max(self.check_ms + 2 * delta, tau_fd_ms)
        return detected + (nodes - 1) * max(2 * delta, tau_fd_ms) + delta

    def stoller_async_ms(self, nodes: int, tau_fd_ms: float) -> float:
        """c_A (S97 App. B gives its order): by when the Asynchronous Bully is done.

        At most 4n - 2 times the wait for a poll or a DownSig (docs/verdicts.md derives it).
        """
        delta = self.delta_ms
        return (4 * nodes - 2) * max(self.check_ms + 2 * delta, tau_fd_ms) + delta


class RunInfo(msgspec.Struct):
    """What the analyzer and the report need besides the events."""

    scenario: str
    claim: str
    protocol: str
    engine: str
    seed: int
    nodes: Annotated[int, msgspec.Meta(ge=1)]
    timing: Timing
    lateness: bool = True
    expect: dict[str, str] = {}
    properties: tuple[str, ...] = SYNCHRONOUS  # what is claimed of the protocol
    attempt: int = 1
    notes: list[str] = []
    began: str = ""
    command: tuple[str, ...] = ()  # a program of its own instead of the reference node
    gave_up: str = ""  # the wait that ended without what it waited for
    broke_off: str = ""  # what ended it before its script did
    again: str = ""  # what to type to run it again; `hustings run` and its name when empty
    tau_fd_ms: float = 0.0  # the latency its failure detector promises (S97 2), if it has one
    parameters: dict[str, Any] = {}  # of the protocol, as the scenario set them
    budget: int = BUDGET  # steps of the search for a minimum clique cover (S00-4'b)

    def __post_init__(self) -> None:
        if unknown := set(self.properties) - set(PROPERTIES):
            raise ValueError(f"no property {min(unknown)!r}")

    @property
    def elects(self) -> bool:
        """Whether its protocol elects anybody: else there is nothing to settle."""
        return not any(name.startswith("BGS86") for name in self.properties)

    @property
    def settles_ms(self) -> float:
        """By when its protocol is done after the last failure."""
        if "GM82-4" in self.properties:
            return self.timing.merges_ms(self.nodes)
        if "S97-ALE2'" in self.properties:
            return self.timing.stoller_async_ms(self.nodes, self.tau_fd_ms)
        if "S97-SLE2" in self.properties:
            return self.timing.stoller_sync_ms(self.nodes, self.tau_fd_ms)
        return self.timing.settles_ms(self.nodes)


class RunDir:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.info = path / "run.json"
        self.trace = path / "trace.jsonl"
        self.schedule = path / "schedule.json"
        self.verdicts = path / "verdicts.json"
        self.log = path / "hustings.log"
        self.parts = path / "parts"

    def read_info(self) -> RunInfo:
        """The stored RunInfo."""
        return msgspec.json.decode(self.info.read_bytes(), type=RunInfo)

    def write_info(self, info: RunInfo) -> None:
        """Store it, indented for people."""
        self.info.write_bytes(msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n")

"""Whether the verdicts of a run are the ones its scenario expects.

- A verdict that the scenario names must be the one it names, or any but `unknown` where it says
  `either`; one that it does not name must not be violated or unknown.
- `violated`: a property is violated that was not expected to be. `inconclusive`: a verdict
  differs in another way, or the scenario gave up, or the environment itself (A8, A9) was not
  what the scenario needs, which says nothing about a protocol.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from traces.properties import ENVIRONMENT
from traces.verdicts import Verdict

EITHER = "either"
Outcome = Literal["as expected", "violated", "inconclusive"]


def differs(verdict: Verdict, expect: Mapping[str, str]) -> str:
    """What was expected instead, or nothing when it is as expected."""
    if verdict.id in expect:
        wanted = expect[verdict.id]
        met = verdict.result != "unknown" if wanted == EITHER else verdict.result == wanted
        return "" if met else wanted
    return "holds" if verdict.result in ("violated", "unknown") else ""


def surprises(verdicts: Sequence[Verdict], expect: Mapping[str, str]) -> list[str]:
    """Each verdict that differs, in words; what is violated first."""
    judged = {verdict.id for verdict in verdicts}
    return [
        f"{verdict.id}: expected {instead}, got {verdict.result}"
        for verdict in sorted(verdicts, key=lambda verdict: verdict.result != "violated")
        if (instead := differs(verdict, expect))
    ] + [f"{name}: not judged" for name in expect if name not in judged]


def outcome(
    verdicts: Sequence[Verdict], expect: Mapping[str, str], gave_up: bool = False
) -> Outcome:
    """What the run as a whole came to."""
    about_nodes = (verdict for verdict in verdicts if verdict.id not in ENVIRONMENT)
    if any(verdict.result == "violated" and differs(verdict, expect) for verdict in about_nodes):
        return "violated"
    return "inconclusive" if gave_up or surprises(verdicts, expect) else "as expected"

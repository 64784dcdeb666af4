"""What a step must satisfy before it is done: one clear refusal instead of half a fault.

The same checks serve the verbs of a scenario and the lines of a schedule file.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from typing import Any, get_args

from harness.live import Live
from harness.rules import Delay, Drop, Duplicate, Hold, Link, Lose, Reorder, Rule
from harness.schedule import ScheduleError, Step
from nodes.config import load_protocol
from nodes.protocol import Protocol
from traces.events import AnyEvent

RULES: dict[str, type[Rule]] = {
    "cut": Drop, "hold": Hold, "delay": Delay, "lose": Lose,
    "duplicate": Duplicate, "reorder": Reorder,
}  # fmt: skip
EVENTS = {kind.__struct_config__.tag: set(kind.__struct_fields__) for kind in get_args(AnyEvent)}
CONTRACTS = ("buffer", "drop")
ON_NODES = ("start", "kill", "restart", "pause", "resume", "arm", "ask", "reached",
            "settled")  # fmt: skip


def check(step: Step, nodes: Collection[int], live: Live, rules: Mapping[int, object]) -> None:
    """Refuse a step that cannot be done now, in words."""
    _names_known(step, nodes)
    _in_the_right_state(step, live)
    if step.verb in RULES:
        rule_of(step)
    elif step.verb == "mend" and step.rule not in rules:
        raise ScheduleError(f"mend: no rule {step.rule} is in force")
    elif step.verb in ("seen", "arm"):
        _event_known(step.verb, step.args.get("event", ""), step.args.get("where", {}))
    elif step.verb in ("elapse", "calm") and not _is_time(step.args.get("ms")):
        ms = step.args.get("ms")
        raise ScheduleError(f"{step.verb}: ms is {ms!r}; it must be a time, 0 or more")
    elif step.verb == "pause":
        _contract_known(step)


def check_request(step: Step, protocol: type[Protocol]) -> None:
    """Refuse to ask for what the protocol does not offer, or with arguments it does not take."""
    kind = step.args.get("kind", "")
    offered = protocol.requests
    if kind not in offered:
        near = _near(kind, offered) if offered else "; it takes no requests"
        raise ScheduleError(f"ask: {protocol.__name__} has no request {kind!r}{near}")
    try:
        signature(getattr(protocol, offered[kind])).bind(None, **step.args.get("args", {}))
    except TypeError as error:
        raise ScheduleError(f"ask: {kind}: {error}") from None


def check_parameters(protocol: str, parameters: Mapping[str, Any], nodes: Sequence[int]) -> None:
    """Refuse a run whose nodes could not begin; who cannot be loaded is for the engine to name."""
    with suppress(ImportError, AttributeError):
        why = load_protocol(protocol).refusal(parameters, nodes)
        if why:
            raise ScheduleError(f"{protocol}: {why}")


def rule_of(step: Step) -> Rule:
    """The rule a step puts on its links."""
    try:
        return RULES[step.verb](**step.args)
    except (TypeError, ValueError) as error:
        raise ScheduleError(f"{step.verb}: {error}") from None


def _names_known(step: Step, nodes: Collection[int]) -> None:
    links: tuple[Link, ...] = step.links
    unknown = {*step.nodes, *(i for link in links for i in link)} - set(nodes)
    if unknown:
        raise ScheduleError(f"{step.verb}: no node {min(unknown)}; there are 1..{len(nodes)}")
    if any(i == j for i, j in links):
        raise ScheduleError(f"{step.verb}: a node has no link to itself")
    if step.verb in ON_NODES and not step.nodes:
        raise ScheduleError(f"{step.verb}: it names no node")
    if step.verb in RULES and not links:
        raise ScheduleError(f"{step.verb}: it names no link")


def _in_the_right_state(step: Step, live: Live) -> None:
    nodes = set(step.nodes)
    wrong, why = {
        "start": (nodes & live.up, "is up already"),
        "restart": (nodes & live.up, "is up already"),
        "kill": (nodes - live.up, "is not up"),
        "pause": (nodes - live.running, "is not running"),
        "arm": (nodes - live.running, "is not running"),
        "ask": (nodes - live.running, "is not running"),
        "reached": (nodes - live.up, "is not up"),
        "resume": (nodes - live.stopped, "is not stopped"),
        "settled": (set() if nodes & live.running else nodes, "is not running, nor any other"),
    }.get(step.verb, (set(), ""))
    if wrong:
        raise ScheduleError(f"{step.verb}: node {min(wrong)} {why}")


def _contract_known(step: Step) -> None:
    contract = step.args.get("contract", "buffer")
    if contract not in CONTRACTS:
        raise ScheduleError(f"pause: no contract {contract!r}; there are {' and '.join(CONTRACTS)}")
    if contract == "drop" and len(step.nodes) > 1:
        raise ScheduleError("pause: under the drop contract, one node a step")


def _event_known(verb: str, event: str, where: Mapping[str, Any]) -> None:
    if event not in EVENTS:
        raise ScheduleError(f"{verb}: no event {event!r}{_near(event, EVENTS)}")
    for field in where:
        if field not in EVENTS[event]:
            near = _near(field, EVENTS[event])
            raise ScheduleError(f"{verb}: {event} has no field {field!r}{near}")


def _near(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, n=2, cutoff=0.4) or sorted(known)
    return f"; did you mean {' or '.join(near)}?" if len(near) <= 2 else f"; {', '.join(near)}"


def _is_time(ms: object) -> bool:
    return isinstance(ms, int | float) and 0 <= ms < float("inf")

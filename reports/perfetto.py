"""A whole run as Trace Event JSON, which Perfetto and Chrome draw as tracks on a time line.

A process a node with a track for its states, process 0 for the harness. Complete events (`X`) are
the states of a node and what lasts: rules of the relay, pauses. Instants (`i`) are time-outs,
crashes, faults and the first cut of each broken property. A message is a flow (`s` to `f`) from
the state in which it was sent to the one in which it was received. Times are microseconds since
the run began.

Limits: a message that was never received has no arrow; its sending is not shown.
"""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from reports.excerpt import words_for
from traces.chapters import Crash
from traces.events import Became, Injected, Overslept, Received, Sent, Suspected, TimedOut
from traces.lives import History
from traces.run import RunInfo
from traces.shots import in_words
from traces.verdicts import Verdict
from traces.words import fault_in_words

STATES = FAULTS = 1  # tracks; the harness has one more a node that paused, and one a rule
HARNESS = 0
Entry = dict[str, Any]


def export(history: History, info: RunInfo, verdicts: list[Verdict]) -> str:
    """The document, an entry a line."""
    entries = chain(_names(info), _states(history), _lasting(history), _instants(history),
                    _messages(history), _broken(history, verdicts))  # fmt: skip
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    return f'{{"displayTimeUnit":"ms","traceEvents":[\n{lines}\n]}}\n'


def _us(history: History, at: int) -> float:
    return (at - history.began) / 1000


def _names(info: RunInfo) -> Iterator[Entry]:
    titles = ["harness", *(f"node {node}" for node in range(1, info.nodes + 1))]
    for pid, title in enumerate(titles):
        yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": title}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "args": {"sort_index": pid}}
    yield _thread(HARNESS, FAULTS, "faults")
    for node in range(1, info.nodes + 1):
        yield _thread(node, STATES, "state")


def _thread(pid: int, tid: int, name: str) -> Entry:
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def _states(history: History) -> Iterator[Entry]:
    """Each state of each node until the next."""
    last: dict[int, tuple[str, int, Entry]] = {}
    for _, state in history.steps:
        name = in_words(state).partition(" is ")[2]
        args: Entry = {"life": state.inc}
        if isinstance(state, Became):
            args |= {"h": state.h, "up": list(state.up), "d": state.d, "g": state.g}
        if state.node in last:
            yield _span(history, state.node, *last[state.node], state.at)
        last[state.node] = name, state.at, args
    for node, (name, start, args) in last.items():
        yield _span(history, node, name, start, args, history.ended)


def _span(
    history: History, pid: int, name: str, start: int, args: Entry, end: int, tid: int = STATES
) -> Entry:
    ts, dur = _us(history, start), max(end - start, 0) / 1000
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def _lasting(history: History) -> Iterator[Entry]:
    for rule in history.rules.values():
        end = history.ended if rule.off is None else rule.off
        track = FAULTS + history.nodes + rule.rule
        yield _thread(HARNESS, track, f"rule {rule.rule}")
        yield _span(history, HARNESS, rule.words, rule.on, {}, end, track)
    for node in {pause.node for pause in history.pauses}:
        yield _thread(HARNESS, FAULTS + node, f"pauses of node {node}")
    for pause in history.pauses:
        end = history.ended if pause.until is None else pause.until
        name = f"node {pause.node} paused"
        yield _span(history, HARNESS, name, pause.at, {"by": pause.by}, end, FAULTS + pause.node)


def _instants(history: History) -> Iterator[Entry]:
    for _, state in history.steps:
        if isinstance(state, Crash):
            yield _instant(history, state.node, f"crashed ({state.how})", state.at, "p")
    for event in history.events:
        if isinstance(event, TimedOut | Suspected | Overslept):
            yield _instant(history, event.node, words_for(event), event.at, "t")
        elif isinstance(event, Injected):
            yield _instant(history, HARNESS, fault_in_words(event), event.at, "g")


def _instant(history: History, pid: int, name: str, at: int, scope: str) -> Entry:
    ts = _us(history, at)
    return {"ph": "i", "name": name, "pid": pid, "tid": STATES, "ts": ts, "s": scope}


def _messages(history: History) -> Iterator[Entry]:
    """An arrow for each receipt."""
    sent: dict[tuple[int, int, int, int], Sent] = {}
    count = 0
    for event in history.events:
        if isinstance(event, Sent):
            sent[event.node, event.inc, event.to, event.m] = event
        elif isinstance(event, Received):
            source = sent.get((event.src, event.sinc, event.node, event.m))
            if source is not None:
                count += 1
                yield _flow(history, "s", event.kind, count, source.node, source.at)
                yield _flow(history, "f", event.kind, count, event.node, event.at) | {"bp": "e"}


def _flow(history: History, phase: str, kind: str, number: int, pid: int, at: int) -> Entry:
    return {"ph": phase, "cat": "message", "name": kind, "id": number, "pid": pid, "tid": STATES,
            "ts": _us(history, at)}  # fmt: skip


def _broken(history: History, verdicts: list[Verdict]) -> Iterator[Entry]:
    for verdict in verdicts:
        for case in verdict.evidence[:1]:
            name = f"{verdict.id} {verdict.result}"
            yield _instant(history, HARNESS, name, case.at, "g") | {"args": {"says": case.says}}

"""The story of a run: the few moments of a trace that a person wants to see, in order.

Rules:

- A node's state is one word (reports.words.token); only a change of that word is a moment.
  A group number has a letter, by the order in which the numbers appear.
- A message matters if its receipt changed the receiver's state. Polls and answers do not.
- A crash is shown where it was seen, though a node that overslept counts as Down before.
- An election matters by what set it off: the procedure, and who was silent just before.
- A report of a failure detector matters, with what was true of the node; and that it is trusted
  again, from the next Start_FD on (S97 2).
- A key is 2i for what event i did and 2i + 1 for what follows it, as in traces.lives; so
  moments stand in the recorded order.

Limits: a change of the task alone (S.d) is no moment, unless it is votes; the cut shows it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from reports.words import CRASHED, PAUSED, RESUMED, STAGES, VOTES, lateness, letters, token
from traces.chapters import Crash
from traces.detectors import Detectors, detectors
from traces.events import (
    AnyEvent,
    Became,
    Began,
    Continued,
    Injected,
    Overslept,
    Played,
    Received,
    Suspected,
    Suspended,
    TimedOut,
    Watched,
)
from traces.lives import History
from traces.verdicts import Verdict
from traces.words import fault_in_words, numbers


@dataclass(frozen=True, slots=True)
class Message:
    """A request that changed its receiver."""

    src: int
    dst: int
    kind: str


@dataclass(frozen=True, slots=True)
class Bid:
    """A node began an election of its own, and why."""

    node: int
    why: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A node is told that another one is down; `truth` is as in traces.detectors, or trusted."""

    node: int
    peer: int
    truth: str


Words = Message | Bid | Doubt | str


@dataclass(frozen=True, slots=True)
class Moment:
    """`token` is what the node's column shows; `words` go to the last column."""

    key: int
    at: int
    node: int = 0
    token: str = ""
    words: Words = ""
    opens: bool = False  # a new row begins here
    marked: bool = False  # a verdict points here


class Story:
    """All moments of a run up to its end, and how many elections were begun."""

    def __init__(self, history: History, verdicts: list[Verdict]) -> None:
        self.history = history
        end = (i for i, e in history.turns if isinstance(e, Injected) and e.verb == "end")
        self.end = next(end, len(history.events))
        states = (state for _, state in history.steps)
        self.groups = letters(state.g for state in states if isinstance(state, Became))
        self.staged = any(isinstance(s, Became) and s.s in STAGES for _, s in history.steps)
        self.voting = any(isinstance(s, Became) and VOTES.match(s.d) for _, s in history.steps)
        self.detectors = detectors(history)
        causes = dict(_causes(history.events))
        changes = [replace(m, words=causes.get(m.key, "")) for m in _changes(history, self.groups)]
        bids = sum(isinstance(m.words, Bid) for m in changes)
        self.elections = len(self.groups) if self.staged else bids
        found = [*_marks(history, verdicts), *_faults(history, self.groups)]
        found += [*_doubts(self.detectors, history.events), *changes]
        found.sort(key=lambda moment: moment.key)
        self.moments = [moment for moment in found if moment.key < 2 * self.end]


def _changes(history: History, groups: Mapping[str, str]) -> Iterator[Moment]:
    """Where the word for a node's state changed."""
    last: dict[int, str] = {}
    for key, state in history.steps:
        now = token(state, groups)
        if isinstance(state, Crash):
            yield _crash(history, state)
        elif last.get(state.node) != now:
            yield Moment(key, state.at, state.node, now)
        last[state.node] = now


def _crash(history: History, crash: Crash) -> Moment:
    """A crash is shown where it was seen: a node paused and then killed stays paused till then."""
    life = history.life(crash.node, crash.inc)
    seen = min(life.end if life else crash.index, len(history.events) - 1)
    return Moment(2 * seen + 1, history.events[seen].at, crash.node, CRASHED)


def _causes(events: list[AnyEvent]) -> Iterator[tuple[int, Message | Bid]]:
    """The key of each change that a message or an election of one's own made, and that."""
    before: dict[int, AnyEvent] = {}
    procedure: dict[int, str] = {}
    silent: defaultdict[int, list[int]] = defaultdict(list)
    begun: set[str] = set()
    for i, event in enumerate(events):
        node = event.node
        match event:
            case Became():
                cause = before.get(node)
                if isinstance(cause, Received) and not cause.ack:
                    yield 2 * i, Message(cause.src, node, cause.kind)
                elif event.s in STAGES and event.s != "Wait" and event.g not in begun:
                    begun.add(event.g)
                    # A report that sets it off is told as a doubt.
                    yield 2 * i, Bid(node, "" if isinstance(cause, Suspected) else "Recovery")
                elif event.s == "Election" and node == (event.c if event.g else event.h):
                    why = f": {numbers(silent[node])} silent" if silent[node] else ""
                    yield 2 * i, Bid(node, f"{procedure.get(node, 'Election')}{why}")
            case Began():
                procedure[node] = event.proc
                silent[node].clear()
                cause = before.get(node)
                if isinstance(cause, Received) and cause.kind == event.proc:
                    continue  # it runs what it was asked to
            case Received() if event.ack:
                silent[node].clear()
            case Watched() | Played():
                continue  # on the way from a signal to what comes of it
            case TimedOut():
                silent[node].append(event.to)
        before[node] = event


def _doubts(asked: Detectors, events: list[AnyEvent]) -> Iterator[Moment]:
    """Who suspects whom, from the report until the next Start_FD for the same node."""
    trusted: dict[tuple[int, int], list[int]] = defaultdict(list)
    for watch in asked.watches:
        trusted[watch.node, watch.peer].append(watch.key // 2)
    until: dict[tuple[int, int], int] = {}
    for alarm in asked.alarms:
        pair = alarm.node, alarm.peer
        if until.get(pair, -1) > alarm.index:
            continue  # it is suspected already
        starts = trusted[pair]
        k = bisect_left(starts, alarm.index)
        until[pair] = starts[k] if k < len(starts) else len(events)
        words = Doubt(*pair, asked.truth(alarm))
        yield Moment(2 * alarm.index, alarm.at, words=words)
        if k < len(starts):
            at = events[starts[k]].at
            yield Moment(2 * starts[k], at, words=Doubt(*pair, "trusted"))


def _faults(history: History, groups: Mapping[str, str]) -> Iterator[Moment]:
    """What was done to the nodes and links, and what the kernel said of it."""
    state: dict[int, str] = {}
    steps = iter([*history.steps, None])
    step = next(steps)
    for i, event in history.turns:
        while step is not None and step[0] <= 2 * i:
            state[step[1].node] = token(step[1], groups)
            step = next(steps)
        match event:
            case Injected():
                yield Moment(2 * i, event.at, words=fault_in_words(event), opens=True)
            case Suspended():
                yield Moment(2 * i, event.at, event.target, PAUSED)
            case Continued():
                yield Moment(2 * i, event.at, event.target, RESUMED)
                now = state.get(event.target, "D")
                yield Moment(2 * i, event.at, event.target, now if now != CRASHED else "")
            case Overslept():
                yield Moment(2 * i, event.at, words=f"{event.node} {lateness(event)}")


def _marks(history: History, verdicts: list[Verdict]) -> Iterator[Moment]:
    """The first cut at which each broken property is broken."""
    ids: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for verdict in verdicts:
        for case in verdict.evidence[:1]:
            if case.states:
                ids[case.at, verdict.result].append(verdict.id)
    for (at, result), names in ids.items():
        i = bisect_left(history.events, at, key=lambda event: event.at)
        words = f"{', '.join(names)} {result}"
        yield Moment(2 * i - 1, at, words=words, opens=True, marked=True)

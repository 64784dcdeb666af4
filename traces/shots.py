"""Evidence in the making: state vectors at a cut, and the events that led to them.

Limits: what led to a state is the nearest earlier receipt, time-out or start of a procedure of
the same node, looked for among the last `FAR` events.
"""

from traces.chapters import STAGES, Crash, State
from traces.events import Became, Began, Received, Started, TimedOut
from traces.lives import History
from traces.validity import event_id
from traces.verdicts import EventId, StateShot

FAR = 5000


def shot(history: History, state: State) -> StateShot:
    """S(i) as it is from this state change on; Down has no other components that count."""
    since = history.ms(state.at)
    if isinstance(state, Became):
        return StateShot(state.node, state.inc, state.s, state.c, state.h, state.up, state.d,
                         state.g, since, event_id(state))  # fmt: skip
    event = None if isinstance(state, Crash) else event_id(state)
    return StateShot(state.node, state.inc, "Down", since_ms=since, event=event)


def states_at(history: History, at: int) -> list[State]:
    """The state of every node that ever started, at stamp `at`, by node."""
    states: dict[int, State] = {}
    for _, state in history.steps:
        if state.at > at:
            break
        states[state.node] = state
    return [states[node] for node in sorted(states)]


def led_to(history: History, key: int, *states: State) -> list[EventId]:
    """The events behind these states: the change itself and what it answered to."""
    found: list[EventId] = []
    for state in states:
        if isinstance(state, Became | Started):
            found += [*_cause(history, key // 2, state), event_id(state)]
    return found


def _cause(history: History, end: int, state: Became | Started) -> list[EventId]:
    events, seen = history.events, False
    for i in range(end, max(-1, end - FAR), -1):
        event = events[i]
        if event.node != state.node or event.inc != state.inc:
            continue
        if seen and isinstance(event, Received | TimedOut | Began):
            return [event_id(event)]
        seen = seen or event.n == state.n
    return []


def in_words(state: State) -> str:
    """`node 3 is Normal under 5`."""
    if not isinstance(state, Became):
        return f"node {state.node} is Down"
    if state.s in STAGES:
        return f"node {state.node} is {state.s} in election {state.g}"
    under = f" under {state.c}" if state.c else ""
    return f"node {state.node} is {state.s}{under}"

"""The evidence each injected fault left in the trace.

A fault that was asked for is not yet a fault that happened. Rules: a kill is shown by the death
it caused, a pause by the kernel's word that the process stopped, a rule by the datagrams it
touched, a mend by the first datagram received on a mended link. A fault that left nothing is
idle, and a scenario that rests on it proves nothing.

Limits: evidence is looked for between a fault and the next one of the same kind on the same
node; a rule's, by its number, in the whole trace.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec

from traces.events import (
    AnyEvent,
    Asked,
    Continued,
    Delayed,
    Died,
    Dropped,
    Duplicated,
    Held,
    Injected,
    Received,
    Ruled,
    Started,
    Suspended,
    Witnessed,
)

_CLOSES = {"pause": ("resume",), "kill": ("restart", "start"), "resume": ("pause",)}
_TOUCHES = Dropped | Delayed | Held | Duplicated
_KEEP = Died | Asked | Suspended | Continued | Started | Witnessed | Injected | Ruled | _TOUCHES


class FaultEvidence(msgspec.Struct):
    """One injected fault: whom it was aimed at, what shows it, and whether nothing does."""

    step: int
    at: int
    verb: str
    targets: str
    evidence: str
    idle: bool


def fault_evidence(events: list[AnyEvent]) -> list[FaultEvidence]:
    """One line of evidence for every Injected of a trace, in order."""
    return _Evidence(events).all()


class _Evidence:
    """The few events that can be evidence, by where they stand in the trace."""

    def __init__(self, events: list[AnyEvent]) -> None:
        self.events = events
        self.kept = [(i, e) for i, e in enumerate(events) if isinstance(e, _KEEP)]
        self.touched: defaultdict[int, Counter[tuple[str, int, int]]] = defaultdict(Counter)
        for _, event in self.kept:
            if isinstance(event, _TOUCHES):
                self.touched[event.rule][_word(event), event.src, event.dst] += 1

    def all(self) -> list[FaultEvidence]:
        # The verb `end` is how a run is cleared away, not a fault.
        return [
            self._of(k)
            for k, (_, e) in enumerate(self.kept)
            if isinstance(e, Injected) and e.verb != "end"
        ]

    def _of(self, k: int) -> FaultEvidence:
        i, fault = self.kept[k]
        assert isinstance(fault, Injected)
        found: list[str] = []
        match fault.verb:
            case "kill" | "pause" | "resume" | "start" | "restart" | "arm" | "ask":
                for node in fault.nodes:
                    found += self._of_node(k, fault, node)
                found += self._of_rule(fault.rule) if fault.rule else []
            case "mend":
                found = self._of_mend(i, fault)
            case _:
                found = self._of_rule(fault.rule)
        return FaultEvidence(fault.step, fault.at, fault.verb, _targets(fault),
                             "; ".join(found) or "nothing happened", not found)  # fmt: skip

    def _after(self, k: int, fault: Injected, node: int) -> Iterator[AnyEvent]:
        """What happened to `node` from this fault until one that undoes it is over."""
        undone = False
        for _, event in self.kept[k + 1 :]:
            if isinstance(event, Injected) and node in event.nodes:
                if undone or event.verb == fault.verb:
                    return
                undone = event.verb in _CLOSES.get(fault.verb, ())
            if getattr(event, "target", event.node) == node:
                yield event

    def _of_node(self, k: int, fault: Injected, node: int) -> list[str]:
        found, stopped = [], 0
        for event in self._after(k, fault, node):
            after = f"after {(event.at - fault.at) / 1e6:.2f} ms"
            match fault.verb, event:
                case "kill", Died():
                    return [f"node {node} died of signal {event.signal} {after}"]
                case "start" | "restart", Started():
                    return [f"node {node} life {event.inc} started {after}"]
                case "resume", Continued():
                    return [f"node {node} ran again {after}"]
                case "ask", Asked():
                    return [f"node {node} took it up {after}"]
                case "arm", Suspended():
                    return [f"node {node} stopped at the point {after}"]
                case "pause", Suspended() if not stopped:
                    stopped = event.at
                    found.append(f"node {node} stopped {after}")
                case "pause", Witnessed() if stopped:
                    found.append(_witness(event))
                case "pause", Continued() | Died() if stopped:
                    end = "ran again" if isinstance(event, Continued) else "died"
                    found.append(f"{end} {(event.at - stopped) / 1e6:.1f} ms later")
                    return found
        return found

    def _of_rule(self, rule: int) -> list[str]:
        """Datagrams touched, by link."""
        found = self.touched.get(rule, Counter[tuple[str, int, int]]())
        words: defaultdict[str, list[str]] = defaultdict(list)
        for (word, src, dst), count in sorted(found.items()):
            words[word].append(f"{src}->{dst} {count}")
        return [f"{word} {', '.join(links)}" for word, links in words.items()]

    def _of_mend(self, i: int, fault: Injected) -> list[str]:
        """The first datagram received on one of the links that carry again."""
        links = set(fault.links)
        for at, event in self.kept:
            if at > i and isinstance(event, Injected):
                break
            if at > i and isinstance(event, Ruled) and not event.on:
                links.update(event.links)
        for later in self.events[i + 1 :]:
            if type(later) is Received and (later.src, later.node) in links:
                after = f"{(later.at - fault.at) / 1e6:.2f} ms"
                return [f"first datagram {later.src}->{later.node} received after {after}"]
        ruled = any(
            isinstance(e, Ruled) and not e.on and e.rule == fault.rule for _, e in self.kept
        )
        return ["nothing was sent there since"] if ruled else []


def _word(event: Dropped | Delayed | Held | Duplicated) -> str:
    return type(event).__name__.lower()


def _witness(event: Witnessed) -> str:
    overflow = f", {event.overflow} overflowed" if event.overflow else ""
    return f"state {event.state or '?'}, {event.backlog} bytes waiting{overflow}"


def _targets(fault: Injected) -> str:
    nodes = " ".join(str(node) for node in fault.nodes)
    return " ".join([nodes, *(f"{a}->{b}" for a, b in fault.links)]).strip()

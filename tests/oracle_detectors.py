"""The obvious way to judge failure detectors: every question reads the whole trace again.

Shares no code with the analyzer; who was connected comes from tests.oracle_groups.
"""

from dataclasses import dataclass, field

from tests.oracle import Cut, down_intervals
from tests.oracle_groups import Network, Span
from tests.oracle_lives import all_lives, horizon_of, stops_of
from tests.oracle_settled import FOR_EVER
from traces.events import AnyEvent, Played, Started, Suspected, Watched
from traces.run import RunInfo

Detector = Watched | Suspected | Played


@dataclass
class Owed:
    """FD1: (i, j, since) of each failure that counts, its latency if told, the wrong ones."""

    counted: list[tuple[int, int, int]] = field(default_factory=list)
    latencies: list[int] = field(default_factory=list)
    wrong: list[tuple[int, int, int]] = field(default_factory=list)


class Scene:
    """One trace, and what was true in it."""

    def __init__(self, events: list[AnyEvent], info: RunInfo) -> None:
        self.events, self.tau = events, round(info.tau_fd_ms * 1e6)
        self.lives = all_lives(events, info.nodes)
        self.horizon = horizon_of(events)
        self.network = Network(events, info)
        self.downs = {node: self._downs(node) for node in self.lives}
        self.said = [(k, e) for k, e in enumerate(events) if isinstance(e, Detector)]
        self.said = [(k, e) for k, e in self.said if not self._hidden(k, e.node)]

    def _downs(self, node: int) -> list[tuple[Cut, Cut]]:
        starts = [k for k, e in enumerate(self.events) if isinstance(e, Started) and e.node == node]
        first = ((-1, True), (min([len(self.events), *starts]), False))
        return [first, *down_intervals(self.events, node)]

    def _hidden(self, k: int, node: int) -> bool:
        return any(start <= (k, False) < end for start, end in self.downs[node])

    # --- at an instant ------------------------------------------------------------------------

    def down(self, j: int, at: int) -> bool:
        return not any(life.up_during(at, at) for life in self.lives[j])

    def dead(self, j: int, i: int, at: int) -> bool:
        """Whether j plays dead towards i."""
        past = [
            e for _, e in self.said
            if isinstance(e, Played) and e.node == j and i in e.peers and e.at <= at
            and any(life.inc == e.inc and life.up_during(e.at, at) for life in self.lives[j])
        ]  # fmt: skip
        return bool(past) and past[-1].dead

    def span(self, at: int) -> Span | None:
        found = [span for span in self.network.spans if span.start <= at < span.end]
        return found[0] if found and found[0].stable else None

    def same(self, a: int, b: int) -> bool:
        """Whether the system is stable from a to b, the same all the while."""
        now = self.span(a)
        turns = [x for of in self.lives.values() for it in of for x in (it.start, it.down)]
        if now is None or any(x is not None and a < x <= b for x in turns):
            return False
        later = [a, *(it.start for it in self.network.spans if a < it.start <= b), b]
        spans = [self.span(at) for at in later]
        return all(it and (it.nodes, it.edges) == (now.nodes, now.edges) for it in spans)

    def failed(self, i: int, j: int, at: int, asynchronous: bool) -> str:
        """Why j counts as failed for i then."""
        if not asynchronous:
            return "down" if self.down(j, at) else ""
        span = self.span(at)
        if span is None:
            return ""
        if j not in span.nodes:
            return "down"
        if (min(i, j), max(i, j)) not in span.edges:
            return "disconnected"
        return "dead" if self.dead(j, i, at) else ""

    # --- FD1 ----------------------------------------------------------------------------------

    def owed(self, asynchronous: bool) -> Owed:
        found = Owed()
        for k, event in self.said:
            if isinstance(event, Watched) and event.on:
                for j in event.peers:
                    self._watch(found, k, event, j, asynchronous)
        return found

    def _watch(self, found: Owed, k: int, event: Watched, j: int, asynchronous: bool) -> None:
        i, end = event.node, self.horizon
        later = [e for n, e in self.said if n > k and (e.node, e.inc) == (i, event.inc)]
        for e in later:
            if isinstance(e, Watched) and j in e.peers:
                later, end = later[: later.index(e)], min(end, e.at)
                break
        life = next(it for it in self.lives[i] if it.inc == event.inc)
        end = min(end, life.down or FOR_EVER)
        told = [e.at for e in later if isinstance(e, Suspected) and e.peer == j][:1]
        for since in self._instants(event.at, end):
            how = self.failed(i, j, since, asynchronous)
            if not how or (told and told[0] < since):
                continue
            before = since > event.at and self.failed(i, j, since - 1, asynchronous) == how
            if before and not (asynchronous and not self.same(since - 1, since)):
                continue  # it had failed already
            self._episode(found, (i, j, since), end, told, asynchronous)

    def _instants(self, start: int, end: int) -> list[int]:
        """Those at which something may have changed."""
        turns = {start} | {e.at for e in self.events} | {it.start for it in self.network.spans}
        turns |= {it.down for of in self.lives.values() for it in of if it.down}
        return sorted(at for at in turns if start <= at < end)

    def _episode(
        self, found: Owed, who: tuple[int, int, int], end: int, told: list[int], asynchronous: bool
    ) -> None:
        i, j, since = who
        how, due = self.failed(i, j, since, asynchronous), since + self.tau
        for at in self._instants(since, end):
            over = self.failed(i, j, at, asynchronous) != how
            if over or (asynchronous and not self.same(since, at)):
                end = at
                break
        told = [at for at in told if at <= end]
        paused = any(it.start <= due and it.end >= since for it in stops_of(self.events, i))
        in_time, owed = bool(told) and told[0] <= due, end > due and not paused
        if in_time or owed:
            found.counted.append(who)
            found.latencies += [at - since for at in told]
        if owed and not in_time:
            found.wrong.append(who)

    # --- FD2 and FD2' -------------------------------------------------------------------------

    def false_alarms(self) -> list[int]:
        """FD2: the lines of the reports that are wrong."""
        return [
            k for k, e in self.said
            if isinstance(e, Suspected) and not self._answers(k, e)
        ]  # fmt: skip

    def _answers(self, k: int, event: Suspected) -> bool:
        i, j = event.node, event.peer
        past = [
            (n, e) for n, e in self.said
            if n < k and isinstance(e, Watched) and j in e.peers
            and (e.node, e.inc) == (i, event.inc)
        ]  # fmt: skip
        if not past or not past[-1][1].on:
            return False
        since = past[-1][0]
        absent = [*self.downs[j], *self._plays(j, i)]
        return any(a < (k, False) and b > (since, False) for a, b in absent)

    def _plays(self, j: int, i: int) -> list[tuple[Cut, Cut]]:
        """From each PlayDead of j for i to what ends it."""
        found = []
        for k, e in self.said:
            if isinstance(e, Played) and e.dead and e.node == j and i in e.peers:
                ends = [
                    (n, False) for n, x in self.said
                    if n > k and isinstance(x, Played) and not x.dead and i in x.peers
                    and (x.node, x.inc) == (j, e.inc)
                ]  # fmt: skip
                ends += [start for start, _ in self.downs[j] if start > (k, False)]
                found.append(((k, False), min([*ends, (len(self.events), False)])))
        return found

    def stable_alarms(self) -> tuple[int, list[int]]:
        """FD2': how many reports it is about, and the lines of the wrong ones."""
        judged, wrong = 0, []
        for k, e in self.said:
            if not isinstance(e, Suspected) or self.span(e.at) is None:
                continue
            recent = e.at - self.tau
            if not self.same(recent, e.at):
                continue
            judged += 1
            span, i, j = self.span(e.at), e.node, e.peer
            assert span is not None
            apart = j not in span.nodes or (min(i, j), max(i, j)) not in span.edges
            instants = [recent, *(x.at for x in self.events if recent <= x.at <= e.at)]
            if not apart and not any(self.dead(j, i, at) for at in (*instants, recent - 1)):
                wrong.append(k)
        return judged, wrong

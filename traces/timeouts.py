"""What a time-out knows: the crash, or the pause, that it answers to.

GM82-1 and S97-SLE1 rest on time-outs. That node j is down no message tells; node i concludes it
from silence, by A8 and A9 (or from <DownSig, j>, by S97-FD2). So in the order that these claims are
judged by, the crash of j is before the time-out of i. What is sound to conclude is this, and no
more:

- A CALL of i to j, sent at t, timed out. If j received it by t + T_m and did not answer, the life
  that received it is over: its crash explains the time-out. If j did not receive it by then, j was
  not up all the time from t to t + T_m, or A8 would have brought it there; the first time it was
  Down in that span explains the time-out. (There may be a later one; i cannot know of it.)
- DownSig of j at i: j was Down at some time since Start_FD(j) (S97-FD2). The first such time
  explains it, for the same reason.
- Where no crash explains it, a pause of j longer than T_p may: the first one that lasted into the
  span, up to when a request that was received was answered, or T_p later should have been. What j
  did before the pause is before the time-out.
- A time-out that nothing explains knows nothing: A8, A9 or FD2 was broken, and is to be blamed
  for what comes of it. No edge is made up for it.
- Where the CALL, or the Start_FD, is not in the trace, j must be Down at the time-out itself.

Every edge goes forward in the recorded order, so every recorded cut is a cut of this order too.

Limits: an edge says which crash explains a time-out in this run. Had time gone another way, the
same silence might have had an earlier cause. A program that writes no `timed_out` and no
`suspected` has no time edges at all (traces.agreement then keeps to recorded cuts).
"""

from bisect import bisect_right

from traces.causality import Place
from traces.detectors import downs
from traces.events import AnyEvent, Received, Sent, Suspected, TimedOut, Watched
from traces.lives import History
from traces.run import Timing

Call = tuple[int, int, int]
"""(caller, its life, call number)."""


def time_edges(history: History, timing: Timing) -> dict[Place, Place]:
    """From each time-out that a crash or a pause explains, the place it knows of."""
    return _Edges(history, timing).found


class _Edges:
    """Collects them: an explanation is sought among the Downs of a node, then its pauses."""

    def __init__(self, history: History, timing: Timing) -> None:
        self.history = history
        self.t_m, self.t_p = round(timing.t_m_ms * 1e6), round(timing.t_p_ms * 1e6)
        self.downs = {node: downs(history, node) for node in history.lives}
        self.ends = {node: [it.end for it in some] for node, some in self.downs.items()}
        self.lives = {(it.node, it.inc): it for lives in history.lives.values() for it in lives}
        self.found: dict[Place, Place] = {}
        self.since: dict[tuple[int, int, int], int] = {}  # of each detector, its last Start_FD
        outs = {(e.node, e.inc, e.call) for _, e in history.silences if type(e) is TimedOut}
        calls = _Calls(history.events, outs)
        for i, event in history.silences:
            if type(event) is TimedOut:
                self._timed_out(i, event, calls)
            elif type(event) is Watched:
                for j in event.peers:
                    self.since.pop((event.node, event.inc, j), None)
                    if event.on:
                        self.since[event.node, event.inc, j] = event.at
            elif type(event) is Suspected:
                start = self.since.get((event.node, event.inc, event.peer), event.at)
                self._silent(i, event.node, event.peer, start, event.at)

    def _timed_out(self, i: int, event: TimedOut, calls: "_Calls") -> None:
        call = event.node, event.inc, event.call
        sent = calls.sent.get(call)
        received = calls.received.get(call) if calls.received else None
        if sent is None or sent.to != event.to:
            self._silent(i, event.node, event.to, event.at, event.at)
        elif received is None or received.at > sent.at + self.t_m:
            self._silent(i, event.node, event.to, sent.at, sent.at + self.t_m)
        elif not self._over(i, event, received, answer := calls.answered.get(call)):
            due = received.at + self.t_p
            self._paused(i, event.node, event.to, sent.at, min(due, answer.at) if answer else due)

    def _over(self, i: int, event: TimedOut, received: Received, answer: Sent | None) -> bool:
        """The life that received the request ended before it answered, as far as one can tell."""
        life = self.lives.get((received.node, received.inc))
        if life is None or life.crash is None or 2 * life.crash.index + 1 > 2 * i:
            return False
        events = self.history.events
        if answer is not None and events[self.history.last_event(life)].n > answer.n:
            return False
        self.found[2 * i, event.node] = 2 * life.crash.index + 1, event.to
        return True

    def _silent(self, i: int, node: int, peer: int, start: int, end: int) -> None:
        """The first Down of the peer with an instant in [start, end]; before its first life it
        is Down too, but there is nothing to know of that."""
        absences = self.downs.get(peer, [])
        k = bisect_right(self.ends.get(peer, []), start)
        if k == len(absences) or absences[k].start > end or absences[k].key > 2 * i:
            self._paused(i, node, peer, start, end)
        elif absences[k].key >= 0:
            self.found[2 * i, node] = absences[k].key, peer

    def _paused(self, i: int, node: int, peer: int, start: int, end: int) -> None:
        """The first long pause of the peer with an instant in [start, end]."""
        for pause in self.history.pauses:
            until = pause.until or self.history.ended
            if (pause.node == peer and pause.at <= end and until >= start
                    and until - pause.at > self.t_p and pause.seen < i):  # fmt: skip
                self.found[2 * i, node] = 2 * pause.seen, peer
                return


class _Calls:
    """Of the CALLs that timed out: the request, its receipt, and the answer to that."""

    def __init__(self, events: list[AnyEvent], wanted: set[Call]) -> None:
        self.sent: dict[Call, Sent] = {}
        self.received: dict[Call, Received] = {}
        self.answered: dict[Call, Sent] = {}
        if not wanted:
            return
        asked: dict[tuple[int, int, int, int], Call] = {}  # by the life that is to answer whom
        numbers = {number for _, _, number in wanted}
        for event in [it for it in events if type(it) in _MESSAGES and it.call in numbers]:  # type: ignore[union-attr]
            if type(event) is Sent:
                if not event.ack:
                    call = event.node, event.inc, event.call
                    if call in wanted:
                        self.sent[call] = event
                elif asked:
                    named = asked.get((event.node, event.inc, event.to, event.call))
                    if named is not None:
                        self.answered.setdefault(named, event)
            elif type(event) is Received and not event.ack:
                call = event.src, event.sinc, event.call
                if call in wanted and call not in self.received:
                    self.received[call] = event
                    asked[event.node, event.inc, event.src, event.call] = call


_MESSAGES: frozenset[type] = frozenset((Sent, Received))

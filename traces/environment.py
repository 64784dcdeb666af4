"""A8 and A9 (GM82 II; CJ97 10.2.1): what the environment owes the protocol.

A8: a message to a node that is up is delivered within T_m. A9: a node never pauses and answers
within T_p. A broken one is named with what broke it, and can excuse Assertions 1 and 2. Rules:

- A message counts if its destination was up, in one life, from the send until T_m later.
  Received later than that, never, or only discarded: A8 is broken, or A9 if a pause did it.
- Exempt: a send that was the last event of its life (the crash may have come before the act),
  and sends less than T_m before the end.
- A pause longer than T_p breaks A9, unless the node was killed in it (then it crashed where it
  stopped) or found out and failed itself (Overslept: lateness converted into a crash, as
  Assumption 9 demands).
- An answer later than T_p after the request breaks A9; so does no answer at all to a call
  that timed out although the node was up. One cause is one break, however much it touched.
- A break is felt until what it caused has been acted on, which may be after its end (traces.felt).

Limits: stamps are taken in the nodes, so T_m covers the sockets and the scheduler as well.
"""

from collections.abc import Hashable
from dataclasses import dataclass

from traces.blame import Blame
from traces.chapters import Pause
from traces.events import AnyEvent, Received, Sent, TimedOut
from traces.felt import Felt
from traces.lives import History
from traces.run import Timing
from traces.traffic import Traffic
from traces.validity import event_id
from traces.verdicts import SHOWN, Break

Call = tuple[int, int, int, int]
"""(caller or answerer, its life, the other node, call number)."""


@dataclass(slots=True)
class Environment:
    """Every break of A8 and A9, and how much was looked at."""

    breaks: list[Break]
    messages: int
    requests: int
    time_outs: int
    pauses: int
    converted: int
    overslept_unasked: int

    def by_machine(self, assumption: str) -> int:
        """What nobody asked for: breaks, and for A9 also nodes that overslept by themselves."""
        unasked = sum(not found.asked for found in self.of(assumption))
        return unasked + (self.overslept_unasked if assumption == "A9" else 0)

    def of(self, assumption: str) -> list[Break]:
        """The breaks of one assumption, in the order they began."""
        return [b for b in self.breaks if b.assumption == assumption]


def look(history: History, traffic: Traffic, timing: Timing) -> Environment:
    """Check A8 and A9 on the trace."""
    observer = _Observer(history, traffic, timing)
    observer.look_at_pauses()
    observer.look_at_messages()
    observer.look_at_answers()
    time_outs = observer.look_at_time_outs()
    overslept = [crash for crash in history.crashes if crash.how == "overslept"]
    return Environment(
        breaks=sorted(observer.breaks.values(), key=lambda b: (b.start, b.end)),
        messages=len(traffic.sends),
        requests=len(observer.requests),
        time_outs=time_outs,
        pauses=len(history.pauses),
        converted=len(overslept),
        overslept_unasked=sum(not crash.asked for crash in overslept),
    )


class _Observer:
    """Collects breaks; what has the same cause is one break."""

    def __init__(self, history: History, traffic: Traffic, timing: Timing) -> None:
        self.history, self.traffic = history, traffic
        self.t_m, self.t_p = round(timing.t_m_ms * 1e6), round(timing.t_p_ms * 1e6)
        self.felt = Felt(history.events, self.t_p)
        self.breaks: dict[Hashable, Break] = {}
        self.blame = Blame(history, traffic, self.t_m)
        self.calls: dict[Call, int] = {}
        self.answers: dict[Call, Sent] = {}
        self.requests: list[Received] = []

    def note(self, cause: Hashable, found: Break) -> None:
        """Add a break, or widen the one with the same cause."""
        known = self.breaks.setdefault(cause, found)
        if known is not found:
            known.start, known.end = min(known.start, found.start), max(known.end, found.end)
            known.felt = max(known.felt, found.felt)
            known.nodes = tuple(dict.fromkeys(known.nodes + found.nodes))
            known.links = tuple(dict.fromkeys(known.links + found.links))
            known.count += found.count
            known.events = (known.events + found.events)[:SHOWN]

    def look_at_pauses(self) -> None:
        history = self.history
        for pause in history.pauses:
            until = pause.until or history.horizon
            if pause.how in ("killed", "overslept") or until - pause.at <= self.t_p:
                continue
            # What piled up meanwhile is handled within T_p after the node is back.
            end = until + self.t_p if pause.until else history.ended
            seen = history.events[pause.seen]
            self.note(("pause", pause.seen), self._pause_break(pause, pause.at, end, seen))

    def _pause_break(self, pause: Pause, start: int, end: int, *events: AnyEvent) -> Break:
        return Break("A9", start, end, self.blame.pause_words(pause), (pause.node,),
                     events=[event_id(event) for event in events],
                     asked=pause.by != "nobody")  # fmt: skip

    def look_at_messages(self) -> None:
        events, receipt_of, t_m = self.history.events, self.traffic.receipt_of, self.t_m
        for i in self.traffic.sends:
            sent: Sent = events[i]  # type: ignore[assignment]
            if sent.call:
                call = sent.node, sent.inc, sent.to, sent.call
                if sent.ack:
                    self.answers.setdefault(call, sent)
                else:
                    self.calls[call] = i
            received = receipt_of(i)
            if received is None or received.at - sent.at > t_m:
                self._look_at_late(i, sent, received)

    def _look_at_late(self, i: int, sent: Sent, received: Received | None) -> None:
        """Not received within T_m: was it owed?"""
        due = sent.at + self.t_m
        if due > self.history.horizon or not self.history.life_up(sent.to, sent.at, due):
            return
        if received is None and self._perhaps_never_sent(i, sent):
            return
        felt = self.felt.message(sent, received)
        pause = self.blame.pause_of(sent, received)
        if pause is not None:
            end = received.at if received else due
            found = self._pause_break(pause, sent.at, end, sent)
            found.felt = felt
            self.note(("pause", pause.seen), found)
        else:
            cause, found = self.blame.of(i, sent, received)
            found.felt = felt
            self.note(cause, found)

    def _perhaps_never_sent(self, i: int, sent: Sent) -> bool:
        """The sender crashed between writing the line and sending, or was Down by then."""
        life = self.history.life(sent.node, sent.inc)
        if life is None:
            return False
        if life.crash is None:
            return not self.history.closed and self.history.last_event(life) == i
        return life.crash.at <= sent.at or self.history.last_event(life) == i

    def look_at_answers(self) -> None:
        events = self.history.events
        for i in self.traffic.receipts:
            request: Received = events[i]  # type: ignore[assignment]
            if request.ack or not request.call or self.traffic.is_echo(i):
                continue
            self.requests.append(request)
            answer = self.answers.get((request.node, request.inc, request.src, request.call))
            if answer is not None and answer.at - request.at > self.t_p:
                took = f"took {(answer.at - request.at) / 1e6:.1f} ms"
                self._slow(request, answer.at, took, answer)

    def look_at_time_outs(self) -> int:
        """A call timed out: the node called must have been down, or something was broken."""
        time_outs = [e for e in self.history.events if type(e) is TimedOut]
        for gave_up in time_outs:
            key = gave_up.node, gave_up.inc, gave_up.to, gave_up.call
            if key not in self.calls or gave_up.at > self.history.horizon:
                continue
            i = self.calls[key]
            life = self.history.life_up(gave_up.to, self.history.events[i].at, gave_up.at)
            request = self.traffic.receipt_of(i)
            # A request not received, or an answer sent but late, was looked at above.
            if life is None or request is None or request.inc != life.inc:
                continue
            if (life.node, life.inc, gave_up.node, gave_up.call) not in self.answers:
                self._slow(request, gave_up.at, "never came, though it was up", gave_up)
        return len(time_outs)

    def _slow(self, request: Received, until: int, how: str, proof: AnyEvent) -> None:
        """Node `request.node` did not answer in time: A9, and by what."""
        history, node = self.history, request.node
        life = history.life_up(node, request.at, until)
        if life is None or life.inc != request.inc:
            return  # it crashed meanwhile, or turned its lateness into a crash
        felt = self.felt.call(request.src, request.sinc, request.call, until)
        pause = history.paused(node, request.at, until)
        if pause is not None:
            found = self._pause_break(pause, request.at, until, request, proof)
            found.felt = felt
            self.note(("pause", pause.seen), found)
            return
        by = (f"the answer of node {node} to {request.kind} (call {request.call}) of node "
              f"{request.src} {how}: nobody asked for it, the machine was slow")  # fmt: skip
        found = Break("A9", request.at, until, by, (node,), ((node, request.src),), felt=felt,
                      events=[event_id(request), event_id(proof)], asked=False)  # fmt: skip
        self.note(("answer", event_id(request)), found)

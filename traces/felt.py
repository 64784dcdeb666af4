"""Until when a lost or late message is felt, which may be long after its link was mended.

A message that does not come is felt when the CALL it belongs to times out. The process may then
wait for others, and only when they are silent too act on what it believes: an election asks every
higher node, T for each. Rules:

- What comes of a receipt or a time-out is done within T_p.
- A CALL that was sent within T_p of a time-out, by the same life, is of the same process. If it
  times out as well, the process is still at it.
- A CALL that never timed out (it was answered, or STOP ended its process) has no such effect.

Limits: two processes of one life that call within T_p of each other are taken for one.
"""

from bisect import bisect_left
from collections import defaultdict

from traces.events import AnyEvent, Received, Sent, TimedOut

Life = tuple[int, int]


class Felt:
    """The CALLs of each life that timed out: when they were sent, and when given up."""

    def __init__(self, events: list[AnyEvent], t_p: int) -> None:
        self.t_p = t_p
        self._gave_up = {(e.node, e.inc, e.call): e.at for e in events if type(e) is TimedOut}
        self._callers: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for node, inc, call in self._gave_up:
            self._callers[node, call].append(inc)
        self._waits: defaultdict[Life, list[tuple[int, int]]] = defaultdict(list)
        for event in events if self._gave_up else ():
            if type(event) is Sent and not event.ack:
                gave_up = self._gave_up.get((event.node, event.inc, event.call))
                if gave_up is not None:
                    self._waits[event.node, event.inc].append((event.at, gave_up))

    def message(self, sent: Sent, received: Received | None) -> int:
        """Until when this message is felt, that came late or never."""
        came = received.at if received else sent.at
        if not sent.ack:
            return self.call(sent.node, sent.inc, sent.call, came)
        lives = self._callers.get((sent.to, sent.call), ())
        felt = (self.call(sent.to, inc, sent.call, came) for inc in lives)
        return max(felt, default=came + self.t_p)

    def call(self, node: int, inc: int, call: int, came: int) -> int:
        """Until when this CALL is felt, whose answer came then or never."""
        gave_up = self._gave_up.get((node, inc, call))
        last = came if gave_up is None else max(came, self._last((node, inc), gave_up))
        return last + self.t_p

    def _last(self, life: Life, gave_up: int) -> int:
        """The last time-out of the process that gave up then."""
        waits, reached = self._waits[life], [gave_up]
        for at in reached:  # which grows
            k = bisect_left(waits, (at, 0))
            while k < len(waits) and waits[k][0] <= at + self.t_p:
                if waits[k][1] not in reached:
                    reached.append(waits[k][1])
                k += 1
        return max(reached)

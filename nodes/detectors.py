"""Failure detectors (S97 2): modules of a node that say when another one is down.

The interface is the paper's. The client calls `start` and `stop` (Start_FD, Stop_FD), `play_dead`
and `play_alive`; it is told `down_sig(j)` (<DownSig, j>). Rules:

- Start_FD(j) begins anew, whatever was under way: what was asked before is forgotten, and the
  answer to it counts no more. So a DownSig tells of the time after the last Start_FD.
- A DownSig ends the monitoring of j: having reported, a detector "would not normally be required
  to raise <DownSig, j> again". The next Start_FD begins it again.
- PlayDead_FD(S): to the nodes of S this one looks down. It answers them nothing and sends them no
  sign of life; it goes on monitoring others itself. PlayAlive_FD(S) ends that. (The scan of the
  paper lacks the definition; Appendix B uses it so.)
- Every call and every signal is in the trace: Watched, Played, Suspected; a DownSig before its
  handler runs. A detector reads no clock: it asks the kernel to be called back.
- Time-outs follow from A8 and A9: a message takes T_m at the most, an answer T_p, and a timer
  rings no more than T_p late. So inside them no detector raises a false alarm (S97-FD2), and
  `latency_ms` is tau_FD (S97-FD1). Outside them any may (S97 6).
- `patience` is for experiments: below 1, time-outs are that much too short, and false alarms come
  without any assumption being broken.

nodes.attendance has the third detector, the ring with its attendance list.
"""

from collections.abc import Callable
from typing import Any, ClassVar
from typing import Protocol as Interface

from nodes.protocol import Declared, System, on
from traces.events import Played, Suspected, Watched
from traces.run import Timing


class Client(Interface):
    """Who is told."""

    def down_sig(self, j: int) -> None:
        """On <DownSig, j>."""


class Detector(Declared):
    """What all detectors share: whom they monitor, to whom they play dead, and the trace."""

    patience: ClassVar[float] = 1.0  # 1: time-outs as A8 and A9 have it

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, client: Client) -> None:
        self.i, self.nodes, self.system, self.client = i, nodes, system, client
        self.timing = system.timing
        self.dead: frozenset[int] = frozenset()  # to these nodes it plays dead
        self._stamps = 0
        self._timers: dict[int, int] = {}  # one for each node it monitors

    @classmethod
    def period_ms(cls, timing: Timing, nodes: int) -> float:
        """How often it looks: once in tau, which is what S97 7 counts."""
        return timing.check_ms

    @classmethod
    def latency_ms(cls, timing: Timing, nodes: int) -> float:
        """tau_FD: from a crash, or Start_FD if that is later, to DownSig (S97 2)."""
        raise NotImplementedError

    # --- what its client calls ----------------------------------------------------------------

    def start(self, *peers: int) -> None:
        """Start_FD: monitor these nodes, from now and anew."""
        if peers:
            self.system.note(Watched(peers))
        for j in peers:
            self.begin(j)

    def stop(self, *peers: int) -> None:
        """Stop_FD: monitor them no more."""
        if peers:
            self.system.note(Watched(peers, on=False))
        for j in peers:
            if self.monitors(j):
                self.end(j)

    def play_dead(self, *peers: int) -> None:
        """PlayDead_FD: show these nodes no sign of life."""
        if peers:
            self.system.note(Played(peers))
            self.dead |= frozenset(peers)

    def play_alive(self, *peers: int) -> None:
        """PlayAlive_FD: no longer play dead to them."""
        if peers:
            self.system.note(Played(peers, dead=False))
            self.dead -= frozenset(peers)

    # --- what a detector is made of -----------------------------------------------------------

    def open(self) -> None:
        """The node starts up; only now is there a time."""

    def begin(self, j: int) -> None:
        """Monitor j, as if for the first time."""
        raise NotImplementedError

    def end(self, j: int) -> None:
        """Monitor j no more, because the client says so."""
        self.forget(j)

    def forget(self, j: int) -> None:
        """Nothing is awaited of j any longer."""
        self.system.cancel(self._timers.pop(j))

    def monitors(self, j: int) -> bool:
        """Whether j is monitored now."""
        return j in self._timers

    def suspect(self, j: int) -> None:
        """<DownSig, j>: it is forgotten first, for its client may monitor it again at once."""
        self.forget(j)
        self.system.note(Suspected(j))
        self.client.down_sig(j)

    def wait(self, j: int, ms: float, then: Callable[[int], None]) -> None:
        """What comes next for j, instead of what was to come."""
        self.system.cancel(self._timers.get(j, 0))
        self._timers[j] = self.system.after(ms, lambda: then(j))

    def stamp(self) -> str:
        """A mark no other question of this node has, in any life."""
        self._stamps += 1
        return f"{self.system.inc}.{self._stamps}"

    def listening(self, handlers: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        """The handlers of the protocol, as this detector wants to overhear them."""
        return handlers

    def sending(self, j: int) -> None:
        """The protocol is about to send something to j."""


class Ping(Detector):
    """S97 2: "Are you alive?" to each monitored node; DownSig if no reply comes in time."""

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, client: Client) -> None:
        super().__init__(i, nodes, system, client)
        self.asked: dict[int, str] = {}  # whose answer is awaited, and to which question
        self.rest_ms = self.period_ms(system.timing, len(nodes))

    @classmethod
    def latency_ms(cls, timing: Timing, nodes: int) -> float:
        """tau_FD = T_m + P + T + 2 T_p.

        Node j crashes when its last answer has just left; that comes T_m later. P goes by until
        the next question, and T = 2 T_m + T_p without an answer; each timer may be T_p late.
        """
        period = cls.period_ms(timing, nodes)
        return timing.t_m_ms + period + timing.t_ms + 2 * timing.t_p_ms

    def begin(self, j: int) -> None:
        """Ask at once."""
        self.ask(j)

    def ask(self, j: int) -> None:
        """An answer takes no longer than T (A8, A9)."""
        self.asked[j] = question = self.stamp()
        self.system.send(j, "AreYouAlive", (question,))
        self.wait(j, self.patience * self.timing.t_ms, self.suspect)

    def forget(self, j: int) -> None:
        """Neither an answer nor the next question."""
        super().forget(j)
        self.asked.pop(j, None)

    @on("AreYouAlive")
    def are_you_alive(self, j: int, question: str) -> None:
        """On <AreYouAlive> from j."""
        if j not in self.dead:
            self.system.send(j, "IAmAlive", (question,))

    @on("IAmAlive")
    def i_am_alive(self, j: int, question: str) -> None:
        """On <IAmAlive> from j: an answer to another question than the last one is old."""
        if self.asked.get(j) == question:
            del self.asked[j]
            self.wait(j, self.rest_ms, self.ask)


class Heartbeat(Detector):
    """S97 2: on starting to monitor j, tell it to send "I'm alive" periodically."""

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, client: Client) -> None:
        super().__init__(i, nodes, system, client)
        self.watch: dict[int, str] = {}  # what a sign of life of each monitored node must bear
        self.audience: dict[int, str] = {}  # who wants signs of life from here, and the mark
        self._beats: dict[int, int] = {}  # the timer of the next one, for each
        self.period = self.period_ms(self.timing, len(nodes))

    @classmethod
    def latency_ms(cls, timing: Timing, nodes: int) -> float:
        """tau_FD = 2 T_m + P + 2 T_p = P + T + T_p.

        Node j crashes when a sign of life has just left; that comes T_m later. The next one would
        leave P + T_p after the last and take T_m: so long it is waited for, by a timer that may
        be T_p late. The first sign is due T after Start_FD, which is less.
        """
        return cls.period_ms(timing, nodes) + timing.t_ms + timing.t_p_ms

    def begin(self, j: int) -> None:
        """Ask for signs of life; the first one is an answer, and takes no longer than T."""
        self.watch[j] = mark = self.stamp()
        self.system.send(j, "Watch", (mark,))
        self.wait(j, self.patience * self.timing.t_ms, self.suspect)

    def end(self, j: int) -> None:
        """Ask for no more of them."""
        self.system.send(j, "Unwatch", (self.watch[j],))
        super().end(j)

    def forget(self, j: int) -> None:
        """Signs of life that still come are none."""
        super().forget(j)
        del self.watch[j]

    @on("Watch")
    def on_watch(self, j: int, mark: str) -> None:
        """On <Watch> from j: its last word is the one that counts."""
        self.audience[j] = mark
        self.beat(j)

    @on("Unwatch")
    def on_unwatch(self, j: int, mark: str) -> None:
        """On <Unwatch> from j, unless it has asked again since."""
        if self.audience.get(j) == mark:
            del self.audience[j]
            self.system.cancel(self._beats.pop(j))

    def beat(self, j: int) -> None:
        """ "I'm alive", and again a period later; silent to those it plays dead to."""
        if j not in self.dead:
            self.system.send(j, "IAmAlive", (self.audience[j],))
        self.next_beat(j)

    def next_beat(self, j: int) -> None:
        """A period from now."""
        self.system.cancel(self._beats.get(j, 0))
        self._beats[j] = self.system.after(self.period, lambda: self.beat(j))

    def play_alive(self, *peers: int) -> None:
        """PlayAlive_FD: who waits for a sign of life gets one."""
        back = [j for j in peers if j in self.dead and j in self.audience]
        super().play_alive(*peers)
        for j in back:
            self.beat(j)

    @on("IAmAlive")
    def i_am_alive(self, j: int, mark: str) -> None:
        """On <IAmAlive> from j; one that was not asked for means that an Unwatch is missing."""
        if self.watch.get(j) == mark:
            self.heard(j)
        else:
            self.system.send(j, "Unwatch", (mark,))

    def heard(self, j: int) -> None:
        """A sign of life: the next one leaves P + T_p later at the latest, and takes T_m."""
        due_ms = self.period + self.timing.t_p_ms + self.timing.t_m_ms
        self.wait(j, self.patience * due_ms, self.suspect)


class Piggyback(Heartbeat):
    """S97 7: "I'm alive" rides on the messages of the protocol where there are any.

    Each message of j is a sign of its life, and puts off the next "I'm alive" to the one it goes
    to. The period is a little longer than tau, so that the leader's Norm?, sent to all it leads
    every tau, always comes first: then tau_FD >= tau + delta, as the paper asks.

    A node that plays dead to greater nodes sends them nothing: until its next election, where it
    plays alive again, it only answers, and those who ask it are lesser (S97 Fig. 3).
    """

    @classmethod
    def period_ms(cls, timing: Timing, nodes: int) -> float:
        """tau, and T_p by which a Norm? may be late (A9)."""
        return timing.check_ms + timing.t_p_ms

    def listening(self, handlers: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        """Overhear every message of the protocol, before it is handled."""
        return {kind: self._overheard(handle) for kind, handle in handlers.items()}

    def _overheard(self, handle: Callable[..., Any]) -> Callable[..., Any]:
        def heard(j: int, *args: Any) -> Any:
            if self.monitors(j):
                self.heard(j)
            return handle(j, *args)

        return heard

    def sending(self, j: int) -> None:
        """This message says as much as a sign of life."""
        if j in self.audience:
            self.next_beat(j)

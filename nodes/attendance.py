"""The attendance list (S97 2, after Cristian): a token goes round a logical ring of all nodes.

"If a node does not see the token within the expected time, then one or more failures have
occurred; 'Are you alive?' messages can be used to pinpoint the failures." Rules:

- A node launches a token once a period, unless it has lately seen one that a node of lower number
  launched. So it is the lowest node up whose token goes round.
- A token bears its route, the nodes that have passed it on in this lap, and those that did in the
  lap before. Each of them is alive to whoever sees that; but a node that plays dead to some signs
  with their names, and to them its signature says nothing.
- A monitored node whose signature was not seen within the expected time is asked, as Ping does.
  Only an unanswered question makes a DownSig: the token spares questions, no more. Start_FD asks
  at once.
- A lap that did not come back is followed by a roll call: who does not answer is left out of the
  route until it is heard again.

Limits: where the nodes have no ring, because links are missing, every lap is lost and the
detector asks, as Ping does; it stays right and loses its economy.
"""

from nodes.detectors import Client, Ping
from nodes.protocol import System, on
from traces.run import Timing

Signed = list[tuple[int, list[int]]]  # who passed the token on, and to whom it plays dead


class Ring(Ping):
    """Node i's place in the ring, and what it concludes from the token."""

    def __init__(self, i: int, nodes: tuple[int, ...], system: System, client: Client) -> None:
        super().__init__(i, nodes, system, client)
        self.period = self.period_ms(self.timing, len(nodes))
        self.rest_ms = self.expected_ms(self.timing, len(nodes))  # then a signature is missing
        self.route = set(nodes)  # as far as this node knows
        self.lap = ""  # the token of its own that is under way
        self.before: Signed = []  # the signatures of its last lap
        self.called: dict[int, str] = {}  # a roll call under way: who has not answered yet
        self._launch = 0

    @classmethod
    def lap_ms(cls, timing: Timing, nodes: int) -> float:
        """Every node passes it on within T_p, and it takes T_m to the next."""
        return nodes * (timing.t_m_ms + timing.t_p_ms)

    @classmethod
    def period_ms(cls, timing: Timing, nodes: int) -> float:
        """From launch to launch: tau, or a lap if that takes longer."""
        return max(timing.check_ms, cls.lap_ms(timing, nodes))

    @classmethod
    def expected_ms(cls, timing: Timing, nodes: int) -> float:
        """From one sight of the token to the next: P, a late timer, and a lap of delays."""
        return cls.period_ms(timing, nodes) + timing.t_p_ms + cls.lap_ms(timing, nodes)

    @classmethod
    def latency_ms(cls, timing: Timing, nodes: int) -> float:
        """tau_FD = 2 E + T + 2 T_p, where E = P + T_p + N (T_m + T_p) is the expected time.

        Node j crashes when it has just passed the token on. That lap ends, and the next token,
        which tells of it, is seen everywhere within E of the launch before. E later no signature
        has come, j is asked, and T goes by without an answer; each timer may be T_p late.
        """
        return 2 * cls.expected_ms(timing, nodes) + timing.t_ms + 2 * timing.t_p_ms

    # --- the token ------------------------------------------------------------------------------

    def open(self) -> None:
        """Launch a token, unless one comes by first."""
        self._launch = self.system.after(self.period, self.launch)

    def launch(self) -> None:
        """A period is over: send the next token round, or find out why the last is not back."""
        if self.lap:
            self.lap, self.before = "", []
            self.call_the_roll()
        else:
            self.send_round()

    def call_the_roll(self) -> None:
        """Ask everybody on the route; whoever answers within T stays on it."""
        question = self.stamp()
        self.called = {j: question for j in sorted(self.route) if j != self.i}
        for j in self.called:
            self.system.send(j, "AreYouAlive", (question,))
        self._launch = self.system.after(self.timing.t_ms, self.send_round)

    def send_round(self) -> None:
        """A lap begins, along the nodes that are there."""
        self.route -= set(self.called)
        self.called = {}
        self._launch = self.system.after(self.period, self.launch)
        if len(self.route) > 1:
            self.lap = self.stamp()
            self.pass_on(self.i, self.lap, sorted(self.route), [], self.before)
        self.before = []

    def pass_on(self, k: int, lap: str, route: list[int], signed: Signed, before: Signed) -> None:
        """Sign, and give it to the next on the route."""
        signed = [*signed, (self.i, sorted(self.dead))]
        after = route[(route.index(self.i) + 1) % len(route)]
        self.system.send(after, "Token", (k, lap, route, signed, before))

    @on("Token")
    def token(
        self, j: int, k: int, lap: str, route: list[int], signed: Signed, before: Signed
    ) -> None:
        """On <Token> from j, launched by k."""
        self.route |= set(route)
        self.attended([*before, *signed])
        if k == self.i:
            if lap == self.lap:
                self.lap, self.before = "", signed
            return
        if k < self.i:  # its token is the one that counts; this node launches when it is missed
            self.lap, self.before, self.called = "", [], {}
            self.system.cancel(self._launch)
            self._launch = self.system.after(self.rest_ms, self.launch)
        self.pass_on(k, lap, route, signed, before)

    def attended(self, signed: Signed) -> None:
        """Each was alive; a question that is open waits for its own answer."""
        for j, dead_to in signed:
            if self.monitors(j) and j not in self.asked and self.i not in dead_to:
                self.wait(j, self.rest_ms, self.ask)

    # --- questions ------------------------------------------------------------------------------

    @on("AreYouAlive")
    def are_you_alive(self, j: int, question: str) -> None:
        """On <AreYouAlive> from j: it is there, then."""
        self.route.add(j)
        super().are_you_alive(j, question)

    @on("IAmAlive")
    def i_am_alive(self, j: int, question: str) -> None:
        """On <IAmAlive> from j, to a question of its own or at the roll call."""
        self.route.add(j)
        if self.called.get(j) == question:
            del self.called[j]
        super().i_am_alive(j, question)

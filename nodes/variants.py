"""The Invitation Algorithm with other priorities, and as CJ97 10.2.2 would improve it.

- LowestFirst: the priorities of S97 and S00, where the lowest number has the highest.
- Noting: "If a high-priority coordinator receives an AreYouCoordinator from a lower-priority
  coordinator, the high-priority coordinator can make a note of [it] and attempt to merge [its]
  group into its own in a short period of time. The low-priority coordinator will not add the
  high-priority coordinator to the Others set, and will delay executing the Merge procedure."
- Regrouping: "When a participant p finds that its coordinator has failed, it knows [...] the
  other participants in the group. Processor p can then [...] try to quickly form a new group by
  sending invitations to all of the other participants of the old group."

Each changes when groups merge, never what a group number is: GM82-3 holds as for the plain one.
`make bench` measures them against it.

Limits: with a Check period P shorter than T, Noting may merge and fall apart for ever where not
all reach each other. A Check may then take longer than the 2P that the lower one waits; it does
not invite the higher one, and the higher one's Invitation comes when it has members who cannot
accept it. With the default, P = 2T, 500 networks of up to six nodes showed none of that.
"""

from nodes.invitation import Invitation
from nodes.protocol import TIMEOUT, Call, Procedure, Wait, immediate
from nodes.task import members

NOTED = "noted"  # an answer that is neither yes nor no: the one who is asked will see to it


class LowestFirst(Invitation):
    """Node i of GM82 Appendix II, with the priorities of S97 and S00."""

    def rank(self, j: int) -> int:
        """S97 section 2: the lowest number has the highest priority."""
        return -j


class Noting(Invitation):
    """Node i of GM82 Appendix II; a coordinator that is asked notes the asker (CJ97 10.2.2)."""

    noted: frozenset[int] = frozenset()

    @immediate("AreYouCoordinator")
    def are_you_coordinator(self, j: int, gn: str) -> object:
        """GM82 App. II, AreYouCoordinator; only coordinators ask."""
        if self.coordinates() and self.rank(j) < self.rank(self.i):
            self.noted |= {j}
            self.system.hasten(self.system.timing.t_m_ms)  # others may be about to ask
            return NOTED
        return self.coordinates()

    def check(self) -> Procedure:
        """GM82 App. II, Check: who asked is found already; who was noted lets the other merge."""
        if not self.coordinates():
            return
        answers = yield self.answers()
        found = tuple(j for j, said in answers.items() if said is True or j in self.noted)
        if found and NOTED in answers.values():
            yield Wait(2 * self.system.timing.check_ms)
        if found:
            yield self.merge(found)

    def merge(self, coordinators: tuple[int, ...]) -> Procedure:
        """GM82 App. II, Merge: who asked is invited now, or was found by asking."""
        self.noted = frozenset()
        return super().merge(coordinators)


class Regrouping(Invitation):
    """Node i of GM82 Appendix II; who lost its coordinator invites its old peers (CJ97 10.2.2)."""

    def timeout(self) -> Procedure:
        """GM82 App. II, Timeout."""
        mine, group = self.state.c, self.state.g
        if mine == self.i:
            return
        answer = yield Call(mine, "AreYouThere", (group,))
        if answer is TIMEOUT or not answer:
            yield self.regroup(mine)

    def regroup(self, lost: int) -> Procedure:
        """Recovery and then Merge, in one procedure: STOP lets no more than one finish."""
        peers = tuple(j for j in members(self.state.d) if j not in (self.i, lost))
        self.stop()
        self.found_own_group()
        ahead = sum(self.rank(j) > self.rank(self.i) for j in peers)
        yield Wait(self.system.timing.t_ms * ahead)  # they will invite this one, if they can
        if peers:
            yield self.merge(peers)


class Quick(Noting, Regrouping):
    """Node i of GM82 Appendix II with both improvements of CJ97 10.2.2."""

"""Restricted groups that are wrong in one place each; only A1-A7 are assumed (GM82 IV-B)."""

from typing import Any

from nodes.protocol import ELECTION, NORMAL, TIMEOUT, Call, Procedure, Protocol, immediate
from nodes.restricted import Restricted, Update
from traces.group_record import Past, read


class NoMajority(Restricted):
    """Takes any group for a majority."""

    def majority(self, count: int) -> bool:
        """Without counting."""
        return True


class CountsMembers(Restricted):
    """Decides by the members it has in its task, not by the votes it got."""

    def majority(self, count: int) -> bool:
        """Count Up again, whatever is asked."""
        return super().majority(len(self.state.up) + 1)


class DecidesFirst(Restricted):
    """Decides before the votes are in: one phase where there should be two."""

    def operate(self) -> Procedure:
        """The decision moved up, in front of the loop."""
        base, group = self.datum, self.state.g
        self.attempts += 1
        op = f"{group}/{self.attempts}"
        new: Update = {"version": base["version"] + 1, "op": op, "group": group, "by": self.i}
        self.system.store("prepared", new)
        self.adopt(new)
        for j in self.state.up:
            yield Call(j, "Prepare", (group, base, new))
        for j in self.state.up:
            yield Call(j, "Commit", (new,))


class TellsFirst(Restricted):
    """Tells its members what it has not yet written down."""

    def operate(self) -> Procedure:
        """The decision moved down, behind the loop."""
        base, group, votes = self.datum, self.state.g, 1
        self.attempts += 1
        op = f"{group}/{self.attempts}"
        new: Update = {"version": base["version"] + 1, "op": op, "group": group, "by": self.i}
        self.system.store("prepared", new)
        for j in self.state.up:
            votes += (yield Call(j, "Prepare", (group, base, new))) is True
        if self.majority(votes):
            for j in self.state.up:
                yield Call(j, "Commit", (new,))
            self.adopt(new)


class ForgetsItsVote(Restricted):
    """A node that crashed is bound by nothing it said before."""

    def found_own_group(self) -> None:
        """With a clean slate."""
        self.system.store("prepared", None)
        super().found_own_group()


class VotesAgain(Restricted):
    """A node in doubt votes for the next operation that comes along."""

    @immediate("Prepare")
    def prepare(self, j: int, gn: str, base: Update, new: Update) -> bool | Update:
        """Without a look at its doubt."""
        if self.state.s == NORMAL and self.state.g == gn:
            self.system.store("prepared", None)
        return super().prepare(j, gn, base, new)

    def check(self) -> Procedure:
        """And begins operations as freely."""
        if self.coordinates() and self.doubt():
            self.system.store("prepared", None)
        yield super().check()


class _Presumes(Restricted):
    """Does not wait for a coordinator that is out of reach."""

    def inquire(self) -> Procedure:
        """One question, and an answer of its own."""
        vote = self.doubt()
        assert vote is not None
        answer = yield Call(vote["by"], "Inquiry", (vote,))
        if answer is TIMEOUT:
            self.presume(vote)
        elif isinstance(answer, dict):
            self.adopt(answer)  # type: ignore[arg-type]
        elif answer is False:
            self.forget(vote)

    def presume(self, vote: Update) -> None:
        raise NotImplementedError


class PresumesCommit(_Presumes):
    """A node in doubt takes an operation for performed if nobody says otherwise."""

    def presume(self, vote: Update) -> None:
        """Commit."""
        self.adopt(vote)


class PresumesAbort(_Presumes):
    """A node in doubt takes an operation for aborted if nobody says otherwise."""

    def presume(self, vote: Update) -> None:
        """Abort."""
        self.forget(vote)


class AnyVersion(Restricted):
    """Votes for an old version though it holds a newer one."""

    @immediate("Prepare")
    def prepare(self, j: int, gn: str, base: Update, new: Update) -> bool | Update:
        """Without a look at its datum."""
        if self.state.s != NORMAL or self.state.g != gn:
            return False
        self.system.store("prepared", new)
        return True


class OwnPastOnly(Restricted):
    """Compiles the history of a new group from its own past, and drops what members bring."""

    def history_of(self, group: str, up: tuple[int, ...]) -> str:
        """With every other past left out."""
        self.brought.clear()
        return super().history_of(group, up)


class NoPastAfterACrash(Restricted):
    """Founds its own group as if there had been none before."""

    def found_own_group(self) -> None:
        """With an empty task to look back at."""
        self.state = self.state.__class__()
        super().found_own_group()


class InvitedAreMembers(Restricted):
    """Names in the history everybody it knows of, accepted or not."""

    def history_of(self, group: str, up: tuple[int, ...]) -> str:
        """With all nodes that brought a history to any group."""
        return super().history_of(group, tuple(sorted({*up, *self.brought})))


class SilentlyCut(Restricted):
    """Forgets the grandparents of a group, and does not say so."""

    def history_of(self, group: str, up: tuple[int, ...]) -> str:
        """Two generations, without the mark."""
        past: Past = read(super().history_of(group, up))
        near = {group, *past.groups[group].parents}
        return " ".join(str(it) for it in past.groups.values() if it.number in near)


# --- flaws of the Invitation Algorithm that the history of a group shows ----------------------


class AcceptOfAnyGroup(Restricted):
    """Accept without the check of the group: who accepted an older one is counted in this one.

    Assertion 3 does not look at Up, and Ready, which carries the group, is refused. But those
    who had Ready before work in a group with a member that never joined it.
    """

    @immediate("Accept")
    def accept(self, j: int, gn: str, history: str = "") -> bool:
        """Without `S(i).g = gn`."""
        return super().accept(j, self.state.g, history)


class KeptUp(Restricted):
    """Merge that keeps the old Up: who is gone is counted in the new group as well."""

    def become(self, **changes: Any) -> None:
        """Without `S(i).Up := {}` in Merge."""
        if changes.get("s") == ELECTION and changes.get("c") == self.i:
            changes.pop("up", None)
        super().become(**changes)


MUTANTS: list[type[Protocol]] = [
    NoMajority,
    CountsMembers,
    DecidesFirst,
    TellsFirst,
    ForgetsItsVote,
    VotesAgain,
    PresumesCommit,
    PresumesAbort,
    AnyVersion,
    OwnPastOnly,
    NoPastAfterACrash,
    InvitedAreMembers,
    SilentlyCut,
    AcceptOfAnyGroup,
    KeptUp,
]

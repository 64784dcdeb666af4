"""The application's task: pieces of work, shared out among the members of a group (GM82 II)."""

from collections.abc import Iterable

WORK = 100  # this many pieces


def shared_out(team: Iterable[int]) -> str:
    """Who does which pieces of the work, the same for the same team."""
    members = sorted(set(team))
    bounds = [WORK * k // len(members) for k in range(len(members) + 1)]
    shares = zip(members, bounds, bounds[1:], strict=False)
    return " ".join(f"{j}:{a}-{b - 1}" for j, a, b in shares if a < b)


def members(task: str) -> tuple[int, ...]:
    """The team of a task description: a head, then who does which pieces."""
    return tuple(int(share.partition(":")[0]) for share in task.split()[1:])

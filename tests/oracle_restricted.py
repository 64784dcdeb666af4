"""The obvious way to judge GM82-RO and GM82-GH: every question asked of the whole trace again.

Shares no code with the analyzer, but for the words a history is written in.
"""

from tests.oracle_lives import last_line, lives_of
from traces.events import AnyEvent, Became, Loaded, Stored
from traces.validity import event_id
from traces.verdicts import EventId

# --- restricted operations ----------------------------------------------------------------


def broken_operations(events: list[AnyEvent], nodes: int) -> list[EventId]:
    """The line each case against GM82-RO comes down to."""
    stores = [e for e in events if isinstance(e, Stored) and _in_effect(events, e)]
    found: list[EventId] = []
    for k, e in enumerate(stores):
        if e.cell != "datum" or e.value["version"] == 0:
            continue
        same = [o for o in stores[:k] if o.cell == "datum" and _name(o) == _name(e)]
        performed = [o for o in same if o.node == o.value["by"]]
        if e.node == e.value["by"] and not performed:
            votes = {o.node for o in stores[:k] if o.cell == "prepared" and _name(o) == _name(e)}
            counts = _counts(stores[:k], e, nodes)
            if not sum(counts[j] for j in votes) > sum(counts.values()) / 2:
                found.append(event_id(e))
        elif e.node != e.value["by"] and not performed:
            found.append(event_id(e))
        rivals = [o for o in stores[:k] if o.cell == "datum" and _clash(o, e)]
        if rivals and not same:
            found.append(event_id(e))
    return found


def _counts(before: list[Stored], e: Stored, nodes: int) -> dict[int, int]:
    """What each node counts for an operation: one, or the votes of the version before."""
    if "votes" not in e.value:
        return dict.fromkeys(range(1, nodes + 1), 1)
    for o in before:
        made = o.value["version"] == 0 or o.node == o.value["by"]
        if o.cell == "datum" and made and o.value["version"] == e.value["version"] - 1:
            return dict(enumerate(o.value["votes"], 1))
    return dict.fromkeys(range(1, nodes + 1), 0)


def _name(e: Stored) -> tuple[int, str]:
    return e.value["version"], e.value["op"]


def _clash(a: Stored, b: Stored) -> bool:
    return _name(a)[0] == _name(b)[0] and _name(a) != _name(b)


def _in_effect(events: list[AnyEvent], e: Stored) -> bool:
    """Whether a store of the log reached its cell, as far as the trace can tell."""
    if e.cell not in ("datum", "prepared") or e.value is None:
        return False
    (life,) = (it for it in lives_of(events, e.node) if it.inc == e.inc)
    if life.down is None or last_line(events, life) is not e:
        return True
    later = [
        o for o in events
        if isinstance(o, Loaded) and (o.node, o.cell) == (e.node, e.cell) and o.at > e.at
    ]  # fmt: skip
    return [o.value for o in later[:1]] == [e.value]


# --- group histories ----------------------------------------------------------------------


def wrong_histories(events: list[AnyEvent]) -> list[EventId]:
    """The first Normal state with each history that the trace contradicts, or names it not."""
    found: list[EventId] = []
    judged: set[tuple[str, str]] = set()
    outside: set[tuple[int, str, str]] = set()
    for k, e in enumerate(events):
        if not isinstance(e, Became) or e.s != "Normal" or not e.g:
            continue
        told = _told(e.d)
        if (e.g, e.d) not in judged and not _right(told, e.g, events[: k + 1]):
            found.append(event_id(e))
        judged.add((e.g, e.d))
        if told and e.g in told[0] and e.node not in told[0][e.g][1]:
            if (e.node, e.g, e.d) not in outside:
                found.append(event_id(e))
            outside.add((e.node, e.g, e.d))
    return found


Told = dict[str, tuple[int, tuple[int, ...], tuple[str, ...]]]


def _told(task: str) -> tuple[Told, bool] | None:
    """What a task says: coordinator, members and parents of each group; and if it is cut."""
    groups: Told = {}
    words = task.split(" | ")[-1].split(" ") if " | " in task else []
    cut = bool(words) and words[-1] == "+"
    for word in [w for w in (words[:-1] if cut else words) if w]:
        try:
            number, rest = word.split("@")
            c, rest = rest.split(":")
            members, parents = rest.split("<")
            spans = [span.split("-") for span in members.split(",")]
            who = tuple(j for span in spans for j in range(int(span[0]), int(span[-1]) + 1))
            groups[number] = int(c), who, tuple(p for p in parents.split(",") if p)
        except ValueError:
            return None
    return groups, cut


def _right(told: tuple[Told, bool] | None, g: str, events: list[AnyEvent]) -> bool:
    if told is None or not told[0] or next(iter(told[0])) != g:
        return False
    groups, cut = told
    named = {p for _, _, parents in groups.values() for p in parents}
    if not cut and not named <= set(groups):
        return False
    reached = {g}
    for _ in groups:
        reached |= {p for number in reached & set(groups) for p in groups[number][2]}
    return set(groups) <= reached and all(_shown(events, *it) for it in groups.items())


def _shown(
    events: list[AnyEvent], number: str, said: tuple[int, tuple[int, ...], tuple[str, ...]]
) -> bool:
    """Whether the trace shows this group so."""
    coordinator, members, parents = said
    leads = [e for e in events if isinstance(e, Became) and e.g == number and e.c == e.node]
    out = [e for e in leads if e.s != "Election"]
    if not out or leads[-1].node != coordinator:
        return False
    if tuple(sorted({out[0].node, *out[0].up})) != members:
        return False
    ways = [_came_from(events, j, number) for j in members]
    return (
        all(ways)
        and set(parents) <= set().union(*ways)
        and all("" in way or way & set(parents) for way in ways)
    )


def _came_from(events: list[AnyEvent], node: int, number: str) -> set[str]:
    """The groups a node took part in when it took this number, once for each time."""
    mine = _lasting(events, node)
    return {
        _part(mine[:k])
        for k, e in enumerate(mine)
        if e.g == number and (k == 0 or mine[k - 1].g != number)
    } | {_part(before) for before in _lost_joins(events, node, number)}


def _part(past: list[Became]) -> str:
    for k in reversed(range(len(past))):
        e = past[k]
        if e.s == "Normal" or (e.c == e.node and e.d != (past[k - 1].d if k else "")):
            return e.g
    return ""


def _lasting(events: list[AnyEvent], node: int) -> list[Became]:
    """The state vectors of a node, without those that the next life did not find in the cell."""
    kept: list[Became] = []
    for e in events:
        if isinstance(e, Became) and e.node == node and e.g:
            kept.append(e)
        elif isinstance(e, Loaded) and e.node == node and e.cell == "S" and kept:
            held = e.value["g"], e.value["d"]
            before = (kept[-2].g, kept[-2].d) if len(kept) > 1 else ("", "")
            if held != (kept[-1].g, kept[-1].d) and held == before:
                kept.pop()
    return kept


def _lost_joins(events: list[AnyEvent], node: int, number: str) -> list[list[Became]]:
    """What a node had behind it when it wrote, with its last line, that it took this number."""
    found = []
    for k, e in enumerate(events):
        if isinstance(e, Became) and e.node == node and e.g == number:
            before, after = _lasting(events[:k], node), _lasting(events, node)
            fresh = not before or before[-1].g != number
            if fresh and not any(o is e for o in after):
                found.append(before)
    return found

"""The locks of a run: who held what, from when to when, by whose votes (BGS86 3).

Rule: one row a lock, in the order they were taken; one that was taken while another one held the
object says so. Limits: of many locks the last `MOST` are shown, and those that overlap.
"""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reports.words import indented
from traces.lives import History
from traces.locks import LockRecord
from traces.verdicts import many
from traces.words import numbers

MOST = 20


def lock_table(history: History, record: LockRecord) -> Group:
    """Every lock that was taken."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for heading in ("object", "transaction", "from ms", "to ms", "by the votes of", ""):
        table.add_column(heading, justify="right" if heading.endswith("ms") else "left")
    against = {id(other): it for it, other in record.overlaps}
    shown = [
        it for k, it in enumerate(record.locks, 1)
        if len(record.locks) - k < MOST or id(it) in against
    ]  # fmt: skip
    for it in shown:
        ends = (_ms(history, it.taken), _ms(history, it.released))
        by = f"{numbers(it.group)}: {it.votes} of {sum(it.v)}"
        other = against.get(id(it))
        words = Text(f"while {other.name} held it", style="bold red") if other else Text()
        table.add_row(it.object, it.name, *ends, by, words)
    asked = sum(record.asked.values())
    said = f"{many(asked, 'request')}, {record.contended} of them for what another one held"
    left = len(record.locks) - len(shown)
    said += f"; {many(left, 'earlier lock')} not shown" if left else ""
    return Group(table, indented(Text(said, style="dim")))


def _ms(history: History, event: int | None) -> str:
    return f"{history.ms(history.events[event].at):.1f}" if event is not None else "held"

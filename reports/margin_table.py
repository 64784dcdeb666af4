"""How far each agreement was from failing: one row for each property that is decided on cuts.

The margin is the smallest eps at which some cut within eps breaks it; `recorded` if a recorded one
does, `none` if no consistent cut does (docs/verdicts.md).
"""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from traces.verdicts import Verdict


def margin_table(verdicts: Sequence[Verdict]) -> Table | None:
    """The table, if there is any margin to show."""
    rows = [verdict for verdict in verdicts if verdict.margin is not None]
    if not rows:
        return None
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("property", no_wrap=True, style="bold")
    table.add_column("margin", no_wrap=True)
    table.add_column("on cuts consistent with", no_wrap=True)
    table.add_column("false alarms by messages alone")
    for verdict in rows:
        margin, alarms = verdict.margin, verdict.examined.get("false_alarms_by_messages")
        assert margin is not None
        style = "" if margin.eps_ns is None else "yellow"
        words = "-" if alarms is None else f"{alarms:,}"
        table.add_row(verdict.id, Text(margin.words, style=style), margin.order, words)
    return table

"""The faults: when, what was done to whom, and what shows that it happened.

Rules: a fault that left no evidence is called IDLE, in capitals; whatever rests on it proves
nothing. Of many faults the first, the last and the idle ones are shown.
"""

from rich.table import Table
from rich.text import Text

from traces.events import AnyEvent, Injected
from traces.faults import fault_evidence
from traces.lives import History
from traces.words import fault_in_words

MOST_NODES, EDGE = 2, 10


def fault_table(history: History) -> Table:
    """One row a fault."""
    words = _in_words(history.events)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("fault", ratio=2)
    table.add_column("evidence", ratio=3)
    faults = fault_evidence(history.events)
    hidden = [fault for fault in faults[EDGE:-EDGE] if not fault.idle]
    for fault in faults:
        if hidden and fault is hidden[0]:
            table.add_row(
                "⋮", "", Text(f"{len(hidden)} left out", style="bold"), "none of them idle"
            )
        if fault in hidden:
            continue
        evidence = Text(_shortened(fault.evidence))
        if fault.idle:
            evidence = Text(f"IDLE: {fault.evidence}", style="bold magenta")
        what = words.get(fault.at, f"{fault.verb} {fault.targets}")
        table.add_row(str(fault.step), f"{history.ms(fault.at):.1f}", Text(what), evidence)
    return table


def _in_words(events: list[AnyEvent]) -> dict[int, str]:
    return {e.at: fault_in_words(e) for e in events if isinstance(e, Injected)}


def _shortened(evidence: str) -> str:
    """The evidence of the first nodes; of many a fault does the same to all of them."""
    items = evidence.split("; ")
    begins = [i for i, item in enumerate(items) if item.startswith("node ")]
    if len(begins) <= MOST_NODES:
        return evidence
    return "; ".join(items[: begins[1]]) + f"; likewise {len(begins) - 1} more"

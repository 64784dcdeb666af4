"""An excerpt of a run as a log for ShiViz, which draws it as a space-time diagram.

Two lines an item, for the parser that ShiViz offers first: what happened, then the host and its
vector clock as JSON.

    (?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})

Rules of that parser: the clock of a host counts its own events from 1, one by one, and names no
host and no event that the log does not have. A host is a life of a node, so that a crash ends one.

Limits: an excerpt (reports.excerpt); a message from before it has no arrow.
"""

import json

from reports.excerpt import items, life_name, span
from traces.lives import History
from traces.run import RunInfo
from traces.verdicts import Verdict


def export(history: History, info: RunInfo, verdicts: list[Verdict]) -> str:
    """The log; nothing where no node did anything."""
    lines = []
    for item in items(history, info, span(history, verdicts)):
        host = life_name(item.node, item.inc)
        lines.append(f"{history.ms(item.at):.3f} ms {item.words}")
        lines.append(f"{host} {json.dumps(item.clock, separators=(',', ':'))}")
    return "".join(line + "\n" for line in lines)

"""The verdicts: one row each, and below the table why those that do not hold do not.

Rules: A3 to A9 share a row while they hold as expected; every other verdict has its own. What
several verdicts have in common (the same broken assumption) is said once. Where a claim is
violated that the literature has corrected, the report also says why what corrects it holds.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from reports.words import COLOURS, SYMBOLS, bulleted, examined_in_words, shortened
from traces.expectations import differs
from traces.verdicts import Verdict
from traces.words import numbers

ASSUMPTIONS = ("A3", "A4", "A5", "A6", "A7", "A8", "A9")
OBLIGATIONS = "what its platform and environment owe a node (GM82 II)"
CORRECTED = {"S00-4'a": "GM82-4", "S00-4'b": "GM82-4"}
EXCUSE = " (excused: "  # how traces.rulings appends it to what the evidence says


def verdict_table(verdicts: Sequence[Verdict], expect: Mapping[str, str]) -> Group:
    """The table and the reasons."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("", width=1)
    table.add_column("property", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", ratio=1)
    table.add_column("examined")
    kept = [verdict for verdict in verdicts if _is_kept(verdict, expect)]
    for verdict in verdicts:
        if verdict not in kept:
            _add(table, verdict.result, verdict.id, verdict.claim, verdict.examined)
        elif verdict is kept[0]:
            ids = _ids(kept)
            _add(table, "holds", ids, OBLIGATIONS, {"obligations": len(kept)})
    return Group(table, *_reasons(verdicts, expect))


def _is_kept(verdict: Verdict, expect: Mapping[str, str]) -> bool:
    return verdict.id in ASSUMPTIONS and verdict.result == "holds" and not differs(verdict, expect)


def _ids(verdicts: Sequence[Verdict]) -> str:
    """`A3-9`, or `A3-6,8-9` when A7 is broken."""
    return f"A{numbers(int(verdict.id[1:]) for verdict in verdicts)}"


def _add(table: Table, result: str, ids: str, claim: str, examined: dict[str, int]) -> None:
    symbol, word = (Text(text, style=COLOURS[result]) for text in (SYMBOLS[result], result))
    words = Text(examined_in_words(examined))
    table.add_row(symbol, Text(ids, style="bold"), word, Text(claim), words)


def _reasons(verdicts: Sequence[Verdict], expect: Mapping[str, str]) -> Iterator[Table | Text]:
    """Why, once for all the verdicts it is true of."""
    ids: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    violated = {verdict.id for verdict in verdicts if verdict.result == "violated"}
    for verdict in verdicts:
        if verdict.result != "holds" or CORRECTED.get(verdict.id) in violated:
            ids[verdict.result, _expected(verdict, expect), _why(verdict)].append(verdict.id)
    if ids:
        yield Text()
    for (result, expected, why), names in ids.items():
        words = Text.assemble((f"{', '.join(names)} {result}", COLOURS[result]), expected, why)
        yield bulleted(SYMBOLS[result], COLOURS[result], words)


def _expected(verdict: Verdict, expect: Mapping[str, str]) -> str:
    instead = differs(verdict, expect)
    if instead:
        return f", expected {instead}: "
    return ", as expected: " if verdict.result == "violated" else ": "


def _why(verdict: Verdict) -> str:
    if verdict.result == "excused":
        return shortened(verdict.evidence[0].says.partition(EXCUSE)[2].removesuffix(")"))
    return shortened(verdict.because)

"""`python -m benchmarks [NAME...]`: one table of ratios, each measured in one run.

Without names all of them run, in a few minutes. Progress goes to stderr, the table to stdout.
The exit code is 0 also where a target is missed; it is 1 where a benchmark itself broke.
"""

import sys
import traceback
from importlib import import_module
from time import monotonic

from rich.console import Console

from benchmarks.table import Row, machine, show

# Injection first: its target is for an idle machine, and the others leave one that is not.
BENCHES = (
    "injection", "start", "relay", "trace", "node", "cuts", "virtual", "variants", "votes",
    "availability",
)  # fmt: skip


def main(names: list[str]) -> int:
    """Run these benchmarks, or all; return the exit code."""
    if unknown := set(names) - set(BENCHES):
        print(f"no benchmark {min(unknown)!r}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 100)
    found, broke = machine(), False
    rows: list[Row] = []
    for name in names or BENCHES:
        began = monotonic()
        print(f"{name} ...", end="", file=sys.stderr, flush=True)
        try:
            rows += import_module(f"benchmarks.bench_{name}").rows()
        except Exception as error:
            broke = True
            rows.append(Row(f"benchmark {name}", "-", f"broke: {error}", "", False))
            traceback.print_exc()
        print(f" {monotonic() - began:.0f} s", file=sys.stderr)
    console.print(f"measured on {found}")
    show(rows, console)
    return int(broke)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

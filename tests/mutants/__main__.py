"""`make mutants`: the mutants, what convicts each, and the acquittal of the correct ones."""

import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from harness.scenario import BULLY
from tests.mutants.court import EQUIVALENT, MUTANTS, RIGHT, SEEDS, acquit, cases, convict, right_one


def main() -> int:
    """Try them all; 0 when every mutant is convicted, and nothing right or equivalent accused."""
    console, errors = Console(), Console(stderr=True)
    table = Table("mutant", "convicted by", "violated", box=None, pad_edge=False)
    survived: list[str] = []
    accused: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        for mutant in track(MUTANTS, "mutants", console=errors, disable=not errors.is_terminal):
            sentence = convict(mutant, runs)
            if sentence is None:
                survived.append(mutant.__name__)
                table.add_row(mutant.__name__, "-", "SURVIVED")
            else:
                where = f"{sentence.scenario}, seed {sentence.seed}"
                table.add_row(mutant.__name__, where, " ".join(sentence.properties))
        for mutant in EQUIVALENT:
            name = f"{mutant.__module__}:{mutant.__name__}"
            guilty = any(acquit(runs, right_one(mutant), name))
            verdict = "accused" if guilty else "equivalent: its docstring has the proof"
            table.add_row(mutant.__name__, "-", verdict)
            accused += [mutant.__name__] * guilty
        console.print(table)
        for right in (BULLY, *(name for _, name in RIGHT)):
            found = [f"{name}, seed {seed}" for name, seed, _ in acquit(runs, right)]
            said = f"accused in {'; '.join(found)}" if found else "as expected"
            tries = f"{len(cases(right))} scenarios x {len(SEEDS)} seeds"
            console.print(f"{right.partition(':')[2]}: {said}, {tries}")
            accused += found
    if survived:
        console.print(f"survived: {', '.join(survived)}")
    return 1 if survived or accused else 0


sys.exit(main())

"""From what the checks of GM82 IV-B found to verdicts: GM82-RO and GM82-GH.

Rule: neither rests on A8 or A9, so nothing excuses a case against it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from traces.group_history import check_group_history
from traces.restricted import check_restricted
from traces.verdicts import Verdict, many, verdict_of

if TYPE_CHECKING:
    from traces.rulings import Case


def rule_restricted(case: "Case") -> Iterator[Verdict]:
    """The verdicts on what restricted groups did, and on what they remember."""
    operations = check_restricted(case.history)
    performed, groups = operations.examined["performed"], operations.examined["groups"]
    fine = f"{many(performed, 'operation')} performed by {many(groups, 'group')}, each with a "
    fine += "majority's votes, no two under one version"
    vacuous = "" if performed or operations.cases else "no operation was performed"
    yield verdict_of("GM82-RO", operations.examined, operations.cases, fine, vacuous)
    histories = check_group_history(case.history)
    told, cut = histories.examined["histories"], histories.examined["cut"]
    fine = f"as recorded in {many(told, 'task')}, {cut} of them with a history that is cut"
    vacuous = "" if histories.examined["groups"] else "no group had more than one member"
    vacuous = "" if histories.cases else vacuous
    yield verdict_of("GM82-GH", histories.examined, histories.cases, fine, vacuous)

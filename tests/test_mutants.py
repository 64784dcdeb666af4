"""Every wrong protocol is convicted inside the assumptions, and the right one is not accused."""

from pathlib import Path

import pytest

from harness.scenario import BULLY, INVITATION, RESTRICTED
from nodes.protocol import Protocol
from tests.mutants import stoller
from tests.mutants.court import EQUIVALENT, MUTANTS, RIGHT, acquit, convict, right_one


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_judged_violated_by_some_scenario(
    mutant: type[Protocol], tmp_path: Path
) -> None:
    assert convict(mutant, tmp_path) is not None


@pytest.mark.parametrize("protocol", [BULLY, *(name for _, name in RIGHT)])
def test_the_correct_protocol_is_never_accused(protocol: str, tmp_path: Path) -> None:
    assert [(name, seed, o.surprises) for name, seed, o in acquit(tmp_path, protocol)] == []


@pytest.mark.parametrize("mutant", EQUIVALENT, ids=lambda mutant: mutant.__name__)
def test_a_mutant_that_is_proved_equivalent_is_not_accused(
    mutant: type[Protocol], tmp_path: Path
) -> None:
    assert mutant.__doc__
    assert "Equivalent inside the assumptions" in mutant.__doc__
    name = f"{mutant.__module__}:{mutant.__name__}"
    assert list(acquit(tmp_path, right_one(mutant), name, seeds=range(1, 3))) == []


def test_there_are_at_least_eight_mutants_of_each_algorithm() -> None:
    for right in (BULLY, INVITATION, RESTRICTED):
        assert sum(right_one(mutant) == right for mutant in MUTANTS) >= 8
    assert len(stoller.MUTANTS) >= 8

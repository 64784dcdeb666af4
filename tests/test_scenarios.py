"""Every scenario comes out as it says it will, on both engines, for the same reasons."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.catalog import built_in
from harness.execute import Outcome
from harness.scenario import Scenario

SCENARIOS = list(built_in().values())


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_a_scenario_comes_out_as_expected_and_alike_on_both_engines(
    scenario: Scenario, run: Callable[..., Outcome]
) -> None:
    virtual, real = run(scenario, engine="virtual"), run(scenario, engine="real")
    assert virtual.as_expected
    assert real.as_expected
    said = {verdict.id: verdict.result for verdict in virtual.verdicts}
    for verdict in real.verdicts:
        # An antecedent that one engine never met (a restart, a disturbed election) is no conflict.
        assert "vacuous" in (verdict.result, said[verdict.id]) or verdict.result == said[verdict.id]


@pytest.mark.parametrize("seed", range(2, 7))
def test_no_seed_changes_a_verdict_on_the_virtual_engine(
    seed: int, run: Callable[..., Outcome]
) -> None:
    for scenario in SCENARIOS:
        outcome = run(scenario, engine="virtual", seed=seed)
        assert outcome.as_expected, scenario.name


@pytest.mark.parametrize("nodes", [6, 9, 20])
def test_a_larger_cluster_elects_as_well(nodes: int, run: Callable[..., Outcome]) -> None:
    for name in ("cold-start", "coordinator-crash", "restart-storm"):
        assert run(name, engine="virtual", nodes=nodes).as_expected
    assert run("coordinator-crash", engine="real", nodes=nodes).as_expected


def test_the_same_seed_gives_the_same_trace_byte_for_byte(run: Callable[..., Outcome]) -> None:
    for scenario in SCENARIOS:
        one, other = (run(scenario, engine="virtual", seed=7).run.trace for _ in range(2))
        assert one.read_bytes() == other.read_bytes()


def test_another_seed_gives_another_trace(run: Callable[..., Outcome]) -> None:
    one, other = (run("cold-start", engine="virtual", seed=s).run.trace for s in (1, 2))
    assert one.read_bytes() != other.read_bytes()


@pytest.mark.parametrize("engine", ["virtual", "real"])
def test_a_recorded_schedule_drives_another_run_on_either_engine(
    engine: str, run: Callable[..., Outcome]
) -> None:
    from harness.schedule import read_schedule

    recorded = run("killed-at-the-election-point", engine="virtual")
    schedule = read_schedule(recorded.run.schedule)
    again = run("killed-at-the-election-point", engine=engine, schedule=schedule)
    assert again.as_expected
    done = read_schedule(again.run.schedule)
    assert [(s.verb, s.nodes) for s in done.steps[: len(schedule.steps)]] == [
        (s.verb, s.nodes) for s in schedule.steps
    ]


def test_a_node_in_a_program_of_its_own_keeps_the_same_contract(
    run: Callable[..., Outcome], tmp_path: Path
) -> None:
    """The contract needs no privilege: the same program, as a foreign command."""
    import sys
    from dataclasses import replace

    (scenario,) = (s for s in SCENARIOS if s.name == "coordinator-crash")
    foreign = replace(scenario, command=(sys.executable, "-m", "nodes"))
    assert run(foreign, engine="real", nodes=3).as_expected

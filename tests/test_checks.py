"""A schedule is checked step by step: what cannot be is refused in words, and nothing is done."""

import json
from pathlib import Path

import pytest

from harness.run import Run
from harness.schedule import Schedule, ScheduleError, Step, read_schedule
from harness.virtual import VirtualEngine
from traces.run import RunInfo, Timing

LINK = ((1, 2),)
WRONG = [
    (Step("restart", (1,)), "node 1 is up already"),
    (Step("kill", (9,)), "no node 9"),
    (Step("lose", links=LINK, args={"p": 3}), "p of lose is 3"),
    (Step("delay", links=LINK, args={"minutes": 3}), "unknown field `minutes`"),
    (Step("elapse"), "ms is None"),
    (Step("settled", args={"within_ms": "soon"}), "within_ms is 'soon'; it must be a time"),
    (Step("settled", args={"within_ms": True}), "within_ms is True; it must be a time"),
    (Step("settled", args={"within": 5}), "no 'within'; did you mean within_ms"),
    (Step("elapse", args={"ms": 1e300}), "(a day)"),
    (Step("seen", args={"event": 5}), "event is 5; it must be a name"),
    (Step("seen", args={"event": "became", "where": [1]}), "it must be fields with values"),
    (Step("arm", (1,), args={"event": "became", "where": 5}), "it must be fields with values"),
    (Step("pause", (1,), args={"contract": ["drop"]}), "it must be a name"),
    (Step("kill", (1,), args={"gently": True}), "it takes nothing"),
    (Step("ask", (1,), args={"kind": ["x"]}), "kind is ['x']; it must be a name"),
    (Step("kill", (1, 1)), "names a node or a link twice"),
    (Step("cut", links=LINK + LINK), "names a node or a link twice"),
    (Step("cut", links=LINK, rule=-1), "rule -1; the next one is 2 or more"),
    (Step("cut", links=LINK, rule=1), "rule 1; the next one is 2 or more"),
    (Step("delay", links=LINK, args={"ms": "slow"}), "Expected `float`, got `str` - at `$.ms`"),
    (Step("delay", links=LINK, args={"ms": 1e300}), "must be in 0..86,400,000"),
]


def driven(*steps: Step) -> Run:
    info = RunInfo("t", "", "nodes.bully:Bully", "virtual", 1, 3, Timing())
    run = Run(info, VirtualEngine(info))
    run.drive(Schedule("t", 3, 1, list(steps)))
    return run


@pytest.mark.parametrize(("step", "words"), WRONG)
def test_a_step_that_makes_no_sense_is_refused_before_it_is_done(step: Step, words: str) -> None:
    before = (Step("start"), Step("settled"), Step("cut", links=((3, 1),)), Step("mend", rule=1))
    with pytest.raises(ScheduleError) as refused:
        driven(*before, step)
    assert "step 5: " in str(refused.value)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"nodes": 0}, ">= 1"),
        ({"nodes": 100_000}, "<= 200"),
        ({"steps": [{"verb": "start", "node": [1]}]}, "unknown field `node`"),
        ({"step": []}, "unknown field `step`"),
    ],
)
def test_a_file_with_a_word_too_many_or_too_many_nodes_is_no_schedule(
    part: dict[str, object], words: str, tmp_path: Path
) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"scenario": "x", "nodes": 3, "seed": 1, "steps": []} | part))
    with pytest.raises(ScheduleError, match="is no schedule") as refused:
        read_schedule(file)
    assert words in str(refused.value)


def test_a_schedule_that_never_mends_is_mended_and_says_what_it_left() -> None:
    run = driven(
        Step("start"),
        Step("settled"),
        Step("cut", links=LINK),
        Step("pause", (3,), args={"contract": "drop"}),
    )
    run.finish()
    (note,) = run.info.notes
    assert note.endswith("the end mended: node 3 stopped, cut (rule 1), pause (rule 2)")
    assert run.live.stopped == set()
    assert [step.verb for step in run.steps] == ["start", "settled", "cut", "pause"]

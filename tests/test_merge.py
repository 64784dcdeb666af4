"""One order out of many files: what is kept, what is dropped, what makes a trace invalid."""

from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from tests.build import Trace
from tests.trace_strategies import random_trace
from traces.events import AnyEvent, Became, Began, Received, Sent, Started, encoder
from traces.merge import merge, merge_run, read_trace
from traces.run import RunDir
from traces.validity import problems_of
from traces.verdicts import InvalidTrace
from traces.writer import Writer


def files_of(events: list[AnyEvent]) -> list[list[AnyEvent]]:
    """One list a process: a process begins where the numbers do."""
    files: list[list[AnyEvent]] = []
    current: dict[int, list[AnyEvent]] = {}
    for event in events:
        stream = event.node or -event.inc
        if event.n == 0:
            current[stream] = []
            files.append(current[stream])
        current[stream].append(event)
    return files


def a_run(path: Path, files: list[list[AnyEvent]]) -> RunDir:
    rundir = RunDir(path)
    rundir.parts.mkdir()
    for number, events in enumerate(files):
        data = b"".join(encoder.encode(event) + b"\n" for event in events)
        (rundir.parts / f"{number}.jsonl").write_bytes(data)
    return rundir


def an_election() -> Trace:
    t = Trace(3)
    t.start(1, 2, 3)
    t.elect(3, 2, 1)
    return t


def test_merging_the_files_of_a_trace_gives_the_trace() -> None:
    for seed in range(200):
        events = random_trace(seed).events
        files = files_of(events)
        Random(seed).shuffle(files)
        assert merge(files) == events


def test_merging_a_stored_run_writes_the_same_lines_in_order(tmp_path: Path) -> None:
    t = an_election()
    path = merge_run(a_run(tmp_path, files_of(t.events)))
    assert path.read_bytes() == b"".join(encoder.encode(e) + b"\n" for e in t.events)
    assert read_trace(path) == t.events
    assert sorted(p.name for p in tmp_path.iterdir()) == ["parts", "trace.jsonl"]


def test_what_a_writer_writes_can_be_merged(tmp_path: Path) -> None:
    rundir = RunDir(tmp_path)
    rundir.parts.mkdir()
    for node in (1, 2):
        writer = Writer(rundir.parts / f"{node}.jsonl", node, 1)
        writer.write(Started(pid=1, protocol="bully"))
        writer.write(Became(s="Down"))
        writer.close()
    events = read_trace(merge_run(rundir))
    assert [(e.node, e.n) for e in events] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_of_equal_stamps_a_receipt_comes_after_its_send() -> None:
    answer = Sent(to=2, m=1, kind="Halt", ack=True, at=5, node=1, inc=1, n=1)
    request = Sent(to=1, m=1, kind="Halt", at=5, node=2, inc=1, n=0)
    got_request = Received(src=2, sinc=1, m=1, kind="Halt", at=5, node=1, inc=1, n=0)
    got_answer = Received(src=1, sinc=1, m=1, kind="Halt", ack=True, at=5, node=2, inc=1, n=1)
    merged = merge([[got_request, answer], [request, got_answer]])
    assert merged == [request, got_request, answer, got_answer]


def test_of_equal_stamps_without_messages_the_lower_node_comes_first() -> None:
    one, two = (Began(proc="Check", at=5, node=node, inc=1, n=0) for node in (1, 2))
    assert merge([[two], [one]]) == [one, two]


def test_equal_stamps_keep_the_order_of_each_file() -> None:
    rng = Random(7)
    for _ in range(200):
        files: dict[int, list[AnyEvent]] = defaultdict(list)
        open_sends: list[Sent] = []
        for m in range(12):
            node = rng.randint(1, 3)
            if open_sends and rng.random() < 0.5:
                s = open_sends.pop(rng.randrange(len(open_sends)))
                event: AnyEvent = Received(src=s.node, sinc=1, m=s.m, kind="Halt", node=s.to)
            else:
                to = rng.choice([j for j in (1, 2, 3) if j != node])
                event = Sent(to=to, m=m, kind="Halt", node=node)
                open_sends.append(event)
            event.at, event.inc, event.n = 5, 1, len(files[event.node])
            files[event.node].append(event)
        assert not problems_of(merge(files.values()), 3)


def test_an_unterminated_last_line_is_dropped(tmp_path: Path) -> None:
    t = an_election()
    rundir = a_run(tmp_path, files_of(t.events))
    with (rundir.parts / "3.jsonl").open("ab") as file:
        file.write(b'{"e":"became","s":"Norm')
    assert read_trace(merge_run(rundir)) == t.events


def test_a_line_torn_elsewhere_makes_the_trace_invalid(tmp_path: Path) -> None:
    rundir = a_run(tmp_path, files_of(an_election().events))
    part = rundir.parts / "1.jsonl"
    lines = part.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:10] + b"\n"
    part.write_bytes(b"".join(lines))
    with pytest.raises(InvalidTrace) as invalid:
        merge_run(rundir)
    assert invalid.value.problems[0].startswith("1.jsonl:2: not an event")
    assert not rundir.trace.exists()


def test_a_gap_in_the_numbers_makes_the_trace_invalid(tmp_path: Path) -> None:
    files = files_of(an_election().events)
    del files[1][2]
    with pytest.raises(InvalidTrace, match=r"1\.jsonl:3: number 3 follows 1"):
        merge_run(a_run(tmp_path, files))


def test_a_stamp_that_steps_back_makes_the_trace_invalid(tmp_path: Path) -> None:
    files = files_of(an_election().events)
    files[1][2].at = files[1][1].at - 7
    with pytest.raises(InvalidTrace, match=r"1\.jsonl:3: the stamp steps back by 7 ns"):
        merge_run(a_run(tmp_path, files))


def test_a_process_killed_before_its_first_line_leaves_an_empty_file(tmp_path: Path) -> None:
    rundir = a_run(tmp_path, [*files_of(an_election().events), []])
    assert merge_run(rundir).exists()


def test_a_trace_by_hand_is_valid() -> None:
    t = an_election()
    assert problems_of(t.events, 3) == []


def test_a_receipt_without_a_send_makes_the_trace_invalid() -> None:
    t = an_election()
    t.put(2, Received(src=1, sinc=1, m=99, kind="Halt"))
    (problem,) = problems_of(t.events, 3)
    assert "Received #" in problem
    assert "datagram 99 of node 1 life 1" in problem


def test_a_receipt_before_its_send_makes_the_trace_invalid() -> None:
    t = Trace(2)
    t.start(1, 2)
    received = t.put(2, Received(src=1, sinc=1, m=1, kind="Halt"))
    t.send(1, 2, "Halt")
    (problem,) = problems_of(t.events, 2)
    assert f"Received #{received.n} of node 2" in problem


def test_two_sends_of_one_number_make_the_trace_invalid() -> None:
    t = Trace(2)
    t.start(1, 2)
    first, second = t.send(1, 2), t.send(1, 2)
    second.m = first.m
    (problem,) = problems_of(t.events, 2)
    assert f"datagram {first.m} to 2 again" in problem


def test_a_missing_line_of_a_merged_trace_is_noticed() -> None:
    t = an_election()
    missing = next(e for e in t.events if isinstance(e, Became) and e.node == 2)
    events = [e for e in t.events if e is not missing]
    assert any(f"number {missing.n} was due" in problem for problem in problems_of(events, 3))


def test_the_numbers_go_on_when_a_node_oversleeps() -> None:
    t = an_election()
    t.overslept(3, t.now)
    t.became(3, "Election", h=3)
    assert problems_of(t.events, 3) == []


def test_a_node_the_run_does_not_have_makes_the_trace_invalid() -> None:
    t = Trace(2)
    t.start(3)
    assert "the run has only 2 nodes" in problems_of(t.events, 2)[0]

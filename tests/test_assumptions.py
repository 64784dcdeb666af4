"""A3 to A7 on traces by hand: each is kept, and each can be broken."""

from tests.build import Trace
from traces.assumptions import check_a3
from traces.events import (
    Discarded,
    Loaded,
    Received,
    Started,
    Stored,
)
from traces.traffic import Traffic
from traces.verdicts import Verdict


def started(nodes: int = 2) -> Trace:
    t = Trace(nodes)
    t.start(*range(1, nodes + 1))
    return t


def accused(verdict: Verdict) -> list[str]:
    assert verdict.result == "violated", verdict
    return [evidence.says for evidence in verdict.evidence]


# --- A3 to A7: the node's platform --------------------------------------------------------


def test_an_undisturbed_election_keeps_every_assumption() -> None:
    t = started(3)
    t.elect(3, 2, 1)
    verdicts = t.judge()
    assert {verdicts[f"A{k}"].result for k in range(3, 10)} == {"holds"}


def test_a_run_in_which_nothing_happened_is_vacuous() -> None:
    verdicts = Trace(2).judge()
    assert {verdicts[f"A{k}"].result for k in range(3, 10)} == {"vacuous"}


def test_a3_is_broken_by_a_message_nobody_sent() -> None:
    t = started()
    t.put(2, Received(src=1, sinc=1, m=1, kind="Halt"))
    finding = check_a3(t.history(), Traffic(t.events))
    assert finding.cases[0].says == "node 2 accepted Halt that node 1 life 1 never sent"


def test_a4_is_kept_when_the_last_value_stored_is_loaded() -> None:
    t = started(1)
    t.put(1, Stored(cell="calls", value=1000))
    t.kill(1)
    t.start(1)
    t.put(1, Loaded(cell="calls", value=1000))
    assert t.judge()["A4"].result == "holds"


def test_a4_is_broken_by_a_value_that_was_lost() -> None:
    t = started(1)
    t.put(1, Stored(cell="calls", value=1000))
    t.became(1, "Election", h=1)
    t.kill(1)
    t.start(1)
    t.put(1, Loaded(cell="calls", value=None))
    assert "cell calls: loaded None, but 1000 was stored" in accused(t.judge()["A4"])[0]


def test_a4_allows_the_value_before_if_the_store_was_the_last_event_of_its_life() -> None:
    for loaded in (1000, 2000):
        t = started(1)
        t.put(1, Stored(cell="calls", value=1000))
        t.put(1, Stored(cell="calls", value=2000))
        t.kill(1)
        t.start(1)
        t.put(1, Loaded(cell="calls", value=loaded))
        t.kill(1)
        t.start(1)
        t.put(1, Loaded(cell="calls", value=loaded))
        assert t.judge()["A4"].result == "holds"


def test_a4_holds_a_node_to_the_value_it_loaded() -> None:
    t = started(1)
    t.put(1, Stored(cell="calls", value=1000))
    t.put(1, Stored(cell="calls", value=2000))
    for loaded in (1000, 2000):
        t.kill(1)
        t.start(1)
        t.put(1, Loaded(cell="calls", value=loaded))
    assert "loaded 2000, but 1000 was stored" in accused(t.judge()["A4"])[0]


def test_a4_is_broken_by_a_counter_that_goes_back() -> None:
    t = started(1)
    t.put(1, Stored(cell="calls", value=2000))
    t.put(1, Stored(cell="calls", value=1000))
    assert "1000 stored over 2000 goes back" in accused(t.judge()["A4"])[0]


def test_a4_is_broken_by_a_call_number_used_again() -> None:
    t = Trace(2)
    t.start(1, 2)
    first, second = t.send(1, 2), t.send(1, 2)
    second.call = first.call
    verdict = t.judge()["A4"]
    assert verdict.result == "violated"
    assert f"numbered a call {first.call} after call {first.call}" in verdict.because


def test_a4_covers_the_state_vector_which_every_change_stores() -> None:
    vector = {"s": "Normal", "c": 1, "h": 1, "up": [], "d": "task", "g": ""}
    for value, result in ((vector, "holds"), (vector | {"c": 2}, "violated")):
        t = started(1)
        t.normal(1, 1)
        t.send(1, 1)
        t.kill(1)
        t.start(1)
        t.events.pop()  # its Down comes after the load
        t.numbers[1] -= 1
        t.put(1, Loaded(cell="S", value=value))
        t.became(1, "Down")
        assert t.judge()["A4"].result == result


def test_a5_is_broken_by_a_life_that_writes_after_its_death() -> None:
    t = started(1)
    t.kill(1)
    t.became(1, "Normal", 1)
    assert "written by a life already over" in accused(t.judge()["A5"])[0]


def test_a5_is_broken_by_a_life_that_does_not_begin_with_started() -> None:
    t = Trace(1)
    t.inc[1] = 1
    t.became(1, "Down")
    assert "opens a life that never started" in accused(t.judge()["A5"])[0]


def test_a5_is_broken_by_a_node_that_does_not_restart_from_down() -> None:
    t = started(1)
    t.kill(1)
    t.inc[1] += 1
    t.numbers[1] = 0
    t.put(1, Started())
    t.became(1, "Normal", 1)
    assert accused(t.judge()["A5"]) == ["node 1 began its life 2 as Normal"]


def test_a5_lets_a_node_that_overslept_empty_its_socket() -> None:
    t = started(1)
    t.overslept(1, t.now)
    discarded = Discarded(why="down")
    t.events.insert(-2, discarded)
    before, after = t.events[-4], t.events[-2:]
    discarded.at, discarded.node, discarded.inc, discarded.n = before.at, 1, 1, before.n + 1
    for event in after:
        event.n += 1
    assert t.judge()["A5"].result == "holds"


def test_a6_is_broken_by_a_message_that_changed_on_the_way() -> None:
    t = started()
    received = t.receive(t.send(1, 2, "Ready", args=("task",)))
    received.args = ("other",)
    assert "received Ready 1 ('other',)" in accused(t.judge()["A6"])[0]


def test_a7_is_broken_by_a_message_handled_after_a_later_one() -> None:
    t = started()
    first, second = t.send(1, 2), t.send(1, 2)
    t.receive(second)
    t.receive(first)
    assert accused(t.judge()["A7"]) == ["node 2 handled datagram 1 of node 1 life 1 after 2"]


def test_a7_is_broken_by_a_message_handled_twice() -> None:
    t = started()
    sent = t.send(1, 2)
    t.receive(sent)
    t.receive(sent)
    assert accused(t.judge()["A7"]) == ["node 2 handled datagram 1 of node 1 life 1 again"]


def test_a7_starts_afresh_with_every_life() -> None:
    t = started()
    t.receive(t.send(1, 2))
    t.receive(t.send(1, 2))
    t.kill(1)
    t.start(1)
    t.datagrams[1, 2] = 0
    t.receive(t.send(1, 2))
    assert t.judge()["A7"].result == "holds"

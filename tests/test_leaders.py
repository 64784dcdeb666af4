"""S97-SLE1, SLE2, ALE1, ALE2 and ALE2': what is demanded, what excuses it, and the words."""

from itertools import pairwise

import msgspec

from tests.build import MS, TIMING, Trace, stoller
from traces.elected import elected_spans
from traces.liveness import bound_ns
from traces.properties import ASYNCHRONOUS, STOLLER_SYNCHRONOUS, SYNCHRONOUS
from traces.verdicts import Verdict

C_S = TIMING.stoller_sync_ms(3, 60.0)
C_A = TIMING.stoller_async_ms(3, 60.0)


def started(nodes: int = 3) -> Trace:
    t = Trace(nodes)
    t.start(*range(1, nodes + 1))
    return t


def norm(t: Trace, leader: int, *nodes: int, g: str = "1.1.0") -> None:
    for node in nodes:
        t.became(node, "Normal", leader, g=g)


def settled() -> Trace:
    t = started()
    norm(t, 1, 1, 2, 3)
    t.wait(5)
    return t


def synchronous(t: Trace) -> dict[str, Verdict]:
    return t.judge_as(stoller(t.nodes))


def asynchronous(t: Trace) -> dict[str, Verdict]:
    return t.judge_as(stoller(t.nodes, asynchronous=True))


# --- the constants ------------------------------------------------------------------------


def test_c_s_is_the_one_that_s97_prints_with_handling_in_delta() -> None:
    delta = 10 + 10
    assert max(50 + 2 * delta, 60) + (3 - 1) * max(2 * delta, 60) + delta == C_S
    assert TIMING.stoller_sync_ms(3, 30.0) == (50 + 2 * delta) + 2 * (2 * delta) + delta


def test_c_a_is_4n_minus_2_times_a_poll_or_a_downsig() -> None:
    assert C_A == 10 * 90 + 20
    assert TIMING.stoller_async_ms(3, 200.0) == 10 * 200 + 20


def test_by_when_a_run_settles_depends_on_what_is_claimed_of_it() -> None:
    about = stoller(3)
    assert bound_ns(about) == round(C_S * MS)
    assert bound_ns(stoller(3, asynchronous=True)) == round(C_A * MS)
    for claimed, expected in (
        (SYNCHRONOUS, TIMING.settles_ms(3)),
        (ASYNCHRONOUS, TIMING.merges_ms(3)),
    ):
        assert msgspec.structs.replace(about, properties=claimed).settles_ms == expected


# --- SLE1 ---------------------------------------------------------------------------------


def test_two_nodes_with_status_norm_and_two_leaders_break_sle1() -> None:
    t = settled()
    t.became(3, "Normal", 3, g="3.1.0")
    found = synchronous(t)["S97-SLE1"]
    assert found.result == "violated"
    assert found.evidence[0].nodes == (1, 3)
    assert "node 1 is Normal under 1 while node 3 is Normal under 3" in found.because


def test_only_status_norm_counts_for_sle1() -> None:
    t = settled()
    for status in ("Reorganization", "Elec1", "Elec2", "Wait"):
        t.became(3, status, 3, g="3.1.0")
    assert synchronous(t)["S97-SLE1"].result == "holds"


def test_sle1_without_two_nodes_with_status_norm_is_vacuous() -> None:
    t = started()
    norm(t, 1, 1)
    assert synchronous(t)["S97-SLE1"].result == "vacuous"


def split_by_an_alarm(t: Trace) -> None:
    t.watch(3, 1)
    t.wait(30)
    t.suspect(3, 1)
    t.became(3, "Elec1", 1, g="3.1.0")
    t.wait(1)
    t.became(3, "Normal", 3, g="3.1.0")


def test_sle1_broken_by_a_false_alarm_is_excused_and_names_it() -> None:
    t = settled()
    split_by_an_alarm(t)
    found = synchronous(t)
    assert (found["S97-SLE1"].result, found["S97-FD2"].result) == ("excused", "violated")
    assert "(excused: S97-FD2 was broken: DownSig of 1 at 3 at " in found["S97-SLE1"].because
    assert "ms, though node 1 was up)" in found["S97-SLE1"].because


def test_an_alarm_excuses_nothing_once_a_leader_was_elected_again_nor_what_came_before() -> None:
    t = settled()
    split_by_an_alarm(t)
    norm(t, 1, 3)
    t.wait(20)
    t.became(3, "Normal", 3, g="3.1.1")
    assert synchronous(t)["S97-SLE1"].result == "violated"
    t = settled()
    t.became(2, "Normal", 2, g="2.1.0")
    split_by_an_alarm(t)
    assert synchronous(t)["S97-SLE1"].result == "violated"


def test_a_true_alarm_excuses_nothing() -> None:
    t = settled()
    t.watch(3, 2)
    t.kill(2)
    t.wait(30)
    t.suspect(3, 2)
    t.became(3, "Normal", 3, g="3.1.0")
    assert synchronous(t)["S97-SLE1"].result == "violated"


def test_where_a9_is_broken_it_is_a9_that_excuses_sle1_though_the_alarm_was_false_too() -> None:
    t = settled()
    t.watch(3, 1)
    t.pause(1)
    t.wait(70)
    t.suspect(3, 1)
    t.became(3, "Normal", 3, g="3.1.0")
    t.resume(1)
    found = synchronous(t)
    assert found["S97-SLE1"].result == found["S97-FD2"].result == "excused"
    for name in ("S97-SLE1", "S97-FD2"):
        assert "excused: A9 was broken" in found[name].because


def test_the_task_is_judged_too_where_it_is_claimed() -> None:
    t = settled()
    t.became(3, "Normal", 1, g="1.1.0", d="another")
    t.close()
    about = stoller(3)
    about.properties = ("GM82-1b", *STOLLER_SYNCHRONOUS)
    assert t.judge_as(about)["GM82-1b"].result == "violated"


# --- SLE2 ---------------------------------------------------------------------------------


def test_a_leader_elected_within_c_s_satisfies_sle2_and_the_time_is_told() -> None:
    t = started()
    t.wait(100)
    norm(t, 1, 1, 2, 3)
    t.wait(C_S)
    found = synchronous(t)["S97-SLE2"]
    assert found.result == "holds"
    assert (found.examined["bound_ms"], found.examined["settled_in_ms"]) == (230, 100)


def test_a_node_that_is_still_waiting_after_c_s_breaks_sle2() -> None:
    t = settled()
    t.became(2, "Wait", 1, g="1.1.1")
    t.wait(C_S + 1)
    found = synchronous(t)["S97-SLE2"]
    assert found.result == "violated"
    assert "no leader was elected: node 2 is Wait in election 1.1.1" in found.because


def test_a_leader_that_is_down_breaks_sle2() -> None:
    t = settled()
    t.kill(1)
    t.wait(C_S + 1)
    found = synchronous(t)["S97-SLE2"]
    assert found.result == "violated"
    assert "node 2 is Normal under 1, which is Down" in found.because


def test_sle2_does_not_ask_for_one_leader() -> None:
    t = settled()
    t.became(3, "Normal", 3, g="3.1.0")
    t.wait(C_S + 1)
    found = synchronous(t)
    assert (found["S97-SLE1"].result, found["S97-SLE2"].result) == ("violated", "holds")


def test_a_false_alarm_gives_sle2_its_time_anew_and_then_excuses_it() -> None:
    t = settled()
    t.watch(3, 1)
    t.wait(C_S - 50)
    t.suspect(3, 1)
    t.became(3, "Elec1", 1, g="3.1.0")
    t.wait(C_S - 40)
    t.wait(60)
    assert synchronous(t)["S97-SLE2"].result == "excused"


def test_a_leader_lost_and_found_is_two_spans() -> None:
    t = settled()
    t.kill(1)
    t.became(2, "Normal", 2, g="2.1.0")
    t.became(3, "Normal", 2, g="2.1.0")
    t.start(1)
    norm(t, 2, 1, g="2.1.0")
    spans = elected_spans(t.history())
    assert len(spans) == 3
    assert all(a.end <= b.start for a, b in pairwise(spans))


def test_where_no_node_is_up_no_leader_is_elected() -> None:
    t = Trace(1)
    t.start(1)
    norm(t, 1, 1)
    t.kill(1)
    (span,) = elected_spans(t.history())
    assert span.end == t.history().crashes[0].at


# --- ALE1 ---------------------------------------------------------------------------------


def test_ale1_is_about_one_group_and_nothing_excuses_it() -> None:
    def split(g: str) -> Verdict:
        t = settled()
        t.watch(3, 1)
        t.pause(2)
        t.wait(500)
        t.suspect(3, 1)
        t.became(3, "Normal", 3, g=g)
        return asynchronous(t)["S97-ALE1"]

    assert split("3.1.0").result == "holds"
    broken = split("1.1.0")
    assert (broken.result, broken.evidence[0].nodes) == ("violated", (1, 3))


def test_only_status_norm_counts_for_ale1() -> None:
    t = settled()
    t.became(3, "Reorganization", 3, g="1.1.0")
    assert asynchronous(t)["S97-ALE1"].result == "holds"


# --- ALE2 and ALE2' -----------------------------------------------------------------------


def results(t: Trace) -> tuple[str, str]:
    t.wait(C_A + 100)
    found = asynchronous(t)
    return found["S97-ALE2"].result, found["S97-ALE2'"].result


def test_one_group_satisfies_ale2() -> None:
    assert results(settled()) == ("holds", "holds")


def test_every_node_alone_satisfies_ale2_prime_but_not_ale2() -> None:
    t = started()
    for node in (1, 2, 3):
        norm(t, node, node, g=f"{node}.1.0")
    assert results(t) == ("violated", "holds")
    assert "3 groups {1} {2} {3}; a minimum clique cover has 1" in asynchronous(t)[
        "S97-ALE2"
    ].because  # fmt: skip


def test_a_node_that_waits_or_whose_leader_is_down_or_elsewhere_breaks_both() -> None:
    waits, down, elsewhere = settled(), settled(), settled()
    waits.became(3, "Wait", 1, g="1.1.1")
    down.kill(1)
    elsewhere.became(1, "Normal", 1, g="1.1.1")
    for t in (waits, down, elsewhere):
        assert results(t) == ("violated", "violated")


def test_a_leader_out_of_reach_is_no_matter_of_ale2() -> None:
    t = settled()
    t.cut(1, *((i, j) for i in (1, 2, 3) for j in (1, 2, 3) if i != j and 3 in (i, j)))
    assert results(t) == ("holds", "holds")


def test_s97_7_six_nodes_with_leaders_1_4_5_6_break_ale2_and_keep_ale2_prime() -> None:
    t = started(6)
    joined = {(1, 2), (1, 3), (2, 3), (1, 4), (2, 5), (3, 6)}
    apart = [(i, j) for i in range(1, 7) for j in range(1, 7) if i != j]
    t.cut(1, *(it for it in apart if it not in joined and it[::-1] not in joined))
    norm(t, 1, 1, 2, 3)
    for node in (4, 5, 6):
        norm(t, node, node, g=f"{node}.1.0")
    t.wait(TIMING.stoller_async_ms(6, 60.0) + 100)
    found = asynchronous(t)
    assert (found["S97-ALE2"].result, found["S97-ALE2'"].result) == ("violated", "holds")
    cover = "a minimum clique cover has 3 ({1,4} {2,5} {3,6}; 3 and 4 and 5 are independent)"
    assert cover in found["S97-ALE2"].because


def test_ale2_says_nothing_of_what_is_not_stable_for_c_a() -> None:
    t = started()
    t.wait(C_A - 40)
    found = asynchronous(t)
    assert (found["S97-ALE2"].result, found["S97-ALE2'"].result) == ("vacuous", "vacuous")

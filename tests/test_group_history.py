"""The group history graph (GM82 IV-B): compiled, cut, judged on the trace, drawn as a tree."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from harness.execute import Outcome
from reports.group_tree import group_tree
from tests.build import Trace
from tests.mutants.restricted import MUTANTS
from tests.oracle_restricted import wrong_histories
from tests.test_restricted import stormy
from traces.events import AnyEvent, Became, Loaded
from traces.group_history import check_group_history, groups_of
from traces.group_record import (
    LONGEST,
    MARK,
    Group,
    Past,
    compiled,
    heals,
    history_in,
    missing,
    read,
)
from traces.lives import History
from traces.merge import read_trace

# --- the graph ----------------------------------------------------------------------------

ONE, TWO = Group("1.1", 1, (1,)), Group("2.1", 2, (2,))
PAIR = Group("2.2", 2, (1, 2), ("1.1", "2.1"))


def test_a_history_is_read_back_as_it_was_compiled() -> None:
    text = compiled(PAIR, [Past({"1.1": ONE}), Past({"2.1": TWO})])
    assert text == "2.2@2:1-2<1.1,2.1 1.1@1:1< 2.1@2:2<"
    assert read(text) == Past({"2.2": PAIR, "1.1": ONE, "2.1": TWO})


def test_a_history_that_grows_too_old_is_cut_and_says_so() -> None:
    past = Past({})
    for k in range(1, 30):
        text = compiled(Group(f"1.{k}", 1, (1,), past.present), [past])
        past = read(text)
    assert past.cut
    assert len(past.groups) == 8
    assert missing(past.groups) == ["1.21"]


def test_a_history_of_many_nodes_fits_into_a_datagram() -> None:
    past = [Past({f"{i}.1000": Group(f"{i}.1000", i, (i,))}) for i in range(1, 200)]
    parents = tuple(p for it in past for p in it.present)
    text = compiled(Group("200.1", 200, tuple(range(1, 200)), parents), past)
    assert len(text) <= LONGEST + 2
    assert read(text).cut


@pytest.mark.parametrize("text", ["gibberish", "1.1@x:1<", "1.1@1:<", "+"])
def test_what_is_no_history_is_not_taken_for_a_whole_one(text: str) -> None:
    try:
        past = read(text)
    except ValueError:
        return
    assert not past.groups
    assert past.cut


def test_a_group_that_went_on_is_a_branch_beside_the_one_that_left() -> None:
    records = {
        "3.2": Group("3.2", 3, (1, 2, 3)),
        "1.2": Group("1.2", 1, (1,), ("3.2",)),
        "3.3": Group("3.3", 3, (1, 2, 3), ("1.2", "3.2")),
    }
    (heal,) = heals(records)
    assert (heal.group, heal.since) == ("3.3", ("3.2",))
    assert [(b.tip, b.groups) for b in heal.branches] == [("1.2", ("1.2",)), ("3.2", ("3.2",))]


def test_strangers_that_meet_heal_nothing() -> None:
    assert list(heals({"1.1": ONE, "2.1": TWO, "2.2": PAIR})) == []


# --- on the trace -------------------------------------------------------------------------


def alone(t: Trace, node: int, number: str, history: str) -> Became:
    return t.became(node, "Normal", node, g=number, d=f"{number} task{MARK}{history}")


def merged(t: Trace, number: str, c: int, up: tuple[int, ...], history: str) -> None:
    """A whole Merge of c with these others."""
    d = f"{number} task{MARK}{history}"
    t.became(c, "Election", c, g=number)
    for j in up:
        t.became(j, "Election", c, g=number)
    t.became(c, "Reorganization", c, g=number, up=up, d=d)
    for j in up:
        t.became(j, "Normal", c, g=number, d=d)
    t.became(c, "Normal", c, g=number, up=up, d=d)


def pair() -> Trace:
    t = Trace(2)
    t.start(1, 2)
    alone(t, 1, "1.1", "1.1@1:1<")
    alone(t, 2, "2.1", "2.1@2:2<")
    return t


def said(t: Trace) -> list[str]:
    return [case.says for case in check_group_history(t.history()).cases]


def test_a_history_as_the_trace_shows_it_is_right() -> None:
    t = pair()
    merged(t, "2.2", 2, (1,), "2.2@2:1-2<1.1,2.1 1.1@1:1< 2.1@2:2<")
    finding = check_group_history(t.history())
    assert finding.cases == []
    assert finding.examined == {"histories": 3, "groups": 1, "cut": 0}


@pytest.mark.parametrize(
    ("history", "words"),
    [
        ("", "no history that can be read"),
        ("?", "no history that can be read"),
        ("1.1@1:1<", "its task holds that of 1.1"),
        ("2.2@2:1-2<1.1 1.1@1:1<", "parents of 2.2 to be 1.1 for 1.1, 2.1"),
        ("2.2@2:1-2<1.1,2.1 1.1@1:1<", "says nothing of 2.1"),
        ("2.2@1:1-2<1.1,2.1 1.1@1:1< 2.1@2:2<", "has 1 coordinate 2.2: 2"),
        ("2.2@2:2<2.1 2.1@2:2<", "members of 2.2 to be 2 for 1-2"),
        ("2.2@2:1-2<1.1,2.1 1.1@1:1< 2.1@2:2<9.9 9.9@1:1<", "parents of 2.1 to be 9.9 for none"),
        ("2.2@2:1-2<1.1,2.1 1.1@1:1< 2.1@2:2< 2.0@2:2<", "names 2.0, no ancestor"),
    ],
)
def test_a_history_that_differs_from_the_trace_is_wrong(history: str, words: str) -> None:
    t = pair()
    merged(t, "2.2", 2, (1,), history)
    assert words in said(t)[0]


def test_a_history_that_is_cut_and_says_so_is_not_wrong() -> None:
    t = pair()
    merged(t, "2.2", 2, (1,), "2.2@2:1-2<1.1,2.1 +")
    finding = check_group_history(t.history())
    assert finding.cases == []
    assert finding.examined["cut"] == 1


def test_a_group_that_was_never_told_to_a_member_is_not_its_past() -> None:
    """Node 1 accepts, never hears Ready, and recovers: it comes from where it was before."""
    t = pair()
    t.became(2, "Election", 2, g="2.2")
    t.became(1, "Election", 2, g="2.2")
    alone(t, 1, "1.2", "1.2@1:1<1.1 1.1@1:1<")
    assert said(t) == []


@pytest.mark.parametrize("kept", [True, False])
def test_a_state_that_never_reached_its_cell_is_no_past(kept: bool) -> None:
    t = pair()
    last = alone(t, 1, "1.2", "1.2@1:1<1.1 1.1@1:1<")
    before = next(e for e in t.events if isinstance(e, Became) and e.g == "1.1")
    t.kill(1)
    t.inc[1] += 1
    t.numbers[1] = 0
    held = last if kept else before
    t.put(1, Loaded(cell="S", value={"s": held.s, "c": 1, "g": held.g, "d": held.d}))
    alone(t, 1, "1.3", "1.3@1:1<1.1 1.1@1:1<")
    assert bool(said(t)) == kept


def build_groups(rng: Random) -> Trace:
    """Groups that merge, break up and crash; their histories are true, or bent somewhere."""
    t = Trace(rng.randint(2, 4))
    counter = dict.fromkeys(range(1, t.nodes + 1), 0)
    held = dict.fromkeys(counter, "")
    careful = rng.choice((0.8, 0.95, 1.0))

    def told(number: str, c: int, team: tuple[int, ...]) -> str:
        pasts = [read(held[j]) for j in team]
        parents = tuple(sorted({p for past in pasts for p in past.present}))
        text = compiled(Group(number, c, tuple(sorted(team)), parents), pasts)
        return text if rng.random() < careful else _bent(rng, text)

    t.start(*counter)
    for _ in range(rng.randint(3, 12)):
        c = rng.choice(list(counter))
        counter[c] += 1
        number = f"{c}.{counter[c]}"
        others = [j for j in counter if j != c and held[j] and rng.random() < 0.5]
        if not others or not held[c]:
            history = told(number, c, (c,))
            alone(t, c, number, history)
        else:
            history = told(number, c, (*others, c))
            merged(t, number, c, tuple(others), history)
        for j in (c, *others):
            held[j] = _readable(history)
    return t


def _readable(text: str) -> str:
    try:
        read(text)
    except ValueError:
        return ""
    return text


def _bent(rng: Random, text: str) -> str:
    words = text.split(" ")
    k = rng.randrange(len(words))
    match rng.choice(("drop", "digit", "cut", "parents", "junk", "swap")):
        case "drop":
            del words[k]
        case "digit":
            digits = [i for i, ch in enumerate(words[k]) if ch.isdigit()]
            if digits:
                i = rng.choice(digits)
                words[k] = words[k][:i] + rng.choice("123") + words[k][i + 1 :]
        case "cut":
            words.append("+")
        case "parents":
            words[k] = words[k].split("<")[0] + "<" + rng.choice(("1.1", "2.1,1.1", ""))
        case "junk":
            words[k] = "junk"
        case "swap":
            words.reverse()
    return " ".join(words)


def accused(events: list[AnyEvent], nodes: int) -> list[tuple[int, int, int]]:
    return sorted(case.events[-1] for case in check_group_history(History(events, nodes)).cases)


@settings(max_examples=400, deadline=None)
@given(st.randoms(use_true_random=False).map(build_groups))
def test_what_breaks_gm82_gh_is_what_the_oracle_says(t: Trace) -> None:
    assert accused(t.events, t.nodes) == sorted(wrong_histories(t.events))


def test_random_groups_break_the_claim_and_keep_it() -> None:
    wrong = [bool(said(build_groups(Random(seed)))) for seed in range(200)]
    assert 0.2 < sum(wrong) / len(wrong) < 0.8


@pytest.mark.parametrize("mutant", MUTANTS[9:], ids=lambda mutant: mutant.__name__)
def test_analyzer_and_oracle_agree_on_storms_of_forgetful_groups(mutant: type) -> None:
    for seed in range(8):
        events, nodes = stormy(seed, f"{mutant.__module__}:{mutant.__name__}")
        assert accused(events, nodes) == sorted(wrong_histories(events)), f"seed {seed}"


def test_no_storm_makes_a_history_that_the_trace_contradicts() -> None:
    cut = 0
    for seed in range(300):
        events, nodes = stormy(seed)
        finding = check_group_history(History(events, nodes))
        assert finding.cases == [], f"seed {seed}"
        cut += finding.examined["cut"]
    assert cut > 50


# --- in the report ------------------------------------------------------------------------


def drawn(history: History) -> str:
    tree = group_tree(history)
    assert tree is not None
    console = Console(width=80, no_color=True, force_terminal=False)
    with console.capture() as capture:
        console.print(tree)
    return capture.get()


def test_the_report_draws_the_tree_and_lists_the_branches_after_a_heal(
    run: Callable[..., Outcome],
) -> None:
    events = read_trace(run("divergent-branches", engine="virtual").run.trace)
    text = drawn(History(events, 5))
    assert text.startswith("5.4  1-5 under 5")
    assert "group 5.4 joined 2 branches, apart since group 5.2:" in text
    assert "nodes 1-2: groups 1.2 2.2 2.3, made no version" in text or "2.2 1.2 2.3" in text
    assert "5.2 (above)" in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_the_last_coordinator_holds_is_what_the_trace_records(
    run: Callable[..., Outcome],
) -> None:
    events = read_trace(run("divergent-branches", engine="virtual").run.trace)
    last = [e for e in events if isinstance(e, Became)][-1]
    told = read(history_in(last.d))
    recorded = groups_of(History(events, 5)).records()
    assert not told.cut
    assert told.groups == recorded
    assert {h.group for h in heals(told.groups)} == {h.group for h in heals(recorded)}


def test_a_run_without_groups_has_no_tree(run: Callable[..., Outcome]) -> None:
    events = read_trace(run("cold-start", engine="virtual").run.trace)
    assert group_tree(History(events, 5)) is None


def test_a_very_long_history_is_drawn_as_far_as_it_fits() -> None:
    t = pair()
    t.nodes = 2
    history = ""
    for k in range(2, 40):
        past = read(history or "2.1@2:2<")
        history = compiled(Group(f"2.{k}", 2, (1, 2), past.present), [past])
        merged(t, f"2.{k}", 2, (1,), history)
    text = drawn(t.history())
    assert "groups back to the beginning" in text
    assert max(map(len, text.splitlines())) <= 80

"""The command line as a person meets it: answers, exit codes, and what it leaves behind."""

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

SCENARIO = '''
from harness.run import Run
from harness.scenario import scenario

@scenario(nodes=3)
def my_own(run: Run) -> None:
    """GM82-2: three nodes elect one."""
    run.start()
    run.settled()

@scenario(nodes=3)
def endless(run: Run) -> None:
    """GM82-2: for the tests that end it."""
    run.start()
    run.settled()
    run.pause(2)
    run.elapse(60_000)

@scenario(nodes=3, expect={"GM82-1a": "excused"})
def too_pessimistic(run: Run) -> None:
    """GM82-1: expects an excuse that is not needed."""
    run.start()
    run.settled()

@scenario(nodes=3, protocol="wrong:Rude")
def rude(run: Run) -> None:
    """GM82-1: a protocol that asks nobody."""
    run.start()
    run.settled(within_ms=300)

@scenario(nodes=3, protocol="wrong:Broken")
def broken(run: Run) -> None:
    """GM82-1: a protocol that raises."""
    run.start()
    run.settled()
'''
SLIP = """
from harness.scenario import scenario
@scenario(expect={"GM82-1a": "vioalted"})
def slip(run):
    '''GM82-1: what is expected is no verdict.'''
"""
WRONG = '''
from nodes.bully import Bully

class Rude(Bully):
    """Takes itself for coordinator and the task for its own."""
    def recovery(self):
        self.become(s="Down")
        self.become(s="Normal", c=self.i, d=str(self.i))
        yield from ()

class Broken(Bully):
    """Fails when it is asked."""
    def halt(self, j):
        raise RuntimeError("no such luck")
'''


def hustings(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness", *args], cwd=cwd, capture_output=True, text=True
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SCENARIO)
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)")
    (tmp_path / "slip.py").write_text(SLIP)
    return tmp_path


@pytest.mark.parametrize("engine", ["real", "virtual"])
def test_a_run_prints_its_report_and_keeps_its_evidence(folder: Path, engine: str) -> None:
    done = hustings("run", "coordinator-crash", "--engine", engine, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "AS EXPECTED" in done.stdout
    assert "GM82-1a" in done.stdout
    assert "kill 5" in done.stderr  # narration
    assert "\x1b" not in done.stdout + done.stderr
    run = folder / "runs" / "latest"
    assert run.resolve().name == "coordinator-crash-1"
    assert sorted(p.name for p in run.iterdir()) == [
        "hustings.log", "run.json", "schedule.json", "trace.jsonl", "verdicts.json",
    ]  # fmt: skip
    again = hustings("report", "runs/latest", cwd=folder)
    assert again.returncode == 0
    assert "AS EXPECTED" in again.stdout


def test_keep_keeps_what_each_process_wrote(folder: Path) -> None:
    hustings("run", "cold-start", "--nodes", "2", "--keep", cwd=folder)
    names = {p.name for p in (folder / "runs/latest/parts").iterdir()}
    assert {"node-1.1.jsonl", "node-2.json", "relay.jsonl", "nursery.jsonl", "cells"} <= names


def test_json_is_all_that_is_on_stdout(folder: Path) -> None:
    done = hustings("run", "cold-start", "--engine", "virtual", "--json", cwd=folder)
    (result,) = json.loads(done.stdout)
    assert result["code"] == 0
    assert {v["id"]: v["result"] for v in result["verdicts"]}["GM82-2"] == "holds"


def test_a_file_of_ones_own_is_run_by_its_path(folder: Path) -> None:
    done = hustings("run", "mine.py::my-own", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "my-own" in done.stdout


@pytest.mark.parametrize(
    ("name", "code"), [("too-pessimistic", 3), ("rude", 1), ("broken", 4), ("my-own", 0)]
)
@pytest.mark.parametrize("engine", ["real", "virtual"])
def test_the_exit_code_says_what_kind_of_end_it_was(
    folder: Path, name: str, code: int, engine: str
) -> None:
    done = hustings("run", f"mine.py::{name}", "--engine", engine, cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    if code == 4:
        assert "no such luck" in done.stderr
        assert "runs/" in done.stderr


@pytest.mark.parametrize("asked", ["run cold-start --engine virtual", "networks --nodes 2", "list"])
def test_a_reader_that_leaves_early_does_not_change_the_verdict(asked: str, folder: Path) -> None:
    args = [sys.executable, "-m", "harness", *asked.split()]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(args, cwd=folder, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_several_scenarios_end_in_a_summary_and_the_worst_code(folder: Path) -> None:
    done = hustings("run", "mine.py::my-own", "mine.py::rude", "--engine", "virtual", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == ["as expected    my-own", "VIOLATED       rude"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["run", "coordinater-crash"], "did you mean coordinator-crash"),
        (["run", "nothing/here.py"], "there is no file"),
        (["run", "mine.py::my-won"], "did you mean my-own"),
        (["run", "cold-start", "--nodes", "0"], "not a number from 1 to 200"),
        (["run", "cold-start", "--schedule", "none.json"], "cannot read the schedule"),
        (["run", "cold-start", "--schedule", "wrong.py"], "is no schedule"),
        (
            ["run", "invitation", "--protocol", "nodes.invitation:Invite"],
            "nodes.invitation:Invitation",
        ),
        (["networks", "--nodes", "7"], "not a number from 1 to 6"),
        (["networks", "--protocol", "nothing"], "no protocol 'nothing'"),
        (["networks", "--protocol", "nodes.bully:Bully"], "claims neither S00-4' nor S97-ALE2'"),
        (["messages", "--most", "0"], "not a number from 1 to 100"),
        (["messages", "--most", "2"], "3 nodes"),
        (["run", "leaves.py"], "leaves.py cannot be loaded: SystemExit"),
        (["run", "slip.py"], "no verdict 'vioalted' to expect: did you mean violated"),
        (["check", "runs/none-1"], "is no run"),
        (["report", "wrong.py"], "is no run"),
        (["run"], "NAME|FILE"),
        ([], "COMMAND"),
    ],
)
def test_a_wrong_word_gets_one_clear_answer_and_code_2(
    folder: Path, args: list[str], words: str
) -> None:
    done = hustings(*args, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


BAD_STEPS = {
    'run.pause(3, contract="drpo")': "no contract 'drpo'",
    "run.lose(run.links(), p=1.5)": "p of lose is 1.5",
    "run.split([1, 9])": "not in this run: node 9",
    "run.cut([(1, 9)])": "no node 9",
    "run.cut([(1, 1)])": "no link to itself",
    'run.seen("becam")': "did you mean became",
    'run.arm(3, "became", status="Normal")': "became has no field 'status'",
    "run.kill([])": "it names no node",
    "run.elapse(-1)": "ms is -1",
    "run.calm(-1)": "calm: ms is -1",
    "run.graph([(1, 2), (2, 7)])": "graph: not in this run: node 7",
    "run.overlap({1, 2}, {8})": "overlap: not in this run: node 8",
    "run.bridge(5)": "bridge: not in this run: node 5",
    "run.ring()": "at least 4 nodes, not 3",
    "run.kill([1, 2, 3]); run.settled()": "node 1 is not running, nor any other",
}


@pytest.mark.parametrize("engine", ["virtual", "real"])
def test_a_scenario_that_asks_for_what_cannot_be_is_refused_in_words(
    folder: Path, engine: str
) -> None:
    text = "from harness.scenario import scenario\n"
    for number, line in enumerate(BAD_STEPS):
        text += f"\n@scenario(nodes=3)\ndef bad_{number}(run):\n"
        text += (
            f'    """GM82-1: what cannot be."""\n    run.start()\n    run.settled()\n    {line}\n'
        )
    (folder / "bad.py").write_text(text)
    done = hustings("run", "bad.py", "--engine", engine, cwd=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("hustings: ")]
    assert len(said) == len(BAD_STEPS)
    for number, words in enumerate(BAD_STEPS.values()):
        assert said[number].startswith(f"hustings: bad-{number}: ")
        assert words in said[number]
    assert done.stdout.count("refused") == len(BAD_STEPS)


def test_a_program_that_writes_rubbish_into_its_trace_is_unknown_not_a_crash(folder: Path) -> None:
    (folder / "node.py").write_text(
        "import json, sys, time\nc = json.load(open(sys.argv[1]))\n"
        "head = {'at': time.monotonic_ns(), 'node': c['node'], 'inc': c['incarnation']}\n"
        "with open(c['trace'], 'a') as t:\n"
        "    t.write(json.dumps({'e': 'started', 'n': 0, **head}) + chr(10))\n"
        "    t.write('rubbish' + chr(10))\ntime.sleep(60)\n"
    )
    (folder / "foreign.py").write_text(
        "import sys\nfrom harness.scenario import scenario\n\n"
        "@scenario(nodes=2, command=(sys.executable, 'node.py'))\ndef foreign(run):\n"
        '    """GM82-1: a program of its own."""\n    run.start()\n'
    )
    done = hustings("run", "foreign.py", cwd=folder)
    assert done.returncode == 3, done.stderr
    assert "the trace is invalid" in " ".join(done.stdout.split())
    assert "node.py" in done.stdout
    done = hustings("run", "foreign.py", "--engine", "virtual", cwd=folder)
    assert done.returncode == 2
    assert "cannot run in virtual time" in done.stderr


def test_a_replay_ends_like_the_run_it_was_recorded_from(folder: Path) -> None:
    for _ in range(3):
        args = ["run", "paused-coordinator", "--engine", "virtual"]
        if (folder / "runs/latest").exists():
            args += ["--schedule", "runs/latest/schedule.json"]
        done = hustings(*args, cwd=folder)
        assert done.returncode == 0, done.stdout
    traces = sorted(folder.glob("runs/paused-*/trace.jsonl"))
    assert len({trace.read_bytes() for trace in traces}) == 1


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ('{"verb":"explode"}', "no verb 'explode'"),
        ('{"verb":"kill","nodes":[9]}', "no node 9"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_with_its_step(
    folder: Path, step: str, words: str
) -> None:
    text = f'{{"scenario":"x","nodes":3,"seed":1,"steps":[{step}]}}'
    (folder / "bad.json").write_text(text)
    for engine in ("virtual", "real"):
        done = hustings(
            "run", "cold-start", "--schedule", "bad.json", "--engine", engine, cwd=folder
        )
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_list_names_scenarios_protocols_and_properties(folder: Path) -> None:
    words = hustings("list", cwd=folder).stdout
    for name in ("four-cuts", "nodes.bully:Bully", "GM82-1a", "CJ97-c4", "A9"):
        assert name in words
    found = json.loads(hustings("list", "--json", cwd=folder).stdout)
    assert set(found) == {"scenarios", "protocols", "properties"}
    assert all(line for rows in found.values() for line in rows.values())


def test_check_judges_a_stored_run_again_and_an_invalid_trace_is_unknown(folder: Path) -> None:
    hustings("run", "cold-start", "--engine", "virtual", cwd=folder)
    assert hustings("check", "runs/latest", cwd=folder).returncode == 0
    trace = folder / "runs/latest/trace.jsonl"
    lines = trace.read_text().splitlines(keepends=True)
    sent = next(i for i, line in enumerate(lines) if '"e":"sent"' in line)
    trace.write_text("".join(lines[:sent] + lines[sent + 1 :]))
    done = hustings("check", "runs/latest", cwd=folder)
    assert done.returncode == 3
    assert "unknown" in done.stdout
    trace.write_text("".join(lines[:5]) + "rubbish\n" + "".join(lines[5:]))
    done = hustings("check", "runs/latest", cwd=folder)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr


def test_a_stored_run_that_makes_no_sense_is_refused_in_words(folder: Path) -> None:
    hustings("run", "cold-start", "--engine", "virtual", cwd=folder)
    info = folder / "runs/latest/run.json"
    whole = info.read_text()
    for was, now, words in (
        ('"GM82-1a",', '"GM82-9z",', "no property 'GM82-9z'"),
        ('"t_m_ms": 15.0', '"t_m_ms": -15.0', "> 0.0"),
        ('"nodes": 5', '"nodes": 0', ">= 1"),
        ('"nodes": 5', '"nodes": 3', "the run has only 3 nodes"),
    ):
        assert was in whole
        info.write_text(whole.replace(was, now))
        done = hustings("check", "runs/latest", cwd=folder)
        said = done.stdout if now == '"nodes": 3' else done.stderr
        assert (done.returncode, words in said) == (3 if now == '"nodes": 3' else 2, True), said
        assert "Traceback" not in done.stderr


def without_override() -> None:
    """In a child: even root may write only where the modes say so (capabilities(7))."""
    pr_capbset_drop, cap_dac_override = 24, 1
    ctypes.CDLL(None).prctl(pr_capbset_drop, cap_dac_override)


def test_a_run_that_may_only_be_read_can_be_judged(folder: Path) -> None:
    hustings("run", "cold-start", "--engine", "virtual", cwd=folder)
    stored = (folder / "runs/latest").resolve()
    stored.chmod(0o555)
    for command in ("check", "report"):
        args = [sys.executable, "-m", "harness", command, "runs/latest"]
        done = subprocess.run(
            args, cwd=folder, capture_output=True, text=True, preexec_fn=without_override
        )
        assert done.returncode == 0, done.stderr
        assert "GM82-1a" in done.stdout
    args = [sys.executable, "-c", "open('runs/latest/x', 'w')"]
    assert subprocess.run(args, cwd=folder, preexec_fn=without_override).returncode != 0
    stored.chmod(0o755)


def test_a_place_that_takes_no_run_is_named_with_what_to_do(folder: Path) -> None:
    args = [sys.executable, "-m", "harness", "run", "cold-start", "--engine", "virtual"]
    folder.chmod(0o555)
    done = subprocess.run(
        args, cwd=folder, capture_output=True, text=True, preexec_fn=without_override
    )
    folder.chmod(0o755)
    said = "hustings: cold-start: Permission denied: runs; run it in a folder that you may write to"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (4, said)
    (folder / "runs").touch()
    refused = hustings("run", "cold-start", "--engine", "virtual", cwd=folder)
    assert refused.returncode == 4
    assert "File exists: runs; " in refused.stderr


def test_a_bug_is_never_taken_for_a_verdict(folder: Path) -> None:
    """Whatever Python cannot go on with it ends with 1, and that is a property violated."""
    (folder / "bugs.py").write_text(
        "from nodes.invitation import Invitation\n\n"
        "class Odd(Invitation):\n    def check(self):\n        raise RuntimeError('no such luck')\n"
    )
    done = hustings("networks", "--nodes", "2", "--protocol", "bugs:Odd", cwd=folder)
    assert done.returncode == 4
    assert "RuntimeError: no such luck" in done.stderr.splitlines()[-1]


def test_two_at_once_take_two_directories(folder: Path) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "harness", "run", "cold-start", "--nodes", "3"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [process.wait() for process in both] == [0, 0]
    assert {p.name for p in (folder / "runs").iterdir()} >= {"cold-start-1", "cold-start-2"}


def test_a_folder_that_cannot_be_written_is_a_harness_fault_in_words(folder: Path) -> None:
    (folder / "runs").write_text("in the way")
    done = hustings("run", "cold-start", cwd=folder)
    assert done.returncode == 4
    assert "runs" in done.stderr
    assert "Traceback" not in done.stderr


# --- nothing is left behind, whatever ends it -------------------------------------------------


def family(folder: Path) -> list[psutil.Process]:
    """Every process of this folder's run: nodes, relay, nursery."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        if process.info["cwd"] == str(folder) and process.pid != os.getpid():
            found.append(process)  # noqa: PERF401 (clearer so)
    return found


def states(folder: Path) -> list[str]:
    """Their states; one that ended between being found and being asked has none."""
    found: list[str] = []
    for process in family(folder):
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(process.status())
    return found


def under_way(folder: Path) -> subprocess.Popen[str]:
    """An endless run with one node stopped."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "run", "mine.py::endless"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if psutil.STATUS_STOPPED in states(folder):
            return process
        time.sleep(0.01)  # between two looks at /proc
    raise AssertionError(process.communicate()[1])


def gone(folder: Path) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if set(states(folder)) <= {psutil.STATUS_ZOMBIE}:
            return True
        time.sleep(0.01)  # between two looks at /proc
    return False


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_process_survives_the_end_of_the_controller(folder: Path, signo: int) -> None:
    process = under_way(folder)
    assert len(family(folder)) >= 6  # controller, nursery, relay, three nodes
    os.kill(process.pid, signo)
    _, err = process.communicate(timeout=20)
    assert gone(folder)
    run = folder / "runs/latest"
    if signo != signal.SIGKILL:
        assert process.returncode == 130
        assert "interrupted" in err
        assert (run / "trace.jsonl").exists()
    # Nothing that happened is lost: the stored run can still be judged.
    done = hustings("check", "runs/latest", cwd=folder)
    assert done.returncode == 3, done.stdout + done.stderr  # for it did not come to its end
    assert re.search(r"GM82-1a +holds", done.stdout)
    assert "broke off: " in done.stderr


def test_no_temporary_file_is_left_behind(folder: Path) -> None:
    (folder / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(folder / "tmp")}
    subprocess.run(
        [sys.executable, "-m", "harness", "run", "cold-start"],
        cwd=folder, env=env, capture_output=True, check=True,
    )  # fmt: skip
    assert list((folder / "tmp").iterdir()) == []
    assert not list((folder / "runs").rglob("*.new"))


# --- networks -------------------------------------------------------------------------------


def test_every_small_network_in_one_table(folder: Path) -> None:
    done = hustings("networks", "--nodes", "3", "--seeds", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split()[:3] == ["nodes", "graphs", "runs"]
    assert re.search(r"^ +3 +4 +\d+ +holds +holds +\d+ violated", done.stdout, re.MULTILINE)
    assert "GM82-4 (as published) was broken on 1 graph" in done.stdout
    assert not (folder / "runs").exists()


def test_messages_beside_what_the_paper_claims(folder: Path) -> None:
    done = hustings("messages", "--most", "6", "--seeds", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"^Invitation +period +10 +0\.00 \+2\.0 -2 +2\(N-1\) +1\.00$", done.stdout, re.M
    )
    assert "Why it differs from S97 7" in done.stdout
    assert (folder / "runs/messages.svg").read_text().startswith("<svg")
    found = json.loads(
        hustings("messages", "--most", "4", "--seeds", "1", "--json", cwd=folder).stdout
    )
    assert {curve["what"] for curve in found} == {"quiet", "crash", "worst crash"}


def test_the_asynchronous_bully_on_every_small_network(folder: Path) -> None:
    args = (
        "networks",
        "--nodes",
        "3",
        "--seeds",
        "1",
        "--protocol",
        "nodes.async_bully:AsyncBully",
    )
    done = hustings(*args, cwd=folder)
    assert done.returncode == 0, done.stdout
    assert "ALE2 was broken on none" in done.stdout
    assert "ALE1 and ALE2' hold in all" in done.stdout


def test_networks_as_json(folder: Path) -> None:
    done = hustings("networks", "--nodes", "2", "--seeds", "1", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert [row["graphs"] for row in found["rows"]] == [1, 2]
    assert found["wrong"] == []


def test_a_wrong_protocol_is_convicted_on_a_network_and_the_evidence_is_kept(folder: Path) -> None:
    (folder / "shy.py").write_text(
        "from nodes.invitation import Invitation\nfrom nodes.protocol import procedure\n\n"
        "class Shy(Invitation):\n    @procedure('Invitation')\n"
        "    def invitation(self, caller, j, gn):\n        return\n        yield\n"
    )
    args = ("networks", "--nodes", "2", "--seeds", "1", "--protocol", "shy:Shy")
    done = hustings(*args, cwd=folder)
    assert done.returncode == 1
    assert "2 nodes, 1-2, seed 1, alone: S00-4' violated; hustings report runs/network-" in (
        " ".join(done.stdout.split())
    )
    assert hustings("check", "runs/latest", cwd=folder).returncode == 1


def test_a_cover_that_outruns_its_budget_is_unknown_and_says_what_to_type(folder: Path) -> None:
    ring = "from harness.scenario import INVITATION, scenario\n\n"
    ring += "@scenario(nodes=5, protocol=INVITATION, expect={'GM82-4': 'violated'})\n"
    ring += "def ring(run):\n"
    ring += '    """S00-4\': a ring of five."""\n    run.ring()\n    run.start()\n    run.calm()\n'
    ring += "    run.elapse(1.05 * run.info.settles_ms)\n"
    (folder / "ring.py").write_text(ring)
    done = hustings("run", "ring.py", "--engine", "virtual", cwd=folder)
    assert "the script left in force, and the end mended: cut (rule 1)" in (
        " ".join(done.stdout.split())
    )
    spent = hustings("check", "runs/latest", "--budget", "1", cwd=folder)
    assert "hustings check RUN --budget 10" in spent.stdout
    assert spent.returncode == 3
    assert re.search(r"^S00-4'b +unknown", spent.stdout, re.MULTILINE)
    enough = hustings("check", "runs/latest", cwd=folder)
    assert enough.returncode == 0
    assert re.search(r"^S00-4'b +holds", enough.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "signo", "times"),
    [
        ("networks", signal.SIGINT, 1),
        ("networks", signal.SIGTERM, 1),
        ("networks", signal.SIGKILL, 1),
        ("networks --engine real", signal.SIGTERM, 1),
        ("networks --engine real", signal.SIGHUP, 1),
        ("availability", signal.SIGINT, 3),
    ],
)
def test_no_worker_survives_the_end_of_a_command_however_often_it_is_told(
    folder: Path, command: str, signo: int, times: int
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *command.split()],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 20
    wanted = 10 if "real" in command else 2  # real workers have nodes, each its own
    while len(family(folder)) < wanted and time.monotonic() < deadline:
        time.sleep(0.01)  # between two looks at /proc
    for _ in range(times):
        if process.poll() is None:
            os.killpg(process.pid, signo) if signo == signal.SIGINT else os.kill(process.pid, signo)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)  # as long as it takes to press a key again
    try:
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()  # where it was started deaf to Ctrl-C it would go on for minutes
    assert gone(folder)
    assert "Traceback" not in err
    if signo != signal.SIGKILL:
        assert process.returncode == 130
        assert "interrupted" in err


def test_networks_that_cannot_write_their_evidence_say_so(folder: Path) -> None:
    (folder / "runs").write_text("in the way")
    done = hustings("networks", "--engine", "real", "--sample", "1", cwd=folder)
    assert done.returncode == 4
    assert "runs" in done.stderr
    assert "Traceback" not in done.stderr

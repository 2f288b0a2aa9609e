"""What is wrong with a setup is one line, and nothing is left running."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from checker.harness.files import write_harness
from tests.harness.leftovers import HOOKS, Run, changed
from tests.harness.test_schedules import trace_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A harness, with the hooks of the broadcast."""
    made = tmp_path / "h"
    write_harness(trace_of("no_relay", tmp_path), made)
    text = HOOKS.read_text("utf-8")
    home = f"Path({str(HOOKS.parent)!r})"
    (made / "hooks.py").write_text(text.replace("Path(__file__).resolve().parent", home), "utf-8")
    return made


def refused(folder: Path, options: str = "--relay") -> str:
    """The line that a harness ends with; nothing else is said, and nothing runs any more."""
    run = Run(folder, "--tries", "1", options=options)
    code, said = run.end()
    assert code == 2, said
    (line,) = (each for each in said.splitlines() if each.startswith("error"))
    assert said.splitlines()[-1] == line
    assert "Traceback" not in said, said
    assert run.leaves() == []
    return line


def test_the_template_says_what_is_to_be_filled_in(folder: Path) -> None:
    (folder / "hooks.py").unlink()
    from checker.resources import specs

    template = specs().parent / "checker" / "harness" / "template_of_hooks.py"
    (folder / "hooks.py").write_text(template.read_text("utf-8"), "utf-8")
    line = refused(folder)
    assert line.startswith("error E135: hooks.py:")
    assert "command(): NotImplementedError: fill in the hook `command`" in line


HOOK_FAULTS = {
    "fails": ('    return f"{node}.ndjson"\n', "    return NAMES[node]\n", "E135",
              "log(): NameError"),
    "returns nonsense": ('    return f"{node}.ndjson"\n', "    return 7\n", "E135",
                         "log() must return the name of a file, and returned 7"),
    "is missing": ("def log(node):", "def logs(node):", "E135", "has no function `log`"),
    "does not compile": ("def log(node):", "def log(node:", "E135", "SyntaxError"),
    "ends its process": ('    return f"{node}.ndjson"\n', "    os._exit(1)\n", "E135",
                         "ended the process it ran in"),
    "another number of nodes": ('["p1", "p2", "p3"]', '["p1", "p2"]', "E135",
                                "3 processes in the trace, 2 nodes"),
    "no such program": ('python = ["env", f"PYTHONPATH={ROOT}", sys.executable]',
                        'python = ["no-such-program"]', "E137",
                        "no-such-program can't be started: No such file or directory"),
    "dies at start": ("*where, *options]", '*where, "--nonsense"]', "E137",
                      "ended at its start: exit code 2: "),
    "listens elsewhere": ('["--port", str(port)', '["--port", str(port + 1)', "E138",
                          "and not on 127.0.0.1:"),
}  # fmt: skip


@pytest.mark.parametrize("fault", HOOK_FAULTS)
def test_hooks_that_are_wrong(fault: str, folder: Path) -> None:
    before, after, code, said = HOOK_FAULTS[fault]
    changed(folder, "hooks.py", before, after)
    line = refused(folder)
    assert line.startswith(f"error {code}: ")
    assert said in line


def test_a_hook_that_fails_in_the_midst_of_a_run(folder: Path) -> None:
    changed(folder, "hooks.py", "    found = []\n", "    found = [None]\n")
    assert "E135: hooks.py: frames() must return a list of (length, name, fields)" in refused(
        folder
    )


@pytest.mark.parametrize("hook", ["nodes()", "request(node, port, name, values)", "frames(data)"])
def test_a_hook_that_hangs(hook: str, folder: Path) -> None:
    head = f"def {hook}:\n"
    changed(folder, "hooks.py", head, f"{head}    __import__('time').sleep(1000)\n")
    changed(folder, "harness/hook_process.py", "LIMIT = 10.0", "LIMIT = 1.5")
    name = hook.partition("(")[0]
    assert refused(folder) == f"error E136: hooks.py: {name}() takes longer than 1.5 s"


def test_ports_that_are_taken(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = f"range({port}, {port + 1})"
        changed(folder, "harness/processes.py", "range(20_000, 32_000)", ports)
        said = f"error E138: no free port on 127.0.0.1 from {port} to {port}"
        assert refused(folder) == said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("STEPS = [", "STEPS = [1 +", "E139: schedule.py:"),
        ("STEPS = [", "STEPS = [7,", "E139: schedule.py: item 1 of STEPS is not an act: 7"),
        ("ENDS = True", "ENDS = 3", "E139: schedule.py: ENDS has to be a bool"),
        ('Request(1, "p1"', 'Request(1, "p9"', "E139: schedule.py: step 1: no process p9"),
    ],
)
def test_a_schedule_that_was_edited_badly(before: str, after: str, said: str, folder: Path) -> None:
    changed(folder, "schedule.py", before, after)
    assert said in refused(folder)


def test_a_request_that_fails_is_said(folder: Path) -> None:
    asks = '[sys.executable, str(HERE / "ask.py"), str(port), *values]'
    changed(folder, "hooks.py", asks, "['sh', '-c', 'echo no client here; exit 3']")
    changed(folder, "schedule.py", "BIVALENCE = [", 'BIVALENCE = ["false"] or [')
    code, said = Run(folder, "--tries", "1", "--patience", "0.5").end()
    assert code == 3, said
    assert "has no line `request broadcast" in said or "has no line `broadcast" in said, said
    assert "; the request ended with exit code 3: no client here\n" in said


DIES = """\
import os, runpy, sys
from checker.record import Recorder
Recorder.broadcast = lambda *_: os._exit(7)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_node_that_dies_under_way_is_another_way(folder: Path) -> None:
    changed(folder, "hooks.py", "sys.executable]", f"sys.executable, '-c', {DIES!r}]")
    changed(folder, "schedule.py", "BIVALENCE = [", 'BIVALENCE = ["false"] or [')
    run = Run(folder, "--tries", "1")
    code, said = run.end()
    assert code == 3, said
    assert "another way at step 1 (p1 is asked: broadcast(a)): p1 has ended: exit code 7" in said
    assert "agreement is not judged" in said, "an exit code alone is no verdict"
    assert run.leaves() == []


STARTS = """\
import runpy, subprocess, sys
subprocess.Popen(["setsid", "sleep", "1000"])
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def never_ends(folder: Path) -> tuple[Run, list[int]]:
    """A run and its processes: each node leaves one in a session of its own behind, and p1 is
    never asked."""
    changed(folder, "hooks.py", "sys.executable]", "sys.executable, '-c', STARTS]")
    changed(folder, "hooks.py", "OWN_COPIES = True", f"STARTS = {STARTS!r}\nOWN_COPIES = True")
    asks = '[sys.executable, str(HERE / "ask.py"), str(port), *values]'
    changed(folder, "hooks.py", asks, "['true']")
    run = Run(folder, "--tries", "1", "--patience", "100")
    found = run.wait_for(9)  # keeper, driver, hooks, three nodes, three sleepers
    assert len(found) >= 9, found
    return run, found


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_run_and_keeps_others_away_until_then(name: str, folder: Path) -> None:
    run, _ = never_ends(folder)
    assert refused(folder) == f"error E145: another run of {folder} is going on"
    # as a terminal does on Ctrl-C: to all processes of the group
    os.killpg(run.process.pid, getattr(signal, name))
    code, said = run.end()
    assert code == 3
    assert said.splitlines()[-1] == f"ended by {name}; nothing is left running"
    assert said.count("ended by") == 1
    assert "Traceback" not in said
    assert run.leaves() == []


@pytest.mark.parametrize("victim", ["keeper", "driver", "keeper with TERM"])
def test_nothing_is_left_where_the_harness_is_killed(victim: str, folder: Path) -> None:
    run, found = never_ends(folder)
    driver = min(pid for pid in found if pid != run.process.pid)
    if victim == "driver":
        os.kill(driver, signal.SIGKILL)
    else:
        run.process.send_signal(signal.SIGTERM if "TERM" in victim else signal.SIGKILL)
    run.end()
    assert run.leaves() == []

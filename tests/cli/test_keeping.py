"""Runs that are kept, as the shell sees them: signals, and what is said."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checker.cli.main import main
from tests.cli.signalling import children_of

SPEC = "specs/oracles/two_phase.bcast::three"
Out = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--checkpoint A --resume B", "--resume saves to the same folder"),
        ("--keep", "--keep needs --checkpoint or --resume"),
        ("--checkpoint A --checkpoint-every -1", "is not in the range"),
    ],
)
def test_options_that_make_no_sense(arguments: str, says: str, capsys: Out) -> None:
    assert main(["check", SPEC, *arguments.split()]) == 2
    assert says in capsys.readouterr().err


def test_one_check_at_a_time(tmp_path: Path, capsys: Out) -> None:
    several = ["specs/oracles/two_phase.bcast::three", "specs/oracles/inner_fifo.bcast"]
    assert main(["check", *several, "--checkpoint", str(tmp_path / "run")]) == 2
    assert "--checkpoint applies to one check" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_goes_on_with_a_run_is_said_and_does(tmp_path: Path, capsys: Out) -> None:
    folder = tmp_path / "a run"
    begin = ["check", SPEC, "--set", "n=5", "--reduce", "none", "--checkpoint", str(folder)]
    assert main([*begin, "--coverage", "--max-depth", "5"]) == 3
    (line,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("resume with: ")]
    command = shlex.split(line.removeprefix("resume with: "))
    assert command[0] == "bivalence"
    assert main(command[1:]) == 0
    out = capsys.readouterr()
    assert "searched 8,832 distinct states" in out.out
    assert out.err == ""
    assert not folder.exists()


def test_a_whole_search_is_resumed_as_one(tmp_path: Path, capsys: Out) -> None:
    """Its only property is violated after three steps."""
    check = "specs/broadcast/eager_reliable_without_relay.bcast::with_relay.not_once"
    begin = ["check", check, "--reduce", "none", "--whole", "--quiet"]
    assert main([*begin, "--checkpoint", str(tmp_path / "run"), "--max-depth", "5"]) == 0
    (line,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("resume with: ")]
    assert "--whole" in shlex.split(line)


def test_a_run_that_is_over_stays_where_that_is_wanted(tmp_path: Path, capsys: Out) -> None:
    begin = ["check", SPEC, "--set", "n=3", "--checkpoint", str(tmp_path / "run"), "--keep"]
    assert main(begin) == 0
    assert capsys.readouterr().err == f"the run is saved in {tmp_path / 'run'}\n"
    assert main(["check", SPEC, "--set", "n=3", "--resume", str(tmp_path / "run")]) == 0
    assert list(tmp_path.iterdir()) == []


def started(folder: Path) -> subprocess.Popen[str]:
    """A long check of which some levels are committed already."""
    words = [
        "check",
        SPEC,
        "--set",
        "n=8",
        "--reduce",
        "none",
        "--threads",
        "1",
        "--checkpoint-every",
        "0",
    ]
    program = (
        "import sys\n"
        "from checker.engines.native.checkpoint import journal\n"
        "journal.SHARE = 0\n"
        "from checker.cli.main import main\n"
        "sys.exit(main())\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program, *words, "--checkpoint", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (folder / "levels" / "00006" / "_SUCCESS").exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.002)
    return running


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_leaves_a_run_that_can_be_gone_on_with(
    number: signal.Signals, tmp_path: Path, capsys: Out
) -> None:
    folder = tmp_path / "run"
    running = started(folder)
    resume = ["check", SPEC, "--set", "n=8", "--reduce", "none", "--resume", str(folder)]
    (worker,) = children_of(running.pid)
    os.kill(worker, signal.SIGSTOP)
    assert main(resume) == 2
    assert f"process {worker} on" in capsys.readouterr().err
    os.kill(worker, signal.SIGCONT)
    running.send_signal(number)
    out, err = running.communicate()
    if number == signal.SIGKILL:
        assert running.returncode == -signal.SIGKILL
    else:
        assert running.returncode == 3
        assert "interrupted" in out
        assert re.search(r"^resume with: bivalence check .* --resume ", err, re.M)
        assert "Traceback" not in err
    assert main(resume) == 0
    assert "searched 1,745,408 distinct states" in capsys.readouterr().out
    assert not folder.exists()


def test_a_disk_that_is_full_is_said_and_nothing_is_lost(tmp_path: Path, capsys: Out) -> None:
    program = (
        "import resource, sys\n"
        "from checker.engines.native.checkpoint import journal\n"
        "journal.SHARE = 0\n"
        "from checker.cli.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    folder = tmp_path / "run"
    asked = ["check", SPEC, "--set", "n=7", "--reduce", "none"]
    words = [*asked, "--checkpoint", str(folder), "--checkpoint-every", "0"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    said = " ".join(done.stdout.split())
    assert "the run can't be saved in" in said
    assert ": file too large" in said
    assert main([*asked, "--resume", str(folder)]) == 0
    assert "searched 296,448 distinct states" in capsys.readouterr().out


def test_who_keeps_nothing_loads_nothing_for_it() -> None:
    program = (
        "import sys\n"
        "from checker.cli.main import main\n"
        "code = main(sys.argv[1:])\n"
        "sys.exit(code or [m for m in ('pyarrow', 'pyspark') if m in sys.modules] or 0)\n"
    )
    words = ["check", SPEC, "--set", "n=2", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

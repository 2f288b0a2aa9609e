"""A spec and a log are data: no file beside them, or in the current folder, is executed.

Each command runs in a folder that has a Python file for every module which the tool imports, on a
spec and a log in two other folders of that kind.  Each of these files would leave a mark.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from checker.cli.commands import cli
from checker.cli.main import main
from tests.parametric.threshold_texts import BROADCAST
from tests.selection import first_by_default

ROOT = Path(__file__).parents[2]
SPEC = """\
protocol Counter {
  state x : 0..3 = 0
  upon condition x < 3 as counts { x := x + 1 }
  property small "It stays small." : always forall p in Proc: p.x <= 2
}
check violated of Counter { n = 1 expect small violated }
check twice of Counter { n = 2 expect small violated }
"""
LOG = '{"process": "p1", "pos": 1, "kind": "handler", "name": "counts"}\n'
EVENTS = '{"process": "p1", "pos": 0, "kind": "broadcast", "msg": "a"}\n'
MARKING = """\
import os
with open({mark!r}, "a") as mark: mark.write(__name__ + " in " + os.getcwd() + chr(10))
"""
ALWAYS = ("pip", "sitecustomize", "usercustomize", "__main__", "libz3")

IMPORTED = """
import multiprocessing, sys
from checker.cli.main import main
for words in {words!r}:
    main(words)
import concurrent.futures.process, multiprocessing.popen_spawn_posix, multiprocessing.spawn
import multiprocessing.resource_tracker, multiprocessing.queues, runpy
import checker.editor.server, checker.engines.native.sharding.process_pool
print("IMPORTED", *{{name.partition(".")[0] for name in sys.modules}})
"""


def modules(folder: Path) -> list[str]:
    """The modules that real runs have imported, without those that are part of the interpreter."""
    spec, log = str(folder / "spec.bcast"), str(folder / "events.ndjson")
    words = [
        ["check", spec, "--quiet"], ["prove", spec, "--budget", "1"], ["doctor"],
        ["audit", log, "--as", "BestEffortBroadcast"],
    ]  # fmt: skip
    said = plain([sys.executable, "-P", "-c", IMPORTED.format(words=words)], folder)
    (line,) = (line for line in said.stdout.splitlines() if line.startswith("IMPORTED "))
    return sorted({*line.split()[1:], *ALWAYS} - {*sys.builtin_module_names})


def plain(words: Sequence[str], folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        words, cwd=folder, env=env, input=given, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


@dataclass(frozen=True)
class Ground:
    """The current folder, the spec and the log, each in a folder with planted files, the tool as a
    program in a clean one, and the file that planted files write to."""

    here: Path
    spec: str
    runs: str
    events: str
    trace: str
    tool: str
    mark: Path

    def ran(self) -> str:
        found = self.mark.read_text("utf-8") if self.mark.exists() else ""
        self.mark.unlink(missing_ok=True)
        return found


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    folder = tmp_path_factory.mktemp("beside")
    mark = folder / "RAN"
    clean, here, specs, logs = (folder / name for name in ("clean", "here", "specs", "logs"))
    for each in (clean, here, specs, logs):
        each.mkdir()
    for place in (clean, specs):
        (place / "spec.bcast").write_text(SPEC, "utf-8")
        (place / "broadcast.ta").write_text(BROADCAST, "utf-8")
    runs = logs / "runs"
    runs.mkdir()
    for name in ("one", "two"):
        (runs / f"{name}.ndjson").write_text(LOG, "utf-8")
    for place in (clean, logs):
        (place / "events.ndjson").write_text(EVENTS, "utf-8")
    names = modules(clean)
    assert {"json", "checker", "z3", "llvmlite", "pyarrow", "click", "pickle"} <= {*names}
    for place in (here, specs, logs, runs):
        for name in names:
            (place / f"{name}.py").write_text(MARKING.format(mark=str(mark)), "utf-8")
    trace = logs / "trace.json"
    main(["check", f"{specs}/spec.bcast::violated", "--quiet", "--trace-out", str(trace)])
    tool = clean / "bivalence"
    tool.write_text("import sys\nfrom checker.cli.main import main\nsys.exit(main())\n", "utf-8")
    spec, events = specs / "spec.bcast", logs / "events.ndjson"
    return Ground(here, str(spec), str(runs), str(events), str(trace), str(tool), mark)


LSP = [
    {"id": 1, "method": "initialize",
     "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    {"method": "initialized", "params": {}},
    {"id": 2, "method": "shutdown"},
    {"method": "exit"},
]  # fmt: skip


def messages() -> str:
    texts = [json.dumps({"jsonrpc": "2.0", **each}) for each in LSP]
    return "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in texts)


WORDS: dict[str, Sequence[str]] = {
    "test": ("{spec}", "--jobs", "2"),
    "sweep": ("{spec}::violated", "--grid", "n=1..2", "--jobs", "2", "--quiet"),
    "gallery": ("out", "{spec}", "{spec}", "--jobs", "2", "--quiet"),
    "check": ("{spec}", "--states-out", "states"),
    "conform": ("{spec}::violated", "{runs}", "--jobs", "2"),
    "monitor": ("{spec}::violated", "{events}", "--once"),
    "audit": ("{events}", "--as", "BestEffortBroadcast"),
    "judge": ("{events}", "--as", "Register"),
    "prove": ("{spec}", "--budget", "2"),
    "bench": ("threshold", "{automata}"),
    "explore": ("{spec}::violated",),
    "simulate": ("{spec}::violated", "--walks", "10"),
    "valence": ("{spec}::violated", "--of", "{{ p.x for p in Proc }}"),
    "test-cases": ("{spec}::violated", "--out", "cases"),
    "show": ("{spec}::violated",),
    "fmt": ("--check", "{spec}"),
    "view": ("{trace}",),
    "explain": ("{trace}",),
    "replay": ("{trace}",),
    "export": ("{trace}", "--to", "svg"),
    "scenario": ("{trace}",),
    "list": (),
    "doctor": (),
    "daemon": ("status",),
    "mutate": ("{spec}::violated", "--sample", "2", "--jobs", "2"),
    "assumptions": ("{spec}::violated", "--jobs", "2"),
    "frontier": ("{spec}::violated", "--over", "crash=0..1", "--jobs", "2"),
    "fill": ("{spec}::violated", "--jobs", "2"),
    "diagnostic": ("N003",),
    "docs": (),
    "schema": ("report",),
    "mcp": (),
    "skill": ("install", "--mcp"),
    "lsp": (),
}
"""What each command is called with; ``watch`` does not end and has a test of its own."""


def test_every_command_is_here() -> None:
    assert {*WORDS, "watch"} == {*cli.commands}


def words_of(command: str, ground: Ground) -> list[str]:
    names = {
        "spec": ground.spec, "runs": ground.runs, "events": ground.events, "trace": ground.trace,
        "automata": str(Path(ground.spec).parent),
    }  # fmt: skip
    return [command, *(word.format(**names) for word in WORDS[command])]


@pytest.mark.parametrize("command", first_by_default(WORDS, 1))
def test_no_file_is_executed(command: str, ground: Ground) -> None:
    program = [sys.executable, ground.tool, *words_of(command, ground)]
    done = plain(program, ground.here, messages() if command == "lsp" else "")
    assert ground.ran() == "", done.stderr
    assert done.returncode in (0, 1, 2, 3, 4) and "Traceback" not in done.stderr, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "test", "sweep"])
def test_as_a_module_with_a_safe_path(command: str, ground: Ground) -> None:
    program = [sys.executable, "-P", "-m", "checker.cli", *words_of(command, ground)]
    done = plain(program, ground.here)
    assert ground.ran() == "", done.stderr
    assert done.returncode in (0, 1, 2, 3, 4), done.stderr


@pytest.mark.slow
def test_watch(ground: Ground) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    program = [sys.executable, ground.tool, "watch", ground.spec]
    with subprocess.Popen(
        program, cwd=ground.here, env={**env, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        for line in running.stdout:
            if "2 checks" in line:
                break
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert ground.ran() == ""


EDITOR = """
import asyncio, sys
from pathlib import Path
from checker.editor.runs import Runs

async def press() -> None:
    async def changed(path): ...
    runs = Runs(changed)
    await runs.start(Path(sys.argv[1]), "violated", "check")
    print(runs.of(Path(sys.argv[1]), "violated"))

asyncio.run(press())
"""
POOL = """
import multiprocessing
from checker.engines.native.sharding.process_pool import parallel_map

if __name__ == "__main__":
    print(sorted(parallel_map(abs, [-1, -2], 2)))
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [(POOL, "[1, 2]"), pytest.param(EDITOR, "done", marks=pytest.mark.slow)],
)
def test_processes_that_a_program_starts(text: str, said: str, ground: Ground) -> None:
    """An editor's lens, and what the tool does for a program in another folder."""
    program = Path(ground.tool).with_name("program.py")
    program.write_text(text, "utf-8")
    done = plain([sys.executable, str(program), ground.spec], ground.here)
    assert ground.ran() == "" and said in done.stdout, done.stderr


@pytest.mark.slow
def test_checks_as_tests_of_pytest(ground: Ground) -> None:
    others = ("asyncio", "pytest-lsp", "cacheprovider", "xdist")
    words = [*(word for name in others for word in ("-p", f"no:{name}")), ground.spec]
    done = plain([sys.executable, "-P", "-m", "pytest", "-c", os.devnull, *words], ground.here)
    assert ground.ran() == "" and "2 passed" in done.stdout, done.stdout


LIBRARIES = """
import sys
sys.addaudithook(lambda event, given: event == "ctypes.dlopen" and print("OPENS", given[0]))
import {package}
"""


@pytest.mark.parametrize(
    "package", ["checker.engines.symbolic.terms", "checker.parametric.symbolic.decide"]
)
def test_z3_is_that_of_the_package(package: str, tmp_path: Path) -> None:
    for name in ("libz3.so", "libz3.so.5.4"):
        (tmp_path / name).write_text("", "utf-8")
    done = plain([sys.executable, "-P", "-c", LIBRARIES.format(package=package)], tmp_path)
    opened = [line for line in done.stdout.splitlines() if "libz3" in line]
    assert opened and not any(str(tmp_path) in line for line in opened), done.stdout + done.stderr


def test_spark_is_that_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PySpark by itself takes a Spark in the folder above the current one."""
    from pyspark import find_spark_home

    from checker.engines.spark.java_process import spark_home

    (tmp_path / "bin").mkdir()
    (tmp_path / "jars").mkdir()
    (tmp_path / "bin" / "spark-submit").touch()
    (tmp_path / "specs").mkdir()
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "specs")
    assert find_spark_home._find_spark_home() == str(tmp_path), "what is guarded against"
    home = spark_home()
    assert (home / "bin" / "spark-submit").is_file() and not home.is_relative_to(tmp_path)


@pytest.mark.cluster
@pytest.mark.slow
def test_executors_of_spark(ground: Ground) -> None:
    program = [
        sys.executable,
        ground.tool,
        "check",
        f"{ground.spec}::violated",
        "--engine",
        "spark",
    ]
    done = plain(program, ground.here)
    assert ground.ran() == "", done.stderr
    assert done.returncode == 0, done.stderr

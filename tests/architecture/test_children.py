"""Processes are started in few places, and a Python only as ``checker.engines.python_children``
does: never with the current folder in its import path."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTS = {
    "Popen", "ProcessPoolExecutor", "Process", "Pool", "call", "check_call", "check_output", "run",
    "create_subprocess_exec", "create_subprocess_shell", "execv", "execve", "execvp", "fork",
    "get_context", "getoutput", "popen", "posix_spawn", "set_start_method", "spawnv", "spawnve",
    "subprocess_exec", "system",
}  # fmt: skip
OWNERS = {"subprocess", "multiprocessing", "os", "asyncio", "concurrent"}
OTHERS = {"asyncio.run", "asyncio.Process"}
"""Which start none."""
PYTHON = "checker/engines/python_children.py"
FORK = "os.fork"
PLACES = {
    "checker/assist/commands.py": "subprocess.Popen",
    "checker/cli/assistant_worker.py": FORK,
    "checker/cli/daemon.py": "subprocess.Popen",
    "checker/cli/daemon_server.py": FORK,
    "checker/cli/supervisor.py": FORK,
    "checker/cli/watch.py": "subprocess.Popen",
    "checker/harness/runtime/hook_process.py": FORK,
    "checker/harness/runtime/judge.py": "subprocess.run",
    "checker/harness/runtime/processes.py": "os.fork subprocess.Popen",
    "checker/editor/runs.py": "asyncio.create_subprocess_exec",
    "checker/engines/native/sharding/process_pool.py":
        "concurrent.ProcessPoolExecutor multiprocessing.get_context",
    "checker/engines/spark/java.py": "subprocess.run",
    "checker/engines/spark/java_process.py": "subprocess.Popen",
    "checker/mutate/changed_lines.py": "subprocess.run",
    "checker/engines/spark/standalone.py": "subprocess.Popen",
    "checker/sweep/local.py": "multiprocessing.get_context",
}  # fmt: skip
"""All modules that start processes, and by which functions.  ``java.py``, ``java_process.py`` and
``standalone.py`` start no Python, ``changed_lines.py`` starts git, and a fork imports nothing anew.
A harness, once exported, starts what its user's hooks and its schedule say."""


@cache
def files() -> list[tuple[str, ast.Module]]:
    """The modules that may start processes, with their syntax trees."""
    texts = {path: path.read_text("utf-8") for path in sorted((ROOT / "checker").rglob("*.py"))}
    words = (*OWNERS - {"os"}, "import os", "from os", "sys.executable")
    return [
        (path.relative_to(ROOT).as_posix(), ast.parse(text))
        for path, text in texts.items()
        if any(word in text for word in words)
    ]


def starts(tree: ast.Module) -> set[str]:
    """The functions that start processes and are named in a module, however it imports them."""
    packages: dict[str, str] = {}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                packages[each.asname or each.name.partition(".")[0]] = each.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.module:
            owner = node.module.partition(".")[0]
            if owner in OWNERS:
                found |= {f"{owner}.{each.name}" for each in node.names if each.name in STARTS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in STARTS:
            inner = node.value
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            owner = packages.get(inner.id) if isinstance(inner, ast.Name) else None
            if owner in OWNERS and f"{owner}.{node.attr}" not in OTHERS:
                found.add(f"{owner}.{node.attr}")
    return found


def test_processes_are_started_in_few_places() -> None:
    found = {name: " ".join(sorted(starts(tree))) for name, tree in files() if starts(tree)}
    assert found == PLACES


@pytest.mark.parametrize("place", PLACES)
def test_a_python_is_started_by_its_owner(place: str) -> None:
    text = (ROOT / place).read_text("utf-8")
    assert (
        place.startswith("checker/engines/spark/")
        or place == "checker/mutate/changed_lines.py"
        or place.startswith("checker/harness/runtime/")
        or PLACES[place] == FORK
        or "from checker.engines.python_children import" in text
    )


def test_nobody_else_writes_the_command_line_of_a_python() -> None:
    """``sys.executable`` beside it is compared with what executors have, and not started."""
    of_spark = {f"checker/engines/spark/{name}.py" for name in ("java_process", "session", "probe")}
    known = {PYTHON, *of_spark}
    named = {
        name
        for name, tree in files()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "executable"
        and isinstance(node.value, ast.Name) and node.value.id == "sys"
    }  # fmt: skip
    assert named == known


def test_the_action_starts_python_with_a_safe_path() -> None:
    """The folder of a workspace may have one called ``pip``."""
    text = (ROOT / "action.yml").read_text("utf-8")
    starts = [line for line in text.splitlines() if "python -" in line or "python3" in line]
    assert starts and all("python -P -m" in line for line in starts)
    assert "entry: bivalence " in (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")

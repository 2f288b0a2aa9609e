"""How an example makes counterexamples of its spec happen: with a system that has the fault, and
with one that has not.

`python examples/NAME/COMMAND.py` prints a line for each scene and system; with names of scenes,
for those alone; `--times 10` counts in how many of ten runs it happened, one try each; `--report`
prints what the harness prints.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checker.cli.main import main as command

HAPPENED, WRONG, NOT_SEEN = 1, 2, 3
"""Exit codes of a harness."""


@dataclass(frozen=True)
class Played:
    """What a harness printed, and its exit code."""

    code: int
    said: str


@dataclass(frozen=True)
class Scene:
    """``check``: whose counterexample is played; ``right``: the check to which the logs of the
    right system are held; ``with_fault``, ``without``: what tells the hooks which system it is, as
    variables of the environment."""

    check: str
    right: str
    with_fault: Mapping[str, str]
    without: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """``scenes``: by name; ``hooks``: the file; ``names``: the file of the mapping of its logs."""

    spec: Path
    hooks: Path
    scenes: Mapping[str, Scene]
    names: Path | None = None


def harness(check: str, folder: Path, spec: Path, names: Path | None = None) -> Path:
    """Writes the harness of a check's counterexample below ``folder``, and returns its folder."""
    trace, out = folder / f"{check}.json", folder / check
    found = ["check", f"{spec}::{check}", "--quiet", "--no-explain", "--trace-out", str(trace)]
    with contextlib.redirect_stdout(io.StringIO()):
        command(found)
        command(["export", str(trace), "--to", "harness", str(out)])
    if names is not None:
        (out / "names.toml").write_bytes(names.read_bytes())
    return out


def play(folder: Path, hooks: Path, environment: Mapping[str, str], *more: str) -> Played:
    """Plays a harness; ``more``: its options."""
    words = [sys.executable, str(folder / "run.py"), "--hooks", str(hooks), *more]
    done = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    return Played(done.returncode, done.stdout + done.stderr)


def played(example: Example, name: str, folder: Path, fault: bool, *more: str) -> Played:
    """Plays a scene, with the fault or without it; the logs are below ``folder`` then."""
    scene = example.scenes[name]
    made = folder / scene.check
    if not made.exists():
        harness(scene.check, folder, example.spec, example.names)
    held = () if fault else ("--spec", f"{example.spec}::{scene.right}")
    environment = scene.with_fault if fault else scene.without
    return play(made, example.hooks, environment, *held, *more)


def end_by_signals() -> None:
    """Ctrl-C and SIGTERM end the command, and the harness that it plays."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit("ended"))


def tell(example: Example, arguments: Sequence[str] | None = None) -> int:
    """Plays scenes as the command line says; returns 0 if all ended as they should, else 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scene", nargs="*", choices=[[], *example.scenes])
    parser.add_argument("--times", type=int, default=0, metavar="N")
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args(arguments)
    end_by_signals()
    right = True
    for name in asked.scene or example.scenes:
        with tempfile.TemporaryDirectory() as scratch:
            for fault in (True, False):
                right &= _told(example, name, Path(scratch), fault, asked)
    return 0 if right else 1


def _told(
    example: Example, name: str, folder: Path, fault: bool, asked: argparse.Namespace
) -> bool:
    """Prints what comes of a scene; returns whether that is as it should be."""
    expected = HAPPENED if fault else NOT_SEEN
    system = f"{name}, {'with the fault' if fault else 'without it'}"
    if asked.times:
        each = [played(example, name, folder, fault, "--tries", "1") for _ in range(asked.times)]
        happened = sum(one.code == HAPPENED for one in each)
        print(f"{system}: it happened in {happened} of {asked.times} tries", flush=True)
        return {one.code for one in each} == {expected}
    found = played(example, name, folder, fault, *(() if fault else ("--tries", "1")))
    last = found.said.strip().splitlines()[-1]
    print(found.said if asked.report else f"{system}: {last}", flush=True)
    return found.code == expected

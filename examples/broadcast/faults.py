"""The counterexamples of wrong broadcasts, made to happen in real processes.

For each fault of `node.py` the checker finds a run of the spec that has the same fault
(`faults.bcast`); it is exported as a harness, and played with the wrong code and with the right
one.
`python examples/broadcast/faults.py` prints a line for each; with names of faults, for those alone.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from checker.cli.main import main as command  # noqa: E402

SPEC = HERE / "faults.bcast"
RIGHT = {
    "no_relay": "--relay",
    "relay_in_own_name": "--relay",
    "seen_not_asked": "--relay",
    "seen_lost": "--relay --disk NODE.seen",
    "no_lock": "--relay --disk NODE.seen",
    "majority_off_by_one": "--majority",
}
"""The options of `node.py` without each fault, which is the name of a check, too."""
HAPPENED, NOT_SEEN = 1, 3


@dataclass(frozen=True)
class Played:
    """What a harness printed, and its exit code."""

    code: int
    said: str


def harness(fault: str, folder: Path, spec: Path = SPEC) -> Path:
    """Writes the harness of a fault's counterexample below ``folder``, and returns its folder."""
    trace, out = folder / f"{fault}.json", folder / fault
    found = ["check", f"{spec}::{fault}", "--quiet", "--no-explain", "--trace-out", str(trace)]
    with contextlib.redirect_stdout(io.StringIO()):
        command(found)
        command(["export", str(trace), "--to", "harness", str(out)])
    return out


def play(folder: Path, options: str, *more: str) -> Played:
    """Plays a harness with nodes that have ``options``."""
    words = [sys.executable, str(folder / "run.py"), "--hooks", str(HERE / "hooks.py"), *more]
    environment = {**os.environ, "BROADCAST_OPTIONS": options}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return Played(done.returncode, done.stdout + done.stderr)


def tell(fault: str, folder: Path) -> bool:
    """Prints what the wrong code and the right code do; returns whether that is as expected."""
    made = harness(fault, folder)
    wrong = play(made, f"{RIGHT[fault]} --fault {fault}")
    right = play(made, RIGHT[fault], "--tries", "1")
    for name, played in (("with the fault", wrong), ("without it", right)):
        print(f"{fault}, {name}: {played.said.strip().splitlines()[-1]}", flush=True)
    return (wrong.code, right.code) == (HAPPENED, NOT_SEEN)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        found = [tell(fault, Path(scratch)) for fault in sys.argv[1:] or RIGHT]
    sys.exit(0 if all(found) else 1)

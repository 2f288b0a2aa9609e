"""The tool judges what happened: `conform` says whether the spec allows it, `audit` whether
the property holds, or `judge` if it is about what clients see of an object."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .failures import last_line

LIMIT = 300.0
"""Seconds that a verdict may take."""
HOLDS, VIOLATED, UNKNOWN, VACUOUS = 0, 1, 3, 4
WORDS = {HOLDS: "holds", VIOLATED: "is VIOLATED", UNKNOWN: "is unknown", VACUOUS: "is vacuous"}

MARKS = {
    HOLDS: b"HOLDS CONFORMS", VIOLATED: b"VIOLATED DOES", UNKNOWN: b"UNKNOWN PENDING HOLDS",
    VACUOUS: b"VACUOUS",
}  # fmt: skip
"""Words of a report of which one has to be there: other programs exit with these codes, too."""


@dataclass(frozen=True)
class Verdict:
    """The verdict of a command: its exit code, or why it has none."""

    code: int
    why: str = ""


def history(logs: Sequence[Path], into: Path) -> str:
    """Writes calls and returns of all ``logs`` into one history, in the order of their times: all
    nodes read the same clock.  Returns why that can't be done, or nothing."""
    rows = []
    for log in logs:
        for number, line in enumerate(log.read_text("utf-8").splitlines(), 1):
            with contextlib.suppress(ValueError):
                row = json.loads(line)
                if not isinstance(row, dict) or row.get("kind") not in ("request", "indicate"):
                    continue
                if not isinstance(row.get("ts"), int | float):
                    return f"{log.name}, line {number} has no `ts`, which orders calls"
                rows.append(row)
    rows.sort(key=lambda row: row["ts"])
    numbered = ({**row, "pos": number} for number, row in enumerate(rows, 1))
    into.write_text("".join(json.dumps(row) + "\n" for row in numbered), "utf-8")
    return ""


def judged(commands: Sequence[tuple[Sequence[str], Path]]) -> list[Verdict]:
    """Runs commands of the tool in parallel; the output of each goes to the file given with it."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda each: _judged(*each), commands))


def _judged(command: Sequence[str], report: Path) -> Verdict:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Verdict(2, str(getattr(problem, "strerror", None) or "it took too long"))
    report.write_bytes(done.stdout + done.stderr)
    marks = MARKS.get(done.returncode, b"").split()
    if done.returncode in WORDS and any(mark in done.stdout for mark in marks):
        return Verdict(done.returncode)
    said = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
    errors = [line for line in said if line.startswith("error") or ": error[" in line]
    return Verdict(2, errors[0] if errors else last_line("\n".join(said)))

"""Processes, measured from outside: wall clock and peak memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COMPILER = os.environ.get("CC", "cc")


class ProcessFailed(Exception):
    """A command came to a bad end; the message holds the end of what it said."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended well: wall-clock seconds, peak memory in bytes, what it printed, its
    exit status, and seconds of all processors."""

    seconds: float
    peak: int
    output: str
    status: int = 0
    cpu: float = 0.0


class Stopwatch:
    """Runs commands under the C program ``measure.c``, which is built once, into ``folder``."""

    def __init__(self, folder: Path) -> None:
        if shutil.which(COMPILER) is None:
            raise ProcessFailed(f"no C compiler: {COMPILER} is not installed")
        self._folder = folder
        self._program = folder / "measure"
        source = Path(__file__).with_name("measure.c")
        command = [COMPILER, "-O2", "-o", str(self._program), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ProcessFailed(f"{' '.join(command)}: {done.stderr}")

    def run(
        self,
        command: Sequence[str],
        cwd: Path,
        good: Collection[int] = (0,),
        settings: Mapping[str, str] | None = None,
    ) -> Finished:
        """Runs ``command`` in the folder ``cwd``; a status not in ``good`` raises ProcessFailed.

        ``settings``: variables of its environment, beside those of ours.
        """
        report = self._folder / "report"
        done = subprocess.run(
            [str(self._program), str(report), *command],
            cwd=cwd,
            env={**os.environ, **(settings or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        said = (done.stdout + done.stderr)[-2000:]
        if done.returncode != 0:
            raise ProcessFailed(f"{' '.join(command)}: {said}")
        seconds, peak, status, cpu = report.read_text().split()
        if int(status) not in good:
            raise ProcessFailed(f"{' '.join(command)} ended with status {status}: {said}")
        return Finished(float(seconds), int(peak), done.stdout, int(status), float(cpu))

"""Runs checks for an editor: each in a process of its own, ended when its text changes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from checker.engines.python_children import command
from checker.formats.json_format import reports_of
from checker.results.verdict import Word

RUNNING, DONE, FAILED = "running", "done", "failed"
COMMANDS = {"check": "check", "prove": "prove", "coverage": "check"}
"""What can be run of a check, and the command that does it."""
_OPTIONS: dict[str, tuple[str, ...]] = {"coverage": ("--coverage",)}


class Outcome(Struct, frozen=True):
    """What is known of a check, or that it runs; ``report``: the JSON object that the command has
    written; ``said``: why there is none."""

    what: str
    state: str
    report: dict[str, Any] = field(default_factory=dict)
    said: str = ""

    @property
    def is_as_expected(self) -> bool:
        """Whether the run ended, and everything is as the check expects."""
        return self.state == DONE and self.report.get("exit_code") == 0

    def line(self) -> str:
        """Returns the outcome in a line: verdicts, states, time."""
        if self.state != DONE:
            return {RUNNING: f"{self.what} …"}.get(self.state, f"{self.what}: {self.said}")
        mark = "✓" if self.is_as_expected else "✗"
        words = ", ".join(f"{v['property']} {_word(v)}" for v in self.report["verdicts"])
        states = self.report.get("distinct_states", 0)
        size = f"{states:,} states, " if states else ""
        seconds = self.report.get("seconds") or (self.report.get("proof") or {}).get("seconds", 0)
        return f"{mark} {words or 'nothing was asked'} ({size}{seconds:.2f} s)"

    def traces(self) -> list[dict[str, Any]]:
        """Returns the trace documents of what is violated."""
        return [v["trace"] for v in self.report.get("verdicts", ()) if v.get("trace")]


def _word(verdict: dict[str, Any]) -> str:
    within = f" within {verdict['within']}" if verdict.get("within") else ""
    if verdict["verdict"] == Word.BOUNDED:
        return f"holds up to {verdict['up_to']}{within}"
    return f"holds{within}" if verdict["verdict"] == Word.WITHIN else str(verdict["verdict"])


Key = tuple[Path, str]
"""A file and the name of a check in it."""


class Runs:
    """The runs of an editor's session; ``changed`` is called when the outcome of a file's checks
    has changed."""

    def __init__(self, changed: Callable[[Path], Awaitable[None]]) -> None:
        self._changed = changed
        self._outcomes: dict[Key, Outcome] = {}
        self._processes: dict[Key, asyncio.subprocess.Process] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    def of(self, path: Path, check: str) -> Outcome | None:
        """Returns the last outcome of a check; ``None`` where it was not run on this text."""
        return self._outcomes.get((path, check))

    def start(self, path: Path, check: str, what: str) -> asyncio.Task[None]:
        """Runs ``what`` (of ``COMMANDS``) of a check of the file as it is on disk; a run of the
        same check is ended before."""
        key = path, check
        self._end(key)
        self._outcomes[key] = Outcome(what, RUNNING)
        self._tasks[key] = asyncio.ensure_future(self._run(key, what))
        return self._tasks[key]

    def forget(self, path: Path) -> None:
        """Ends the runs of a file whose text has changed, and forgets their outcomes."""
        for key in [key for key in self._outcomes if key[0] == path]:
            self._end(key)
            del self._outcomes[key]

    def end(self) -> None:
        """Ends all runs."""
        for key in [*self._processes]:
            self._end(key)

    async def _run(self, key: Key, what: str) -> None:
        await self._changed(key[0])
        words = (*COMMANDS[what].split(), f"{key[0]}::{key[1]}", "--json", "-", "--quiet")
        process = await asyncio.create_subprocess_exec(
            *command(*words, *_OPTIONS.get(what, ())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        self._processes[key] = process
        try:
            out, said = await process.communicate()
        finally:
            _kill(process)
            if self._processes.get(key) is process:
                del self._processes[key]
        if self._tasks.get(key) is asyncio.current_task():
            self._outcomes[key] = _outcome(what, out, said)
            await self._changed(key[0])

    def _end(self, key: Key) -> None:
        task = self._tasks.pop(key, None)
        process = self._processes.pop(key, None)
        if process is not None:
            _kill(process)
        if task is not None and task is not asyncio.current_task():
            task.cancel()


def _kill(process: asyncio.subprocess.Process) -> None:
    """Ends a process and those that it has started."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _outcome(what: str, out: bytes, said: bytes) -> Outcome:
    try:
        (report,) = reports_of(out.decode("utf-8", "replace"))
        return Outcome(what, DONE, report)
    except (ValueError, TypeError):
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return Outcome(what, FAILED, {}, lines[0] if lines else "it ended without a report")

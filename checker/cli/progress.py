"""How far a search came, on stderr: a line that changes on a terminal, now and then one elsewhere.

Nothing is said about searches that take less than a second.
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.status import Status

    from checker.witness.answer import Progress

QUIET = 1.0
"""Seconds before anything is said."""
EVERY = 5.0
"""Seconds between two lines where stderr is no terminal."""


class Meter(AbstractContextManager["Meter"]):
    """A listener for an exploration; used as a context so that its line goes away at the end."""

    def __init__(self, what: str, *, silent: bool = False, terminal: bool | None = None) -> None:
        self._what = what
        self._silent = silent
        self._terminal = sys.stderr.isatty() if terminal is None else terminal
        self._status: Status | None = None
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        if self._silent or progress.seconds < QUIET:
            return
        if self._terminal:
            self._update(self._line(progress))
        elif time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            click.echo(self._line(progress), err=True)

    def _line(self, progress: Progress) -> str:
        if progress.phase:
            seconds = f"{progress.seconds:.0f} s"
            return f"{self._what}: {progress.states:,} states, {progress.phase}, {seconds}"
        rate = progress.states / progress.seconds
        memory = f", {progress.memory / (1 << 20):,.0f} MiB" if progress.memory else ""
        return (
            f"{self._what}: {progress.states:,} states, depth {progress.depth},"
            f" frontier {progress.frontier:,}, {rate:,.0f} states/s{memory},"
            f" {progress.seconds:.0f} s"
        )

    def _update(self, line: str) -> None:
        from rich.console import Console
        from rich.text import Text

        if self._status is None:
            self._status = Console(stderr=True).status(Text(line))
            self._status.start()
        else:
            self._status.update(Text(line))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

"""Shows the progress of a search on stderr: a line that changes on a terminal, elsewhere a line
from time to time.

Searches of less than a second show nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from checker.cli import console
from checker.diagnostics.english import count
from checker.diagnostics.visible import visible
from checker.polling import poll

if TYPE_CHECKING:
    from rich.status import Status

    from checker.results.answer import Progress

QUIET = 1.0
"""Seconds before anything is shown."""
EVERY = 5.0
"""Seconds between two lines where stderr is no terminal."""
SPINNER = 3
"""Columns on a terminal beside the text of the line."""
SHOWN = 2
"""The largest number of parallel searches whose progress is shown."""


class _Line:
    """The progress line of ``what``; a context that removes the line at the end."""

    def __init__(self, what: str, *, silent: bool = False, terminal: bool | None = None) -> None:
        self._what = what
        self._silent = silent
        self._terminal = sys.stderr.isatty() if terminal is None else terminal
        self._status: Status | None = None
        self._last = 0.0

    def __enter__(self) -> Self:
        return self

    def _say(self, line: str) -> None:
        if self._terminal:
            self._update(line)
        elif time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            console.print_note(line)

    def _tell(self, line: str) -> None:
        """Prints a line that stays."""
        if self._status is None:
            console.print_note(line)
        else:
            self._status.console.print(line, markup=False, highlight=False)

    def _update(self, line: str) -> None:
        from rich.console import Console
        from rich.text import Text

        console = self._status.console if self._status is not None else Console(stderr=True)
        text = Text(fit(visible(line), self._what, console.width - SPINNER))
        if self._status is None:
            self._status = console.status(text)
            self._status.start()
        else:
            self._status.update(text)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def fit(line: str, what: str, room: int) -> str:
    """Returns ``line`` cut to ``room`` columns; the folders of ``what``, which it begins with, are
    the first to go."""
    from checker.render.terminal.columns import shorten

    if len(line) > room:
        line = what.rpartition("/")[2] + line.removeprefix(what)
    return shorten(line, room)


class Meter(_Line):
    """Shows the progress of an exploration; its listener.

    Until the first progress it shows that the search is being prepared: the system is instantiated,
    planned and compiled.  If no progress follows for some seconds, it shows the last one again,
    with the time.
    """

    def __init__(self, what: str, *, silent: bool = False, terminal: bool | None = None) -> None:
        super().__init__(what, silent=silent, terminal=terminal)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._heard: Progress | None = None
        self._since = time.monotonic()

    def __enter__(self) -> Self:
        if not self._silent:
            threading.Thread(target=self._repeat, name="progress", daemon=True).start()
        return super().__enter__()

    def __call__(self, progress: Progress) -> None:
        with self._lock:
            if progress.news and not self._silent:
                self._tell(f"{self._what}: {progress.phase}, {progress.seconds:.0f} s")
                return
            self._heard, self._since = progress, time.monotonic()
            if not self._silent and progress.seconds >= QUIET:
                self._say(self._line(progress))

    def __exit__(self, *given: Any) -> None:
        with self._lock:
            self._over.set()
            super().__exit__(*given)

    def _repeat(self) -> None:
        """Shows what was heard last, with the time that has passed since."""
        from checker.records import replace

        while not self._over.wait(QUIET if self._terminal else EVERY):
            with self._lock:
                heard, passed = self._heard, time.monotonic() - self._since
                if self._over.is_set():
                    return
                if heard is None:
                    self._say(f"{self._what}: preparing, {passed:.0f} s")
                elif passed >= EVERY and heard.seconds + passed >= QUIET:
                    self._say(self._line(replace(heard, seconds=heard.seconds + passed)))

    def _line(self, progress: Progress) -> str:
        if progress.phase:
            seconds = f"{progress.seconds:.0f} s"
            states = f"{progress.states:,} states, " if progress.states else ""
            return f"{self._what}: {states}{progress.phase}, {seconds}"
        rate = progress.states / progress.seconds
        memory = f", {progress.memory / (1 << 20):,.0f} MiB" if progress.memory else ""
        return (
            f"{self._what}: {progress.states:,} states, depth {progress.depth},"
            f" frontier {progress.frontier:,}, {rate:,.0f} states/s{memory},"
            f" {progress.seconds:.0f} s{_foretold(progress)}"
        )


def _foretold(progress: Progress) -> str:
    if progress.forecast is None:
        return ""
    from checker.render.terminal.amounts import foretold

    return f"; {foretold(progress.forecast)}"


class Count(_Line):
    """Shows how many of ``total`` searches are done, for how long, and the progress of some others;
    ``noun``: what one of them is called."""

    def __init__(
        self,
        what: str,
        total: int,
        noun: str = "cell",
        *,
        silent: bool = False,
        terminal: bool | None = None,
    ) -> None:
        super().__init__(what, silent=silent, terminal=terminal)
        self._total = total
        self._noun = noun
        self._started = time.monotonic()

    def count(self, done: int, others: Sequence[str]) -> None:
        """Shows that ``done`` searches are complete, and polls; ``others``: further text."""
        poll()
        took = time.monotonic() - self._started
        if not self._silent and took >= QUIET:
            of_all = f"{done} of {count(self._total, self._noun)}"
            told = "".join(f"; {other}" for other in others[:SHOWN])
            self._say(f"{self._what}: {of_all}, {took:.0f} s{told}")


class Phases(_Line):
    """Shows which phase of a computation is under way, and how far it is."""

    def __init__(self, what: str, *, silent: bool = False, terminal: bool | None = None) -> None:
        super().__init__(what, silent=silent, terminal=terminal)
        self._started = time.monotonic()

    def __call__(self, phase: str, rows: int) -> None:
        """Shows ``phase``, and how many ``rows`` it has been through, if that is known."""
        took = time.monotonic() - self._started
        if not self._silent and took >= QUIET:
            far = f" {count(rows, 'row')}," if rows else ""
            self._say(f"{self._what}: {phase},{far} {took:.0f} s")

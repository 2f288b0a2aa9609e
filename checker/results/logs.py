"""The contents of a log of a real run, for a report."""

from __future__ import annotations

from msgspec import Struct

from checker.results.domains import Natural, Text


class LoggedProcess(Struct, frozen=True):
    """A process and its log: how many ``rows`` it has, whether the process is ``correct`` as far
    as is known, and why the log is not complete, if so (``gaps``)."""

    run: str
    process: Text
    rows: Natural
    correct: bool
    gaps: tuple[Text, ...] = ()


class LogSummary(Struct, frozen=True):
    """A log: its ``files`` and ``rows``, of which kinds these are, and the processes of all runs.

    ``scope``: what was left out on demand, in words; ``seconds`` for reading it are ``reading``;
    ``violations``: the file that has all of them, if one was asked for; ``not_asked``: properties
    of the interface that could not be asked, with the reason.
    """

    files: Natural
    rows: Natural
    runs: Natural
    processes: tuple[LoggedProcess, ...]
    kinds: tuple[tuple[Text, Natural], ...] = ()
    scope: str = ""
    reading: float = 0.0
    violations: str = ""
    not_asked: tuple[Text, ...] = ()

"""What ends a run early: a mistake in the setup, or a system that does something else."""

from __future__ import annotations


class CannotRun(Exception):
    """The harness can't run as it is set up; ``code``: the page that ``bivalence diagnostic``
    shows."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class AnotherWay(Exception):
    """The system did something else than the trace: the message says what is missing."""


def last_line(text: str) -> str:
    """Returns the last line of ``text`` that is not blank, or empty text."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""

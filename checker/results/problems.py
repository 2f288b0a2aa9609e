"""Diagnostics as records of documents."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from checker.diagnostics import Diagnostic
from checker.results.domains import Natural, OneOf


class Problem(Struct, frozen=True):
    """A diagnostic: its stable ``code``, the place from ``line`` and ``column`` to just before
    ``end_line`` and ``end_column``, what was ``expected``, and a ``hint``, both perhaps empty.

    Line 0: ``file`` is an option of the command line, or empty where the problem has no place.
    """

    code: str
    severity: Annotated[str, OneOf(("error", "warning"))]
    message: str
    file: str = ""
    line: Natural = 0
    column: Natural = 0
    end_line: Natural = 0
    end_column: Natural = 0
    expected: str = ""
    hint: str = ""


def problem_of(found: Diagnostic) -> Problem:
    """Returns a diagnostic as a record."""
    span = found.span
    where = (
        ("", 0, 0, 0, 0)
        if span is None
        else (span.file, span.line, span.column, span.end_line, span.end_column)
    )
    return Problem(
        found.code,
        found.severity,
        found.message,
        *where,
        expected=found.expected,
        hint=found.hint,
    )

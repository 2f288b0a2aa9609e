"""Finds the rows in the objects and lines of a log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as File
from typing import Any

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.logs.content import STDIN, Content, Unreadable, beginning
from checker.logs.mapping import LogMapping
from checker.logs.objects import decoded, lines, parse
from checker.logs.otlp import RESOURCES, SPANS
from checker.logs.paths import Entry, rows_of

_SPANS = rows_of(SPANS)
LONGEST = 100_000
"""The largest number of characters of a line that an expression is matched with."""


def stem_of(file: str) -> str:
    """Returns the name of a file without folders and suffixes."""
    name = "stdin" if file == STDIN else File(file).name
    return name.partition(".")[0]


def is_otlp(given: Mapping[Any, Any]) -> bool:
    """Returns whether an object is one of OTLP's JSON."""
    return RESOURCES in given


class Entries(Struct):
    """The rows of one file, whose name without suffixes is ``stem``; ``number``: how many so
    far."""

    mapping: LogMapping
    stem: str
    number: int = 0

    def parsed(self, text: str, line: int) -> dict[str, Any]:
        """Returns the object that ``text`` is, as :func:`parse` does."""
        has_rows = self.mapping.rows is not None or RESOURCES in text
        return parse(text, line, has_rows=has_rows)

    def of(self, given: Mapping[Any, Any], line: int) -> Iterator[Entry]:
        """Yields the rows that an object is or has, which begins in the line ``line``; raises
        :class:`Unreadable`."""
        where = self.mapping.rows
        if where is None and is_otlp(given):
            where = _SPANS
        if where is None:
            yield self.one(given, line)
            return
        try:
            scopes = where.of(given)
        except ValueError as problem:
            raise Unreadable(f"`{problem}` is not a list of objects", line) from None
        for scope in scopes:
            self.number += 1
            yield Entry(scope, self.stem, getattr(scope[0], "line", line), self.number)

    def one(self, row: Mapping[Any, Any], line: int) -> Entry:
        """Returns the row that an object is."""
        self.number += 1
        return Entry((row,), self.stem, line, self.number)


class Matched(Struct):
    """The lines of a text that are rows, by ``pattern``; ``others``: how many are not and are not
    blank, the first of which is ``first``; ``cut``: a last line without an end, which is left
    out."""

    file: str
    pattern: re.Pattern[str]
    others: int = 0
    first: int = 0
    cut: int = 0

    def rows(self, data: Content) -> Iterator[tuple[int, dict[str, str]]]:
        """Yields the named groups of each line that matches, with its number; raises
        :class:`Unreadable`."""
        for number, line in lines(data, beginning(data)):
            if not line.endswith(b"\n") and line.strip():
                self.cut = number
                return
            text = decoded(line, number).rstrip("\r\n")
            if len(text) > LONGEST:
                raise Unreadable(f"this line is longer than {LONGEST:,} characters", number)
            found = self.pattern.search(text)
            if found is not None:
                yield number, {k: v for k, v in found.groupdict().items() if v is not None}
            elif text.strip():
                self.others += 1
                self.first = self.first or number

    def warnings(self, rows: int) -> tuple[Diagnostic, ...]:
        """Returns what is to be said of lines that do not match (E098) and of one that is cut
        (E085); raises :class:`SpecError` (E098) where there are ``rows`` of none."""
        found = []
        if self.others:
            more = f"; {self.others:,} lines do not" if self.others > 1 else ""
            message = f"skipped: this line does not match `lines` of the mapping{more}"
            severity = "warning" if rows else "error"
            hint = "" if rows else "no line of this file matches"
            place = _line(self.file, self.first)
            found.append(Diagnostic("E098", message, place, hint=hint, severity=severity))
            if not rows:
                raise SpecError(tuple(found))
        if self.cut:
            message = "the last line has no end and is ignored: it may be incomplete"
            place = _line(self.file, self.cut)
            found.append(Diagnostic("E085", message, place, severity="warning"))
        return tuple(found)


def _line(file: str, number: int) -> Span:
    return Span(file, number, 1, number, 1 << 20)

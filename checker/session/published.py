"""Published numbers of models by other authors, and those of the library's specs.

A table has one row for each published number: which check of the library says the same, or why
none does.  It is a text of lines with cells separated by tabs; ``-`` is an empty cell.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from msgspec import Struct, structs

from checker import resources
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.engines.budgets import BudgetExhausted
from checker.engines.options import Options
from checker.language.reading import decoded
from checker.results.verdict import PropertyVerdict, Report, Word
from checker.session.pipeline import run_check

LARGEST = 16_000_000
"""The largest size of a table, in bytes."""

NOTHING = "-"
SURELY = "True"
"""The published value of what happens almost surely."""


class Cells(Struct, frozen=True):
    """A line of a table: its ``cells`` by column, and where it is."""

    path: Path
    number: int
    line: str
    cells: dict[str, str]

    def error(self, message: str) -> SpecError:
        """Returns the error (E124) of this line."""
        return _error(self.path, self.number, self.line, message)

    def natural(self, column: str) -> int | None:
        """Returns the number in a cell, ``None`` for an empty one; raises ``SpecError`` (E124)."""
        text = self.cells[column]
        if text == NOTHING:
            return None
        if not text.isdecimal():
            raise self.error(f"`{text}` in column `{column}` is not a natural number")
        return int(text)


def lines_of(path: Path, required: Sequence[str]) -> Iterator[Cells]:
    """Yields the lines below the header of the table ``path``.

    Raises :class:`SpecError`: E001 where the file can't be read, E124 where the header has not all
    ``required`` columns, or a line not as many cells as the header.
    """
    text = decoded(path, lambda each: resources.regular(each, LARGEST))
    head, *rows = text.split("\n")
    columns = head.split("\t")
    for column in required:
        if column not in columns:
            raise _error(path, 1, head, f"the table has no column `{column}`")
    for number, row in enumerate(rows, start=2):
        if not row.strip():
            continue
        cells = row.split("\t")
        if len(cells) != len(columns):
            raise _error(path, number, row, f"{len(cells)} cells in {len(columns)} columns")
        yield Cells(path, number, row, dict(zip(columns, cells, strict=True)))


def _error(path: Path, number: int, row: str, message: str) -> SpecError:
    span = Span(str(path), number, 1, number, len(row) + 1)
    return SpecError((Diagnostic("E124", message, span),))


class PublishedNumber(Struct, frozen=True):
    """A number that somebody published of a ``model``.

    ``about`` and ``value``: a probability, an expected value, or ``True`` for what happens
    almost surely; both are empty where the number of ``states`` itself is compared, and ``depth``.
    ``check``: `FILE::NAME` in the library, with ``settings`` and the reductions ``reduce`` that the
    source counts with; ``question``: the expectation of the check, without its bound.  ``note``:
    why there is no check, or why its number of states differs from the source's.
    """

    line: Cells
    model: str
    states: int | None
    depth: int | None
    about: str
    value: str
    check: str
    settings: dict[str, str]
    reduce: str
    question: str
    note: str

    @property
    def published(self) -> str:
        """The published number, in words."""
        return self.value or (NOTHING if self.states is None else str(self.states))

    @property
    def run(self) -> tuple[str, ...]:
        """Identifies the run of the check: numbers with the same one are of one run."""
        given = (f"{name}={value}" for name, value in self.settings.items())
        return (self.check, self.reduce, *given)


LONGEST = 20
"""A longer value is shown as a decimal fraction."""


def short(value: str) -> str:
    """Returns ``value`` in few letters: a long fraction as digits, cut off behind the twelfth."""
    return value if len(value) <= LONGEST else f"{float(Fraction(value)):.12g}…"


COLUMNS = (
    "model", "states", "depth", "property", "value", "check", "set", "reduce", "question", "note",
)  # fmt: skip


def read_numbers(path: Path) -> list[PublishedNumber]:
    """Returns the rows of the table ``path``; raises :class:`SpecError` (E001, E124)."""
    return [_number(line) for line in lines_of(path, COLUMNS)]


def _number(line: Cells) -> PublishedNumber:
    cells = {name: "" if text == NOTHING else text for name, text in line.cells.items()}
    if cells["value"] and cells["value"] != SURELY:
        try:
            Fraction(cells["value"])
        except (ValueError, ZeroDivisionError):
            raise line.error(f"`{cells['value']}` is not a number") from None
    number = PublishedNumber(
        line, cells["model"], line.natural("states"), line.natural("depth"), cells["property"],
        cells["value"], cells["check"], _settings(line), cells["reduce"] or "none",
        cells["question"], cells["note"],
    )  # fmt: skip
    if not number.check and not number.note:
        raise line.error("there is neither a check nor a note that says why not")
    if number.check and number.published == NOTHING:
        raise line.error("there is a check, but no published number")
    return number


def _settings(line: Cells) -> dict[str, str]:
    text = line.cells["set"]
    words = [] if text == NOTHING else text.split(" ")
    if any("=" not in word for word in words):
        raise line.error(f"`{text}` in column `set` is not a list of NAME=VALUE")
    return dict(word.split("=", 1) for word in words)


class Compared(Struct, frozen=True):
    """A published number beside that of the library: ``ours``, empty where it was not found.

    ``same``: whether they agree, and the published depth is not exceeded.  TLC counts it in states,
    and reports more than the depth if several workers searched.  ``states``, ``depth`` (in steps)
    and ``seconds`` are of our run.
    """

    number: PublishedNumber
    ours: str
    same: bool
    states: int
    depth: int
    seconds: float

    @property
    def word(self) -> str:
        """The outcome in words."""
        if not self.ours:
            return "not decided"
        return "as published" if self.same else "differs"


class Comparison:
    """Compares numbers one by one; numbers of the same run are computed once."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._reports: dict[tuple[str, ...], Report | None] = {}
        self._seconds: dict[tuple[str, ...], float] = {}

    def compare(self, number: PublishedNumber) -> Compared:
        """Runs the check of ``number``.

        Raises :class:`SpecError`: E124 where the check has no such question, others where it can't
        run; and ``KeyboardInterrupt``.
        """
        report = self._report(number)
        seconds = self._seconds[number.run]
        if report is None:
            return Compared(number, "", False, 0, 0, seconds)
        ours = _value(number, report) if number.value else _count(report)
        same = _same(number, ours) and (number.depth is None or report.depth < number.depth)
        return Compared(number, ours, same, report.distinct_states, report.depth, seconds)

    def _report(self, number: PublishedNumber) -> Report | None:
        """Returns the report on the check of ``number``; ``None`` where a limit ended it early."""
        key = number.run
        if key not in self._reports:
            file, _, check = number.check.partition("::")
            began = time.monotonic()
            options = structs.replace(
                self.options, settings=number.settings, reduce=number.reduce, exact=True, whole=True
            )
            try:
                report: Report | None = run_check(str(resources.specs() / file), check, options)
            except BudgetExhausted:
                report = None
            self._seconds[key] = time.monotonic() - began
            if report is not None and report.was_interrupted:
                raise KeyboardInterrupt
            self._reports[key] = report
        return self._reports[key]


def _same(number: PublishedNumber, ours: str) -> bool:
    """Whether ``ours`` is the published value, however the two are written."""
    if not ours or SURELY in (ours, number.value):
        return ours == number.published
    return bool(Fraction(ours) == Fraction(number.published))


def _count(report: Report) -> str:
    return str(report.distinct_states) if report.exhaustive else ""


def _value(number: PublishedNumber, report: Report) -> str:
    """Returns the exact value of the question of ``number``; empty where it was not found."""
    for verdict in report.verdicts:
        if number.question in (verdict.property, verdict.property.rpartition(" ")[0]):
            return _surely(verdict) if number.value == SURELY else _exactly(verdict)
    raise number.line.error(f"`{number.check}` does not ask `{number.question}`")


def _surely(verdict: PropertyVerdict) -> str:
    return {Word.HOLDS: SURELY, Word.VIOLATED: "False"}.get(verdict.word, "")


def _exactly(verdict: PropertyVerdict) -> str:
    return "" if verdict.chance is None else verdict.chance.exact

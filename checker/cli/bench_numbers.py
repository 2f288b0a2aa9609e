"""Compares the library's numbers with those that others published, row by row."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.cli import console
from checker.cli.bench_runs import in_turn
from checker.diagnostics import Diagnostic, SpecError
from checker.engines.options import Options
from checker.session.published import Compared, Comparison, PublishedNumber, read_numbers, short

if TYPE_CHECKING:
    from pathlib import Path

    from checker.results.answer import Listener
    from checker.sweep.cells import Status

FAILED = "not run"
"""The outcome of a row whose check can't run."""


class _Run(Struct, frozen=True):
    """A run of a check, with the rows that compare a number of it."""

    number: int
    options: Options
    rows: tuple[PublishedNumber, ...]

    @property
    def seconds(self) -> float | None:
        """The time limit."""
        return self.options.limits.timeout


class _Outcome(Struct, frozen=True):
    """The outcome of a row; ``errors``: why its check can't run; ``why``: why its process ended."""

    compared: Compared
    errors: tuple[Diagnostic, ...] = ()
    why: str = ""

    @property
    def word(self) -> str:
        """The outcome in words."""
        return FAILED if self.errors else self.compared.word


def compare_numbers(table: Path, options: Options) -> tuple[int, list[str]]:
    """Prints one line for each published number in ``table`` that a check of the library says.

    Returns the exit code, and lines of a page: a Markdown table and totals.  Errors of a check are
    reported, and the other rows follow.  Raises :class:`SpecError` (E001, E124) where the table
    can't be used.
    """
    numbers = read_numbers(table)
    width = max((len(_name(number)) for number in numbers), default=0)
    kind = "states" if any(number.value for number in numbers) else "depth"
    console.print_line(_line(width, "model", "published", "ours", kind, "ours", "s", "", ""))
    words = [""] * len(numbers)
    for row, outcome in _outcomes(numbers, options):
        if outcome.why:
            console.print_note(f"{_name(numbers[row])}: {outcome.why}")
        for diagnostic in outcome.errors:
            console.print_note(console.render_with_source(diagnostic).rstrip("\n"))
        words[row] = outcome.word
        console.print_line(_shown(width, outcome.compared, outcome.word))
        console.flush_stdout()
    code, totals = _totals(words)
    console.print_line()
    console.print_line("\n".join(totals))
    return code, [*_markdown(numbers, words), "", *(f"- {line}." for line in totals)]


def _outcomes(numbers: list[PublishedNumber], options: Options) -> Iterator[tuple[int, _Outcome]]:
    """Yields the rows that have a check, in order, each as soon as its outcome is known."""
    by_run: dict[tuple[str, ...], list[int]] = {}
    for row, number in enumerate(numbers):
        if number.check:
            by_run.setdefault(number.run, []).append(row)
    runs = [
        _Run(i, options, tuple(numbers[row] for row in rows))
        for i, rows in enumerate(by_run.values())
    ]
    known: dict[int, _Outcome] = {}
    waiting = deque(sorted(row for rows in by_run.values() for row in rows))
    for rows, outcomes in zip(by_run.values(), in_turn(runs, _compare, _lost), strict=True):
        known |= zip(rows, outcomes, strict=True)
        while waiting and waiting[0] in known:
            row = waiting.popleft()
            yield row, known[row]


def _compare(run: _Run, listener: Listener) -> list[_Outcome]:
    """Runs a check, in another process, and returns the outcome of each of its rows."""
    comparison, found = Comparison(run.options), list[_Outcome]()
    for number in run.rows:
        try:
            found.append(_Outcome(comparison.compare(number)))
        except SpecError as error:
            nothing = Compared(number, "", False, 0, 0, 0.0)
            found.append(_Outcome(nothing, error.diagnostics))
    return found


def _lost(run: _Run, status: Status, why: str, seconds: float) -> list[_Outcome]:
    """Returns the outcomes of a run whose process ended before it was over."""
    found = (Compared(number, "", False, 0, 0, seconds) for number in run.rows)
    return [_Outcome(each, why=why) for each in found]


def _name(number: PublishedNumber) -> str:
    return f"{number.model} {number.about}".rstrip()


def _shown(width: int, compared: Compared, word: str) -> str:
    number = compared.number
    of_states = ("" if number.depth is None else str(number.depth), str(compared.depth + 1))
    of_value = ("" if number.states is None else str(number.states), str(compared.states))
    return _line(
        width, _name(number), short(number.published), short(compared.ours),
        *(of_value if number.value else of_states),
        f"{compared.seconds:.1f}", word, number.check,
    )  # fmt: skip


def _line(width: int, name: str, *cells: str) -> str:
    published, ours, depth, our_depth, seconds, word, check = cells
    numbers = f"{published:>14} {ours:>14} {depth:>5} {our_depth:>5} {seconds:>7}"
    return f"{name:{width}} {numbers}  {word:12}  {check}".rstrip()


def _totals(words: list[str]) -> tuple[int, list[str]]:
    """Returns the exit code, and lines that count the outcomes; a row without a check has none."""
    from checker.cli.errors import UNKNOWN, USAGE, VIOLATED

    differ, open_, failed = (words.count(word) for word in ("differs", "not decided", FAILED))
    totals = [
        f"{words.count('as published')} as published, {differ} differ, {open_} not decided",
        f"{len(words)} published numbers, {words.count('')} of them without a check",
        *([f"{failed} not run: see the errors"] if failed else []),
    ]
    return VIOLATED if differ else USAGE if failed else UNKNOWN if open_ else 0, totals


def _markdown(numbers: list[PublishedNumber], words: list[str]) -> list[str]:
    lines = [
        "| model | published | check, or why there is none | outcome |",
        "| --- | ---: | --- | --- |",
    ]
    for number, word in zip(numbers, words, strict=True):
        said = f"`{number.check}`" if number.check else number.note
        lines.append(f"| {_name(number)} | {short(number.published)} | {said} | {word} |")
    return lines

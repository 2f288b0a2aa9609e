"""Compares the library's numbers with those that others published, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.cli import console

if TYPE_CHECKING:
    from pathlib import Path

    from checker.engines.options import Options
    from checker.session.published import Compared, PublishedNumber

FAILED = "not run"
"""The outcome of a row whose check can't run."""


def compare_numbers(table: Path, options: Options) -> tuple[int, list[str]]:
    """Prints one line for each published number in ``table`` that a check of the library says.

    Returns the exit code, and lines of a page: a Markdown table and totals.  Errors of a check are
    reported, and the other rows follow.  Raises :class:`SpecError` (E001, E124) where the table
    can't be used.
    """
    from checker.diagnostics import SpecError
    from checker.session.published import Compared, Comparison, read_numbers

    comparison = Comparison(options)
    numbers = read_numbers(table)
    width = max((len(_name(number)) for number in numbers), default=0)
    kind = "states" if any(number.value for number in numbers) else "depth"
    console.print_line(_line(width, "model", "published", "ours", kind, "ours", "s", "", ""))
    words: list[str] = []
    for number in numbers:
        word = ""
        if number.check:
            try:
                compared = comparison.compare(number)
            except SpecError as error:
                for diagnostic in error.diagnostics:
                    console.print_note(console.render_with_source(diagnostic).rstrip("\n"))
                compared, word = Compared(number, "", False, 0, 0, 0.0), FAILED
            else:
                word = compared.word
            console.print_line(_shown(width, compared, word))
            console.flush_stdout()
        words.append(word)
    code, totals = _totals(words)
    console.print_line()
    console.print_line("\n".join(totals))
    return code, [*_markdown(numbers, words), "", *(f"- {line}." for line in totals)]


def _name(number: PublishedNumber) -> str:
    return f"{number.model} {number.about}".rstrip()


def _shown(width: int, compared: Compared, word: str) -> str:
    from checker.session.published import short

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
    from checker.session.published import short

    lines = [
        "| model | published | check, or why there is none | outcome |",
        "| --- | ---: | --- | --- |",
    ]
    for number, word in zip(numbers, words, strict=True):
        said = f"`{number.check}`" if number.check else number.note
        lines.append(f"| {_name(number)} | {short(number.published)} | {said} | {word} |")
    return lines

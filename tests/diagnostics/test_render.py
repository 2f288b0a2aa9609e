"""Diagnostics as text."""

from __future__ import annotations

from checker.diagnostics import Diagnostic, Span
from checker.diagnostics.render import render


def at(line: int, column: int, end_line: int, end_column: int) -> Diagnostic:
    span = Span("a.bcast", line, column, end_line, end_column)
    return Diagnostic("N002", "nothing is called `x`", span, "a name", "did you mean `y`?")


def test_place_line_underline_expected_and_help() -> None:
    assert render(at(2, 3, 2, 5), "one\n  xx yy\n") == (
        "a.bcast:2:3: error[N002]: nothing is called `x`\n"
        "  2 |   xx yy\n"
        "    |   ^^\n"
        "  expected: a name\n"
        "  help: did you mean `y`?"
    )


def test_without_a_place_or_a_source_only_what_is_known() -> None:
    assert render(Diagnostic("E002", "no such check")) == "error[E002]: no such check"
    assert render(at(1, 1, 1, 2)).splitlines()[0].startswith("a.bcast:1:1: error[N002]")


def test_several_lines_are_underlined_from_their_first_word() -> None:
    lines = render(at(1, 2, 3, 3), "abc\n  def\nghi\n").splitlines()
    assert lines[1:7] == [
        "  1 | abc",
        "    |  ^^",
        "  2 |   def",
        "    |   ^^^",
        "  3 | ghi",
        "    | ^^",
    ]


def test_a_long_stretch_is_cut() -> None:
    text = "\n".join("abc" for _ in range(20))
    lines = render(at(1, 1, 20, 4), text).splitlines()
    assert lines[9] == "    | …"
    assert len(lines) == 12


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "a" * 500 + "b" + "c" * 500
    lines = render(at(1, 501, 1, 502), text).splitlines()
    assert len(lines[1]) < 200
    assert lines[1][lines[2].index("^")] == "b"


def test_tabs_odd_characters_and_line_ends_keep_the_columns() -> None:
    lines = render(at(1, 4, 1, 5), "\ufeff\t\0\x1bxy\r\nnext").splitlines()
    assert lines[1] == "  1 |  \ufffd\ufffdxy"
    assert lines[2] == "    |    ^"


def test_places_outside_of_the_source_do_no_harm() -> None:
    assert "error[N002]" in render(at(7, 7, 9, 1), "one line")
    assert "error[N002]" in render(at(1, 40, 1, 45), "short")
    assert "error[N002]" in render(at(1, 1, 1, 1), "")

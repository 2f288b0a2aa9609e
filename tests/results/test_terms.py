"""Printed terms are taken apart where their printer puts them together."""

from __future__ import annotations

import pytest

from checker.results.terms import arguments, head, is_message, leaves, names


@pytest.mark.parametrize(
    ("term", "name", "parts"),
    [
        ("DATA", "DATA", ()),
        ("DATA()", "DATA", ("",)),
        ("DATA(p1, a)", "DATA", ("p1", "a")),
        ("COPY(DATA(p1, a))", "COPY", ("DATA(p1, a)",)),
        ("VOTE({p1, p2}, [a, b], (x, 1))", "VOTE", ("{p1, p2}", "[a, b]", "(x, 1)")),
        ("rb.DATA(a)", "rb.DATA", ()),
        ("(p1, a)", "", ()),
    ],
)
def test_the_name_and_arguments_of_a_message(term: str, name: str, parts: tuple[str, ...]) -> None:
    assert (head(term), arguments(term)) == (name, parts)


def test_messages_have_names_in_capitals() -> None:
    assert [is_message(t) for t in ("DATA(a)", "A_1()", "DATA", "deliver(a)", "{A(1)}", "(a)")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


def test_leaves_are_what_has_no_arguments() -> None:
    assert leaves("COPY(DATA(p1, a), {x, 10})") == ["p1", "a", "x", "10"]
    assert leaves("DATA") == ["DATA"]


def test_names_of_messages_at_any_depth() -> None:
    assert names("COPY(DATA(p1, a))") == ["COPY", "DATA"]
    assert names("DATA") == ["DATA"]
    assert names("upon receive ECHO(m) from p") == ["ECHO", "p"]

"""Names and numbers in English."""

from __future__ import annotations

import pytest

from checker.diagnostics.english import count, listing


@pytest.mark.parametrize(
    ("names", "said"),
    [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")],
)
def test_names_are_listed(names: tuple[str, ...], said: str) -> None:
    assert listing(names) == said
    assert listing(iter(names)) == said
    assert listing(names, "or") == said.replace("and", "or")


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 states"), (1, "1 state"), (1204, "1,204 states")]
)
def test_things_are_counted(number: int, said: str) -> None:
    assert count(number, "state") == said


@pytest.mark.parametrize(
    ("noun", "nouns"),
    [
        ("changed property", "changed properties"),
        ("query", "queries"),
        ("key", "keys"),
        ("process", "processes"),
        ("branch", "branches"),
        ("crash", "crashes"),
        ("path", "paths"),
        ("box", "boxes"),
        ("delay", "delays"),
    ],
)
def test_plurals_are_regular(noun: str, nouns: str) -> None:
    assert count(1, noun) == f"1 {noun}"
    assert count(13, noun) == f"13 {nouns}"

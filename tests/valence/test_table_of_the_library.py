"""The table of ``specs/consensus/flp/README.md`` says what is computed."""

from __future__ import annotations

import pytest

from scripts.write_valence_table import BEGIN, CHECKS, END, HEAD, PAGE, row
from tests.valence.library import valence_of


def lines() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return text.partition(BEGIN)[2].partition(END)[0].splitlines()


def test_it_has_a_row_for_each_check() -> None:
    first, _, *rows = lines()
    assert first == HEAD
    assert len(rows) == len(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_row_is_what_is_computed(name: str) -> None:
    assert row(name, valence_of(name)) in lines()

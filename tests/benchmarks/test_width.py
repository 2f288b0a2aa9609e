"""The benchmark of wide states: graphs that are the same at all widths."""

from __future__ import annotations

import pytest

from benchmarks import width
from benchmarks.comparing import WrongAnswer


@pytest.mark.parametrize("shape", width.SHAPES)
def test_wider_states_have_the_same_graph(shape: str) -> None:
    """What is carried follows from what is counted."""
    narrow, wide = (width.measured(shape, items, "none", 1, last=4) for items in (0, 9))
    assert narrow.words < wide.words
    assert (narrow.states, narrow.transitions) == (wide.states, wide.transitions)


def test_another_number_of_states_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    more = width.SPEC.replace("count += 1", "count += if count + 2 > {last} then 1 else 2")
    monkeypatch.setattr(width, "SPEC", more)
    with pytest.raises(WrongAnswer):
        width.measured("map", 3, "none", 1, last=4)

"""What a grid means, and what is said of one that means nothing."""

from __future__ import annotations

import itertools

import pytest

from checker.diagnostics import SpecError
from checker.sweep.grid import MOST, axes_of, grid_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("n=3..5", ("3", "4", "5")),
        ("n=1..8/3", ("1", "4", "7")),
        ("n=-1..1", ("-1", "0", "1")),
        ("n=4", ("4",)),
        ("n = { 1, 3..4, 3 }", ("1", "3", "4")),
        ("n={a , b+c,  bounded   2}", ("a", "b+c", "bounded 2")),
        ("n=eventually P noise 2", ("eventually P noise 2",)),
    ],
)
def test_values(text: str, values: tuple[str, ...]) -> None:
    assert axes_of(text) == {"n": values}


def test_the_product_of_all_axes_the_first_slowest() -> None:
    grid = grid_of(["n=3..4,links={perfect,fifo}"])
    assert grid.names == ("n", "links")
    assert grid.cells == (("3", "perfect"), ("3", "fifo"), ("4", "perfect"), ("4", "fifo"))
    assert next(grid.settings()) == {"n": "3", "links": "perfect"}
    assert grid.values("links") == ("perfect", "fifo")


def test_expanded_braces_are_the_same_grid() -> None:
    """`--grid n=3..4,links={perfect,fifo},f={0,1}` as bash gives it."""
    whole = grid_of(["n=3..4,links={perfect,fifo},f={0,1}"])
    words = [f"n=3..4,links={k},f={f}" for k, f in itertools.product(("perfect", "fifo"), "01")]
    assert grid_of(words) == whole


def test_grids_with_the_same_axes_add_and_with_others_multiply() -> None:
    ragged = grid_of(["n=3,f=0..1", "f=2,n=5"])
    assert ragged.cells == (("3", "0"), ("3", "1"), ("5", "2"))
    both = grid_of(["n=3..4", "links={perfect,fifo}"])
    assert both == grid_of(["n=3..4,links={perfect,fifo}"])


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([""], "an axis is missing"),
        (["n"], "`n` is not an axis"),
        (["n=3,,f=1"], "an axis is missing"),
        (["n=3..5,"], "an axis is missing"),
        (["n="], "`n=` is not an axis"),
        (["3=n"], "is not an axis"),
        (["n=5..3"], "its end is below its start"),
        (["n=1..3/0"], "its step is 0"),
        (["n=1..x"], "is not a range"),
        (["n={}"], "a value of `n` is missing"),
        (["n={1,}"], "a value of `n` is missing"),
        (["n={1,{2}}"], "nests"),
        (["n={1"], "a brace is unmatched"),
        (["n=1}"], "a brace is unmatched"),
        (["n=a{1}"], "is not a list of values of `n`"),
        (["n=1,n=2"], "duplicate axis `n`"),
        (["n=1,f=1", "n=2"], "two grids with different axes"),
    ],
)
def test_what_is_no_grid(texts: list[str], words: str) -> None:
    with pytest.raises(SpecError) as refused:
        grid_of(texts)
    (found,) = refused.value.diagnostics
    assert found.code == "E031" and words in found.message


def test_a_list_without_braces_is_told_of_them() -> None:
    with pytest.raises(SpecError) as refused:
        grid_of(["n=3,links=perfect,fifo"])
    assert "links={perfect, fifo}" in refused.value.diagnostics[0].hint


@pytest.mark.parametrize(
    "texts", [["n=0..999999999999"], ["a=0..999,b=0..999"], ["a=0..999", "b=0..999"]]
)
def test_too_many_cells(texts: list[str]) -> None:
    with pytest.raises(SpecError) as refused:
        grid_of(texts)
    assert [d.code for d in refused.value.diagnostics] == ["E032"]
    assert len(grid_of([f"n=1..{MOST}"]).cells) == MOST

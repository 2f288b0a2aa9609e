"""Trees of an adversary's runs: what is drawn where."""

from __future__ import annotations

from fractions import Fraction

from checker.render.adversary_tree import adversary_tree
from checker.results.chance import ChanceBranch, Visit


def test_a_visit_is_drawn_where_the_fewest_coins_lead_to_it() -> None:
    """0 leads to 1 and 2, and 1 to 2 and back to 0: only under 0 is 2 drawn."""
    half = "1/2"
    visits = (
        Visit(("a",), (ChanceBranch(half, "x", 1), ChanceBranch(half, "y", 2))),
        Visit(("b",), (ChanceBranch(half, "z", 2), ChanceBranch(half, "back", 0))),
        Visit(("c",), (ChanceBranch("1/3", "on", 3), ChanceBranch("2/3", "back", 0))),
        Visit((), ends="reached"),
    )
    root = adversary_tree(visits)
    one, two = (edge.then for edge in root.branches)
    assert one is not None and two is not None
    assert [edge.then for edge in one.branches] == [None, None]
    (on, back) = two.branches
    assert on.then is not None and on.then.number == 3 and back.then is None
    assert (on.so_far, back.so_far) == (Fraction(1, 6), Fraction(1, 3))


def test_an_end_is_drawn_wherever_it_comes() -> None:
    branches = (ChanceBranch("1/2", "x", 1), ChanceBranch("1/2", "y", 1))
    root = adversary_tree((Visit(("a",), branches), Visit((), ends="reached")))
    assert all(edge.then is not None for edge in root.branches)

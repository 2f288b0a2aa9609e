"""Random histories of each object, judged by key, against all orders."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.histories.sweep import ALL_CALLS, compared, draw_case, has_order
from tests.world.orders import is_linearizable


@pytest.mark.every
@pytest.mark.parametrize("name", sorted(ALL_CALLS))
def test_keys_have_the_verdicts_of_all_orders(name: str, tmp_path: Path) -> None:
    draw = random.Random(name)
    seen = compared(name, [draw_case(draw, name) for _ in range(200)], draw, tmp_path)
    assert seen[True] and seen[False]


@pytest.mark.slow
@pytest.mark.every
@pytest.mark.parametrize("name", sorted(ALL_CALLS))
def test_many_keys_have_the_verdicts_of_all_orders(name: str, tmp_path: Path) -> None:
    draw = random.Random(f"many of {name}")
    for _ in range(10):
        compared(name, [draw_case(draw, name) for _ in range(500)], draw, tmp_path)


@pytest.mark.parametrize("name", ["Set", "Lock"])
def test_orders_one_operation_after_the_other_are_all_orders(name: str) -> None:
    draw = random.Random(name)
    for _ in range(60):
        operations, history, _ = draw_case(draw, name)
        expected = is_linearizable(name, operations, history)
        assert has_order(name, operations, history, frozenset()) is expected

"""Which of the parameters of a test are in the default run."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

MANY = 12
"""Of a test with at least so many cases the default run has a part."""


def first_by_default(values: Iterable[object], kept: int) -> list[object]:
    """Returns ``values``; all but the first ``kept`` are marked `slow`."""
    return [
        value if number < kept else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Marks every other case of tests that have many as `slow`, unless each is marked `every`.

    Which of them are left is spread so (multiples of the golden ratio, modulo 1) that of each
    parameter all values stay, whatever the other parameters are.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None and item.get_closest_marker("every") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_one_test in cases.values():
        if len(of_one_test) >= MANY:
            for number, item in enumerate(of_one_test):
                if number * 0.6180339887498949 % 1 >= 0.5:
                    item.add_marker(pytest.mark.slow)

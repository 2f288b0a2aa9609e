"""Which of the parameters of a test are in the default run."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def first_by_default(values: Iterable[object], kept: int) -> list[object]:
    """Returns ``values``; all but the first ``kept`` are marked `slow`."""
    return [
        value if number < kept else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]

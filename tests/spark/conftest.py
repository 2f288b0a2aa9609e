"""Tests that start Spark run one after the other: each has a Java of its own, and that is large."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
WITHOUT_JAVA = {"test_barrier", "test_folder", "test_mesh", "test_pulse", "test_shuffle"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE and item.path.stem not in WITHOUT_JAVA:
            item.add_marker(pytest.mark.xdist_group("spark"))

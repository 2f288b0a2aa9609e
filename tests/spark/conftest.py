"""Tests that start Spark run one after the other: each has a Java of its own, and that is large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.engines.spark import local_prefix
from checker.engines.spark.shared_sessions import holding

HERE = Path(__file__).parent
WITHOUT_JAVA = {
    "test_barrier",
    "test_folder",
    "test_long_handlers",
    "test_mesh",
    "test_pulse",
    "test_shuffle",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == HERE and item.path.stem not in WITHOUT_JAVA:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="module")
def one_session() -> Iterator[None]:
    """The session that the first test of a module opens is there for the others, too."""
    with holding():
        yield


@pytest.fixture
def nothing_in_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small levels, too, are left to tasks."""
    monkeypatch.setattr(local_prefix, "LIGHT", -1)

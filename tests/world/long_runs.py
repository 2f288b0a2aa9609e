"""Runs of random worlds that go on for as long as somebody wants."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import pytest

T = TypeVar("T")
SECONDS = float(os.environ.get("BIVALENCE_LONG", "0"))
LONG = pytest.mark.skipif(not SECONDS, reason="takes as many seconds as BIVALENCE_LONG says")


def while_there_is_time(items: Iterable[T]) -> Iterator[T]:
    """Yields ``items`` until the time is over."""
    start = time.monotonic()
    return itertools.takewhile(lambda _: time.monotonic() - start < SECONDS, items)

"""Tests see signals as a program at a terminal does; those that share what is large take turns; of
those with many cases the default run has a part, and little of what takes long."""

from __future__ import annotations

import gc
import math
import os
import signal
from collections.abc import Iterator

import pytest

from checker.cli.commands import UNCOLLECTED
from tests.selection import EVERY_CASE, WHOLE, leave_out, thin_out

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # the run was started in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves tests with a Java, and those with a browser, to one worker each; thins out cases."""
    if EVERY_CASE not in os.environ:
        leave_out(items)
        thin_out(items)
    for item in items:
        for mark in ("cluster", "browser"):
            if item.get_closest_marker(mark) is not None:
                item.add_marker(pytest.mark.xdist_group(mark))


def pytest_collection_finish() -> None:
    """Collects garbage as seldom as commands do, and never looks at the collected tests again."""
    gc.set_threshold(UNCOLLECTED)
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def quick_code() -> Iterator[None]:
    """Code is not optimised during a search, except in a run of all tests: for most systems of
    tests that takes longer than the search."""
    from checker.engines.native.search import tiered_jit

    with pytest.MonkeyPatch.context() as patch:
        if not WHOLE:
            patch.setattr(tiered_jit, "SECONDS_PER_CHARACTER", math.inf)
        yield

"""Work in a thread of its own ends with the interrupt of the thread that waits for it."""

from __future__ import annotations

import time

import pytest

from checker.engines import budgets
from checker.engines.symbolic.interruptible import interruptible
from tests.instantiate.limited import AGAIN, interrupting, soon

pytestmark = AGAIN


def test_work_that_notices_late_is_waited_for() -> None:
    """One Ctrl-C is one, also where it is raised again while the work has not noticed it."""
    ended: list[bool] = []

    def work() -> None:
        try:
            time.sleep(3 * budgets.RAISED_AGAIN)
            time.sleep(60.0)
        except KeyboardInterrupt:
            ended.append(True)

    def asked() -> None:
        with budgets.raising_when_exhausted():
            interruptible(work)

    with soon(), interrupting(0.2), pytest.raises(KeyboardInterrupt):
        asked()
    assert ended == [True]
    assert not budgets.has_abandoned_work()

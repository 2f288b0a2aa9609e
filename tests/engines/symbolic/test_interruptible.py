"""Work in a thread of its own ends with the interrupt of the thread that waits for it."""

from __future__ import annotations

import pytest

from checker.engines import budgets
from checker.engines.symbolic.interruptible import interruptible
from tests.instantiate.limited import for_ever


def test_work_is_ended_before_who_waits_for_it() -> None:
    """z3 may be used again afterwards: nobody else uses it any more."""
    ended: list[str] = []

    def work() -> None:
        budgets.interrupt()
        for again in ("once", "twice"):  # the first one may be taken for the end of a query
            try:
                for_ever()
            except KeyboardInterrupt:
                ended.append(again)

    def asked() -> None:
        with budgets.raising_when_exhausted():
            interruptible(work)

    with pytest.raises(KeyboardInterrupt):
        asked()
    assert ended == ["once", "twice"]
    assert not budgets.has_abandoned_work()

"""Passes on reports on a running check, to be shown if it is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.results.verdict import Report

_receivers: list[Callable[[Report], None]] = []


@contextmanager
def receiving(receiver: Callable[[Report], None]) -> Iterator[None]:
    """Within the block, ``receiver`` is called with each report that :func:`known` is given."""
    _receivers.append(receiver)
    try:
        yield
    finally:
        _receivers.pop()


def known(report: Callable[[], Report]) -> None:
    """Passes on what ``report`` returns, the report if the check were ended now."""
    if _receivers:
        _receivers[-1](report())

"""Bivalence: a model checker for broadcast protocols.

``check("spec.bcast", "name", settings={"n": "4"})`` returns the report that the command shows; see
:mod:`checker.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.api import check as check

__all__ = ["check"]


def __getattr__(name: str) -> object:
    """Returns :func:`checker.api.check`, which the command line does not import before it forks."""
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from checker.api import check

    return check

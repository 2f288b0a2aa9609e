"""Bivalence: a model checker for broadcast protocols.

``check("spec.bcast", "name", settings={"n": "4"})`` returns the report that the command shows; see
:mod:`checker.api`.
"""

from checker.api import check

__all__ = ["check"]

"""What comes of the expectations of a check with ``without``."""

from __future__ import annotations

from msgspec import Struct

from checker.results.verdict import Expected, PropertyVerdict


class Judged(Struct, frozen=True):
    """What comes of the expectations with ``without``: the verdicts, with the counterexamples that
    were found, what is expected and found, and notes about what is not known."""

    verdicts: tuple[PropertyVerdict, ...]
    expectations: tuple[Expected, ...] = ()
    notes: tuple[str, ...] = ()

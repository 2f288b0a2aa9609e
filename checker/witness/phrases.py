"""Names and numbers in English, for whatever is said of a run."""

from __future__ import annotations

from collections.abc import Iterable

OPINIONS = {"suspect": "suspects", "restore": "no longer suspects", "trust": "trusts"}
"""What the indications of failure detectors say of a process."""


def listing(names: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; empty for none."""
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def count(number: int, noun: str) -> str:
    """``1 state``, ``1,204 states``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def opinion(call: str) -> str:
    """What a failure detector's ``fd.suspect(p1)`` makes of its process: one that ``suspects p1``.

    Empty where ``call`` is no word of a detector about one process.
    """
    operator, _, given = call.rpartition(".")[2].partition("(")
    about = given.removesuffix(")")
    return f"{OPINIONS[operator]} {about}" if operator in OPINIONS and "," not in about else ""

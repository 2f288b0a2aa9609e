"""The entry of a diagnostic code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A code's title and its explanation in a few sentences."""

    title: str
    explanation: str

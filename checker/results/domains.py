"""Domains of the fields of records: annotations that say more than a type does.

For Python and its type checker ``Annotated[tuple[Step, ...], AtLeast(1)]`` is a tuple; the schemas
of documents have the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Struct


class AtLeast(Struct, frozen=True):
    """A lower bound: of a number, or of how many items a tuple has."""

    least: int


class AtMost(Struct, frozen=True):
    """An upper bound of a number."""

    most: int


@dataclass(frozen=True, slots=True, init=False)
class OneOf:
    """A closed vocabulary: words, or numbers."""

    values: tuple[str | int, ...]

    def __init__(self, values: Iterable[str | int]) -> None:
        object.__setattr__(self, "values", tuple(values))


class Matching(Struct, frozen=True):
    """Texts that a regular expression matches, of the kind that JSON Schema has."""

    pattern: str


Text = Annotated[str, Matching(".")]
Natural = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]
Amount = Annotated[float, AtLeast(0)]
Probability = Annotated[float, AtLeast(0), AtMost(1)]
Sha256 = Annotated[str, Matching("^[0-9a-f]{64}$")]

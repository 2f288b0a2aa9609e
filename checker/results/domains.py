"""Domains of the fields of records: annotations that say more than a type does.

A bound, a pattern or a length is a :class:`msgspec.Meta`; for Python and its type checker,
``Annotated[tuple[Step, ...], Meta(min_length=1)]`` is a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct


class OneOf(Struct, frozen=True):
    """A closed vocabulary: words, or numbers."""

    values: Iterable[str | int]


Text = Annotated[str, Meta(pattern=".")]
Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]

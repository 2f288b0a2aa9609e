"""The origins of the properties of a report, as its documents have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from checker.diagnostics import origin
from checker.records import replace
from checker.resources import display_name
from checker.results.domains import OneOf, Positive

if TYPE_CHECKING:
    from checker.language.syntax import typed
    from checker.model.ir import Property
    from checker.results.verdict import PropertyVerdict


class Origin(Struct, frozen=True):
    """Where a property comes from: the ``interface``, ``protocol`` or ``check`` called ``name``
    that declares it in ``line`` of ``file``, or the ``language``, which has no file.

    ``library``: it is part of the tool's library.  ``hides``: the interface of the library with
    another property of the same name, which was not checked; empty where there is none.
    """

    kind: Annotated[str, OneOf(origin.KINDS)]
    name: str
    library: bool
    file: str = ""
    line: Positive | None = None
    hides: str = ""

    @property
    def source(self) -> str:
        """The origin without the place: ``library interface ReliableBroadcast``."""
        if self.kind == origin.LANGUAGE:
            return "the language"
        return f"{'library ' if self.library else ''}{self.kind} {self.name}"

    @property
    def text(self) -> str:
        """The origin in words, with its place, and what it hides."""
        at = f" ({self.file}:{self.line})" if self.file else ""
        hides = f"; the library's, of {self.hides}, was not checked" if self.hides else ""
        return f"{self.source}{at}{hides}"


def origin_of(found: origin.Origin | None, place: tuple[str, int] | None) -> Origin | None:
    """Returns an origin as documents have it; ``place``: the file and the line of the property."""
    if found is None:
        return None
    file, line = ("", None) if place is None or found.kind == origin.LANGUAGE else place
    return Origin(found.kind, found.name, found.shipped, display_name(file), line, found.hides)


def origin_of_property(prop: Property) -> Origin | None:
    """Returns the origin of a property of a system."""
    return origin_of(
        prop.origin, None if prop.place is None else (prop.place.file, prop.place.line)
    )


def sources(verdicts: Iterable[PropertyVerdict]) -> Iterator[str]:
    """Yields the origins of properties, with those of one declaration together."""
    groups: dict[tuple[str, str, str], list[PropertyVerdict]] = {}
    for verdict in verdicts:
        if verdict.origin is not None and verdict.origin.kind != origin.LANGUAGE:
            one = verdict.origin
            groups.setdefault((one.source, one.file, one.hides), []).append(verdict)
    for (source, file, hides), some in groups.items():
        lines = sorted({v.origin.line for v in some if v.origin is not None and v.origin.line})
        at = file if source.startswith("library") else f"{file}:{', '.join(map(str, lines))}"
        names = ", ".join(verdict.property for verdict in some)
        hidden = f"; the library's, of {hides}, was not checked" if hides else ""
        yield f"{names}: {source} ({at}){hidden}"


def with_origins(
    verdicts: Iterable[PropertyVerdict], definitions: Iterable[typed.PropertyDef]
) -> tuple[PropertyVerdict, ...]:
    """Returns ``verdicts`` with the origins of their properties, which have ``definitions``."""
    known = {d.name: origin_of(d.origin, (d.span.file, d.span.line)) for d in definitions}
    return tuple(replace(verdict, origin=known.get(verdict.property)) for verdict in verdicts)

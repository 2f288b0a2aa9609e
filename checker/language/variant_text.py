"""Shows variants as differences of texts."""

from __future__ import annotations

from collections.abc import Iterator

from checker.language.reading import lines_at
from checker.language.syntax import typed


def difference(name: str, variant: typed.Variant) -> Iterator[str]:
    """Yields how the protocol ``name`` differs from its original, and that from its own, if any:
    lines of the original behind ``-``, those of the variant behind ``+``.

    Where a file can't be read any more, the names of its items stand for its lines.
    """
    yield f"{name} is a variant of {variant.of}"
    for change in variant.changes:
        yield f"  {change.kind} {change.what}"
        for sign, place in (("-", change.before), ("+", change.after)):
            yield from (f"    {sign} {line}" for line in lines_at(place))
    if variant.base is not None:
        yield from difference(variant.of, variant.base)

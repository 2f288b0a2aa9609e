"""Shows variants as differences of texts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from checker.diagnostics import Span, SpecError
from checker.language.reading import read
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
            yield from (f"    {sign} {line}" for line in _lines(place))
    if variant.base is not None:
        yield from difference(variant.of, variant.base)


def _lines(span: Span | None) -> list[str]:
    """Returns the text at ``span``, without the indentation of its first line."""
    if span is None:
        return []
    try:
        lines = read(Path(span.file)).splitlines()[span.line - 1 : span.end_line]
    except SpecError:
        return []
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = " " * (span.column - 1) + lines[0][span.column - 1 :]
    return [line.rstrip() for line in textwrap.dedent("\n".join(lines)).split("\n")]

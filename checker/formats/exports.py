"""Writes a trace in a format of another tool: by an export of the tool, or one from outside."""

from __future__ import annotations

from collections.abc import Callable

from checker.diagnostics.visible import visible
from checker.extensions.tables import EXPORTS
from checker.results.trace import Trace


def function_of(name: str) -> Callable[[Trace], object]:
    """Returns the function of the export ``name``.

    Raises :class:`SpecError` where there is none (E008), or it can't be used (E042).
    """
    origin = EXPORTS.origin(name)
    found = EXPORTS.load(origin)
    if not callable(found):
        raise EXPORTS.refusal(origin, f"is no function, but of type {type(found).__name__}")
    return found


def export(name: str, trace: Trace) -> str:
    """Returns ``trace`` as the export ``name`` writes it; control characters are only shown.

    Raises :class:`SpecError` as :func:`function_of` does, and where the export fails or gives no
    text (E042).
    """
    origin, write = EXPORTS.origin(name), function_of(name)
    with EXPORTS.blaming(origin):
        text = write(trace)
    if not isinstance(text, str):
        raise EXPORTS.refusal(origin, f"gives no text, but something of type {type(text).__name__}")
    return visible(text)

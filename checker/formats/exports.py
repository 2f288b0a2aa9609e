"""Writes a trace in a format of another tool: by an export of the tool, or one from outside."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from checker.diagnostics.visible import visible
from checker.extensions.tables import EXPORTS
from checker.results.trace import Trace

LAYOUT = "layout"
"""The parameter of an export that draws in several orders."""


def function_of(name: str) -> Callable[[Trace], object]:
    """Returns the function of the export ``name``.

    Raises :class:`SpecError` where there is none (E008), or it can't be used (E042).
    """
    origin = EXPORTS.origin(name)
    found = EXPORTS.load(origin)
    if not callable(found):
        raise EXPORTS.refusal(origin, f"is not a function, but of type {type(found).__name__}")
    return found


def has_layout(name: str) -> bool:
    """Returns whether the export ``name`` can draw in several orders; raises as
    :func:`function_of` does."""
    try:
        return LAYOUT in inspect.signature(function_of(name)).parameters
    except ValueError:  # some functions that are not written in Python
        return False


def export(name: str, trace: Trace, layout: str = "steps") -> str:
    """Returns ``trace`` as the export ``name`` writes it; control characters are only shown.

    ``layout``: the order in a picture, for an export that has several.

    Raises :class:`SpecError` as :func:`function_of` does, and where the export fails or gives no
    text (E042).
    """
    origin, write = EXPORTS.origin(name), function_of(name)
    with EXPORTS.blaming(origin):
        text = write(trace, **{LAYOUT: layout}) if has_layout(name) else write(trace)
    if not isinstance(text, str):
        raise EXPORTS.refusal(
            origin, f"returned not a string, but a value of type {type(text).__name__}"
        )
    return visible(text)

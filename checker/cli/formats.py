"""The export formats of a trace: each is a small function from a trace to text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.diagnostics.visible import json_text, visible

if TYPE_CHECKING:
    from checker.witness.trace import Trace


def itf(trace: Trace) -> str:
    """Converts into Apalache's Informal Trace Format."""
    from checker.witness.itf import trace_to_itf

    return _json(trace_to_itf(trace))


def document(trace: Trace) -> str:
    """Returns the trace document itself."""
    from checker.witness.json_format import trace_to_json

    return _json(trace_to_json(trace))


def shiviz(trace: Trace) -> str:
    """Converts into a log for ShiViz, with vector clocks."""
    from checker.witness.shiviz import trace_to_shiviz

    return visible(trace_to_shiviz(trace))


def rows(trace: Trace) -> str:
    """Converts into comma-separated values: a row for each step."""
    from checker.witness.csv_format import trace_to_csv

    return visible(trace_to_csv(trace))


def mermaid(trace: Trace) -> str:
    """Converts into a Mermaid sequence diagram."""
    from checker.views.mermaid import mermaid_of

    return mermaid_of(trace)


def svg(trace: Trace) -> str:
    """Draws the space-time diagram as a self-contained SVG picture."""
    from checker.views.picture import picture_of
    from checker.views.svg import svg_of

    return svg_of(picture_of(trace))


FORMATS: dict[str, Callable[[Trace], str]] = {
    "csv": rows,
    "itf": itf,
    "json": document,
    "mermaid": mermaid,
    "shiviz": shiviz,
    "svg": svg,
}
"""The formats by the names that ``export --to`` takes."""


def _json(data: object) -> str:
    return json_text(data) + "\n"

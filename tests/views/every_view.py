"""A run in every form in which it can be shown or written."""

from __future__ import annotations

import json

from checker.cli.formats import FORMATS
from checker.diagnostics.visible import ACTING
from checker.views.canvas import as_text
from checker.views.page import page_of
from checker.views.spacetime import spacetime
from checker.views.text import source_view, trace_view
from checker.witness.json_format import trace_from_text
from checker.witness.trace import Trace
from checker.witness.verdict import Report

NARROW, WIDE = 40, 100


def draw(trace: Trace) -> None:
    """Draws ``trace``; nothing in it does anything but be seen, and a document holds all of it."""
    shown = [
        *(as_text(trace_view(trace, steps=True), width) for width in (NARROW, WIDE)),
        as_text(spacetime(trace), WIDE),
        as_text(source_view(trace), WIDE),
        page_of(trace),
        *(write(trace) for write in FORMATS.values()),
    ]
    for text in shown:
        assert text.strip()
        found = ACTING.search(text)
        assert found is None, text[found.start() - 40 : found.end() + 40]
    json.loads(FORMATS["itf"](trace))
    document = FORMATS["json"](trace)
    assert FORMATS["json"](trace_from_text(document)) == document


def draw_all(report: Report) -> int:
    """Draws every run of ``report``; how many there are."""
    found = [trace for verdict in report.verdicts for trace in (verdict.trace, *verdict.others)]
    runs = [trace for trace in found if trace is not None]
    for trace in runs:
        draw(trace)
    return len(runs)

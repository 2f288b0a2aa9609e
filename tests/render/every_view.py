"""A run in every form in which it can be shown or written."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise

from checker.diagnostics.visible import acting
from checker.extensions.tables import EXPORTS
from checker.formats.exports import export
from checker.formats.json_format import trace_from_text
from checker.render.diagram.arrows import anchor_of, path_of
from checker.render.diagram.parts import Picture
from checker.render.diagram.paths import distance
from checker.render.diagram.picture import picture_of
from checker.render.diagram.rows import Layout
from checker.render.html import page_of
from checker.render.terminal.canvas import as_text
from checker.render.terminal.spacetime import spacetime
from checker.render.terminal.text import source_view, trace_view
from checker.results.trace import Trace
from checker.results.verdict import Report

NARROW, WIDE = 40, 100
LAYOUTS: tuple[Layout, ...] = ("steps", "causality")


def check_order(picture: Picture) -> None:
    """In the layout by steps, no row of a later step is above one of an earlier step."""
    at: dict[int, list[float]] = defaultdict(list)
    for mark in picture.marks:
        at[mark.step].append(mark.y)
    for bar in picture.bars:
        at[bar.step].append(bar.y)
    rows = [at[step] for step in sorted(at)]
    for above, below in pairwise(rows):
        assert max(above) < min(below), (above, below)


def check_labels(picture: Picture) -> None:
    """The text of an arrow is at it, and nearer to it than to that of any other message."""
    paths = [path_of(arrow) for arrow in picture.arrows]
    for arrow, path in zip(picture.arrows, paths, strict=True):
        if arrow.label is None:
            continue
        anchor = anchor_of(arrow, arrow.label.box)
        own = distance(anchor, path)
        assert own < 16, arrow
        for other, along in zip(picture.arrows, paths, strict=True):
            if other.message != arrow.message:
                assert own < distance(anchor, along), (arrow, other)


def check_picture(trace: Trace) -> None:
    """What holds of every picture, in both layouts."""
    for layout in LAYOUTS:
        picture = picture_of(trace, layout)
        check_labels(picture)
        if layout == "steps":
            check_order(picture)


def draw(trace: Trace) -> None:
    """Draws ``trace``; nothing in it does anything but be seen, and a document holds all of it."""
    shown = [
        *(as_text(trace_view(trace, steps=True), width) for width in (NARROW, WIDE)),
        *(as_text(spacetime(trace, layout), WIDE) for layout in LAYOUTS),
        as_text(source_view(trace), WIDE),
        page_of(trace),
        *(export(name, trace) for name in EXPORTS.built_in),
    ]
    for text in shown:
        assert text.strip()
        found = acting().search(text)
        assert found is None, text[found.start() - 40 : found.end() + 40]
    check_picture(trace)
    json.loads(export("itf", trace))
    document = export("json", trace)
    assert export("json", trace_from_text(document)) == document


def draw_all(report: Report) -> int:
    """Draws every run of ``report``; how many there are."""
    found = [trace for verdict in report.verdicts for trace in (verdict.trace, *verdict.others)]
    runs = [trace for trace in found if trace is not None]
    for trace in runs:
        draw(trace)
    return len(runs)

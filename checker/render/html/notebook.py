"""Renders reports and traces as fragments of HTML, which notebooks show in place of an object."""

from __future__ import annotations

import io
import zlib

from markupsafe import Markup
from rich.console import Console, RenderableType

from checker.diagnostics.visible import visible
from checker.render.diagram.picture import picture_of
from checker.render.diagram.state_graph import state_graph_svg
from checker.render.diagram.svg import svg_of
from checker.render.terminal.report import report_view
from checker.results.state_graph import StateGraph
from checker.results.trace import Trace
from checker.results.verdict import Report

WIDTH = 100
"""Columns of text."""
FRAME = '<pre style="line-height:1.3;white-space:pre-wrap">{code}</pre>'


def report_html(report: Report) -> str:
    """Returns what ``bivalence check`` prints, and each counterexample as a picture."""
    traces = [verdict.trace for verdict in report.verdicts if verdict.trace is not None]
    return "\n".join([_html(report_view(report)), *map(trace_html, traces)])


def trace_html(trace: Trace) -> str:
    """Returns an execution: why it violates its property, in sentences, and its picture."""
    said = () if trace.explanation is None else trace.explanation.sentences
    lines = Markup("<br>").join(said or (trace.sentence,))
    return visible(f"<div><p>{lines}</p>{_picture(trace)}</div>")


def state_graph_html(graph: StateGraph) -> str:
    """Returns the picture of a state graph."""
    return f"<div>{state_graph_svg(graph, _prefix(graph))}</div>"


def _prefix(shown: object) -> str:
    return f"t{zlib.crc32(repr(shown).encode()):08x}-"


def _picture(trace: Trace) -> str:
    """Returns the picture, with ids that no other trace of the same notebook has."""
    prefix = _prefix((trace.property_name, trace.header, trace.steps))
    picture = svg_of(picture_of(trace), prefix=prefix)
    return picture[picture.index("<svg") :]


def _html(view: RenderableType) -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False)
    console.print(view)
    return visible(console.export_html(inline_styles=True, code_format=FRAME))

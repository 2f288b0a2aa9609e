"""Renders one execution, or two side by side, as a self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from checker import resources
from checker.diagnostics.visible import visible
from checker.render.diagram.rows import Layout
from checker.render.diagram.svg_style import DARK, LIGHT
from checker.render.html import content
from checker.render.html.comparison import align
from checker.render.html.obstacles import blocked
from checker.render.html.script_data import as_script, data_of
from checker.results.alternatives import Alternatives
from checker.results.conformance import Conformance
from checker.results.trace import Trace

SCRIPTS = ("fold.js", "picture.js", "alternatives.js", "run.js", "page.js")
"""The parts of the script, in order."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
)
"""A page's content security policy: only the script with this hash, and no requests."""


def page_of(
    trace: Trace,
    other: Trace | None = None,
    *,
    index: str = "",
    names: tuple[str, str] = ("", ""),
    layout: Layout = "steps",
    alternatives: tuple[Alternatives, ...] = (),
    document: str = "",
    conformance: Conformance | None = None,
) -> str:
    """Renders ``trace`` as a self-contained page; with ``other``, both side by side.

    ``alternatives``: those to each step of ``trace``.  ``document``: the name of the trace
    document, if there is one.  ``conformance``: the report on the log that ``trace`` explains the
    longest prefix of.

    ``index``: the target of a link to an index, if any.  ``names``: the titles of executions
    without a property.  ``layout``: of the pictures, until the reader chooses another one.
    """
    runs = [trace] if other is None else [trace, other]
    script = "\n".join(_text(name) for name in SCRIPTS)
    data: dict[str, Any] = {"runs": [data_of(trace, alternatives), *map(data_of, runs[1:])]}
    data["runs"][0]["document"] = document
    alignment = None
    if other is not None:
        alignment = align(trace, other)
        data["common"] = alignment.common
    viewers = [
        content.viewer(run, side, name, layout, own)
        for run, side, name, own in zip(runs, ("a", "b"), names, (alternatives, ()), strict=False)
    ]
    return visible(
        environment()
        .get_template("page.html")
        .render(
            title=content.title(trace, other),
            policy=policy(script),
            style=style(),
            script=Markup(script),
            data=Markup(as_script(data)),
            viewers=viewers,
            alignment=alignment,
            index=index,
            blocked=None if conformance is None else blocked(conformance),
        )
    )


@cache
def environment() -> Environment:
    """Returns the templates of the pages; everything is escaped that is not marked as HTML."""
    return Environment(
        loader=FileSystemLoader(resources.page()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def policy(script: str) -> str:
    """Returns the content security policy of a page whose one script is ``script``."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return POLICY.format(digest=digest)


def style() -> Markup:
    """Returns the style sheet of all pages."""
    light, dark = _colours(LIGHT), _colours(DARK)
    return Markup(
        f":root {{ {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme]) {{ {dark} }} }}\n"
        f':root[data-theme="dark"] {{ {dark} }}\n'
        f'@media print {{ :root, :root[data-theme="dark"] {{ {light} }} }}\n' + _text("page.css")
    )


def _colours(values: dict[str, str]) -> str:
    return " ".join(f"{name}: {value};" for name, value in values.items())


def _text(name: str) -> str:
    return (resources.page() / name).read_text(encoding="utf-8")

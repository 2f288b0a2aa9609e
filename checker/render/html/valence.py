"""Renders the valence of a check as a self-contained page."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from checker.diagnostics.english import count
from checker.diagnostics.visible import visible
from checker.render.diagram.picture import picture_of
from checker.render.diagram.svg import svg_of
from checker.render.diagram.valence import SEVERAL_DECIDED, hypercube, levels, open_in_words
from checker.render.html.content import short_file_name
from checker.render.html.page import environment, policy, style
from checker.render.terminal.steps import open_after
from checker.render.terminal.valence import (
    adjacent_texts,
    holder_text,
    input_text,
    undecided_text,
    values_text,
)
from checker.results.trace import Trace
from checker.results.valence import Nearest, Valence
from checker.words.steps import headline

PARTS = {
    "corners": "the triangle",
    "inputs": "the adjacent inputs",
    "levels": "levels",
    "hook": "the hook",
    "never": "the run that never decides",
}


def valence_page(report: Valence) -> str:
    """Returns the page of a report."""
    links = dict[int, str]()
    for number, each in enumerate(report.critical):
        links.setdefault(each.trace.length, f"hook-{number}")
    if report.undecided is not None:
        links.setdefault(report.undecided.trace.loop or 0, "never")
    data: dict[str, Any] = {
        "report": report,
        "file": short_file_name(report.file),
        "parts": [{"id": key, "title": title} for key, title in PARTS.items()],
        "lead": _lead(report),
        "cube": Markup(hypercube(report)),
        "adjacent": [*adjacent_texts(report)],
        "starts": [_start(start) for start in report.starts],
        "levels": Markup(levels(report, links, _runs(report))),
        "nearest": [_nearest(each, i) for i, each in enumerate(report.nearest)],
        "hooks": [_hook(report, i) for i in range(len(report.critical))],
        "never": _never(report),
        "disagreement": None
        if report.disagreement is None
        else _run(report.disagreement, "disagreement"),
        "style": style(),
        "policy": policy(""),
    }
    return visible(environment().get_template("valence.html").render(data))


def _runs(report: Valence) -> dict[str, str]:
    """Returns for each part of a level the fragment of a run to such a state."""
    found = {open_in_words(each.open): f"nearest-{i}" for i, each in enumerate(report.nearest)}
    return {**found, SEVERAL_DECIDED: "disagreement"}


def _nearest(found: Nearest, number: int) -> dict[str, Any]:
    name = f"nearest-{number}"
    run = _run(found.trace, f"{name}-run")
    return {"id": name, "open": values_text(found.open), "run": run}


def _lead(report: Valence) -> str:
    bivalent = sum(level.bivalent for level in report.levels)
    return (
        f"{count(report.states, 'state')}, {bivalent:,} of them bivalent;"
        f" {report.critical_states:,} critical."
    )


def _start(start: Any) -> dict[str, Any]:
    without = [values_text(each.open) for each in start.without]
    return {"input": input_text(start), "open": values_text(start.open), "without": without}


def _hook(report: Valence, number: int) -> dict[str, Any]:
    found = report.critical[number]
    branches = [{"open": values_text(b.open), "headline": b.headline} for b in found.branches]
    return {
        "id": f"hook-{number}",
        "said": holder_text(found),
        "branches": branches,
        "run": _run(found.trace, f"hook-{number}-run"),
    }


def _never(report: Valence) -> dict[str, Any] | None:
    found = report.undecided
    if found is None:
        return None
    return {"said": undecided_text(found), "run": _run(found.trace, "never-run")}


def _run(trace: Trace, name: str) -> dict[str, Any]:
    """Returns a run: its steps with what is open after each, and its picture."""
    steps = trace.every_step
    return {
        "steps": [
            {"headline": headline(step), "open": open_after(trace, step.number).strip()}
            for step in steps
        ],
        "length": count(trace.length, "step"),
        "svg": Markup(svg_of(picture_of(trace, "steps"), title_id=name)),
    }

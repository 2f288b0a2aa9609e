"""Renders what the properties of a check need as a self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from checker.diagnostics.visible import visible
from checker.render.diagram.picture import picture_of
from checker.render.diagram.svg import svg_of
from checker.render.html.content import short_file_name
from checker.render.html.page import environment, policy, style
from checker.results.trace import Trace
from checker.results.verdict import Word
from checker.results.weakest_worlds import Needed, PropertyWorlds, WeakestWorlds
from checker.words.steps import headline
from checker.words.weakest_worlds import figures, loud, one_of, open_questions, shown_by, summary

FAIRNESS = "fairness of "
"""How the names of axes of fairness begin."""


def weakest_worlds_page(report: WeakestWorlds) -> str:
    """Returns the page of a report."""
    script = opening_script()
    data: dict[str, Any] = {
        "report": report,
        "file": short_file_name(report.file),
        "figures": figures(report),
        "properties": [_property(each) for each in report.properties],
        "rows": [_row(report, axis, words) for axis, words in report.assumed],
        "style": style(),
        "script": Markup(script),
        "policy": policy(script),
    }
    return visible(environment().get_template("weakest_worlds.html").render(data))


def opening_script() -> str:
    """Returns the script that opens the run that a link leads to."""
    return (Path(__file__).parent / "opened.js").read_text(encoding="utf-8")


def run_of(trace: Trace | None, name: str) -> dict[str, Any]:
    """Returns a run for a page: its steps in words, and its picture, whose title has the id
    ``name``."""
    if trace is None:
        return {"steps": [], "svg": ""}
    svg = Markup(svg_of(picture_of(trace, "steps"), title_id=name))
    return {"steps": [headline(step) for step in trace.every_step], "svg": svg}


def _id(found: PropertyWorlds) -> str:
    return f"property-{found.property}"


def _property(found: PropertyWorlds) -> dict[str, Any]:
    shown = [(number, each) for number, each in enumerate(found.needed) if each.is_shown]
    return {
        "id": _id(found),
        "name": found.property,
        "summary": summary(found),
        "loud": [*loud(found)],
        "needed": [_needed(each, _id(found), number) for number, each in shown],
        "open": [*open_questions(found)],
        "weakest": found.weakest,
    }


def _needed(each: Needed, owner: str, number: int) -> dict[str, Any]:
    name = f"{owner}-{number}"
    return {
        "id": name,
        "words": one_of(each),
        "shown": shown_by(each),
        "reason": each.reason,
        **run_of(each.trace, f"{name}-run"),
    }


def _row(report: WeakestWorlds, axis: str, words: str) -> dict[str, Any]:
    return {"words": words, "cells": [_cell(each, axis) for each in report.properties]}


def _cell(found: PropertyWorlds, axis: str) -> dict[str, str]:
    """Returns what is known of one assumption and one property."""
    link = _id(found)
    if found.verdict is Word.VIOLATED:
        return {"kind": "violated", "word": "violated with it", "link": link}
    about = [(n, each) for n, each in enumerate(found.needed) if axis in each.axes]
    for number, each in sorted(about, key=lambda one: len(one[1].axes)):
        if each.is_shown:
            word = "needed" if len(each.axes) == 1 else "one of several"
            if axis in dict(found.unneeded):
                word = f"needed: {each.assumptions[each.axes.index(axis)]}"
            return {"kind": "needed", "word": word, "link": f"{link}-{number}"}
    if axis in dict(found.unneeded) or (found.finite and axis.startswith(FAIRNESS)):
        return {"kind": "unneeded", "word": "not needed", "link": ""}
    if about or found.together:
        return {"kind": "open", "word": "not decided", "link": link}
    return {"kind": "unasked", "word": "not asked", "link": ""}

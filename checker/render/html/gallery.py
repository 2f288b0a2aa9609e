"""Renders a gallery: the index of many executions, each with its own page."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from checker.diagnostics.english import count
from checker.diagnostics.visible import visible
from checker.render.diagram.picture import picture_of
from checker.render.diagram.rows import Layout
from checker.render.diagram.svg import svg_of
from checker.render.html.content import as_sentence, with_code
from checker.render.html.page import environment, policy, style
from checker.results.trace import Trace


class Exhibit(Struct, frozen=True):
    """An execution in a gallery.

    ``theme``: the folder of its spec; ``page`` and ``spec``: the files of its page and of its
    spec's text, relative to the index.
    """

    theme: str
    trace: Trace
    page: str
    spec: str = ""


class Skipped(Struct, frozen=True):
    """A check that is not in the gallery, and why."""

    check: str
    why: str


class Chapter(Struct, frozen=True):
    """A page that is not an execution: its title, its path relative to the index, and a sentence
    about it."""

    title: str
    page: str
    said: str


class Step(Struct, frozen=True):
    """A rung of a ladder: a check, the rule that its variant lacks, what is ``said`` of the run,
    and its page, relative to the index; without a page, ``said`` is the command that finds it."""

    check: str
    rule: str
    said: str
    page: str = ""


class LadderChapter(Struct, frozen=True):
    """An ablation series, which shows what each rule of a protocol is for: a title, some
    sentences, and the steps in order."""

    title: str
    said: str
    steps: tuple[Step, ...]


def page_name(trace: Trace) -> str:
    """Returns a portable file name for an execution's page: its file, check and property."""
    words = (_name(trace).removesuffix(".bcast"), trace.header.check, trace.property_name)
    return "-".join(re.sub(r"\W+", "_", word).strip("_") for word in words) + ".html"


def _name(trace: Trace) -> str:
    return trace.header.file.replace("\\", "/").rpartition("/")[2]


def index_of(
    exhibits: Sequence[Exhibit],
    skipped: Sequence[Skipped] = (),
    layout: Layout = "steps",
    chapters: Sequence[Chapter] = (),
    ladders: Sequence[LadderChapter] = (),
) -> str:
    """Renders the index as a self-contained page: executions by theme, with small pictures, and
    other chapters."""
    ordered = sorted(exhibits, key=lambda e: (e.theme, e.trace.header.file))
    themes = [
        {
            "id": re.sub(r"\W+", "_", theme),
            "name": theme.replace("_", " "),
            "exhibits": [_exhibit_data(e, layout) for e in group],
        }
        for theme, group in groupby(ordered, key=lambda e: e.theme)
    ]
    return visible(
        environment()
        .get_template("gallery.html")
        .render(
            themes=themes,
            chapters=chapters,
            ladders=ladders,
            skipped=skipped,
            style=style(),
            policy=policy(""),
        )
    )


def _exhibit_data(exhibit: Exhibit, layout: Layout) -> dict[str, object]:
    trace = exhibit.trace
    explained = trace.explanation
    sentences = () if explained is None else explained.sentences
    said = as_sentence(sentences[0] if sentences else trace.without_definition)
    drawn = svg_of(picture_of(trace, layout), title_id="thumb").encode()
    return {
        "page": exhibit.page,
        "spec": exhibit.spec,
        "file": _name(trace),
        "title": _name(trace).removesuffix(".bcast").replace("_", " "),
        "check": trace.header.check,
        "property": trace.property_name,
        "sentence": with_code(said),
        "spoken": said.replace("`", ""),
        "definition": trace.definition,
        "length": count(trace.length, "step"),
        "saved": [] if explained is None else [
            a.what for a in explained.ablations if a.outcome == "holds" and a.kind != "message"
        ],
        "image": "data:image/svg+xml;base64," + base64.b64encode(drawn).decode(),
    }  # fmt: skip

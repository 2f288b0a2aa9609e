"""Computes the template data for a log that no step explains further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from checker.render.html.content import as_sentence, short_file_name, with_code
from checker.results.conformance import Candidate, Conformance, Obstacle
from checker.results.events import Passage
from checker.results.trace import Source


def blocked(report: Conformance) -> dict[str, Any]:
    """Returns the variables of the section on why the log of ``report``, which has a run, is not
    explained further."""
    sources = () if report.trace is None else report.trace.header.sources
    return {
        "said": as_sentence(report.sentence),
        "behind": 0 if report.trace is None else report.omitted + len(report.trace.steps) - 1,
        "lines": [line_of(obstacle, sources) for obstacle in report.obstacles],
    }


def line_of(obstacle: Obstacle, sources: Sequence[Source]) -> dict[str, Any]:
    """Returns the variables of a line of a log, and of why no step explains it."""
    line = obstacle.line
    return {
        "text": line.text,
        "place": f"{short_file_name(line.file)}:{line.number}",
        "said": line.said,
        "rows": [_row(candidate, line.text, sources) for candidate in obstacle.candidates],
    }


def _row(found: Candidate, line: str, sources: Sequence[Source]) -> dict[str, Any]:
    places = [place for each in found.passages for place in _underlined(each, sources)]
    why = with_code(found.why or found.text)
    return {"candidate": found.step or line, "why": why, "places": places}


def _underlined(found: Passage, sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Yields the first line of a passage, underlined; nothing if ``sources`` lacks its file."""
    begin = found.begin
    text = next((each.text for each in sources if each.file == begin.file), "")
    for line in text.splitlines()[begin.line - 1 : begin.line]:
        end = found.end_column - 1 if found.end_line == begin.line else len(line)
        parts = line[: begin.column - 1].lstrip(), line[begin.column - 1 : end], line[end:]
        place = f"{short_file_name(begin.file)}:{begin.line}"
        yield {"place": place, "code": Markup("{}<u>{}</u>{}").format(*parts)}

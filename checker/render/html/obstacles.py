"""Computes the template data for a log that no step explains further."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from checker.render.html.content import as_sentence, short_file_name, with_code
from checker.results.conformance import Candidate, Conformance, Obstacle
from checker.results.events import At
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
    places = [place for each in found.false for place in _places(each, found.at, sources)]
    why = with_code(found.why or found.text)
    return {"candidate": found.step or line, "why": why, "places": places}


def _places(condition: str, at: At | None, sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Yields the first place from ``at`` on, where the handler begins, that has ``condition`` on
    one line, perhaps with other spaces; in any file from its start where ``at`` is ``None``."""
    words = r"\s+".join(re.escape(word) for word in condition.split())
    pattern = re.compile(rf"(?<!\w){words}(?!\w)")
    for source in sources:
        if at is not None and source.file != at.file:
            continue
        first = 1 if at is None else at.line
        for number, line in enumerate(source.text.splitlines()[first - 1 :], first):
            code = line.partition("//")[0].rstrip()
            if match := pattern.search(code):
                begin, end = match.span()
                parts = code[:begin].lstrip(), code[begin:end], code[end:]
                place = f"{short_file_name(source.file)}:{number}"
                yield {"place": place, "code": Markup("{}<u>{}</u>{}").format(*parts)}
                return

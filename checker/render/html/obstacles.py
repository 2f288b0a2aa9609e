"""Computes the template data for a log that no step explains further."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from checker.render.html.content import as_sentence, short_file_name, with_code
from checker.results.conformance import Conformance, Obstacle
from checker.results.trace import Source

MOST = 3
"""The largest number of places in a spec at which one false condition is shown."""

_FALSE = re.compile(r"`([^`]+)` is false")
_CANDIDATE = re.compile(
    r"`(?P<quoted>[^`]+)` is possible, (?P<so>.*)|(?P<plain>[^`]*?): (?P<why>`.*)"
)


def blocked(report: Conformance) -> dict[str, Any]:
    """Returns the variables of the section on why the log of ``report``, which has a run, is not
    explained further."""
    sources = () if report.trace is None else report.trace.header.sources
    return {
        "said": as_sentence(report.sentence),
        "behind": 0 if report.trace is None else report.omitted + len(report.trace.steps) - 1,
        "lines": [_line(obstacle, sources) for obstacle in report.obstacles],
    }


def _line(obstacle: Obstacle, sources: Sequence[Source]) -> dict[str, Any]:
    line = obstacle.line
    return {
        "text": line.text,
        "place": f"{short_file_name(line.file)}:{line.number}",
        "said": line.said,
        "rows": [_row(reason, obstacle, sources) for reason in obstacle.reasons],
    }


def _row(reason: str, obstacle: Obstacle, sources: Sequence[Source]) -> dict[str, Any]:
    found = _CANDIDATE.fullmatch(reason)
    candidate, why = obstacle.line.text, reason
    if found is not None:
        candidate = found["quoted"] or found["plain"]
        why = found["so"] or found["why"]
    texts = dict.fromkeys(_FALSE.findall(why))
    places = [place for text in texts for place in _places(text, candidate, sources)]
    return {"candidate": candidate, "why": with_code(why), "places": places}


def _places(condition: str, candidate: str, sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Returns where the spec has ``condition``: in the handler that ``candidate`` names, if it is
    there, or else everywhere."""
    words = r"\s+".join(re.escape(word) for word in condition.split())
    pattern = re.compile(rf"(?<!\w){words}(?!\w)")
    found = list(_occurrences(pattern, sources))
    name = candidate.rpartition(" ")[2]
    named = [each for each in found if re.search(rf"\bas {re.escape(name)}\b", each["line"])]
    return [_underlined(each) for each in (named or found)[:MOST]]


def _occurrences(pattern: re.Pattern[str], sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    for source in sources:
        for number, line in enumerate(source.text.splitlines(), 1):
            code = line.partition("//")[0]
            match = pattern.search(code)
            if match is not None:
                place = f"{short_file_name(source.file)}:{number}"
                yield {"line": code.rstrip(), "place": place, "at": match.span()}


def _underlined(found: dict[str, Any]) -> dict[str, Any]:
    line, (begin, end) = found["line"], found["at"]
    parts = line[:begin].lstrip(), line[begin:end], line[end:]
    code = Markup("{}<u>{}</u>{}").format(*parts)
    return {"place": found["place"], "code": code}

"""Reports as workflow commands of GitHub's runners, which become annotations of a change."""

from __future__ import annotations

from collections.abc import Sequence

from checker.render.ci.outcomes import NOWHERE, NotRun, Places, outcomes_of, warnings_of
from checker.results.verdict import Report


def github_of(found: Sequence[Report | NotRun], places: Places = NOWHERE) -> str:
    """Returns a line ``::error file=…,line=…,col=…,title=…::…`` for each outcome that is not as
    expected or could not be decided, and ``::warning …`` for each warning of a check."""
    lines = []
    for outcome in outcomes_of(found, places):
        if not outcome.met:
            at = outcome.place
            lines.append(_line("error", at.file, at.line, at.column, outcome.title, outcome.said))
    for each in warnings_of(found):
        lines.append(_line("warning", each.file, each.line, each.column, each.code, each.message))
    return "".join(lines)


def _line(level: str, file: str, line: int, column: int, title: str, said: str) -> str:
    where = {"file": file, "line": str(line), "col": str(column), "title": title}
    attributes = ",".join(f"{key}={_in_attribute(value)}" for key, value in where.items())
    return f"::{level} {attributes}::{_escaped(said)}\n"


def _escaped(text: str) -> str:
    """Returns ``text`` as the data of a command: percent signs and ends of lines are escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _in_attribute(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")

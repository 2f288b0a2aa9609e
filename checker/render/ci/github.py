"""Reports as workflow commands of GitHub's runners, which become annotations of a change."""

from __future__ import annotations

from collections.abc import Sequence

from checker.render.ci.outcomes import NOWHERE, NotRun, Places, outcomes_of
from checker.results.verdict import Report


def github_of(found: Sequence[Report | NotRun], places: Places = NOWHERE) -> str:
    """Returns a line ``::error file=…,line=…,col=…,title=…::…`` for each outcome that is not as
    expected or could not be decided."""
    lines = []
    for outcome in outcomes_of(found, places):
        if not outcome.met:
            at = outcome.place
            where = {
                "file": at.file,
                "line": str(at.line),
                "col": str(at.column),
                "title": outcome.title,
            }
            attributes = ",".join(f"{key}={_in_attribute(value)}" for key, value in where.items())
            lines.append(f"::error {attributes}::{_escaped(outcome.said)}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    """Returns ``text`` as the data of a command: percent signs and ends of lines are escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _in_attribute(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")

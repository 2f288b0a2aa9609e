"""What a report says about the size of a search: what was done to make it smaller, what that has
spared, what was not done and why, and how much larger it would become."""

from __future__ import annotations

from collections.abc import Iterator

from checker.views.amounts import about, foretold
from checker.witness.phrases import count
from checker.witness.verdict import Report

NAMES = {"symmetry": "symmetry", "dead": "dead values", "por": "partial order"}
"""What the reductions are called."""

HEAVIEST = 4
"""So many weights are shown."""

WORTH_SAYING = 20_000
"""Searches of fewer states end soon enough: nobody asks why there was no reduction."""


def reduction_rows(report: Report) -> Iterator[tuple[str, str]]:
    """Rows of a label and a text."""
    reduced = report.reduced
    if reduced.used:
        yield "reduced", f"{_used_text(report)}{_without(report)}"
    if _curious(report):
        for why, kinds in _reasons(report).items():
            yield "reduced", f"not by {', '.join(NAMES[kind] for kind in kinds)}: {why}"
    if report.forecast is not None:
        yield "forecast", foretold(report.forecast)
    if report.weights:
        yield "weight", _weights(report)
    if report.audit is not None:
        yield "audit", report.audit.said


def _used_text(report: Report) -> str:
    names = ", ".join(NAMES[kind] for kind in report.reduced.used)
    what = "; ".join(report.reduced.text)
    return f"by {names}" + (f" ({what})" if what else "")


def _without(report: Report) -> str:
    """How many states there would be without."""
    without, explored = report.reduced.without, report.distinct_states
    if without is None:
        return ""
    said = count(without, "state") if report.reduced.exact else f"about {about(without)} states"
    if report.reduced.used != ("symmetry",):
        said = f"more than {said}"  # orbits are counted, of what the others have left
    times = without / max(1, explored)
    many = f" ({times:,.1f}x)" if times >= 1.05 else ""
    return f"; without: {said}{many}"


def _weights(report: Report) -> str:
    first, *others = report.weights[:HEAVIEST]
    more = "".join(f", {each.name} by {about(each.factor)}" for each in others)
    return f"{first.name} multiplies the states by about {about(first.factor)}{more}"


def _curious(report: Report) -> bool:
    """Whether somebody may want to know what was not done."""
    asked = report.reduce not in ("auto", "none")
    return asked or not report.exhaustive or report.distinct_states >= WORTH_SAYING


def _reasons(report: Report) -> dict[str, list[str]]:
    """Why reductions are not used, each reason once, with all that it hinders."""
    found: dict[str, list[str]] = {}
    for kind, why in report.reduced.unused:
        kinds = found.setdefault(why, [])
        if kind not in kinds:
            kinds.append(kind)
    return found

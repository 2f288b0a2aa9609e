"""Summarises the size of a search: the reductions used, the states they saved, the reductions not
used and why, the forecast, and what would make the search smaller.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count
from checker.render.terminal.amounts import about, foretold
from checker.results.verdict import CountedSteps, Report

HEAVIEST = 4
"""The largest number of weights that are shown."""

WORTH_SAYING = 20_000
"""Exhaustive searches of fewer states do not explain unused reductions."""


def reduction_rows(report: Report, *, verbose: bool) -> Iterator[tuple[str, str]]:
    """Yields rows of a label and a text; those on the reductions themselves only where they were
    requested, by ``verbose`` or by the option that selects them: nobody can act on them otherwise
    (what can be done is a next step of the report)."""
    reduced = report.reduced
    told = tells_reductions(report, verbose)
    if reduced.used and told:
        yield "reduced", f"{_used_text(report)}{_without(report)}"
    if told and _curious(report):
        for why, kinds in _reasons(report).items():
            yield "reduced", f"not by {', '.join(map(reduced.title, kinds))}: {why}"
    if report.forecast is not None:
        yield "forecast", foretold(report.forecast)
    if report.weights:
        yield "weight", _weights(report)
    if report.steps is not None and not report.exhaustive and report.steps.steps:
        yield "steps", _most_steps(report.steps)
    yield from (("smaller", said) for said in report.smaller)
    if report.audit is not None:
        yield "audit", report.audit.said


def tells_reductions(report: Report, verbose: bool) -> bool:
    """Tells whether :func:`reduction_rows` has the reductions."""
    return verbose or report.reduce != "auto"


def _used_text(report: Report) -> str:
    reduced = report.reduced
    names, what = ", ".join(map(reduced.title, reduced.used)), "; ".join(reduced.text)
    return f"by {names}" + (f" ({what})" if what else "")


def _without(report: Report) -> str:
    """Estimates how many states there would be without the reductions."""
    without, explored = report.reduced.without, report.distinct_states
    if without is None:
        return ""
    said = count(without, "state") if report.reduced.exact else f"about {about(without)} states"
    if report.reduced.at_least:
        said = f"more than {said}"  # orbits are counted after the other reductions
    times = without / max(1, explored)
    many = f" ({times:,.1f}x)" if times >= 1.05 else ""
    return f"; without: {said}{many}"


def _weights(report: Report) -> str:
    first, *others = report.weights[:HEAVIEST]
    more = "".join(f", {each.name} by {about(each.factor)}" for each in others)
    return f"{first.name} multiplies the states by about {about(first.factor)}{more}"


def _most_steps(steps: CountedSteps) -> str:
    """Returns which handlers have the most steps, and their shares."""
    shown = [f"{steps.share(h.steps)} of `{h.text}`" for h in steps.handlers[:HEAVIEST] if h.steps]
    rest = "" if shown else "no handler"
    return f"{', '.join(shown) or rest}, in {steps.of}"


def _curious(report: Report) -> bool:
    """Returns whether unused reductions are explained: the user chose reductions, or the search was
    truncated or large.
    """
    asked = report.reduce not in ("auto", "none")
    return asked or not report.exhaustive or report.distinct_states >= WORTH_SAYING


def _reasons(report: Report) -> dict[str, list[str]]:
    """Groups the reasons why reductions are not used, each reason once."""
    found: dict[str, list[str]] = {}
    for kind, why in report.reduced.unused:
        kinds = found.setdefault(why, [])
        if kind not in kinds:
            kinds.append(kind)
    return found

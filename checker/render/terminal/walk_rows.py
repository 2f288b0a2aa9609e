"""Rows of a report on random walks: how many, how fast, what happened in them."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count, listing
from checker.results.verdict import Report
from checker.results.walks import WalkSummary

WORDS = {
    "crash": ("crash", "crashes"),
    "recover": ("recovery", "recoveries"),
    "lose": ("loss", "losses"),
    "forge": ("forged message", "forged messages"),
}


def walk_rows(report: Report, walks: WalkSummary) -> Iterator[tuple[str, str]]:
    """Yields rows on the walks of ``report``."""
    rate = f" ({walks.steps / report.seconds:,.0f} steps/s)" if report.seconds > 0.01 else ""
    fine = ", fine steps" if report.fine_steps else ""
    far = f"{count(walks.steps, 'step')} in {report.seconds:.2f} s{rate}"
    yield "walked", f"{walks.text}: {far}, the longest {walks.longest:,}{fine}"
    if walks.found is not None:
        yield "found", f"in walk {walks.found:,}; the same seed finds it again"
    yield "faults", _faults(walks)
    if walks.ends:
        yield "ends", f"{count(walks.ends, 'time')} a walk might have stayed where it was forever"
    if walks.outgrown:
        yield "cut", f"{count(walks.outgrown, 'walk')} ended where something grew beyond any bound"
    never = [name for name, times in walks.taken if not times]
    if never:
        yield "never", f"no walk took {listing(never)}"
    if report.stopped:
        yield "stopped", report.stopped
    if not report.has_counterexample:
        yield "scope", "random walks: they may miss violations"


def _faults(walks: WalkSummary) -> str:
    said = [f"{times:,} {WORDS[kind][times != 1]}" for kind, times in walks.faults]
    return listing(said) if said else "none"

"""Which corner of the triangle of Fischer, Lynch and Paterson (1985) a protocol gives up.

No deterministic protocol in an asynchronous system has all of: agreement, nontriviality (both
values can be decided, by some input), and a decision in every admissible run although one process
may crash.
"""

from __future__ import annotations

from checker.diagnostics.english import count, listing
from checker.instantiate.protocol.sizes import evaluate_size
from checker.results.valence import Corner, Valence
from checker.valence.compute import Computed


def corners_of(computed: Computed, report: Valence) -> tuple[Corner, ...]:
    """Returns the corners, each with whether it is kept and why."""
    return (
        _agreement(report),
        _nontriviality(report),
        _termination(computed, report),
    )


def _agreement(report: Valence) -> Corner:
    split = sum(level.split for level in report.levels)
    if split:
        said = f"two values are decided in {count(split, 'state')}"
        return Corner("agreement", "given up", said)
    return Corner("agreement", "kept", "no state has more than one decided value")


def _nontriviality(report: Valence) -> Corner:
    found = {value for start in report.starts for value in start.open}
    if len(found) > 1:
        shown = listing([v for v in report.values if v in found])
        return Corner("nontriviality", "kept", f"{shown} can be decided")
    said = f"only {found.pop()} is ever decided" if found else "nothing is ever decided"
    if not any(start.inputs for start in report.starts):
        return Corner("nontriviality", "unknown", f"{said}, for the only input explored")
    return Corner("nontriviality", "given up", f"{said}, whatever the input")


def _termination(computed: Computed, report: Valence) -> Corner:
    check, sizes = computed.question.check, computed.made.sizes
    crashes = 0 if check.crash is None else evaluate_size(check.crash, sizes.values)
    run = report.undecided
    if run is not None:
        how = "stays bivalent forever" if run.kind == "bivalent" else "never decides"
        faults = " and nobody crashes" if not _crashes(report) else ""
        return Corner("termination", "given up", f"an admissible run {how}{faults}")
    timed = check.timing is not None and check.timing.kind != "asynchronous"
    helpless = check.detector is None and not timed
    needed = [each.process for each in report.blocking if each.initial]
    if crashes and helpless and needed:
        said = f"every admissible run decides, but {listing(needed)} may not crash here"
        return Corner("termination", "given up", f"{said}: without it nothing is decided")
    if crashes:
        said = f"every admissible run decides, with up to {count(crashes, 'crash')}"
        return Corner("termination", "kept", said)
    if report.blocking and helpless:
        who = listing([b.process for b in report.blocking])
        said = f"every admissible run decides, but if one of {who} stops, nothing may be decided"
        if len(report.blocking) == 1:
            said = f"every admissible run decides, but if {who} stops, nothing may be decided"
        return Corner("termination", "given up", said)
    said = "every admissible run decides, but nobody may crash here: ask with `--set crash=1`"
    return Corner("termination", "unknown", said)


def _crashes(report: Valence) -> bool:
    run = report.undecided
    return run is not None and any(fate.crashed for fate in run.trace.fates)

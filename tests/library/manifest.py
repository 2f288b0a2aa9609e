"""Compares what a run has found with what ``specs/manifest.json`` says of its check."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from checker.resources import specs
from checker.results.verdict import Report
from scripts.write_manifest import facts_of, read_manifest


@cache
def _files() -> dict[str, Any]:
    return dict(read_manifest()["files"])


def difference(path: Path, name: str, report: Report) -> dict[str, tuple[Any, Any]]:
    """What the manifest says of a check and what was found, where that is not the same; where it
    says ``null`` nothing is compared."""
    known = _files()[path.relative_to(specs()).as_posix()]["checks"][name]
    found = facts_of(report)
    if "por" in report.reduced.used:  # what it leaves out depends on the order of the search
        found |= {"steps": None, "states": None, "depth": None}
    claimed = [key for key in found if None not in (known[key], found[key])]
    apart = {key: (known[key], found[key]) for key in claimed if known[key] != found[key]}
    lassos = [v.property for v in report.verdicts if v.trace is not None and v.trace.loop]
    if lassos and apart.keys() == {"steps"}:  # so does the length of a lasso
        steps = [{p: n for p, n in facts.items() if p not in lassos} for facts in apart["steps"]]
        return apart if steps[0] != steps[1] else {}
    return apart

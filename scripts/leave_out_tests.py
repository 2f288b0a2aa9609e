"""Names the cases that the default test run leaves out, from the report of a run.

    .venv/bin/python -m pytest -m "not slow" -n auto --dist loadgroup --junitxml=report.xml
    .venv/bin/python -m scripts.leave_out_tests report.xml

A test keeps the cases that take least, up to half a second together, and always one, and those that
must find a seeded fault; what was left out before, and so is not in the report, stays left out.
Times are taken on an idle machine.
"""

from __future__ import annotations

import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.faults.seeded import faults

LEFT_OUT = Path(__file__).resolve().parent.parent / "tests" / "left_out.toml"
KEPT = 0.5
"""Seconds that the cases of one test may take together."""

Case = tuple[str, str]
"""The file of a test, and the name of one of its cases."""


def seconds_of(report: Path) -> dict[Case, float]:
    """Returns how long each case took, from a report as JUnit XML."""
    return {
        (found.get("classname", "").replace(".", "/") + ".py", found.get("name", "")): float(
            found.get("time", 0)
        )
        for found in ElementTree.parse(report).iter("testcase")
    }


def choose(seconds: Mapping[Case, float]) -> Iterable[Case]:
    """Yields the cases to leave out."""
    tests = defaultdict[Case, list[tuple[float, str]]](list)
    for (file, name), taken in seconds.items():
        test, bracket, _ = name.partition("[")
        if bracket:
            tests[file, test].append((taken, name))
    for (file, _), cases in tests.items():
        total = 0.0
        for number, (taken, name) in enumerate(sorted(cases)):
            total += taken
            if number and total > KEPT:
                yield file, name


def write(cases: Iterable[Case]) -> None:
    """Adds the cases to the list."""
    found = defaultdict[str, set[str]](set)
    for file, names in tomllib.loads(LEFT_OUT.read_text(encoding="utf-8")).items():
        found[file].update(names)
    needed = {test for fault in faults() for test in fault.found_by}
    for file, name in cases:
        test = f"{file}::{name}"
        if needed.isdisjoint({file, test.partition("[")[0], test}):
            found[file].add(name)
    lines = ["# Written by scripts/leave_out_tests.py; see tests/selection.py."]
    for file in sorted(found):
        lines += ["", f"{_quoted(file)} = ["]
        lines += [f"  {_quoted(name)}," for name in sorted(found[file])] + ["]"]
    LEFT_OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _quoted(text: str) -> str:
    """Returns a string as TOML writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    write(choose(seconds_of(Path(sys.argv[1]))))

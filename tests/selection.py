"""Which tests are in the default run."""

from __future__ import annotations

import os
import tomllib
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

MANY = 4
"""Of a test with at least so many cases the default run has a part."""

LEFT_OUT = Path(__file__).parent / "left_out.toml"
"""Cases that the default run leaves out, by file: each test keeps those of its cases that take
half a second together.  ``python -m scripts.leave_out_tests`` adds to it from a report of a run."""


EVERY_CASE = "BIVALENCE_EVERY_CASE"
"""An environment variable: where it is set, every case of a test is run, as a fault may be found by
one alone."""


def first_by_default(values: Iterable[object], kept: int) -> list[object]:
    """Returns ``values``; all but the first ``kept`` are marked `slow`."""
    return [
        value if number < kept else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]


WHOLE = "BIVALENCE_WHOLE" in os.environ
"""Whether this is a run of all tests (``./test --full``)."""


def by_turns(ways: Sequence[str], name: str) -> tuple[str, ...]:
    """Returns one of ``ways``, which depends on ``name``; all of them if they are only two, and in
    a run of all tests."""
    if WHOLE or len(ways) < 3:
        return tuple(ways)
    return (ways[zlib.crc32(name.encode()) % len(ways)],)


def some(number: int) -> int:
    """Returns how many of the first ``number`` random systems a test tries: in the default run a
    third."""
    return number if WHOLE else -(-number // 3)


def left_out() -> dict[str, list[str]]:
    """Returns the names of the cases that are left out, by file."""
    return tomllib.loads(LEFT_OUT.read_text(encoding="utf-8"))


def leave_out(items: Iterable[pytest.Item]) -> None:
    """Marks as `slow` what is left out, unless it is marked `every`."""
    named = {f"{file}::{name}" for file, names in left_out().items() for name in names}
    for item in items:
        if item.nodeid in named and item.get_closest_marker("every") is None:
            item.add_marker(pytest.mark.slow)


SHARE = 0.3
"""Of the cases of a test that has many, the share that the default run has."""

SHARES = {
    **dict.fromkeys(
        (
            "tests/benchmarks/", "tests/cli/test_broken_folders.py",
            "tests/cli/test_cache_folders.py", "tests/cli/test_exits.py",
            "tests/cli/test_keeping.py", "tests/cli/test_side_by_side.py",
            "tests/cli/test_sweep.py", "tests/instantiate/test_budgets",
            "tests/language/test_words_as_names.py",
        ),
        0.15,
    ),
    "tests/library/test_library.py::test_expectations": 0.08,  # and one of each file
    "tests/library/test_library.py::test_every_run": 0.1,
    "tests/library/test_library.py::test_fine": 0.03,
    "tests/library/test_library.py::test_reference": 0.03,
    "tests/spark/": 0.4,
}  # fmt: skip
"""Tests that are taken together, and the share of them that the default run has.

No verdict depends on what those of which it has few are about (full disks, folders of others,
Ctrl-C in each phase), or other tests with random systems ask the same; a test on Spark takes as
long as twenty others.  Of each file of the library the default run has one check at least; a run of
all tests has every check."""


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Marks as `slow`, of tests that have many cases, those cases that are beyond its share, except
    for cases that are marked `every`.

    Which of them are left depends on a case's own name alone, so that a new case changes nothing
    about the others; one at least is left of each test.  Cases about the same run are left or
    marked together.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None and item.get_closest_marker("every") is None:
            group = next((name for name in SHARES if item.nodeid.startswith(name)), None)
            cases.setdefault(group or item.nodeid.partition("[")[0], []).append(item)
    for name, of_one_test in cases.items():
        if len(of_one_test) >= MANY:
            drawn = sorted(of_one_test, key=lambda item: place_of(drawn_by(item)))
            for item in drawn[1:]:
                if place_of(drawn_by(item)) >= SHARES.get(name, SHARE):
                    item.add_marker(pytest.mark.slow)


def drawn_by(item: pytest.Item) -> str:
    """Returns the name of the run that a case is about, if it says one (`tests/shared_runs.py`):
    several tests then look at one run; otherwise its own name."""
    marks = getattr(getattr(item, "callspec", None), "marks", ())
    groups = [str(mark.args[0]) for mark in marks if mark.name == "xdist_group"]
    return groups[0] if groups else item.nodeid


def place_of(name: str) -> float:
    """Returns a number from 0 to 1 that depends on ``name`` alone (CRC-32)."""
    return zlib.crc32(name.encode()) / 2**32

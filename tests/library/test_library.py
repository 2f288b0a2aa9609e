"""Every check of the protocol library gives what it expects, by every engine and step size."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from checker.pipeline import Options, run_check
from checker.resources import specs
from checker.witness.verdict import Report

_CHECK = re.compile(r"^check\s+(\w+)\s+of\b", re.MULTILINE)


def _checks() -> list[tuple[Path, str]]:
    """Every check outside the oracles, by file; read without the tool, which is what is tested."""
    return [
        (path, name)
        for path in sorted(specs().rglob("*.bcast"))
        if path.parent.name != "oracles"
        for name in _CHECK.findall(path.read_text(encoding="utf-8"))
    ]


CHECKS = _checks()
IDS = [f"{path.parent.name}/{path.stem}-{name}" for path, name in CHECKS]
every_check = pytest.mark.parametrize(("path", "name"), CHECKS, ids=IDS)

assert CHECKS, f"there are no checks under {specs()}"


@cache
def _native(path: Path, name: str) -> Report:
    return run_check(str(path), name, Options(engine="native"))


def _words(report: Report) -> dict[str, str]:
    return {v.property: v.word.value for v in report.verdicts}


@every_check
def test_expectations(path: Path, name: str) -> None:
    report = _native(path, name)
    unmet = [e for e in report.expectations if not e.met]
    assert not unmet
    assert report.expectations, "a check of the library expects something"
    assert report.exit_code == 0


@every_check
def test_reference_agrees(path: Path, name: str) -> None:
    native = _native(path, name)
    reference = run_check(str(path), name, Options(engine="reference"))
    assert _words(reference) == _words(native)
    assert reference.distinct_states == native.distinct_states
    assert reference.exit_code == 0


@every_check
def test_fine_steps_agree(path: Path, name: str) -> None:
    fine = run_check(str(path), name, Options(engine="native", fine_steps=True))
    assert _words(fine) == _words(_native(path, name))
    assert fine.exit_code == 0


@pytest.mark.parametrize(
    "path", sorted({path for path, _ in CHECKS}), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_headers_tell_what_a_reader_needs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.split("\n\n", 1)[0] if not text.startswith("import") else ""
    for word in ("Source:", "Faults:", "Resilience:", "Look at:"):
        assert word in head, f"{path.name} does not say its {word.rstrip(':').lower()}"

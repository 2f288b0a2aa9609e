"""Numbers that no system can have are refused at once, before anything is made of them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.session.pipeline import run_check

SPEC = """\
protocol P(K: Nat = 3) {
  state x : 0..3 = 0
  upon condition x < 3 { x := x + 1 }
  property q "always" : always true
}
check c of P { n = 3  prove q }
"""
SOON = 20.0
"""Seconds: generous, and nothing against what 10^20 of anything take."""


@pytest.mark.parametrize("name", ["n", "K"])
@pytest.mark.parametrize("value", ["99999999999999999999", "1000000000000", "9" * 5000])
def test_a_number_that_is_set_is_none_too_large(name: str, value: str, tmp_path: Path) -> None:
    assert "exceeds" in refused(SPEC, tmp_path, {name: value}, "E003")


def test_nobody_names_a_billion_processes(tmp_path: Path) -> None:
    assert "64" in refused(SPEC, tmp_path, {"n": "1000000000"}, "E003")
    computed = SPEC.replace("n = 3", "n = 1000000000 * 1000000000")
    assert "64" in refused(computed, tmp_path, {}, "E003")


def test_a_range_is_a_set_of_so_many_numbers_at_most(tmp_path: Path) -> None:
    wide = SPEC.replace("condition x < 3", "condition exists v in (0..1000000000): v == x")
    assert "65,536" in refused(wide, tmp_path, {}, "C202")


def refused(spec: str, folder: Path, settings: dict[str, str], code: str) -> str:
    """What is said of ``spec``, soon and with ``code``."""
    path, started = folder / "p.bcast", time.monotonic()
    path.write_text(spec)
    with pytest.raises(SpecError) as problem:
        run_check(str(path), "c", Options(settings=settings))
    (said,) = problem.value.diagnostics
    assert said.code == code
    assert time.monotonic() - started < SOON
    return said.message

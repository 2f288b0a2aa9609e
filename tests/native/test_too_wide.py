"""What is said where a value has more bits than the native engine takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.session.pipeline import run_check

SPEC = """
protocol P {
  state log : seq<0..WIDE, max 400> = []
  state k = 0
  upon condition #log < 2 { log += 1  k := EXPR }
}
check c of P { n = 2 }
"""


def said(folder: Path, wide: int, expr: str) -> str:
    path = folder / "wide.bcast"
    path.write_text(SPEC.replace("WIDE", str(wide)).replace("EXPR", expr))
    with pytest.raises(SpecError) as caught:
        run_check(str(path), "c", Options(engine="native"))
    (found,) = caught.value.diagnostics
    assert found.code == "E007"
    return found.message


def test_a_variable_is_named(tmp_path: Path) -> None:
    message = said(tmp_path, 1_000_000, "0")
    assert "`log` takes 8,009 bits, and the native engine has room for 4,096" in message
    assert message.endswith("smaller ranges or a smaller `max` make it narrower")


def test_what_is_computed_has_a_place_and_variables(tmp_path: Path) -> None:
    message = said(tmp_path, 9, "#[(i, i, i) for i in log]")
    assert "what is computed from `log` at " in message
    assert "wide.bcast:5:45 takes 4,809 bits" in message

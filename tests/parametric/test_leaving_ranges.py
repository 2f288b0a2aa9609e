"""What is proved for all n is proved of runs without errors.

Where a number may leave its range, wherever it is stored or handed to, nothing is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.proving.parametric import automaton_of

SPEC = """
interface Told {{ request go(v: 0..1)  indication done(v: 0..1)  indication all(v: set<0..1>) }}
protocol E(T: Nat) implements Told {{
  message ECHO(v: 0..1)
  message SOME(v: option<0..1>)
  state wants = false
  init choose wants
  state level : 0..2 = 0
  state kept : set<0..1> = {{}}
  procedure takes(a: 0..1) {{ skip }}
  procedure takes_any(a: Nat) {{ skip }}
  procedure takes_some(a: seq<0..1>) {{ skip }}
  upon request go(v) {{ skip }}
  upon condition wants and level == 0 {{ level := 1  send ECHO(0) to all }}
  upon condition #received(ECHO(0)) >= n - T and level == 1 {{ level := 2  {statement} }}
  property known : always forall q in Proc: correct(q) and q.level == 2 => exists p in Proc: p.wants
}}
check c of E {{
  for all n, T, f when n > 3 * T and f <= T
  faults byzantine <= f
  links authenticated
  prove known
}}
"""
PLACES = (
    "kept += #",
    "send ECHO(#) to all",
    "send SOME(some(#)) to all",
    "done(#)",
    "all({#})",
    "takes(#)",
    "takes_some([1, #])",
    "takes(if #received(ECHO(1)) > 2 then # else 0)",
)


def reasons(path: Path, statement: str) -> list[tuple[str, str]]:
    """Returns why nothing is proved of a protocol with ``statement``, where ``level`` is 2."""
    path.write_text(SPEC.format(statement=statement), encoding="utf-8")
    try:
        automaton_of(str(path), "c", Options())
    except SpecError as outside:
        return [(found.code, found.message) for found in outside.diagnostics]
    return []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", ["level", "level - 3"])
def test_nothing_is_proved(place: str, number: str, tmp_path: Path) -> None:
    before, _, behind = place.rpartition("#")
    ((code, message),) = reasons(tmp_path / "a.bcast", before + number + behind)
    assert code == "T016"
    assert "may leave its range" in message


@pytest.mark.parametrize("place", PLACES)
def test_a_number_in_its_range_is_no_reason(place: str, tmp_path: Path) -> None:
    before, _, behind = place.rpartition("#")
    assert reasons(tmp_path / "a.bcast", f"{before}level - 1{behind}") == []


@pytest.mark.parametrize(
    ("number", "outside"),
    [("n", ""), ("#received(ECHO(1))", ""), ("n - 1", "n - 1"), ("level - 3", "-1"), ("level", "")],
)
def test_a_bound_that_is_guessed_is_none(number: str, outside: str, tmp_path: Path) -> None:
    found = reasons(tmp_path / "a.bcast", f"takes_any({number})")
    message = f"a number that `a` is given may leave its range: {outside}"
    assert found == ([("T016", message)] if outside else [])

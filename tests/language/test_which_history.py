"""Which history `before`, `broadcast_before`, `repeated` and `causes` are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.api import check
from checker.diagnostics import Diagnostic, SpecError
from checker.language.load import load_text

JOBS = """interface Jobs {
  request go(v: 0..1)
  %s
  indication started(v: 0..1)
  indication finished(v: 0..1)
}
protocol P implements Jobs {
  upon request go(v) { started(v) finished(1 - v) }
  property p: always forall p in Proc, v in (0..1): %s
}
check c of P { n = 1  clients { p1 goes 0, 1 }  prove p }
"""


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    try:
        load_text(text, "a.bcast")
    except SpecError as error:
        return error.diagnostics
    return ()


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("not before(finished(p), 1, 0)", False),
        ("not before(finished(p), 0, 1)", True),
        ("not before(started(p), 1, 0)", True),
        ("not before(started(p), 0, 1)", False),
        ("not before(goed(p), 1, 0)", True),
        ("not before(goed(p), 0, 1)", False),
        ("not broadcast_before(p, 0, 1)", False),
        ("not repeated(finished(p), v)", True),
        ("not repeated(goed(p), v)", True),
    ],
)
def test_the_history_that_is_named(formula: str, holds: bool, tmp_path: Path) -> None:
    file = tmp_path / "a.bcast"
    file.write_text(JOBS % ("", formula))
    (verdict,) = check(str(file), "c").verdicts
    assert verdict.word.value == ("holds" if holds else "violated")


@pytest.mark.parametrize("engine", ["native", "reference", "symbolic"])
def test_what_is_repeated(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "a.bcast"
    text = JOBS.replace("started(v) finished(1 - v)", "started(v) finished(1)")
    for history, outcome in (("started", "holds"), ("goed", "holds"), ("finished", "violated")):
        file.write_text(text % ("", f"not repeated({history}(p), v)"))
        (verdict,) = check(str(file), "c", engine=engine).verdicts
        assert verdict.word.value == outcome or (engine, outcome) == ("symbolic", "holds")


@pytest.mark.parametrize(
    ("formula", "hint"),
    [
        ("not before(p, 1, 0)", "write `before(started(…), …, …)` or `before(finished(…), …, …)`"),
        ("not repeated(p, v)", "write `repeated(started(…), …)` or `repeated(finished(…), …)`"),
        (
            "not broadcast_before(p, 1, 0)",
            "write `before(goed(…), …, …)` or `before(halted(…), …, …)`",
        ),
    ],
)
def test_several_are_not_one(formula: str, hint: str) -> None:
    (found,) = diagnostics(JOBS % ("request halt()", formula))
    assert (found.code, found.hint) == ("N035", hint)


def test_causes_are_broadcasts() -> None:
    (found,) = diagnostics(JOBS % ("", "not causes((p, a), (p, a))"))
    assert found.code == "N022"
    two = "interface I { request say(m: Msg)  request tell(m: Msg)\n property p: %s }"
    (found,) = diagnostics(two % "always forall p in Proc, m in Msg: not causes((p, m), (p, m))")
    assert found.code == "N022"


def test_two_operators_with_one_history() -> None:
    (found,) = diagnostics("interface Lock { request lock()  indication locked() }")
    assert (found.code, "`locked(p)`" in found.message) == ("N035", True)


@pytest.mark.parametrize(
    ("op", "formula"), [("crash", "not crashed(p)"), ("repeat", "not repeated(p, p)")]
)
def test_a_history_that_is_called_like_a_word_of_the_language(op: str, formula: str) -> None:
    text = f"interface I {{ indication {op}(p: Proc)\n property p: always forall p in Proc: %s }}"
    (found,) = diagnostics(text % formula)
    assert found.code == "N035"
    assert not diagnostics(text % "p == p")

"""``initially``, properties that name others, and properties that stand in a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.language.load import load_text
from tests.instantiate.tables import WAYS, Case, compare
from tests.language.test_common_mistakes import Mistake, diagnostics, places

CHOSEN = """protocol P {
  state x : 0..2 = 0
  init choose x
  state y : 0..2 = 0
  upon init { x := x }
  upon condition y < x { y := y + 1 }
  PROPERTIES
}
check c of P { n = 2  prove P1  CHECK }
"""
SMALL = "(initially forall p in Proc: p.x <= 1) => always forall p in Proc: p.y <= 1"


def _case(formula: str, verdict: str, others: str = "", check: str = "") -> Case:
    text = CHOSEN.replace("PROPERTIES", f"property P1 : {formula}\n  {others}")
    return Case(formula, text.replace("CHECK", check), f"P1 {verdict}")


OTHERS = f"property small : {SMALL}  property all_two : initially forall p in Proc: p.x == 2"
CASES = [
    _case("initially forall p in Proc: p.y == 0", "holds"),
    _case("initially forall p in Proc: p.x == 0", "violated"),
    _case("initially exists p in Proc: p.y > 0", "violated"),
    _case(SMALL, "holds"),
    _case(SMALL.replace("p.x <= 1", "p.x >= 1"), "violated"),
    _case("forall p in Proc: (initially p.x == 2) => eventually p.y == 2", "holds"),
    _case("forall p in Proc: (initially p.x == 2) => eventually always p.y == 1", "violated"),
    _case("forall p in Proc: (initially p.x == 0) => always p.y == 0", "holds"),
    # y is 1 later, but never at first: no run satisfies the premise
    _case("(initially exists p in Proc: p.y == 1) => always forall p in Proc: p.y <= 1", "vacuous"),
    _case("not initially exists p in Proc: p.y == 1", "holds"),
    _case("all_two => small", "vacuous", OTHERS),  # of both premises one is false
    _case("all_two => not small", "violated", OTHERS),
    _case("small and not all_two", "violated", OTHERS),
    _case("all_two => eventually forall p in Proc: p.y == 2", "holds", OTHERS),
    _case("never_three and small", "holds", f"{OTHERS}  invariant never_three : n < 3"),
    Case(
        "in a check",
        CHOSEN.replace("PROPERTIES", OTHERS).replace("CHECK", "property P1 : small or all_two"),
        "P1 holds",
    ),
    Case(
        "in a check, of an interface",
        """protocol B implements ReliableBroadcast {
  message M(m: Msg)
  upon request broadcast(m) { send M(m) to all }
  upon receive M(m) from p { deliver(p, m) }
}
check c of B {
  n = 3  faults crash <= 1  clients { p1 broadcasts a }
  property P1 "CGR 2011, Module 3.2, without agreement." : no_creation and no_duplication
  property P2 : P1 and validity
  property P3 : P1 and agreement
  prove P1, P2, P3
}
""",
        "P1 holds, P2 holds, P3 violated",
    ),
]


@pytest.mark.parametrize(("engine", "fine"), WAYS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_formulas(tmp_path: Path, case: Case, engine: str, fine: bool) -> None:
    compare(tmp_path, case, engine, fine)


def _mistake(formula: str, code: str, message: str, hint: str, check: str = "") -> Mistake:
    text = CHOSEN.replace("PROPERTIES", f"property P1 : {formula}").replace("CHECK", check)
    return Mistake(text, code, message, hint)


MISTAKES = [
    _mistake(
        "always forall p in Proc: «initially p.x == 1 => p.y <= 1»",
        "N019",
        "`initially` refers to the first state",
        "(initially …) => always …",
    ),
    _mistake(
        "eventually «initially forall p in Proc: p.x == 1»",
        "N019",
        "`initially` refers to the first state",
        "move it out",
    ),
    _mistake(
        "initially «eventually forall p in Proc: p.x == 1»", "N019", "describes a run", "leave"
    ),
    _mistake(
        "forall p in Proc: (initially «correct(p)») => eventually p.y == 0",
        "N019",
        "which processes are correct",
        "correct(p) and",
    ),
    _mistake("always forall p in Proc: «small» and p.x > 0", "N002", "`small`", ""),
    _mistake(
        "eventually «first»\n  property first : initially forall p in Proc: p.x == 1",
        "N019",
        "`first` says it",
        "",
    ),
    _mistake("other\n  property other : «P1»", "N015", "`P1` names `other` names `P1`", ""),
    _mistake(
        "always n > 0",
        "N004",
        "`P` already has a property `P1`",
        "",
        "property «P1» : always n > 1",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.code + mistake.message)
def test_mistakes(mistake: Mistake) -> None:
    text, [(line, start, end)] = places(mistake.text)
    found = diagnostics(text)[0]
    assert found.code == mistake.code, found
    assert mistake.message in found.message
    assert mistake.hint in found.hint + found.expected
    assert found.span is not None
    assert (found.span.line, found.span.column, found.span.end_column) == (line, start, end)


def test_what_a_named_property_lacks_is_reported_once() -> None:
    text = CHOSEN.replace(
        "PROPERTIES", "property P1 : q and r  property q : always z  property r : q"
    )
    with pytest.raises(SpecError) as caught:
        load_text(text.replace("CHECK", ""), "a.bcast")
    assert [d.code for d in caught.value.diagnostics] == ["N002"]


def test_a_name_that_is_bound_is_no_property() -> None:
    text = CHOSEN.replace(
        "PROPERTIES", "property P1 : always forall x in Proc: x.y < 3  property x : P1"
    )
    (protocol,) = load_text(text.replace("CHECK", ""), "a.bcast").protocols
    assert [p.name for p in protocol.properties] == ["P1", "x"]

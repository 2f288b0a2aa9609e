"""An author's own interface: what its properties are about, and what a log can't be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.audit.audit import Audit, Request, audit
from checker.audit.columns import operators_of
from checker.audit.questions import _rules
from checker.audit.rules import RULES
from checker.audit.shapes import shape_of
from checker.diagnostics import SpecError
from checker.language.library import prelude
from tests.audit.logs import words, write

PRINTER = """
interface Printer {
  request print(item: Msg)
  request cancel(item: Msg)
  indication display(item: Msg)
  indication discard(item: Msg)
  property nothing_invented "Whatever is shown was printed." :
    always forall someone in Proc, x in displayed(someone):
      exists other in Proc: x in printed(other)
  property dropped_once : always forall p in Proc, x in discarded(p): not repeated(discarded(p), x)
  property no_loss : forall a in Proc, k in Msg:
    correct(a) and k in printed(a) ~> exists b in Proc: k in displayed(b)
  property few : always forall p in Proc: #displayed(p) <= 3
}
protocol Office implements Printer {
  state busy : bool = false
  upon request print(m) { display(m) }
  upon request cancel(m) { discard(m) }
  property idle : always forall p in Proc: not p.busy
  property nothing_invented : always forall p in Proc, x in discarded(p):
    exists q in Proc: x in printed(q)
}
"""
FINE = """
p1 1 print a
p1 2 cancel b
p2 1 display a
p2 2 discard a
p2 3 discard b
"""


def asked(folder: Path, log: str, name: str = "Printer", **more: object) -> Audit:
    spec = folder / "office.bcast"
    spec.write_text(PRINTER, encoding="utf-8")
    return audit(Request((write(folder, log),), f"{spec}::{name}", **more))  # type: ignore[arg-type]


def test_what_says_the_same_is_asked_whatever_it_is_called(tmp_path: Path) -> None:
    found = asked(tmp_path, FINE)
    assert words(found) == dict.fromkeys(
        ("nothing_invented", "dropped_once", "no_loss", "few"), "holds"
    )
    assert found.report.exit_code == 0
    origins = {v.property: v.origin for v in found.report.verdicts}
    assert {o.source for o in origins.values() if o is not None} == {"interface Printer"}
    assert not any(o is None or o.library for o in origins.values())


@pytest.mark.every
@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ("p2 4 display b", "nothing_invented"),  # b was cancelled, and never printed
        ("p2 4 discard c\np2 5 discard b", "dropped_once"),
        ("p1 3 print c", "no_loss"),
        ("p1 3 print c\np2 4 discard c", "no_loss"),  # it is dropped, and not shown
    ],
)
def test_each_is_about_its_own_requests_and_indications(
    more: str, wrong: str, tmp_path: Path
) -> None:
    found = words(asked(tmp_path, FINE + more))
    violated = {name for name, word in found.items() if word == "violated"}
    assert violated == {wrong}


def test_what_logs_cant_be_asked_is_unknown_with_a_diagnostic(tmp_path: Path) -> None:
    found = asked(tmp_path, FINE, "Office", only=("idle",))
    (verdict,) = found.report.verdicts
    assert verdict.label() == "unknown" and "state `busy`" in verdict.reason
    (warning, *_) = [each for each in found.warnings if each.code == "E106"]
    assert warning.span is not None
    assert warning.span.file.endswith("office.bcast") and warning.span.line == 19


def test_a_protocol_has_properties_of_its_own(tmp_path: Path) -> None:
    """They hide those of its interface, and the report says whose each is."""
    found = asked(tmp_path, FINE, "Office")
    said = words(found)
    assert (said["nothing_invented"], said["idle"]) == ("violated", "unknown")
    reasons = {v.property: v.reason for v in found.report.verdicts}
    assert "b" in reasons["nothing_invented"] and "state `busy`" in reasons["idle"]
    origins = {v.property: v.origin for v in found.report.verdicts}
    assert origins["nothing_invented"] is not None
    assert origins["nothing_invented"].source == "protocol Office"


def test_a_row_has_to_say_which_indication_it_is(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        asked(tmp_path, FINE + "p2 9 deliver a")
    (found,) = caught.value.diagnostics
    assert found.code == "E105" and found.span is not None and found.span.line == 6
    assert "`discard`, `display`" in found.expected
    assert words(asked(tmp_path, FINE + "p1 9 perform a"))["dropped_once"] == "holds"


@pytest.mark.parametrize("name", ["Prnter", "office"])
def test_an_interface_that_the_file_lacks(name: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        asked(tmp_path, FINE, name)
    (found,) = caught.value.diagnostics
    assert found.code == "E087" and "`Printer`" in found.expected


def test_formulas_of_one_shape_have_one_plan() -> None:
    """Names never decide; what an argument is in a log always does."""
    plans: dict[object, set[object]] = {}
    for interface in prelude().interfaces.values():
        for each in interface.properties:
            if each.text in RULES:
                form = shape_of(each.formula, operators_of(interface)).form
                plans.setdefault(form, set()).add(RULES[each.text].plan)
    assert all(len(found) == 1 for found in plans.values())
    assert set(plans) == set(_rules())


def test_a_value_of_another_type_is_another_formula(tmp_path: Path) -> None:
    """A vote of 0 is no vote of `false`: what a log calls the first is not known of the second."""
    spec = tmp_path / "votes.bcast"
    spec.write_text(
        "interface Votes {\n  request propose(v: bool)\n  indication decide(v: bool)\n"
        "  property commits : always forall p in Proc: true in decided(p)"
        " => forall q in Proc: not (false in proposed(q))\n}\n",
        encoding="utf-8",
    )
    found = audit(Request((write(tmp_path, "p1 1 propose a"),), f"{spec}::Votes"))
    assert words(found) == {"commits": "unknown"}

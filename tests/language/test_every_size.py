"""Checks about all sizes, and invariants: what is read, what is refused, what is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.language.syntax import typed
from checker.language.syntax.constant_text import constant_text, sizes_of
from checker.model.ir import PropertyKind
from checker.properties.formula import ask
from checker.records import replace
from checker.session.load import is_parametric, parametrize
from checker.session.pipeline import Options, run_check

PROTOCOL = """
protocol P(T: Nat, leader: Proc, k: Nat = T + 1) requires n > 3 * T {
  message ECHO
  state done = false
  upon init { send ECHO to all }
  upon condition #received(ECHO) >= n - T when not done { done := true }
  property some_day: eventually forall p in Proc: correct(p) => p.done
  %s
}
check c of P { %s }
"""


def text(items: str, more: str = "") -> str:
    return PROTOCOL % (more, items)


def check(items: str, more: str = "") -> typed.Check:
    return load_text(text(items, more), "a.bcast").checks[0]


def codes(items: str, more: str = "") -> list[str]:
    try:
        load_text(text(items, more), "a.bcast")
    except SpecError as error:
        return [d.code for d in error.diagnostics]
    return []


# ---- for all ----------------------------------------------------------------------------------


def test_names_and_condition() -> None:
    made = check("for all n, T, f when n > 3 * T and f <= T faults crash <= f prove some_day")
    assert made.every == ("n", "T", "f")
    assert constant_text(made.when) == "n > 3 * T and f <= T" == constant_text(made.condition)
    assert sizes_of(made) == "every n, T, f with n > 3 * T and f <= T"
    assert made.every_span is not None and made.every_span.line == 10


def test_without_a_condition_the_protocol_s_is_assumed() -> None:
    made = check("for all n, T prove some_day")
    assert made.when is None and constant_text(made.condition) == "n > 3 * T"
    ordinary = check("n = 4 T = 1 prove some_day")
    assert ordinary.every == () and ordinary.every_span is None


def test_it_may_stand_anywhere_among_the_clauses() -> None:
    made = check("links authenticated for all n, T when n > T faults byzantine <= T prove some_day")
    assert made.every == ("n", "T") and [k.name for k in made.links] == ["authenticated"]


@pytest.mark.parametrize(
    ("items", "code"),
    [
        ("for all n, S", "C002"),
        ("for all n, leader", "C020"),
        ("for all n, n", "C009"),
        ("for all n for all T", "C009"),
        ("for all n, T T = 2", "C020"),
        ("for all n when n + 1", "N003"),
        ("for all n when n > S", "N002"),
        ("for all n, T expect states 4", "C021"),
        ("for all n, T scenario s { p1: upon init }", "C021"),
        ("for all", "S001"),
        ("for all n, when n > 1", "S001"),
        ("for all n in Proc", "S001"),
    ],
)
def test_what_is_refused(items: str, code: str) -> None:
    assert code in codes(items)


def test_a_set_of_all_is_still_a_set() -> None:
    """`for all` begins a clause only where a clause can begin."""
    assert codes("n = 4 T = #{ x for x in (1..2) } prove some_day") == []


def explored(items: str, settings: dict[str, str]) -> list[str]:
    try:
        instantiate(check(items), settings, ask)
    except SpecError as error:
        return [d.code for d in error.diagnostics]
    return []


def test_there_is_no_finite_system_without_sizes() -> None:
    items = "for all n, T when n > 3 * T prove some_day"
    assert explored(items, {}) == ["C205"]
    assert explored(items, {"n": "4"}) == ["C205"]
    assert explored(items, {"n": "2", "T": "0"}) == []


def test_with_sizes_it_is_an_ordinary_check(tmp_path: Path) -> None:
    path = tmp_path / "a.bcast"
    path.write_text(text("for all n, T when n > 2 * T and not T == 0 prove some_day"))
    assert is_parametric(str(path), "c", {})
    sizes = {"n": "3", "T": "1"}
    assert not is_parametric(str(path), "c", sizes)
    report = run_check(str(path), "c", Options(settings=sizes))
    assert report.exit_code == 0
    assert [note for note in report.notes if "`when` does not hold" in note] == []
    assert [note for note in report.notes if "outside the protocol's resilience" in note]
    outside = run_check(str(path), "c", Options(settings={"n": "2", "T": "1"}))
    assert [note for note in outside.notes if "`when` does not hold" in note]


@pytest.mark.parametrize(
    "condition",
    [
        "n > 3 * T and f <= T",
        "n - (T - f) > 1",
        "(n + f) * 2 >= T",
        "(n + 1) div 2 - T mod 2 == 0",
        "not (n == T or f == T)",
        "n == T or n > 1 and f < 2",
        "(n == T or n > 1) and f < 2",
        "n > 1 => f == 0 => T == 0",
        "(n > 1 => f == 0) => T == 0",
        "-n + T <= 0",
        "true",
    ],
)
def test_conditions_are_written_as_they_were(condition: str) -> None:
    made = check(f"for all n, T, f when {condition} prove some_day")
    assert constant_text(made.when) == condition


# ---- an ordinary check, asked in general ------------------------------------------------------


def test_an_ordinary_check_in_general() -> None:
    made = parametrize(check("n = 4 T = 1 leader = p2 faults crash <= 1 expect some_day holds"))
    assert made.every == ("n", "T", "f")
    assert [s.name for s in made.settings] == ["leader"]
    assert isinstance(made.crash, typed.Param) and made.crash.name == "f"
    assert constant_text(made.condition) == "n > 3 * T"
    assert parametrize(made) is made


def test_what_follows_from_other_numbers_still_does() -> None:
    made = parametrize(check("n = 4 T = 1 k = T + 2 f = T faults byzantine <= T prove some_day"))
    assert made.every == ("n", "T")
    assert [s.name for s in made.settings] == ["k", "f"]
    assert isinstance(made.byzantine, typed.Param) and made.byzantine.name == "T"
    assert "k" in parametrize(check("n = 4 T = 1 k = 2 prove some_day")).every
    assert "k" not in parametrize(check("n = 4 T = 1 prove some_day")).every


# ---- invariants -------------------------------------------------------------------------------

LEMMA = 'invariant sane "Nothing odd." : forall p in Proc: p.done or not p.done'


def test_lemmas_of_protocol_and_check() -> None:
    made = check(f"n = 2 T = 0 prove some_day {LEMMA.replace('sane', 'mine')}", LEMMA)
    assert [p.name for p in made.prove] == ["some_day"]
    assert [p.name for p in made.lemmas] == ["sane", "mine"]
    assert all(p.lemma and p.text.startswith("always forall") for p in made.lemmas)
    assert made.lemmas[0].document == "Nothing odd."
    assert [p.name for p in made.with_lemmas().prove] == ["some_day", "sane", "mine"]
    assert made.protocol.properties[0].name == "some_day" and not made.protocol.properties[0].lemma


def test_lemmas_are_asked_only_where_somebody_asks() -> None:
    made = check("n = 2 T = 0 prove some_day", LEMMA)
    assert [p.name for p in instantiate(made, {}, ask).system.properties] == ["some_day"]
    system = instantiate(made.with_lemmas(), {}, ask).system
    assert [(p.name, p.kind) for p in system.properties][1:] == [("sane", PropertyKind.INVARIANT)]


def test_a_lemma_can_be_asked_by_name() -> None:
    made = check("n = 2 T = 0 prove sane expect mine violated invariant mine: n == 3", LEMMA)
    assert [p.name for p in made.prove] == ["sane", "mine"]
    assert made.lemmas == ()
    assert replace(made, prove=()).lemmas != ()


@pytest.mark.parametrize(
    ("items", "more", "code"),
    [
        ("", "invariant a: always true", "N030"),
        ("", "invariant a: forall p in Proc: eventually p.done", "N030"),
        ("", "invariant a: p.done", "N002"),
        ("", "invariant some_day: true", "N004"),
        ("invariant some_day: true", "", "N004"),
        ("invariant sane: true", LEMMA, "N004"),
        ("invariant a: true invariant a: true", "", "N004"),
        ("invariant a: 3", "", "N003"),
        ("invariant : true", "", "S001"),
        ("prove sanity", LEMMA, "C007"),
    ],
)
def test_which_lemmas_are_refused(items: str, more: str, code: str) -> None:
    assert code in codes(f"n = 2 T = 0 {items}", more)


def test_a_check_of_a_shipped_protocol_can_have_lemmas() -> None:
    spec = """check c of Flooding {
  n = 2  clients { p1 broadcasts a }
  invariant some: forall p in Proc: true
  prove some
}"""
    names = {p for p in _shipped() if p != ""}
    assert names
    made = load_text(spec.replace("Flooding", sorted(names)[0]), "a.bcast").checks[0]
    assert made.prove[0].lemma


def _shipped() -> set[str]:
    """Protocols that come with the tool, and take broadcasts."""
    from checker.language.library import prelude

    return {
        name
        for name, protocol in prelude().protocols.items()
        if protocol.implements and any(r.name == "broadcast" for r in protocol.implements.requests)
    }

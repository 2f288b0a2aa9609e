"""Words of the language as names: either they work, or their declaration is refused."""

from __future__ import annotations

import pytest

from checker.diagnostics import SpecError
from checker.language.load import load_text
from checker.language.parser.keywords import STATEMENTS

SPEC = """
protocol P {
  message M
  state WORD : 0..1 = 0
  upon condition WORD == 0 { WORD := 1  if WORD == 1 { WORD -= 1 } }
  property p : always forall q in Proc: q.WORD <= 1
}
check c of P { n = 1 }
"""

TIMERS = """
protocol P {
  state start : map<Proc, 0..1> = 0
  state cancel : 0..1 = 0
  upon init { start t  start[self] := 1  cancel := 1  cancel t  start cancel_me after 2 }
  upon timeout t { skip }
  upon timeout cancel_me { cancel := start[self] }
}
check c of P { n = 1  timing asynchronous }
"""

WORDS = (
    "send receive deliver if for while choose either require let skip perform atomic yield await"
    " start cancel else or not always eventually forall exists true false none bool record in and"
    " to after all when at upon condition init recover timeout request indication state stable"
    " shared message property role uses type max min then union subset div mod crash flip some"
    " from of check expect prove allow given as n f self Proc Msg"
).split()


@pytest.mark.parametrize("word", WORDS)
def test_a_name_works_or_its_declaration_is_refused(word: str) -> None:
    try:
        load_text(SPEC.replace("WORD", word), "words.bcast")
    except SpecError as error:
        first = error.diagnostics[0]
        assert first.span is not None
        assert (first.span.line, f"`{word}`" in first.message) == (4, True), first


BLOCKS = "if for while choose either require let skip else or".split()
EXPRESSIONS = "not always eventually forall exists true false none bool record".split()


@pytest.mark.parametrize("word", [*sorted(STATEMENTS), *BLOCKS, *EXPRESSIONS])
def test_the_keyword_is_named(word: str) -> None:
    with pytest.raises(SpecError) as refused:
        load_text(SPEC.replace("WORD", word), "words.bcast")
    (found,) = refused.value.diagnostics
    assert found.code == "S006" and found.hint


DECLARATIONS = {
    "a message": "message WORD  upon init { send WORD to all }  upon receive WORD { skip }",
    "a field": "message M(WORD: Proc)  upon init { send M(self) to all }",
    "let": "state s = 0  upon init { let WORD = 1  s := WORD  if WORD == 1 { skip } }",
    "choose": "state s = 0  upon init { choose WORD in (0..3) when WORD > 0  s := WORD }",
    "for": "state s = 0  upon init { for WORD in (0..3) when WORD > 0 { s := WORD } }",
    "while": "state s : set<0..3> = {}  upon init { while some WORD in s { s -= WORD } }",
    "forall": "state s = 0  property q : always forall WORD in Proc: WORD.s == 0",
    "a type": "type WORD = 0..3  state s : WORD = 0  state t : set<WORD> = {}",
    "a label": "type T = enum { a, WORD }  state s : T = a  upon condition s != a { s := WORD }",
    "a part": "state s : record { a: 0..3, WORD: bool } = record(a = 1, WORD = true)",
    "a timer": "upon init { start WORD  cancel WORD }  upon timeout WORD { skip }",
    "a property": "property WORD : always true",
}


@pytest.mark.every
@pytest.mark.parametrize("kind", DECLARATIONS)
@pytest.mark.parametrize("word", WORDS)
def test_whatever_is_declared_works_or_is_refused_there(word: str, kind: str) -> None:
    """Also where the uses behind it would be wrong for another reason.  A timer called `at` is no
    declaration: `upon timeout at p` is about the timer without a name."""
    if (word, kind) == ("at", "a timer"):
        return
    text = f"protocol P {{ {DECLARATIONS[kind]} }}"
    try:
        load_text(text.replace("WORD", word), "words.bcast")
    except SpecError as error:
        first = error.diagnostics[0]
        assert first.span is not None
        assert (first.span.column, f"`{word}`" in first.message) == (text.index("WORD") + 1, True)
        if first.code == "S006":
            assert len(error.diagnostics) == 1


def test_timers_and_variables_called_start_and_cancel() -> None:
    load_text(TIMERS, "timers.bcast")


@pytest.mark.parametrize(
    ("name", "is_what"),
    [
        ("f", "the maximum number of faulty processes"),
        ("n", "the number of processes"),
        ("k", "a parameter"),
    ],
)
def test_a_parameter_where_a_name_is_bound(name: str, is_what: str) -> None:
    spec = f"""
protocol P(k: Nat = 1) {{
  message M
  state who : option<Proc> = none
  upon init {{ send M to all }}
  upon receive M from {name} {{ who := some({name}) }}
}}
check c of P {{ n = 2 }}
"""
    with pytest.raises(SpecError) as refused:
        load_text(spec, "names.bcast")
    found = refused.value.diagnostics[0]
    assert (found.code, found.message) == ("N003", f"`{name}` is {is_what}, not `Proc`")


AFTER = (
    "allow at check clients expect faults given links may prove request timing to without".split()
)


@pytest.mark.parametrize("word", AFTER)
def test_a_name_that_an_expression_may_be_followed_by_is_explained(word: str) -> None:
    text = SPEC.replace("{ WORD := 1  if", "{ WORD := 1  WORD := 0  if").replace("WORD", word)
    with pytest.raises(SpecError) as refused:
        load_text(text, "words.bcast")
    (found,) = refused.value.diagnostics
    assert (found.code, found.hint) == ("S006", f"use another name, such as `{word}_`")

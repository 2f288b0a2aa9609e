"""The clause ``scenario``: what it holds, and what is wrong with it."""

from __future__ import annotations

import pytest

from checker.diagnostics import Diagnostic, SpecError
from checker.language.load import load_text
from checker.language.syntax import typed

SPEC = """
protocol Example {
  state done = false
  upon condition not done { done := true }
  property all_done: eventually forall p in Proc: p.done
}
check one of Example {
  n = 3
  prove all_done
%s
}
"""


def loaded(text: str) -> tuple[typed.Scenario, ...]:
    return load_text(SPEC % text, "e.bcast").checks[0].scenarios


def wrong(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        loaded(text)
    return caught.value.diagnostics


def test_steps_are_lines_in_words() -> None:
    (found,) = loaded(
        """  scenario a {
    p1: upon condition not done   // why not
    p2 receives DATA({p1, {p2, {}}}, (a, b)) from p1
    p1's   timer `x` expires
    then it ends
    then all_done violated
  }"""
    )
    assert found.name == "a"
    assert [step.text for step in found.steps] == [
        "p1: upon condition not done",
        "p2 receives DATA({p1, {p2, {}}}, (a, b)) from p1",
        "p1's timer `x` expires",
    ]
    assert [(c.what, c.word) for c in found.claims] == [("it", "ends"), ("all_done", "violated")]
    assert found.steps[1].span.line == 12
    assert found.again == ()


def test_what_is_repeated_for_ever() -> None:
    (found,) = loaded(
        """  scenario a {
    p1 x
    forever {
      p1 y
      p2 z }
    then all_done holds
  }"""
    )
    assert [step.text for step in found.steps] == ["p1 x"]
    assert [step.text for step in found.again] == ["p1 y", "p2 z"]


def test_on_one_line_and_empty() -> None:
    one, other = loaded("  scenario a { p1 crashes }\n  scenario b { }")
    assert [step.text for step in one.steps] == ["p1 crashes"]
    assert other.steps == ()


def test_steps_that_begin_like_words_of_the_language() -> None:
    (found,) = loaded(
        "  scenario a {\n the oracle `x` indicates f(1) to p1\n thenar works\n forever young\n }"
    )
    assert [step.text for step in found.steps] == [
        "the oracle `x` indicates f(1) to p1",
        "thenar works",
        "forever young",
    ]


def test_scenario_is_still_a_name() -> None:
    module = load_text(
        "protocol P {\n state scenario = false\n"
        " upon condition not scenario { scenario := true }\n}\n"
        "check scenario of P { n = 1 }",
        "e.bcast",
    )
    assert module.checks[0].name == "scenario"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("  scenario a { p1 x }\n  scenario a { }", "C009", "duplicate scenario `a`"),
        ("  scenario a {\n then peace holds\n }", "C019", "this check has no property `peace`"),
        (
            "  scenario a {\n then all_done true_ }",
            "C019",
            "`then all_done true_` is not a valid claim",
        ),
        ("  scenario a {\n then it holds }", "C019", "`then it holds` is not a valid claim"),
        (
            "  scenario a {\n forever {\n p1 x\n }\n then it ends }",
            "C019",
            "an infinite run never ends",
        ),
        ("  scenario { p1 x }", "S001", "unexpected `{`"),
        ("  scenario a { 3 x }", "S001", "unexpected number `3`"),
        ('  scenario a { "x" }', "S001", 'unexpected `"x"`'),
        ("  scenario a {\n then it ends\n p1 x\n }", "S001", "unexpected name `p1`"),
        ("  scenario a { p1 x", "S003", "this `{` is never closed"),
    ],
)
def test_what_is_wrong(text: str, code: str, message: str) -> None:
    found = wrong(text)
    assert (found[0].code, found[0].message) == (code, message)


def test_what_is_expected_is_said() -> None:
    (found,) = wrong("  scenario a { 3 x }")
    assert found.expected == "a step in words, on a separate line, `}`, `forever` or `then`"
    (found,) = wrong("  scenario a {\n then all_don holds }")
    assert found.hint == "did you mean `all_done`?"
    (found,) = wrong("  senario a { p1 x }")
    assert "`scenario`" in found.hint


def test_a_step_is_the_rest_of_its_line() -> None:
    """A quote or a bracket in it is no error, with or without an error in another check."""
    step = '  scenario a {\n p1 rec"eives (x\n }\n'
    assert loaded(step)
    other = "}\ncheck two of Example {\n  n = %s\n"
    assert [d.code for d in wrong(step + other % "")] == ["S001"]
    assert [d.code for d in wrong(step + other % "99999999999999999999")] == ["S005"]

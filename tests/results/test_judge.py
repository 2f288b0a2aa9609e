"""Verdicts: one for each way in which an exploration can end."""

from __future__ import annotations

from typing import Any

import pytest

from checker.engines.reference.engine import explore
from checker.model import ir
from checker.records import replace
from checker.results.answer import Answer, Limits
from checker.results.judge import compare, judge
from checker.results.trace import ERRORS
from checker.results.vacuity import coverage, never_happened
from checker.results.verdict import Covered, Expected, PropertyVerdict, Report, Word, worst
from tests.results.pingpong import pingpong
from tests.results.relay import relay

GOOD = relay(crash=False)
HELD = explore(GOOD, Limits())


def word_of(system: ir.TransitionSystem, answer: Answer, **options: Any) -> tuple[Word, str]:
    (verdict,) = judge(system, answer, **options)
    return verdict.word, verdict.reason


def test_holds_says_where() -> None:
    assert word_of(GOOD, HELD) == (
        Word.HOLDS,
        "in every fair run",
    )
    system = replace(
        GOOD, properties=(replace(GOOD.properties[0], kind=ir.PropertyKind.INVARIANT),)
    )
    assert word_of(system, HELD) == (Word.HOLDS, "in every reachable state")


def test_violated_has_a_trace_and_carries_assumptions() -> None:
    system = relay()
    (verdict,) = judge(system, explore(system, Limits()), expected={"agreement": "violated"})
    assert (verdict.word, verdict.expected) == (Word.VIOLATED, "violated")
    assert verdict.trace is not None
    assert verdict.trace.length == 2
    assert verdict.assumptions == ("messages between correct processes arrive",)
    assert (
        verdict.reason
        == "agreement is violated with p = p2, q = p3 (in a run that ends after 2 steps)"
    )


def test_unknown_says_how_far_it_came() -> None:
    word, reason = word_of(GOOD, explore(GOOD, Limits(max_depth=1)))
    assert word is Word.UNKNOWN
    assert "2 states to depth 1" in reason
    assert "depth limit of 1" in reason


def test_a_premise_that_never_held_is_vacuous() -> None:
    word, reason = word_of(GOOD, replace(HELD, premises=frozenset()))
    assert word is Word.VACUOUS
    assert "premise of agreement" in reason


def test_a_system_without_a_start_is_vacuous() -> None:
    word, reason = word_of(GOOD, explore(replace(GOOD, init=(ir.Assume(ir.FALSE),)), Limits()))
    assert (word, "no run begins" in reason) == (Word.VACUOUS, True)


def test_a_required_handler_that_never_ran_is_vacuous_unless_allowed() -> None:
    unused = replace(HELD, reached_marks=HELD.reached_marks - {5})
    word, reason = word_of(GOOD, unused)
    assert word is Word.VACUOUS
    never = "upon receive DATA(s, m) from p (line 6) never ran"
    assert reason == f"{never} (write `allow unused` if this is intended)"
    assert word_of(GOOD, unused, allow_unused=True)[0] is Word.HOLDS
    assert never_happened(GOOD, HELD) == ("upon init never ran",)


def test_a_handler_with_two_marks_ran_where_either_was_reached() -> None:
    twice = replace(GOOD, marks=(*GOOD.marks, GOOD.marks[5]))
    assert word_of(twice, HELD)[0] is Word.HOLDS


LIVE = pingpong()
"""A system with a liveness property, and an answer in which every state and edge is good."""
FAIR = Answer(
    "reference",
    4,
    3,
    True,
    0.1,
    4,
    reached_marks=frozenset(range(8)),
    premises=frozenset({"turns"}),
)


def test_liveness_holds_in_fair_runs() -> None:
    word, reason = word_of(LIVE, replace(FAIR, fair=True))
    assert (word, reason) == (Word.HOLDS, "in every fair run")


def test_liveness_that_could_not_be_decided_is_unknown_for_the_reason_given() -> None:
    answer = replace(FAIR, undecided={"turns": "the graph has no room in memory"})
    assert word_of(LIVE, answer) == (Word.UNKNOWN, "the graph has no room in memory")


def test_a_world_without_a_fair_run_makes_liveness_vacuous() -> None:
    word, reason = word_of(LIVE, replace(FAIR, fair=False))
    assert word is Word.VACUOUS
    assert "fairness admits no run" in reason
    invariant = replace(LIVE.properties[0], kind=ir.PropertyKind.INVARIANT)
    safe = replace(LIVE, properties=(invariant,))
    assert word_of(safe, replace(FAIR, fair=False))[0] is Word.HOLDS


def test_a_message_that_is_never_sent_is_vacuous_unless_allowed() -> None:
    unsent = replace(FAIR, reached_marks=FAIR.reached_marks - {7})
    word, reason = word_of(LIVE, unsent)
    assert word is Word.VACUOUS
    assert reason.startswith("message BALL is never sent (line 3) (write `allow unused`")
    assert word_of(LIVE, unsent, allow_unused=True)[0] is Word.HOLDS
    assert never_happened(LIVE, unsent) == ("message BALL is never sent (line 3)",)


def test_clients_that_ask_for_nothing_are_vacuous_always() -> None:
    silent = replace(HELD, reached_marks=HELD.reached_marks - {0})
    word, reason = word_of(GOOD, silent, allow_unused=True)
    assert (word, "no request of a client" in reason) == (Word.VACUOUS, True)
    assert word_of(GOOD, HELD, idle="nobody asks") == (Word.VACUOUS, "nobody asks")


def test_assumptions_are_the_promises_in_words_each_once() -> None:
    justice = ir.Justice(ir.TRUE, "the detector eventually tells the truth")
    system = replace(LIVE, justice=(justice,))
    (verdict,) = judge(system, FAIR, world=("at most 2 wrong suspicions",))
    assert verdict.assumptions == (
        "what q sends to p eventually arrives: both are correct",
        "the detector eventually tells the truth",
        "at most 2 wrong suspicions",
    )
    invariant = replace(LIVE.properties[0], kind=ir.PropertyKind.INVARIANT)
    (verdict,) = judge(replace(system, properties=(invariant,)), FAIR, world=("noise",))
    assert verdict.assumptions == ()


def test_coverage_in_the_order_of_the_source() -> None:
    some = replace(FAIR, reached_marks=frozenset({0, 4}))
    assert coverage(LIVE, some) == (
        Covered("point", "between perform and send", "", 0, 0, False),
        Covered("handler", "upon receive BALL", "pp.bcast", 7, 3, True),
        Covered("branch", "if had: then", "pp.bcast", 8, 5, True),
        Covered("branch", "if had: else", "pp.bcast", 8, 5, False),
    )


def test_an_error_of_the_run_is_every_open_propertys_verdict() -> None:
    system = relay(ir.PropertyKind.INVARIANT, limit=1, crash=False)
    answer = replace(explore(system, Limits()), violations={})
    (verdict,) = judge(system, answer)
    assert verdict.word is Word.ERROR
    assert verdict.trace is not None
    assert "relay.bcast:8:5: 2 is outside 0..1 (R001, after 2 steps)" in verdict.reason


def test_an_error_beside_violations_has_a_verdict_of_its_own() -> None:
    system = relay(ir.PropertyKind.INVARIANT, limit=1)
    violated, error = judge(system, explore(system, Limits()))
    assert violated.word is Word.VIOLATED
    assert (error.property, error.word) == (ERRORS, Word.ERROR)


def test_expectations() -> None:
    verdicts = judge(GOOD, HELD)
    wanted: list[tuple[str, str | int]] = [
        ("agreement", "holds"),
        ("states", 9),
        ("trace", 4),
        ("states", 8),
        ("order", "holds"),
    ]
    assert compare(wanted, verdicts, HELD) == (
        Expected("agreement", "holds", "holds", True),
        Expected("states", "9", "9", True),
        Expected("trace", "4", "no counterexample", False),
        Expected("states", "8", "9", False),
        Expected("order", "holds", "not checked", False),
    )
    partial = explore(GOOD, Limits(max_depth=1))
    assert compare([("states", 2)], verdicts, partial)[0].found == "at least 2"


def report(
    *verdicts: tuple[str, Word], met: dict[str, bool] | None = None, exhaustive: bool = True
) -> Report:
    told = tuple(PropertyVerdict(name, "", word) for name, word in verdicts)
    expects = tuple(Expected(what, "", "", good) for what, good in (met or {}).items())
    return Report("f", "c", {}, "native", False, told, expects, exhaustive=exhaustive)


@pytest.mark.every
@pytest.mark.parametrize(
    ("made", "code"),
    [
        (report(("a", Word.HOLDS)), 0),
        (report(), 4),
        (report(("a", Word.VIOLATED)), 1),
        (report(("a", Word.ERROR)), 1),
        (report(("a", Word.VACUOUS)), 4),
        (report(("a", Word.UNKNOWN)), 3),
        (report(("a", Word.UNKNOWN), ("b", Word.VIOLATED), ("c", Word.VACUOUS)), 1),
        (report(("a", Word.UNKNOWN), ("c", Word.VACUOUS)), 4),
        (report(("a", Word.VIOLATED), met={"a": True}), 0),
        (report(("a", Word.HOLDS), met={"a": False}), 1),
        (report(("a", Word.VACUOUS), met={"a": False}), 4),
        (report(("a", Word.UNKNOWN), met={"a": False}), 3),
        (report(("a", Word.VIOLATED), ("b", Word.VIOLATED), met={"a": True}), 1),
        (report(met={"states": False}), 1),
        (report(met={"states": False}, exhaustive=False), 3),
        (report(exhaustive=False), 4),
        (report(("a", Word.VIOLATED), met={"a": True}, exhaustive=False), 0),
    ],
)
def test_exit_codes(made: Report, code: int) -> None:
    assert made.exit_code == code


def test_the_worst_exit_code() -> None:
    assert worst([0, 3, 4, 1, 2, 70]) == 70
    assert worst([3, 4]) == 4
    assert worst([]) == 0

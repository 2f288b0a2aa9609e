"""With and without reductions: what agrees, and what is an internal error."""

from __future__ import annotations

import pytest

from checker.records import replace
from checker.results.answer import Answer, Path, Reduced
from checker.results.audit import Disagreement, ExplorationResult, audit
from checker.results.verdict import PropertyVerdict, Word
from tests.results.test_documents import made, trace_of

OVER = Answer("native", 80, 10, True, 0.1, reduced=Reduced(("symmetry",), without=288, exact=True))
WHOLE = Answer("native", 288, 10, True, 0.2)


def found(answer: Answer, **words: Word) -> ExplorationResult:
    trace = trace_of(made())
    verdicts = tuple(
        PropertyVerdict(name, "", word, trace=trace if word is Word.VIOLATED else None)
        for name, word in words.items()
    )
    return ExplorationResult(answer, verdicts)


@pytest.mark.parametrize("word", list(Word))
def test_the_same_words(word: Word) -> None:
    said = audit(found(OVER, p=word), found(WHOLE, p=word))
    assert said.complete
    assert said.said == "the same verdicts without reductions (288 states, 0.20 s)"
    assert (said.distinct_states, said.depth) == (288, 10)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Word.HOLDS, Word.VIOLATED),
        (Word.VIOLATED, Word.HOLDS),
        (Word.HOLDS, Word.VACUOUS),
        (Word.VACUOUS, Word.HOLDS),
        (Word.HOLDS, Word.ERROR),
    ],
)
def test_other_words(one: Word, other: Word) -> None:
    with pytest.raises(Disagreement, match=f"p is {one.value} with, {other.value} without"):
        audit(found(OVER, p=one, q=Word.HOLDS), found(WHOLE, p=other, q=Word.HOLDS))


def test_what_is_unknown_agrees_with_everything_and_is_not_complete() -> None:
    short = replace(WHOLE, exhaustive=False, stopped="the time limit of 5 s was reached")
    said = audit(found(OVER, p=Word.HOLDS), found(short, p=Word.UNKNOWN))
    assert not said.complete
    assert said.stopped == short.stopped
    assert "incomplete: no different verdict" in said.said
    assert "288 states to depth 10" in said.said
    with pytest.raises(Disagreement):
        audit(found(OVER, p=Word.HOLDS), found(short, p=Word.VIOLATED))


def test_an_error_ends_a_search_before_all_violations_are_found() -> None:
    fault = Path(((0,),), then_fault=True)
    one = replace(OVER, exhaustive=False, fault=fault)
    other = replace(WHOLE, exhaustive=False, fault=fault)
    assert audit(found(one, p=Word.ERROR), found(other, p=Word.VIOLATED)).complete


def test_an_error_that_only_one_of_them_meets() -> None:
    fault = Path(((0,),), then_fault=True)
    broken = replace(WHOLE, exhaustive=False, fault=fault)
    with pytest.raises(Disagreement, match="a run meets an error only without"):
        audit(found(OVER, p=Word.VIOLATED), found(broken, p=Word.VIOLATED))


def test_lengths_where_they_are_promised() -> None:
    longer = found(WHOLE, p=Word.VIOLATED)
    (verdict,) = longer.verdicts
    assert verdict.trace is not None
    steps = verdict.trace.steps
    shorter = replace(verdict, trace=replace(verdict.trace, steps=steps[:-1]))
    other = replace(longer, verdicts=(shorter,))
    with pytest.raises(Disagreement, match="is violated after"):
        audit(found(OVER, p=Word.VIOLATED), other)
    unpromised = replace(OVER, reduced=Reduced(("symmetry", "por"), keeps_lengths=False))
    assert audit(found(unpromised, p=Word.VIOLATED), other).complete


def test_numbers_where_they_are_said_to_be_exact() -> None:
    more = replace(WHOLE, distinct_states=289)
    with pytest.raises(Disagreement, match="289 states without, not 288 as computed"):
        audit(found(OVER, p=Word.HOLDS), found(more, p=Word.HOLDS))
    guessed = replace(OVER, reduced=Reduced(("symmetry",), without=288))
    assert audit(found(guessed, p=Word.HOLDS), found(more, p=Word.HOLDS)).complete

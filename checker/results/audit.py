"""Compares two explorations of one check, with reductions and without: they must not disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from checker.diagnostics.english import count
from checker.results.answer import Answer
from checker.results.verdict import Audit, PropertyVerdict, Word


class Disagreement(Exception):
    """Reductions have changed what was found: an internal error."""


class ExplorationResult(Struct, frozen=True):
    """The answer of an engine, and the verdicts on it."""

    answer: Answer
    verdicts: tuple[PropertyVerdict, ...]

    @property
    def over(self) -> bool:
        """Whether it ended by itself: no budget, no interrupt."""
        return self.answer.exhaustive or self.answer.fault is not None

    @property
    def by_name(self) -> Mapping[str, PropertyVerdict]:
        return {verdict.property: verdict for verdict in self.verdicts}


def audit(reduced: ExplorationResult, whole: ExplorationResult) -> Audit:
    """Compares ``whole``, which is without reductions, with ``reduced``.

    An unknown verdict agrees with every other one; so does a vacuous one, if ``reduced`` does not
    know that something never happened.  Raises :class:`Disagreement`.
    """
    different = [*_verdicts(reduced, whole), *_lengths(reduced, whole), *_numbers(reduced, whole)]
    if different:
        what = "; ".join(different)
        raise Disagreement(f"results differ with and without reductions: {what}")
    answer = whole.answer
    states = count(answer.distinct_states, "state")
    if whole.over:
        said = f"the same verdicts without reductions ({states}, {answer.seconds:.2f} s)"
    else:
        said = f"incomplete: no different verdict in {states} to depth {answer.depth}"
        said += f" without reductions; {answer.stopped}"
    complete = whole.over and reduced.over
    figures = answer.distinct_states, answer.depth, answer.seconds
    return Audit(complete, said, answer.stopped, *figures)


def _verdicts(reduced: ExplorationResult, whole: ExplorationResult) -> Iterator[str]:
    for name, verdict in reduced.by_name.items():
        other = whole.by_name.get(name)
        not_known = other is not None and reduced.answer.unseen and other.word is Word.VACUOUS
        if other is not None and not not_known and not _agree(verdict.word, other.word):
            yield f"{name} is {verdict.word.value} with, {other.word.value} without"
    for one, two, how in ((reduced, whole, "without"), (whole, reduced, "with")):
        if one.answer.exhaustive and two.answer.fault is not None:
            yield f"a run meets an error only {how}"


def _agree(one: Word, other: Word) -> bool:
    """Returns whether two verdicts agree; an error of an execution ends the search before every
    violation is found."""
    words = {one, other}
    return len(words) == 1 or Word.UNKNOWN in words or words == {Word.VIOLATED, Word.ERROR}


def _lengths(reduced: ExplorationResult, whole: ExplorationResult) -> Iterator[str]:
    if not reduced.answer.reduced.keeps_lengths:
        return
    for name, verdict in reduced.by_name.items():
        other = whole.by_name.get(name)
        if other is None or {verdict.word, other.word} != {Word.VIOLATED}:
            continue
        here, there = verdict.trace, other.trace
        assert here is not None and there is not None
        if here.closing is None and there.closing is None and here.length != there.length:
            yield f"{name} is violated after {here.length} steps with, {there.length} without"


def _numbers(reduced: ExplorationResult, whole: ExplorationResult) -> Iterator[str]:
    said, answer = reduced.answer.reduced, whole.answer
    if said.exact and answer.exhaustive and said.without != answer.distinct_states:
        there = f"{answer.distinct_states:,}"
        yield f"there are {there} states without, not {said.without:,} as computed"

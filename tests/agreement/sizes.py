"""What is said of a check about all sizes, against exploring its finite systems one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from checker.diagnostics import SpecError
from checker.parametric.automaton.arithmetic import holds
from checker.parametric.automaton.automaton import And, Automaton, Outcome, Question
from checker.parametric.symbolic.decide import ParametricChecker
from checker.proving.size_conditions import equal_to
from checker.results.answer import Limits
from checker.results.verdict import Word
from checker.session.pipeline import Options, run_check

Numbers = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Sized:
    """A check, its automaton, and how ``f`` is set where it is written with a number."""

    path: str
    check: str
    automaton: Automaton
    questions: tuple[Question, ...]
    words: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.path}::{self.check}"


def all_numbers(sized: Sized, most: int) -> Iterator[Numbers]:
    """All numbers up to ``most`` that make sense: at least one process, no more faults than
    processes; small systems first."""
    names = sized.automaton.parameters
    found = []
    for values in itertools.product(range(most + 1), repeat=len(names)):
        numbers = dict(zip(names, values, strict=True))
        if numbers.get("n", 1) >= 1 and numbers.get("f", 0) <= numbers.get("n", most):
            found.append(tuple(numbers.items()))
    yield from sorted(found, key=lambda each: (sum(v for _, v in each), each))


@cache
def _counting(automaton: Automaton) -> ParametricChecker:
    return ParametricChecker(automaton, resilience=And())


def by_counting(sized: Sized, numbers: Numbers) -> dict[str, bool | None]:
    """Whether each property is violated at ``numbers``, whatever is required of them; ``None``
    where it is not proved of all rounds of a protocol in rounds."""
    counting = _counting(sized.automaton).assuming(equal_to(dict(numbers)))
    found: dict[str, bool | None] = {}
    for question in sized.questions:
        decision = counting.decide(question)
        if sized.automaton.rounds is not None and decision.outcome is not Outcome.PROVED:
            found[question.property] = False if decision.outcome is Outcome.VACUOUS else None
            continue
        assert decision.outcome is not Outcome.UNKNOWN, decision.reason
        found[question.property] = decision.outcome is Outcome.VIOLATED
    return found


def by_exploring(
    sized: Sized, numbers: Numbers, *, states: int, seconds: float
) -> dict[str, bool | None]:
    """The same by the native engine; ``None`` where that takes more than ``states``."""
    settings = {sized.words.get(name, name): str(value) for name, value in numbers}
    options = Options(
        settings=settings, engine="native", limits=Limits(max_states=states, timeout=seconds)
    )
    try:
        words = {v.property: v.word for v in run_check(sized.path, sized.check, options).verdicts}
    except SpecError:  # more faults than processes
        return dict.fromkeys((q.property for q in sized.questions), None)
    known = {Word.VIOLATED: True, Word.HOLDS: False, Word.VACUOUS: False}
    return {q.property: known.get(words[q.property]) for q in sized.questions}


def telling(sized: Sized, most: int) -> list[Numbers]:
    """Of all numbers up to ``most`` the smallest ones for each different answer, those outside of
    what is required first."""
    first: dict[object, Numbers] = {}
    for numbers in all_numbers(sized, most):
        answer = tuple(by_counting(sized, numbers).items())
        first.setdefault((answer, _inside(sized.automaton, numbers)), numbers)
    return sorted(first.values(), key=lambda n: (_inside(sized.automaton, n), n))


def _inside(automaton: Automaton, numbers: Numbers) -> bool:
    values = dict(numbers)
    for quotient in automaton.quotients:
        terms = quotient.numerator.terms
        if all(name in values for name, _ in terms):
            whole = quotient.numerator.constant + sum(values[n] * by for n, by in terms)
            values[quotient.name] = whole // quotient.divisor
    return holds(automaton.resilience, values)


@dataclass
class Compared:
    """What came of comparing: how many answers both gave, what only exploring found violated
    (never allowed), and what only counting did (then a run can't be followed, and the pipeline
    explores before it says anything)."""

    answers: int = 0
    missed: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)


def compared(
    sized: Sized, chosen: Sequence[Numbers], few: int | None, *, states: int, seconds: float
) -> Compared:
    """Both, at the ``chosen`` numbers: of these, at the first ``few`` where exploring answers."""
    found, left = Compared(), few
    for numbers in chosen:
        if left == 0:
            break
        explored = by_exploring(sized, numbers, states=states, seconds=seconds)
        if left is not None and any(answer is not None for answer in explored.values()):
            left -= 1
        counted = by_counting(sized, numbers)
        for name, violated in explored.items():
            if violated is None or counted[name] is None:
                continue
            found.answers += 1
            if violated != counted[name]:
                into = found.missed if violated else found.more
                into.append(f"{sized} at {dict(numbers)}: {name}")
    return found

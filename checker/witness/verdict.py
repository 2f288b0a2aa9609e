"""What is said about a check: verdicts in words, what was expected, and how far the search came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from checker.witness.answer import INTERRUPTED, Forecast, Reduced, Restart, Weight
from checker.witness.proof import Proof
from checker.witness.trace import ERRORS, At, Trace

__all__ = [
    "ERRORS",
    "Audit",
    "Covered",
    "Expected",
    "PropertyVerdict",
    "Report",
    "RestsOn",
    "ScenarioVerdict",
    "Support",
    "Word",
    "exit_code_of",
    "meets",
    "worst",
]


class Word(StrEnum):
    """The verdict about one property."""

    PROVED = "proved"  # by a certificate that was checked again; it holds
    HOLDS = "holds"
    BOUNDED = "bounded"  # it holds in all runs of so many steps
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    UNKNOWN = "unknown"
    ERROR = "error"  # an error of the run: a value or a capacity left its range


SEVERITY = (70, 2, 1, 4, 3, 0)
"""Exit codes, the worst first."""


def exit_code_of(word: Word) -> int:
    """What ``word`` is worth as an exit code."""
    match word:
        case Word.PROVED | Word.HOLDS:
            return 0
        case Word.VIOLATED | Word.ERROR:
            return 1
        case Word.VACUOUS:
            return 4
        case Word.BOUNDED | Word.UNKNOWN:
            return 3
        case _:
            assert_never(word)


def meets(word: Word, expected: str | None) -> bool:
    """Whether ``word`` is what is ``expected``: what is proved holds, what holds for some steps
    need not."""
    return word.value == expected or (word is Word.PROVED and expected == Word.HOLDS.value)


def worst(codes: Iterable[int]) -> int:
    """The worst of some exit codes; 0 where there are none."""
    found = set(codes)
    for code in SEVERITY:
        if code in found:
            return code
    return max(found, default=0)


@dataclass(frozen=True, slots=True)
class Support:
    """A handler without whose promise a verdict would be another one.

    ``excuse``: of several ways in which the goal comes true the one of which the handler sets what
    it reads, where it sends nothing; ``at``: where the handler is written.
    """

    handler: str
    at: At
    excuse: str = ""


@dataclass(frozen=True, slots=True)
class RestsOn:
    """The handlers that a verdict on liveness rests on; ``complete``: all were asked about."""

    handlers: tuple[Support, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """The verdict about one property.

    ``expected`` is the word that the check expects, or ``None`` where it expects nothing in
    particular (then only ``holds`` will do).  ``reason`` is a sentence.  ``others``: further
    counterexamples, each of another kind, where they were asked for; ``of_others`` says whether
    there may be more.  ``up_to``: of what is ``BOUNDED``, the number of steps.  ``certificate``: of
    what is ``PROVED``, what shows it, in words.  ``queries``, ``seconds``: what a solver was asked
    for it.  ``rests_on``: of liveness that holds, where that was asked.
    """

    property: str
    definition: str
    word: Word
    expected: str | None = None
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    trace: Trace | None = None
    others: tuple[Trace, ...] = ()
    of_others: str = ""
    up_to: int | None = None
    certificate: str = ""
    queries: int = 0
    seconds: float = 0.0
    rests_on: RestsOn | None = None

    def label(self) -> str:
        """The word as it is shown."""
        return f"holds up to {self.up_to}" if self.word is Word.BOUNDED else self.word.value


@dataclass(frozen=True, slots=True)
class Expected:
    """One ``expect`` of the check: about ``what`` (a property, ``states``, ``trace``, …)."""

    what: str
    expected: str
    found: str
    met: bool


@dataclass(frozen=True, slots=True)
class ScenarioVerdict:
    """Whether a scenario of the check can be run as it is written, and its claims are true.

    ``reason`` is a sentence, about the line at ``line`` and ``column`` of ``file``; ``possible``:
    what can happen instead of a step that can't; ``steps``: how many of its steps were run.
    """

    name: str
    met: bool
    reason: str
    file: str
    line: int
    column: int
    steps: int
    possible: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Covered:
    """A place of the spec, and whether any run reached it.

    ``kind`` is ``handler``, ``branch`` or ``point`` (where a crash may fall inside a handler).
    """

    kind: str
    text: str
    file: str
    line: int
    column: int
    reached: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """What an exploration without reductions found, beside one with them; they do not disagree.

    ``complete``: whether both came to their end, so that everything was compared; ``said``: what
    came of it, in words; ``stopped``: why it came to no end, if so.
    """

    complete: bool
    said: str
    stopped: str | None = None
    distinct_states: int = 0
    depth: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one run of one check found.

    ``never`` says what never happened: handlers that never ran, messages that nobody sent;
    ``stopped`` why the search isn't exhaustive.  ``edges`` and ``bytes_per_edge`` are of the graph
    that was kept for liveness (0 where none was), ``liveness_seconds`` the time it took.
    ``coverage``: only where it was asked for, otherwise ``None``.  ``kept``: the folder or URI in
    which the run still is.  ``failed``: what was asked for beside the verdicts and could not be
    done, in words.  ``scenarios``: those of the check, where it ran as it was written.
    ``reduce``: what might be done to explore less, as the user said it; ``reduced``: what was done;
    ``distinct_states``, ``depth`` and ``transitions`` are of what was explored.  ``audit``: what
    exploring again without reductions has shown, where that was asked.  ``forecast``: what is to be
    expected of a search that did not come to its end.  ``weights``: what multiplies its states,
    where there are many.  ``omission``: at most this probable is it that some state was omitted
    (``None``: none was).  ``proof``: of a report on proofs, what they are about and what they took.
    ``restarts``: explorations that found a guessed capacity too small, before the one that did not.
    """

    file: str
    check: str
    parameters: dict[str, str | int]
    engine: str
    fine_steps: bool
    verdicts: tuple[PropertyVerdict, ...]
    expectations: tuple[Expected, ...] = ()
    distinct_states: int = 0
    depth: int = 0
    transitions: int = 0
    seconds: float = 0.0
    exhaustive: bool = False
    stopped: str | None = None
    bytes_per_state: float = 0.0
    notes: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    version: str = ""
    edges: int = 0
    bytes_per_edge: float = 0.0
    liveness_seconds: float = 0.0
    coverage: tuple[Covered, ...] | None = None
    kept: str | None = None
    failed: tuple[str, ...] = ()
    scenarios: tuple[ScenarioVerdict, ...] = ()
    reduce: str = "auto"
    reduced: Reduced = field(default_factory=Reduced)
    audit: Audit | None = None
    forecast: Forecast | None = None
    weights: tuple[Weight, ...] = ()
    omission: float | None = None
    proof: Proof | None = None
    restarts: tuple[Restart, ...] = ()

    @property
    def was_interrupted(self) -> bool:
        """Whether somebody wanted it to end."""
        of_audit = None if self.audit is None else self.audit.stopped
        return INTERRUPTED in (self.stopped, of_audit, *(v.reason for v in self.verdicts))

    @property
    def exit_code(self) -> int:
        """0 where everything is as it should be, otherwise the worst of what is wrong.

        2 where something that was asked for beside the verdicts could not be done; a proof of
        nothing is vacuous.
        """
        unknown = () if self.exhaustive or self.verdicts else (exit_code_of(Word.UNKNOWN),)
        if self.proof is not None and not self.verdicts:
            unknown = (*unknown, exit_code_of(Word.VACUOUS))
        failed = (2,) if self.failed else ()
        scenarios = () if all(scenario.met for scenario in self.scenarios) else (1,)
        found = (*self._of_expectations(), *self._of_verdicts(), *unknown, *failed, *scenarios)
        return worst(found)

    def expected_word(self, verdict: PropertyVerdict) -> str | None:
        """The word that ``verdict`` should have; ``None`` for an error that is no property's."""
        for expectation in self.expectations:
            if expectation.what == verdict.property:
                return expectation.expected
        if verdict.expected is not None or verdict.property == ERRORS:
            return verdict.expected
        return Word.HOLDS.value

    def _of_expectations(self) -> Iterable[int]:
        words = {v.property: v.word for v in self.verdicts}
        for expectation in self.expectations:
            if expectation.met:
                continue
            word = words.get(expectation.what)
            if word is not None:
                # What holds although a violation was expected is as wrong as the reverse.
                yield exit_code_of(word) or 1
            else:
                yield 1 if self.exhaustive else 3

    def _of_verdicts(self) -> Iterable[int]:
        judged = {e.what for e in self.expectations}
        for verdict in self.verdicts:
            if verdict.property in judged:
                continue
            if verdict.expected is None:
                yield exit_code_of(verdict.word)
            elif not meets(verdict.word, verdict.expected):
                yield exit_code_of(verdict.word) or 1

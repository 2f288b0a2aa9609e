"""The report on a check: verdicts in words, what was expected, and how far the search came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, assert_never

from msgspec import Struct

from checker.diagnostics.english import count
from checker.diagnostics.packages import require_arrow
from checker.extensions.views import html_of
from checker.resources import version
from checker.results.answer import INTERRUPTED, Forecast, Reduced, Restart, Weight
from checker.results.chance import Chance
from checker.results.domains import Amount, Natural, OneOf, Positive, Probability, Text
from checker.results.events import At
from checker.results.frames import frame_of
from checker.results.logs import LogSummary
from checker.results.origin import Origin
from checker.results.problems import Problem
from checker.results.proof import CountedRun, Proof
from checker.results.trace import ERRORS, Trace
from checker.results.walks import WalkSummary

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ERRORS",
    "Audit",
    "Covered",
    "Expected",
    "NotAsked",
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
    """The verdict on one property."""

    PROVED = "proved"  # by a certificate that was checked again; it holds
    HOLDS = "holds"
    WITHIN = "within"  # it holds in the states that a bound or a view of the check leaves
    BOUNDED = "bounded"  # it holds in all executions of so many steps
    VIOLATED = "violated"
    VACUOUS = "vacuous"
    PENDING = "pending"  # of a log: what is missing may still come, as its end is too near
    UNKNOWN = "unknown"
    ERROR = "error"  # an error of the execution: a value or a capacity left its range


HOLDS_WITHIN = "holds within"
"""The verdict that a check expects on a property within a bound."""

SEVERITY = (70, 2, 1, 4, 3, 0)
"""Exit codes, the worst first."""


def exit_code_of(word: Word) -> int:
    """Returns the exit code for the verdict ``word``."""
    match word:
        case Word.PROVED | Word.HOLDS:
            return 0
        case Word.VIOLATED | Word.ERROR:
            return 1
        case Word.VACUOUS:
            return 4
        case Word.BOUNDED | Word.WITHIN | Word.PENDING | Word.UNKNOWN:
            return 3
        case _:
            assert_never(word)


def meets(word: Word, expected: str | None) -> bool:
    """Returns whether ``word`` is what is ``expected``: what is proved holds, what holds for a
    bounded number of steps, or within a bound, need not."""
    if expected == HOLDS_WITHIN:
        return word in (Word.PROVED, Word.HOLDS, Word.WITHIN)
    return word.value == expected or (word is Word.PROVED and expected == Word.HOLDS.value)


def worst(codes: Iterable[int]) -> int:
    """Returns the worst of some exit codes; 0 where there are none."""
    found = set(codes)
    for code in SEVERITY:
        if code in found:
            return code
    return max(found, default=0)


class Support(Struct, frozen=True):
    """A handler without whose fairness a verdict would be another one.

    ``excuse``: of several alternatives of the goal the one of which the handler sets what it reads,
    where it sends nothing; ``at``: where the handler is written.
    """

    handler: str
    at: At
    excuse: str = ""


class RestsOn(Struct, frozen=True):
    """The handlers on whose fairness a liveness verdict depends; ``complete``: all were checked."""

    handlers: tuple[Support, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """The verdict on one property.

    ``expected`` is the word that the check expects, or ``None`` where it expects nothing in
    particular (then only ``holds`` passes).  ``reason`` is a sentence.  ``others``: further
    counterexamples, each of another equivalence class, where they were requested; ``of_others``
    says whether there may be more.  ``up_to``: of what is ``BOUNDED``, the number of steps.
    ``within``: the bounds of the check that some execution exceeds, and its view, where it is about
    no more.
    ``certificate``: of what is ``PROVED``, what shows it, in words.  ``queries``, ``seconds``: of
    the solver.  ``rests_on``: of liveness that holds, where that was requested.
    ``counted``: of a threshold automaton that violates it, the run.
    ``chance``: of a question about chance, its value.  ``origin``: where the property comes from;
    ``None`` of what is no property.
    """

    property: str
    definition: str
    word: Word
    expected: str | None = None
    reason: str = ""
    assumptions: tuple[str, ...] = ()
    _: KW_ONLY
    up_to: Natural | None = None
    within: str = ""
    certificate: str = ""
    queries: Natural = 0
    seconds: Amount = 0.0
    rests_on: RestsOn | None = None
    trace: Trace | None = None
    others: tuple[Trace, ...] = ()
    of_others: str = ""
    counted: CountedRun | None = None
    chance: Chance | None = None
    origin: Origin | None = None

    def hides(self) -> bool:
        """Whether the property hides another one of the library, of the same name."""
        return self.origin is not None and bool(self.origin.hides)

    def label(self) -> str:
        """The word as it is shown."""
        within = f" within {self.within}" if self.within else ""
        if self.word is Word.BOUNDED:
            return f"holds up to {self.up_to}{within}"
        return f"holds{within}" if self.word is Word.WITHIN else self.word.value

    def loud_label(self) -> str:
        """The word in capitals, followed by what the spec expects."""
        word = self.label().removesuffix(self.within)
        return f"{word.upper()}{self.within}" if self.within else word.upper()


NOT_SEEN = "not seen in this search, whose reductions may hide it"
"""The beginning of the note on handlers and messages that `allow unused` lets be missing."""


UNFALSIFIABLE = "no run could violate "
"""The beginning of the note on a property that says nothing; its name, a colon and why follow."""


class NotAsked(Struct, frozen=True):
    """``what``: a part of the world that no check of the file asks about; ``clause``: what asks
    it, empty for a fault that the check allows and that no run has; ``excluded``: why the file
    leaves it out, empty where it does not say so."""

    what: str
    clause: str
    excluded: str = ""


class Expected(Struct, frozen=True):
    """One ``expect`` of the check: about ``what`` (a property, ``states``, ``trace``, …)."""

    what: str
    expected: str
    found: str
    met: bool


class ScenarioVerdict(Struct, frozen=True):
    """Whether a scenario of the check can be executed as it is written, and its claims are true.

    ``reason`` is a sentence, about the line at ``line`` and ``column`` of ``file``; ``possible``:
    what can happen instead of a step that can't; ``steps``: how many of its steps were executed.
    """

    name: str
    met: bool
    reason: str
    file: str
    line: Positive
    column: Positive
    steps: Natural
    possible: tuple[str, ...] = ()


CoveredKind = Literal["handler", "branch", "point"]


class Covered(Struct, frozen=True):
    """A place of the spec, and whether it was reached.

    ``kind`` is ``handler``, ``branch`` or ``point`` (where a crash may fall inside a handler).
    """

    kind: CoveredKind
    text: str
    file: str
    line: Natural
    column: Natural
    reached: bool


class HandlerSteps(Struct, frozen=True):
    """A handler at a place of the spec, and the number of ``steps`` in which it runs."""

    text: str
    file: str
    line: Natural
    steps: Natural


class CountedSteps(Struct, frozen=True):
    """Counts of the ``steps`` from ``states`` explored states; ``every``: these are all of them,
    otherwise a sample.  ``handlers``: the one with the most steps first.  Steps without a handler
    belong to the network, to faults, or to clients."""

    states: Natural
    every: bool
    steps: Natural
    handlers: tuple[HandlerSteps, ...] = ()

    def share(self, number: int) -> str:
        """Returns ``number`` as a percentage of the steps."""
        percent = 100 * number / max(1, self.steps)
        return "<1 %" if 0 < percent < 0.5 else f"{percent:.0f} %"

    @property
    def of(self) -> str:
        """The states that were counted, in words."""
        states = count(self.states, "state")
        return f"all {states}" if self.every else f"a sample of {states}"


class Audit(Struct, frozen=True):
    """What an exploration without reductions found, beside one with them; they do not disagree.

    ``complete``: whether both were complete, so that everything was compared; ``said``: the result,
    in words; ``stopped``: why it was not completed, if so.
    """

    complete: bool
    said: str
    stopped: str | None = None
    distinct_states: Natural = 0
    depth: Natural = 0
    seconds: Amount = 0.0


STRIPS_ENDED = "the decisions still possible in these runs are not known: "
"""How a note begins that says what has ended that; why follows."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one run of the tool, of ``version``, on one check found.

    ``never``: handlers that are never taken, messages that are never sent; ``stopped``: why the
    search isn't exhaustive.  ``edges`` and ``bytes_per_edge`` are of the graph that was kept for
    liveness (0 where none was), ``liveness_seconds`` the time it took.  ``coverage``: only where it
    was requested, otherwise ``None``; ``steps``: how many each handler has, where they were
    counted.  ``kept``: the folder or URI in which the run still is.
    ``failed``: what was requested beside the verdicts and could not be done, in words.
    ``scenarios``: those of the check, where it ran as it was written.  ``reduce``: the reductions
    that are allowed, as the user said it; ``reduced``: those that were used; ``distinct_states``,
    ``depth`` and ``transitions`` are of what was explored; ``states_within``: how many of these
    states are within the bounds of the check, where it has bounds and that is known.  ``audit``:
    the comparison with an exploration without reductions, where that was requested.  ``forecast``:
    an estimate for a search that was not completed.  ``weights``: what multiplies its states, where
    there are many, the heaviest first; ``smaller``: what would make them fewer, where a limit ended
    the search; ``next_steps``: what would decide what is *unknown*, the most promising first.
    ``omission``: an upper bound on the probability that some state was omitted
    (``None``: none was).  ``restarts``: explorations that found a guessed capacity too small,
    before the one that did not.  ``proof``: of a report on proofs, what they are about and what
    they took.  ``walks``: of a report on random walks, what they were.  ``log``: of a report on a
    log of what really happened, what was read.  ``world``: processes,
    faults, links and clients in one line; empty where the check was not instantiated.
    ``warnings``: of the check; ``notes`` have them, too.  ``not_asked``: what no check of the file
    asks, where something holds in a world in which nothing fails, or of one process.
    """

    version: str = field(default_factory=version, kw_only=True)
    file: str
    check: str
    parameters: dict[str, str | int]
    engine: str
    fine_steps: bool
    verdicts: tuple[PropertyVerdict, ...]
    expectations: tuple[Expected, ...] = ()
    distinct_states: Natural = 0
    depth: Natural = 0
    transitions: Natural = 0
    seconds: Amount = 0.0
    exhaustive: bool = False
    stopped: str | None = None
    bytes_per_state: Amount = 0.0
    _: KW_ONLY
    edges: Natural = 0
    bytes_per_edge: Amount = 0.0
    liveness_seconds: Amount = 0.0
    notes: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    coverage: tuple[Covered, ...] | None = None
    steps: CountedSteps | None = None
    kept: str | None = None
    failed: tuple[str, ...] = ()
    scenarios: tuple[ScenarioVerdict, ...] = ()
    reduce: Text = "auto"
    reduced: Reduced = field(default_factory=Reduced)
    audit: Audit | None = None
    forecast: Forecast | None = None
    weights: tuple[Weight, ...] = ()
    omission: Probability | None = None
    restarts: tuple[Restart, ...] = ()
    proof: Proof | None = None
    walks: WalkSummary | None = None
    log: LogSummary | None = None
    world: str = ""
    states_within: Natural | None = None
    smaller: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    not_asked: tuple[NotAsked, ...] = ()

    def to_arrow(self) -> pa.Table:
        """Returns a row per property as a table of Arrow: its verdict, what was expected, why, and
        the number of steps of its counterexample (null where there is none)."""
        require_arrow()
        import pyarrow as pa

        names = ("file", "check", "property", "verdict", "expected", "reason")
        rows = [
            (self.file, self.check, v.property, v.word.value, self.expected_word(v), v.reason)
            for v in self.verdicts
        ]
        columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        schema = pa.schema([(name, pa.string()) for name in names] + [("steps", pa.int64())])
        steps = [None if v.trace is None else v.trace.length for v in self.verdicts]
        return pa.table({**columns, "steps": steps}, schema=schema)

    def to_pandas(self) -> Any:
        """Returns the same as a ``pandas.DataFrame``; raises :class:`SpecError` (E128)."""
        return frame_of(self.to_arrow())

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the report, and its counterexamples as pictures."""
        return html_of("report", self)

    @property
    def was_interrupted(self) -> bool:
        """Whether it was interrupted."""
        of_audit = None if self.audit is None else self.audit.stopped
        of_strips = f"{STRIPS_ENDED}{INTERRUPTED}" in self.notes
        reasons = (self.stopped, of_audit, *(v.reason for v in self.verdicts))
        return of_strips or INTERRUPTED in reasons

    @property
    def has_counterexample(self) -> bool:
        """Whether a property is violated, or a run-time error occurs."""
        return any(verdict.trace is not None for verdict in self.verdicts)

    @property
    def is_about_nothing(self) -> bool:
        """Whether nothing was checked: neither a property, nor an expected number, nor a scenario.
        Random walks check that no run meets an error."""
        if self.log is not None:
            return not self.verdicts and self.exhaustive
        checked = self.verdicts or self.expectations or self.scenarios or self.walks is not None
        return not checked or (self.proof is not None and not self.verdicts)

    @property
    def exit_code(self) -> Annotated[int, OneOf((0, 1, 2, 3, 4))]:
        """0 where everything is as expected, otherwise the worst of what is wrong.

        2 where something that was requested beside the verdicts could not be done; a check that
        checks nothing is vacuous, as is a log of which nothing could be checked.
        """
        unknown = () if self.exhaustive or self.verdicts else (exit_code_of(Word.UNKNOWN),)
        if self.is_about_nothing:
            unknown = (*unknown, exit_code_of(Word.VACUOUS))
        failed = (2,) if self.failed else ()
        scenarios = () if all(scenario.met for scenario in self.scenarios) else (1,)
        found = (*self._of_expectations(), *self._of_verdicts(), *unknown, *failed, *scenarios)
        return worst(found)

    def expected_word(self, verdict: PropertyVerdict) -> str | None:
        """Returns the word that ``verdict`` should have; ``None`` for an error that is no
        property's."""
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
                decided = self.exhaustive or expectation.found == Word.HOLDS.value
                yield 1 if decided and expectation.found != Word.UNKNOWN.value else 3

    def _of_verdicts(self) -> Iterable[int]:
        judged = {e.what for e in self.expectations}
        for verdict in self.verdicts:
            if verdict.property in judged:
                continue
            if verdict.expected is None:
                yield exit_code_of(verdict.word)
            elif not meets(verdict.word, verdict.expected):
                yield exit_code_of(verdict.word) or 1

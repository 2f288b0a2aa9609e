"""Outcomes of a report for CI: one for each property, expectation and scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from checker.diagnostics import Diagnostic
from checker.records import replace
from checker.render.terminal.canvas import as_text
from checker.results.events import At
from checker.results.origin import Origin
from checker.results.problems import Problem
from checker.results.trace import Step, Trace
from checker.results.verdict import PropertyVerdict, Report, exit_code_of, meets
from checker.words.events import sentence

WIDTH = 100
"""Columns of a picture."""

NOT_RUN = "the check could not be run"
UNDECIDED = 3
"""The exit code for an undecided outcome."""

Places = Mapping[tuple[str, str], At]
"""Where checks are written, by file and name."""

NOWHERE: Places = {}


class Outcome(Struct, frozen=True):
    """Whether one property, number or scenario of a check is as expected.

    ``name``: of the property or scenario; ``undecided``: it could not be decided;
    ``said``: the result, in a line; ``text``: the full report, with the diagram of the
    execution; ``at``: the handler or statement in a file of the user's where it goes wrong;
    ``defined``: where the property or scenario is written; ``check_at``: where the check is;
    ``flow``: the events of the execution in files of the user's, in order; ``seconds``: of the
    check, of which only the first outcome has any.
    ``origin``: where a property comes from.
    """

    file: str
    check: str
    name: str
    met: bool
    said: str = ""
    text: str = ""
    undecided: bool = False
    at: At | None = None
    defined: At | None = None
    check_at: At | None = None
    flow: tuple[tuple[At, str], ...] = ()
    seconds: float = 0.0
    origin: Origin | None = None

    @property
    def label(self) -> str:
        """The name, and that it is not the library's property of that name."""
        hides = self.origin is not None and self.origin.hides
        return f"{self.name} (not the library's)" if hides else self.name

    @property
    def from_where(self) -> str:
        """The origin of the property, as a line; empty for anything else."""
        return "" if self.origin is None else f"{self.name}: {self.origin.text}"

    @property
    def title(self) -> str:
        """The check and what of it was asked."""
        return f"{self.check}: {self.label}" if self.check else self.label

    @property
    def place(self) -> At:
        """Where it goes wrong, or else where the property, or the check, is written; the beginning
        of a file that has no check."""
        return self.at or self.defined or self.check_at or At(self.file, 1, 1)


class NotRun(Struct, frozen=True):
    """A check, or a whole file (without one), that has no report because of ``errors``, or of
    another that was ``said`` on stderr."""

    file: str
    check: str
    errors: tuple[Diagnostic, ...] = ()
    said: str = ""
    exit_code: int = 2

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Returns the errors; an error that is not a diagnostic has no code and no location."""
        return self.errors or (Diagnostic("", self.said.strip() or NOT_RUN),)


def warnings_of(found: Sequence[Report | NotRun]) -> list[Problem]:
    """Returns the warnings of all reports, each once."""
    each = (w for one in found if isinstance(one, Report) for w in one.warnings)
    return list(dict.fromkeys(each))


def outcomes_of(found: Sequence[Report | NotRun], places: Places = NOWHERE) -> list[Outcome]:
    """Returns the outcomes of all reports, in order; each report has one at least.  ``places``:
    where their checks are written."""
    return [
        replace(outcome, check_at=places.get((each.file, each.check)))
        for each in found
        for outcome in _of(each)
    ]


def _of(found: Report | NotRun) -> Iterator[Outcome]:
    if isinstance(found, NotRun):
        yield from _errors(found)
        return
    outcomes = [*_verdicts(found), *_numbers(found), *_scenarios(found), *_failures(found)]
    if (found.exit_code and all(outcome.met for outcome in outcomes)) or not outcomes:
        met, said = not found.exit_code, found.stopped or "nothing was checked"
        outcomes.append(Outcome(found.file, found.check, "search", met, said, said, not met))
    for number, outcome in enumerate(outcomes):
        yield replace(outcome, seconds=0.0 if number else found.seconds)


def _errors(found: NotRun) -> Iterator[Outcome]:
    for error in found.errors:
        span = error.span
        at = None if span is None else At(span.file, span.line, span.column)
        said = (error.message, error.expected and f"expected: {error.expected}", error.hint)
        text = "\n".join(part for part in said if part)
        yield Outcome(found.file, found.check, error.code, False, error.message, text, True, at)
    if not found.errors:
        text = found.said or f"{NOT_RUN}: see stderr"
        yield Outcome(found.file, found.check, "run", False, NOT_RUN, text, undecided=True)


def _verdicts(report: Report) -> Iterator[Outcome]:
    for verdict in report.verdicts:
        expected = report.expected_word(verdict)
        met = meets(verdict.word, expected)
        said = verdict.loud_label() if expected is None else _against(verdict, expected)
        undecided = not met and exit_code_of(verdict.word) == UNDECIDED
        trace = verdict.trace
        if met or trace is None:
            text = "\n".join(part for part in (said, verdict.reason) if part)
            yield Outcome(
                report.file, report.check, verdict.property, met, said, text, undecided,
                defined=_own(trace, trace.at) if trace else None, origin=verdict.origin,
            )  # fmt: skip
        else:
            yield _violation(report, verdict, trace, said)


def _against(verdict: PropertyVerdict, expected: str) -> str:
    met = meets(verdict.word, expected)
    return f"{verdict.loud_label()}, {'as expected' if met else f'expected {expected}'}"


def _violation(report: Report, verdict: PropertyVerdict, trace: Trace, said: str) -> Outcome:
    from checker.render.terminal.text import trace_view

    told = trace.explanation.sentences if trace.explanation is not None else ()
    first = told[0] if told else trace.sentence
    steps = [*trace.steps, *([trace.closing] if trace.closing is not None else ())]
    flow = tuple(spot for step in steps for spot in _spots(trace, step))
    return Outcome(
        report.file, report.check, verdict.property, False, f"{said}: {first}",
        as_text(trace_view(trace), WIDTH), at=flow[-1][0] if flow else None,
        defined=_own(trace, trace.at), flow=flow, origin=verdict.origin,
    )  # fmt: skip


def _spots(trace: Trace, step: Step) -> Iterator[tuple[At, str]]:
    """Yields the places of a step's events in files of the user's, each with its sentence."""
    for event in step.events:
        at = _own(trace, event.at)
        if at is not None:
            yield at, f"step {step.number}: {sentence(event)}"


def _own(trace: Trace, at: At | None) -> At | None:
    """Returns a place, unless it is in a file of the tool."""
    shipped = {source.file for source in trace.header.sources if source.shipped}
    return None if at is None or at.file in shipped else at


def _numbers(report: Report) -> Iterator[Outcome]:
    """Yields what is expected of other things than verdicts."""
    asked = {verdict.property for verdict in report.verdicts}
    for one in report.expectations:
        if one.what not in asked:
            said = f"{one.what}: found {one.found}, expected {one.expected}"
            yield Outcome(report.file, report.check, f"expect {one.what}", one.met, said, said)


def _scenarios(report: Report) -> Iterator[Outcome]:
    for scenario in report.scenarios:
        at = At(scenario.file, scenario.line, scenario.column)
        name, text = f"scenario {scenario.name}", scenario.reason
        if scenario.possible:
            text += "\nPossible instead:\n" + "\n".join(f"  {each}" for each in scenario.possible)
        yield Outcome(
            report.file, report.check, name, scenario.met, scenario.reason, text, defined=at
        )


def _failures(report: Report) -> Iterator[Outcome]:
    for what in report.failed:
        yield Outcome(report.file, report.check, "output", False, what, what, undecided=True)

"""The values that can still be decided after each step of a trace of a check."""

from __future__ import annotations

from collections.abc import Sequence

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.engines.valence import ValenceUnknown
from checker.language.load import Spec
from checker.records import replace
from checker.results.answer import Listener, State
from checker.results.replay import path_of
from checker.results.trace import StillOpen, Trace
from checker.results.verdict import STRIPS_ENDED, PropertyVerdict, Report
from checker.session.pipeline import open_again
from checker.simulate.choices import Choice
from checker.simulate.scenario import as_choices
from checker.simulate.session import SteppingSession
from checker.valence.compute import Computed, compute
from checker.valence.explore import prepared
from checker.valence.question import Question, question_of


def asked_of(spec: Spec | str, check: str, options: Options) -> Question:
    """Returns what is asked of the traces of a check.

    Raises :class:`SpecError` where nothing is decided in the check (E060), or its engine does not
    compute valence (E007).
    """
    return question_of(spec, check, options, None, free_inputs=False)


def with_strips(report: Report, asked: Question, listener: Listener | None) -> Report:
    """Returns ``report`` with what can still be decided in each state of its traces; with a note
    that says why, where that is not known."""
    if not any(verdict.trace is not None for verdict in report.verdicts):
        return report
    try:
        computed = compute(asked, listener)
        if computed.stopped is not None:
            return _not_known(report, computed.stopped)
        verdicts = tuple(_with_strips(computed, verdict) for verdict in report.verdicts)
    except ValenceUnknown as why:
        return _not_known(report, str(why))
    except SpecError as error:
        return _not_known(report, error.diagnostics[0].message)
    return replace(report, verdicts=verdicts)


def _not_known(report: Report, why: str) -> Report:
    return replace(report, notes=(*report.notes, f"{STRIPS_ENDED}{why}"))


def _with_strips(computed: Computed, verdict: PropertyVerdict) -> PropertyVerdict:
    if verdict.trace is None:
        return verdict
    others = tuple(with_strip(computed, trace) for trace in verdict.others)
    return replace(verdict, trace=with_strip(computed, verdict.trace), others=others)


def with_strip(computed: Computed, trace: Trace) -> Trace:
    """Returns a trace of the check of ``computed`` with what can still be decided in each of its
    states: the states of the run of the same steps, told in words, where nothing is left out; as it
    is where there is none, because the check has a view or a bound that the run does not keep."""
    opened = open_again(trace)
    taken = as_choices(opened, path_of(opened.system, trace))
    states = _states(computed, taken[: len(trace.steps)])
    if states is None:
        return trace
    return replace(trace, still_open=tuple(StillOpen(computed.open(state)) for state in states))


def _states(computed: Computed, taken: Sequence[Choice]) -> list[State] | None:
    """Returns the states of the run of these steps; ``None`` where there is none."""
    session = SteppingSession(prepared(computed))
    first, *steps = taken
    if session.state is None:
        start = _named(session, first.text)
        if start is None:
            return None
        session.pick(start)
    for step in steps:
        way = _named(session, step.text)
        if way is None:
            return None
        session.pick(way)
    return list(session.states)


def _named(session: SteppingSession, text: str) -> Choice | None:
    return next((way for way in session.choices.ways if way.text == text), None)

"""The whole tool on one page: loads a check, instantiates it, runs an engine, judges the answer.

Text becomes a typed protocol (:mod:`checker.language`), a check of it becomes a finite transition
system (:mod:`checker.model`), an engine explores that, and every execution that it returns is
replayed by the interpreter before it is shown (:mod:`checker.results`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from checker.engines import budgets
from checker.engines.exploration import replaying
from checker.engines.native.search.forecast import Outlook
from checker.engines.options import Options
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model.ir import TransitionSystem
from checker.model.memo import a_run
from checker.records import replace
from checker.reductions.modes import is_named
from checker.results import so_far
from checker.results.answer import (
    DECIDED,
    INTERRUPTED,
    Answer,
    Forecast,
    Listener,
    stop_reason,
)
from checker.results.trace import Header, Trace
from checker.results.verdict import (
    STRIPS_ENDED,
    Audit,
    Expected,
    PropertyVerdict,
    Report,
    ScenarioVerdict,
)
from checker.session import run_engine
from checker.session.caveats import (
    budgets_of_handlers,
    not_asked,
    not_promised,
    notes,
    of_unfalsifiable,
    of_unseen,
    of_view,
    of_walks,
    uncounted_steps,
    warnings_of,
    why_nothing_explored,
)
from checker.session.exploring import explore_fully, explore_once, is_overridden
from checker.session.if_killed import IfKilled
from checker.session.judged import Judged
from checker.session.load import (
    checks_in,
    is_parametric,
    load_check,
    no_such_check,
    parametrize,
    read_spec,
)
from checker.session.next_steps import with_next_steps, without_liveness
from checker.session.run_engine import (
    remaining_time,
    require_supported,
    require_view,
    run_folder,
    unknown_report,
)
from checker.session.smaller import advice
from checker.session.state_tables import export_tables, require_exportable
from checker.session.trace_header import OF_A_LOG, asked_alone, for_a_log, header_of, settings_of
from checker.session.world_line import world_line

if TYPE_CHECKING:
    from checker.language.load import Spec
    from checker.simulate.prepared_check import PreparedCheck

__all__ = [
    "Options",
    "checks_in",
    "dump",
    "explain_trace",
    "is_parametric",
    "load_check",
    "no_such_check",
    "open_again",
    "open_check",
    "parametrize",
    "read_spec",
    "replay_trace",
    "report_of",
    "run_check",
    "run_loaded",
]


def run_check(
    spec: Spec | str, name: str | None, options: Options, listener: Listener | None = None
) -> Report:
    """Runs one check of the file ``spec`` (``None``: its only one) and returns the report.

    Raises :class:`SpecError` for errors of the spec or the options, and
    :class:`checker.results.replay.ReplayMismatch` where an engine is wrong.
    """
    with budgets.within(options.limits.timeout, options.limits.memory):
        check = load_check(spec, name, options.settings)
    return run_loaded(str(spec), check, options, listener)


@a_run()
def run_loaded(
    path: str, check: typed.Check, options: Options, listener: Listener | None = None
) -> Report:
    """Does the same as :func:`run_check`, of a check that :func:`load_check` gave for these
    settings."""
    require_supported(options)
    require_view(check, options)
    require_exportable(options)
    started = time.monotonic()
    with run_folder(path, check, options) as run:
        kept = None if run is None or options.checkpoint is None else run.location
        outlook = Outlook(listener)

        def nothing_known(error: KeyboardInterrupt) -> Report:
            return replace(_nothing_known(path, check, options, started, error), kept=kept)

        def report_so_far(made: Instantiated, answer: Answer) -> Report:
            with run_engine.marking_interruption(answer):
                found = report_of(path, check, made, answer, options)
            return replace(_unfinished(_without_chance(found, check), options), kept=kept)

        hearing = IfKilled(nothing_known, report_so_far, outlook)
        try:
            with budgets.within(options.limits.timeout, options.limits.memory):
                made, answer = explore_fully(check, options, hearing, run, hearing.known)
                with run_engine.marking_interruption(answer):
                    report = report_of(path, check, made, answer, options)
                so_far.known(lambda: replace(_unfinished(report, options), kept=kept))
                if check.chance or options.drn_out is not None:
                    from checker.session.chance import chance_verdicts, with_chance

                    found = chance_verdicts(check, options, started, listener)
                    report = with_chance(report, found)
        except KeyboardInterrupt as error:
            report = with_next_steps(hearing.ended(error), options, walks=not check.chance)
            if run is not None:
                run.unfinished = True
        else:
            if answer.stopped not in (None, DECIDED):
                report = replace(report, forecast=_of_these(outlook.forecast(), answer))
            if run is not None and run.mended:
                report = replace(report, notes=(*report.notes, run.mended))
            report = _audit(report, path, check, answer, options, listener)
            if run is not None and run.temporary and not report.was_interrupted:
                run.unfinished = False
            if not report.was_interrupted and (options.explain is not None or options.kinds > 1):
                from checker.explain.reports import as_asked

                report = as_asked(report, made.system, options, listener)
            report = with_strips(report, made.system, options, started)
            report = export_tables(report, made.system, options, run, listener, started)
            endless, walks = answer.endless, not check.chance
            report = with_next_steps(report, options, endless=endless, walks=walks)
    return report if run is None or not run.staying else replace(report, kept=run.location)


def _nothing_known(
    path: str, check: typed.Check, options: Options, started: float, error: KeyboardInterrupt
) -> Report:
    """Returns the report on a check that ``error`` ended before anything was known."""
    report = unknown_report(path, check, options, time.monotonic() - started, error)
    report = _without_chance(report, check)
    return with_next_steps(report, options, walks=not check.chance)


def _without_chance(report: Report, check: typed.Check) -> Report:
    """Returns ``report``; what the check asks of probabilities is unknown."""
    if not check.chance:
        return report
    from checker.session.chance import with_unknown_chance

    return with_unknown_chance(report, check)


def _unfinished(report: Report, options: Options) -> Report:
    """Returns ``report``, should its check be interrupted before what is asked beside verdicts."""
    if options.audit:
        report = replace(report, audit=Audit(False, "nothing was compared", INTERRUPTED))
    if options.states_out is not None:
        no_tables = f"no tables were written: {INTERRUPTED}"
        report = replace(report, failed=(*report.failed, no_tables))
    return report


def replay_trace(trace: Trace) -> Trace:
    """Replays the execution of a trace document from its spec; raises :class:`SpecError`.

    Raises also what :func:`checker.results.replay.replay_document` does.
    """
    from checker.results.replay import replay_document

    system = _instantiate_from_trace(trace)[1].system
    return _with_strip(system, replay_document(system, trace))


def explain_trace(
    trace: Trace, seconds: float, *, threads: int | None = None, listener: Listener | None = None
) -> Trace:
    """Does the same as :func:`replay_trace`, and minimises and explains the execution within
    ``seconds``."""
    from checker.explain.counterfactual_queries import ExplainingBudget
    from checker.explain.explain import explain
    from checker.results.replay import replay_document

    system = _instantiate_from_trace(trace)[1].system
    again = replay_document(system, trace)
    clock = ExplainingBudget(seconds, threads, listener=listener, option="--budget")
    return _with_strip(system, explain(system, again, clock))


def _instantiate_from_trace(trace: Trace) -> tuple[typed.Check, Instantiated]:
    """Returns the check of which a trace document is an execution, as its spec is now, and its
    system."""
    from checker.instantiate.assemble import instantiate
    from checker.properties.formula import ask

    header = trace.header
    settings, grown = settings_of(header)
    alone = asked_alone(header)
    check = load_check(
        read_spec(header.file).only(alone) if alone else header.file, header.check, settings
    )
    if OF_A_LOG in header.settings:
        check = for_a_log(check)
    return check, instantiate(check, settings, ask, capacities=grown, fine=header.fine_steps)


def open_again(trace: Trace) -> PreparedCheck:
    """Returns the check of a trace, prepared for stepping through; raises :class:`SpecError`."""
    from checker.simulate.prepared_check import PreparedCheck

    header = trace.header
    check, made = _instantiate_from_trace(trace)
    settings, _ = settings_of(header)
    return PreparedCheck(check, settings, lambda _: header, fine=header.fine_steps, made=made)


def open_check(spec: Spec | str, name: str | None, options: Options) -> PreparedCheck:
    """Returns a check prepared for stepping through; raises :class:`SpecError`."""
    from checker.simulate.prepared_check import PreparedCheck

    check = load_check(spec, name, options.settings)

    def header(made: Instantiated) -> Header:
        return header_of(str(spec), check, made, options)

    return PreparedCheck(check, options.settings, header, fine=options.fine_steps)


def dump(spec: Spec | str, name: str | None, options: Options) -> str:
    """Returns the transition system of a check as readable text."""
    from checker.instantiate.assemble import instantiate
    from checker.model.dump import dump as written
    from checker.properties.formula import ask

    check = load_check(spec, name, options.settings)
    return written(instantiate(check, options.settings, ask, fine=options.fine_steps).system)


# ---- the steps --------------------------------------------------------------------------------


def with_strips(
    report: Report, system: TransitionSystem, options: Options, started: float
) -> Report:
    """Returns ``report`` with what can still be decided in its traces, where these are shown, as
    far as there is time since ``started``."""
    shown = options.explain_expected or report.exit_code != 0
    if not (options.strips and shown and report.has_counterexample) or report.was_interrupted:
        return report
    from checker.explain import still_open

    left, said = remaining_time(options, started).limits.timeout, still_open.UNKNOWN
    if left is not None and left < still_open.SECONDS:
        said = options.limits.no_more_time
    left = still_open.SECONDS if left is None else min(still_open.SECONDS, left)
    try:
        with budgets.within(left, options.limits.memory, said), budgets.raising_when_exhausted():
            return still_open.with_strips(report, system)
    except KeyboardInterrupt as error:
        why = stop_reason(error)
        note = why if why == still_open.UNKNOWN else f"{STRIPS_ENDED}{why}"
        return replace(report, notes=(*report.notes, note))


def _with_strip(system: TransitionSystem, trace: Trace) -> Trace:
    """Returns ``trace`` with the same, or as it is where that takes too long."""
    from checker.explain import still_open

    try:
        with budgets.within(still_open.SECONDS), budgets.raising_when_exhausted():
            return still_open.with_strip(system, trace)
    except budgets.BudgetExhausted:
        return trace


def _sees_all(answer: Answer) -> bool:
    """Returns whether whatever was not reached is unreachable."""
    return answer.exhaustive and answer.reduced.shows_all


def _of_these(forecast: Forecast | None, answer: Answer) -> Forecast | None:
    """Returns the forecast of the last exploration, unless an earlier one came further, or nothing
    bounds the number of states."""
    further = forecast is None or answer.distinct_states > forecast.high
    return None if further or answer.endless else forecast


def _audit(
    report: Report,
    path: str,
    check: typed.Check,
    answer: Answer,
    options: Options,
    listener: Listener | None,
) -> Report:
    """Returns ``report`` after exploring without reductions, where an audit is requested.

    Raises :class:`checker.results.audit.Disagreement`.
    """
    if not options.audit or report.was_interrupted:
        return report
    from checker.results.audit import ExplorationResult, audit

    if not answer.reduced.used:
        said = "nothing to compare: no reduction was used"
        return replace(report, audit=Audit(report.exhaustive, said))
    if check.view is not None:
        said = "nothing was compared"
        why = "with a reduction, a view keeps other states"
        return replace(report, audit=Audit(False, said, why))
    plainly = replace(options, reduce="none", checkpoint=None, resume=None, states_out=None)
    limits = options.limits
    with run_folder(path, check, plainly) as run, budgets.within(limits.timeout, limits.memory):
        try:
            made, whole = explore_once(check, plainly, listener, run)
            verdicts = report_of(path, check, made, whole, plainly).verdicts
        except KeyboardInterrupt as error:
            said = "nothing was compared"
            return replace(report, audit=Audit(False, said, stop_reason(error)))
        finally:
            if run is not None:
                run.unfinished = False
    found = audit(ExplorationResult(answer, report.verdicts), ExplorationResult(whole, verdicts))
    return replace(report, audit=found)


# ---- reporting --------------------------------------------------------------------------------


def _judged_without(
    path: str,
    check: typed.Check,
    made: Instantiated,
    verdicts: tuple[PropertyVerdict, ...],
    answer: Answer,
    options: Options,
) -> Judged:
    """Returns the verdicts, and what comes of the expectations with ``without``."""
    if all(each.without is None for each in check.expect):
        return Judged(verdicts)
    from checker.session.without import judge_without, not_judged

    if answer.walks is not None:
        return Judged(verdicts, not_judged(check))
    return judge_without(path, check, made, verdicts, options)


def _judged(
    check: typed.Check, made: Instantiated, answer: Answer, header: Header
) -> tuple[PropertyVerdict, ...]:
    """Returns the verdicts that ``answer`` gives."""
    from checker.results.judge import judge

    return judge(
        made.system,
        answer,
        header,
        {e.what: str(e.value) for e in check.expect if isinstance(e.value, str)},
        allow_unused=check.allow_unused,
        idle=why_nothing_explored(check),
        world=not_promised(check, made),
        budgets=budgets_of_handlers(check, made),
    )


def report_of(
    path: str, check: typed.Check, made: Instantiated, answer: Answer, options: Options
) -> Report:
    """Returns the report on ``answer``, of ``made``, which ``check`` from the file ``path`` is."""
    from checker.results.bounds import states_within
    from checker.results.vacuity import counted_steps, coverage, never_happened

    traces = bool(answer.violations) or answer.fault is not None
    header = header_of(path, check, made, options, sources=traces)
    apart = is_overridden(options) or answer.walks is not None
    cut = answer.stopped not in (None, DECIDED) and not answer.endless
    with replaying(answer.engine):
        verdicts = _judged(check, made, answer, header)
        judged = _judged_without(path, check, made, verdicts, answer, options)
    return Report(
        file=path,
        check=check.name,
        parameters=dict(header.parameters),
        engine=answer.engine,
        fine_steps=options.fine_steps,
        verdicts=judged.verdicts,
        expectations=(*_expectations(check, verdicts, answer, options), *judged.expectations),
        distinct_states=answer.distinct_states,
        depth=answer.depth,
        transitions=answer.transitions,
        seconds=answer.seconds,
        exhaustive=answer.exhaustive,
        stopped=answer.stopped,
        bytes_per_state=answer.bytes_per_state,
        notes=(*_all_notes(check, made, verdicts, answer, options), *judged.notes),
        never=never_happened(made.system, answer) if _sees_all(answer) else (),
        edges=answer.edges,
        bytes_per_edge=answer.bytes_per_edge,
        liveness_seconds=answer.liveness_seconds,
        coverage=coverage(made.system, answer) if options.coverage else None,
        steps=counted_steps(made.system, answer) if options.coverage or cut else None,
        reduce=options.reduce,
        reduced=answer.reduced,
        weights=answer.weights,
        smaller=advice(check, made.system, answer),
        next_steps=tuple(filter(None, (without_liveness(made.system, answer),))) if cut else (),
        omission=answer.omission,
        restarts=answer.restarts,
        scenarios=() if apart else _scenarios(path, check, made, options),
        walks=answer.walks,
        world=world_line(check, made.sizes),
        states_within=states_within(made.system, answer),
        warnings=warnings_of(check),
        not_asked=not_asked(check, made, answer, verdicts),
    )


def _all_notes(
    check: typed.Check,
    made: Instantiated,
    verdicts: tuple[PropertyVerdict, ...],
    answer: Answer,
    options: Options,
) -> tuple[str, ...]:
    uncounted = _counts_steps(made, verdicts, answer)
    return (
        *notes(check, made, options.fine_steps),
        *of_view(made, answer),
        *of_walks(check, answer),
        *of_unseen(check, made, answer),
        *of_unfalsifiable(made, answer, verdicts),
        *(uncounted_steps(check, options.fine_steps) if uncounted else ()),
        *answer.remarks,
    )


def _counts_steps(
    made: Instantiated, verdicts: tuple[PropertyVerdict, ...], answer: Answer
) -> bool:
    """Returns whether it matters what one step is: up to a number of them, or up to one beyond a
    bound of the check."""
    from checker.results.bounds import bounds_met

    limited = any(verdict.within for verdict in verdicts)
    return answer.up_to is not None or (limited and bool(bounds_met(made.system, answer)))


def _scenarios(
    path: str, check: typed.Check, made: Instantiated, options: Options
) -> tuple[ScenarioVerdict, ...]:
    """Returns the verdicts on the check's scenarios."""
    if not check.scenarios:
        return ()
    from checker.simulate.prepared_check import PreparedCheck
    from checker.simulate.scenario import judge_scenario

    opened = PreparedCheck(check, {}, lambda now: header_of(path, check, now, options), made=made)
    return tuple(judge_scenario(opened, scenario) for scenario in check.scenarios)


def _expectations(
    check: typed.Check,
    verdicts: tuple[PropertyVerdict, ...],
    answer: Answer,
    options: Options,
) -> tuple[Expected, ...]:
    """Returns the check's expectations, compared; numbers only where the check ran as it is
    written, and where no reduction that changes them was requested by name."""
    from checker.results.judge import compare

    idle = set[str]()
    if is_overridden(options) or answer.walks is not None:
        idle = {"states", "depth", "trace"}
    elif is_named(options.reduce) and answer.reduced.used:
        kept = answer.reduced.keeps_lengths
        idle = {"states"} if kept else {"states", "depth", "trace"}
    wanted = [(e.what, e.value) for e in check.expect if e.what not in idle]
    return compare(wanted, verdicts, answer)

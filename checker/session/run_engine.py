"""Selects an engine, local or on a cluster or one after the other, and manages the run's
checkpoint."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from checker.diagnostics import Diagnostic, SpecError
from checker.engines import budgets
from checker.engines.capabilities import Feature
from checker.engines.cluster import HERE, Cluster
from checker.engines.exploration import explore
from checker.engines.options import Options
from checker.engines.registry import (
    can,
    ignored_features,
    keeps_states,
    needs_cluster,
    require,
    resolved_name,
)
from checker.engines.search_engine import HandedOver, SearchAgain, SearchProblem
from checker.extensions.tables import AUTO, DEFINITION, ENGINES, ON_CLUSTER
from checker.language.syntax import typed
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.reductions.choose import VERDICTS, SideQuestions, choose
from checker.reductions.modes import NONE, is_mode, is_named, modes
from checker.reductions.reduction_plan import NOTHING, ReductionPlan, Unused
from checker.resources import version
from checker.results.answer import (
    DECIDED,
    INTERRUPTED,
    Answer,
    Listener,
    Unsupported,
    nothing_known,
    stop_reason,
)
from checker.results.origin import with_origins
from checker.results.problems import problem_of
from checker.results.verdict import PropertyVerdict, Report, Word

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.checkpoint import Checkpoint
    from checker.engines.native.search.capacity_growth import Carry


def answer_of(
    system: TransitionSystem,
    options: Options,
    listener: Listener | None,
    run: Checkpoint | None,
    question: SideQuestions = VERDICTS,
    carry: Carry | None = None,
) -> Answer:
    """Returns the engine's answer about ``system``; raises :class:`SpecError` where it can't take
    it.

    ``question``: what is queried beside the system's properties; ``carry``: what an exploration
    with smaller capacities has left, and what this one leaves.
    """
    if can(options.engine, Feature.REDUCTIONS) and options.reduce != NONE:
        from checker.reductions.single_states import by_single_states, translated

        asked = by_single_states(system)
        if asked is not system:
            return translated(
                system, asked, _answer_of(asked, options, listener, run, question, carry)
            )
    return _answer_of(system, options, listener, run, question, carry)


def _answer_of(
    system: TransitionSystem,
    options: Options,
    listener: Listener | None,
    run: Checkpoint | None,
    question: SideQuestions,
    carry: Carry | None,
) -> Answer:
    """Returns the engine's answer about ``system``, by the first plan that suffices."""
    started = time.monotonic()
    plan = NOTHING
    with budgets.raising_when_exhausted():
        if can(options.engine, Feature.REDUCTIONS):
            bounded = options.limits.max_depth is not None
            plan = choose(system, options.reduce, replace(question, bounded=bounded))
        plan = _plan_of_run(system, plan, options, run, question)
        if carry is not None:
            plan = carry.plan_of(system, plan)
    while True:
        try:
            left = remaining_time(options, started)
            return _answer(SearchProblem(system, left, plan, run, carry), listener)
        except SearchAgain as again:
            plan = plan.careful if needs_cluster(options.engine) else again.next_plan(plan)
            if run is not None:
                run.afresh()


def _plan_of_run(
    system: TransitionSystem,
    plan: ReductionPlan,
    options: Options,
    run: Checkpoint | None,
    question: SideQuestions,
) -> ReductionPlan:
    """Returns the plan with which a checkpointed run was begun, if it may be resumed; ``plan``
    where there is none.  What is proven for a bounded run holds for one without bounds.  Raises
    :class:`SpecError` (E013)."""
    if run is None or run.digest is None:
        return plan
    from checker.engines.native.codegen.image import build

    def plan_of_run(some: ReductionPlan | None) -> ReductionPlan | None:
        """The plan, or another one in place of it, with which the run was begun."""
        every = () if some is None else some.plans()
        return next((p for p in every if build(system, p).digest == run.digest), None)

    def possible() -> Iterator[ReductionPlan]:
        yield plan  # another one is made only where this one is not it
        yield choose(system, options.reduce, replace(question, bounded=True))

    for made in possible():
        if (begun := plan_of_run(made)) is not None:
            return begun
    if plan_of_run(NOTHING) is not None:
        return replace(NOTHING, unused=tuple(Unused(k, "the run was begun so") for k in plan.used))
    otherwise = choose(system, options.reduce, VERDICTS)
    if plan_of_run(otherwise) is not None:
        message = f"the run in {run.given} uses reductions, and this needs all states"
        hint = "start another with `--checkpoint` and `--reduce none`"
        raise SpecError((Diagnostic("E013", message, hint=hint),))
    return plan


def _answer(problem: SearchProblem, listener: Listener | None) -> Answer:
    """Returns the engine's answer, with a remark for each option that the engine ignores.

    An engine that does not support the plan of reductions is asked again without one; raises
    :class:`SpecError` (E007) where it does not support the check.
    """
    options, plan, run = problem.options, problem.plan, problem.run
    try:
        answer = _explore(problem, listener)
    except Unsupported as why:
        if plan.used:  # the plan may need what the engine lacks, not the system
            lost = tuple(Unused(kind, str(why)) for kind in plan.used)
            plainly = ReductionPlan(unused=(*plan.unused, *lost))
            return _answer(replace(problem, plan=plainly), listener)
        message = f"the {options.engine} engine does not support this check: {why}"
        hint = f"try --engine {DEFINITION}"
        raise SpecError((Diagnostic("E007", message, hint=hint),)) from None
    if run is not None:
        run.unfinished = answer.stopped not in (None, DECIDED) or bool(answer.undecided)
    reductions = options.reduce if is_named(options.reduce) else None
    asked = {
        Feature.MEMORY: options.limits.memory,
        Feature.THREADS: options.threads,
        Feature.REDUCTIONS: reductions,
        Feature.VIEW: problem.system.view,
    }
    wanted = [feature for feature, given in asked.items() if given is not None]
    return replace(answer, remarks=(*answer.remarks, *ignored_features(options.engine, wanted)))


def _explore(problem: SearchProblem, listener: Listener | None) -> Answer:
    """Returns the answer of the engine, and of the one on a cluster to which it hands over."""
    started, options = time.monotonic(), problem.options
    try:
        return explore(options.engine, problem, listener)
    except HandedOver as over:
        here = over.seconds  # drop the error: its traceback references all states
    rest = replace(problem, options=remaining_time(options, started), carry=None)
    answer = explore(ON_CLUSTER, rest, listener)
    return replace(answer, seconds=answer.seconds + here)


def remaining_time(options: Options, started: float) -> Options:
    """Returns ``options`` with the time left, counted from ``started`` on ``time.monotonic``'s
    clock."""
    limits = options.limits
    if limits.timeout is None:
        return options
    left = max(limits.timeout - (time.monotonic() - started), 0.001)
    return replace(options, limits=replace(limits, timeout=left))


def with_whole_timeout(answer: Answer, options: Options) -> Answer:
    """Reports the time limit of the options, not what was left of it for the last attempt."""

    def whole(reason: str) -> str:
        if not reason.startswith("the time limit"):
            return reason
        return f"the time limit of {options.limits.timeout:g} s was reached"

    stopped = None if answer.stopped is None else whole(answer.stopped)
    undecided = {name: whole(reason) for name, reason in answer.undecided.items()}
    return replace(answer, stopped=stopped, undecided=undecided)


def verdicts_alone(check: typed.Check, options: Options) -> bool:
    """Returns whether only verdicts are requested: no numbers, tables, coverage, or diverse
    counterexamples."""
    counts = any(isinstance(e.value, int) for e in check.expect)
    tables = options.coverage or options.states_out is not None or options.keep
    return not (counts or tables or options.whole or options.audit or options.kinds > 1)


@contextmanager
def marking_interruption(answer: Answer) -> Iterator[None]:
    """Limits the time of reporting on ``answer``, so that an interrupt does not wait long for
    it."""
    seconds = 0.0 if answer.stopped == INTERRUPTED else None
    with budgets.within(seconds, said=INTERRUPTED), budgets.raising_when_exhausted(late=True):
        yield


def unknown_report(
    path: str, check: typed.Check, options: Options, seconds: float, error: KeyboardInterrupt
) -> Report:
    """Returns the report of a check of which nothing is known, since ``error`` came too early."""
    from checker.results.judge import compare

    why = stop_reason(error)
    words = [(e.what, str(e.value)) for e in check.expect if isinstance(e.value, str)]
    verdicts = tuple(
        PropertyVerdict(p.name, p.document or p.text, Word.UNKNOWN, dict(words).get(p.name), why)
        for p in check.prove
    )
    engine = resolved_name(options.engine)
    answer = nothing_known(engine, seconds, error)
    return Report(
        file=path,
        check=check.name,
        parameters={},
        warnings=tuple(problem_of(warning) for warning in check.warnings),
        engine=engine,
        fine_steps=options.fine_steps,
        verdicts=with_origins(verdicts, check.prove),
        expectations=compare(words, verdicts, answer),
        seconds=seconds,
        stopped=why,
        reduce=options.reduce,
    )


@contextmanager
def shared_sessions(options: Options, *, at_once: bool = True) -> Iterator[None]:
    """Keeps what the runs of this block open on a cluster open for all of them.

    ``at_once``: what the engine is sure to need is started now.
    """
    sure = needs_cluster(options.engine)
    if sure or options.cluster is not None:
        from checker.engines.spark.shared_sessions import holding

        with holding(options.cluster or Cluster(HERE) if sure and at_once else None):
            yield
    else:
        yield


# ---- checkpointed runs ------------------------------------------------------------------------


@contextmanager
def run_folder(path: str, check: typed.Check, options: Options) -> Iterator[Checkpoint | None]:
    """Opens the folder of the run, where it has one, and releases it when the block ends.

    Raises :class:`SpecError` (E010 to E016).
    """
    run = _open_run(path, check, options)
    try:
        yield run
    except BaseException as error:
        if run is not None:
            run.unfinished = True
            run.leave()
            if run.staying:
                error.add_note(f"the run is saved: `--resume {run.location}` resumes it")
        raise
    if run is not None:
        run.leave()


def _open_run(path: str, check: typed.Check, options: Options) -> Checkpoint | None:
    asked = options.checkpoint or options.resume
    elsewhere = needs_cluster(options.engine) or options.hands_over
    if asked:
        require(options.engine, Feature.RUNS)
    elif not keeps_states(options.engine) or not (elsewhere or options.states_out is not None):
        return None
    from checker.engines.native.checkpoint.checkpoint import Checkpoint
    from checker.engines.native.checkpoint.run_identity import Identity
    from checker.language.sources import digests

    identity = Identity(
        version(),
        path,
        check.name,
        digests(path),
        options.settings,
        options.fine_steps,
        options.coverage,
        options.reduce,
        [p.name for p in check.prove],
    )
    if options.resume is not None:
        return Checkpoint.resume(options.resume, identity, keep=options.keep)
    if options.checkpoint is not None:
        return Checkpoint.begin(options.checkpoint, identity, keep=options.keep)
    return Checkpoint.scratch(identity)


def require_supported(options: Options) -> None:
    """Raises :class:`SpecError` where the engine lacks what is requested (E007), or is none that
    can be used (E008, E042); E008 also where the reductions are no known ones."""
    if options.engine != AUTO:
        ENGINES.require_unclaimed(options.engine)
    if not is_mode(options.reduce):
        message = f"unknown reduction mode `{options.reduce}`"
        hint = f"modes: {', '.join(modes())}"
        raise SpecError((Diagnostic("E008", message, hint=hint),))
    limits = options.limits
    asked = {
        Feature.FINE_STEPS: options.fine_steps,
        Feature.LIMITS: limits.max_states is not None or limits.max_depth is not None,
        Feature.COVERAGE: options.coverage,
        Feature.COMPACT: options.compact,
    }
    for feature, wanted in asked.items():
        if wanted:
            require(options.engine, feature)
    if options.compact:
        _require_compatible(options)


def require_view(check: typed.Check, options: Options) -> None:
    """Raises :class:`SpecError` (E049) where the check has a view, and an engine that may explore
    it can't observe one."""
    if check.view is not None:
        for engine in (options.engine, *([ON_CLUSTER] if options.hands_over else [])):
            require(engine, Feature.VIEW)


def _require_compatible(options: Options) -> None:
    """Raises :class:`SpecError` (E007) where compact mode can't do what else is requested."""
    others = {
        "--checkpoint": options.checkpoint,
        "--resume": options.resume,
        "--states-out": options.states_out,
        "--master": options.cluster,
    }
    for option, given in others.items():
        if given is not None:
            message = f"compact mode stores no states, and `{option}` needs them"
            hint = f"leave out `--compact` or `{option}`"
            raise SpecError((Diagnostic("E007", message, hint=hint),))

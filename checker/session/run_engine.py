"""Selects an engine, local or on a cluster or one after the other, and manages the run's
checkpoint."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from checker import budgets
from checker.diagnostics import Diagnostic, SpecError
from checker.engines.capabilities import ENGINES, Feature, can, ignored_features, require
from checker.engines.solver import require_solver
from checker.engines.spark.cluster import Cluster
from checker.exploration.explored import Cyclic
from checker.lang import typed
from checker.options import Options, version
from checker.reductions.choose import VERDICTS, SideQuestions, choose
from checker.reductions.reduction_plan import NOTHING, ReductionPlan, Unused
from checker.system.ir import TransitionSystem
from checker.witness.answer import (
    DECIDED,
    INTERRUPTED,
    Answer,
    Listener,
    Unsupported,
    nothing_known,
    stop_reason,
)
from checker.witness.verdict import PropertyVerdict, Report, Word

if TYPE_CHECKING:
    from checker.exploration.capacity_growth import Carry
    from checker.exploration.checkpoint import Checkpoint
    from checker.exploration.journal import Journal
    from checker.kernels.image import KernelImage


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
            return _answer(system, plan, remaining_time(options, started), listener, run, carry)
        except Cyclic:
            assert plan.fallback is not None
            plan = plan.fallback
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
    from checker.kernels.image import build

    def is_plan_of_run(some: ReductionPlan | None) -> bool:
        return some is not None and build(system, some).digest == run.digest

    bounded = choose(system, options.reduce, replace(question, bounded=True))
    for begun in (plan, plan.fallback, bounded, bounded.fallback):
        if begun is not None and is_plan_of_run(begun):
            return begun
    if is_plan_of_run(NOTHING):
        return replace(
            NOTHING, unused=tuple(Unused(k, "the run was begun so") for k in plan.used_kinds)
        )
    otherwise = choose(system, options.reduce, VERDICTS)
    if is_plan_of_run(otherwise) or is_plan_of_run(otherwise.fallback):
        message = f"the run in {run.given} was begun with reductions, and all states are asked for"
        hint = "begin another with `--checkpoint` and `--reduce none`"
        raise SpecError((Diagnostic("E013", message, hint=hint),))
    return plan


def _answer(
    system: TransitionSystem,
    plan: ReductionPlan,
    options: Options,
    listener: Listener | None,
    run: Checkpoint | None,
    carry: Carry | None,
) -> Answer:
    try:
        match options.engine:
            case "native" | "auto":
                answer = _here(system, plan, options, listener, run, carry)
            case "spark":
                assert run is not None
                answer = _on_spark(system, plan, options, listener, run)
            case "reference":
                from checker.engines import reference

                answer = reference.explore(system, options.limits, listener=listener)
            case "symbolic":
                with budgets.raising_when_exhausted():
                    answer = _by_formulas(system, options, listener)
            case other:
                message = f"there is no engine {other!r}"
                hint = "engines: auto, native, spark, reference, symbolic"
                raise SpecError((Diagnostic("E008", message, hint=hint),))
    except Unsupported as why:
        if plan.used_kinds:  # the plan may need what the engine lacks, not the system
            lost = tuple(Unused(kind, str(why)) for kind in plan.used_kinds)
            plainly = ReductionPlan(unused=(*plan.unused, *lost))
            return _answer(system, plainly, options, listener, run, carry)
        message = f"the {options.engine} engine can't take this check: {why}"
        hint = "try --engine reference"
        raise SpecError((Diagnostic("E007", message, hint=hint),)) from None
    if run is not None:
        run.unfinished = answer.stopped not in (None, DECIDED) or bool(answer.undecided)
    reductions = None if options.reduce in ("auto", "none") else options.reduce
    asked = {
        Feature.MEMORY: options.limits.memory,
        Feature.THREADS: options.threads,
        Feature.REDUCTIONS: reductions,
    }
    wanted = [feature for feature, given in asked.items() if given is not None]
    return replace(answer, remarks=(*answer.remarks, *ignored_features(options.engine, wanted)))


def _here(
    system: TransitionSystem,
    plan: ReductionPlan,
    options: Options,
    listener: Listener | None,
    run: Checkpoint | None,
    carry: Carry | None,
) -> Answer:
    """Explores on this machine, and then on a cluster where that is requested."""
    from checker.engines import native
    from checker.exploration.journal import HandedOver

    started, limits = time.monotonic(), options.limits
    if run is None:
        return native.explore(
            system,
            limits,
            plan=plan,
            threads=options.threads,
            listener=listener,
            compact=options.compact,
            carry=carry,
        )
    journal = partial(_journal, run, options, system)
    try:
        return native.explore(
            system,
            limits,
            plan=plan,
            threads=options.threads,
            listener=listener,
            journal=journal,
            carry=carry,
        )
    except HandedOver as over:
        here = over.seconds  # drop the error: its traceback references all states
    answer = _on_spark(system, plan, remaining_time(options, started), listener, run)
    return replace(answer, seconds=answer.seconds + here)


def _by_formulas(system: TransitionSystem, options: Options, listener: Listener | None) -> Answer:
    """Explores with z3; raises :class:`SpecError` (E007, E041)."""
    if options.coverage:
        require(options.engine, Feature.COVERAGE)
    require_solver()
    from checker.engines.symbolic import bounded

    return bounded.explore(
        system,
        options.limits,
        depth=options.limits.max_depth,
        listener=listener,
        query_seconds=options.query_timeout,
    )


def _on_spark(
    system: TransitionSystem,
    plan: ReductionPlan,
    options: Options,
    listener: Listener | None,
    run: Checkpoint,
) -> Answer:
    from checker.engines import spark
    from checker.kernels.image import build

    cluster = options.cluster or Cluster("local[*]")
    with budgets.raising_when_exhausted():
        folder = run.open(system, build(system, plan))
    return spark.explore(
        system,
        options.limits,
        cluster,
        folder,
        listener,
        plan=plan,
        commit_every=options.checkpoint_every,
        all_states=_all_states(options),
    )


def _all_states(options: Options) -> bool:
    """Returns whether the folder has to hold all states at the end."""
    return options.keep or options.states_out is not None


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
    return not (counts or tables or options.audit or options.kinds > 1)


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
    from checker.witness.judge import compare

    why = stop_reason(error)
    words = [(e.what, str(e.value)) for e in check.expect if isinstance(e.value, str)]
    verdicts = tuple(
        PropertyVerdict(p.name, p.document or p.text, Word.UNKNOWN, dict(words).get(p.name), why)
        for p in check.prove
    )
    engine = "native" if options.engine == "auto" else options.engine
    answer = nothing_known(engine, seconds, error)
    return Report(
        file=path,
        check=check.name,
        parameters={},
        engine=engine,
        fine_steps=options.fine_steps,
        verdicts=verdicts,
        expectations=compare(words, verdicts, answer),
        seconds=seconds,
        stopped=why,
        version=version(),
        reduce=options.reduce,
    )


@contextmanager
def shared_sessions(options: Options) -> Iterator[None]:
    """Keeps what the runs of this block open on a cluster open for all of them."""
    if options.engine == "spark" or options.cluster is not None:
        from checker.engines.spark.shared_sessions import holding

        with holding():
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
                error.add_note(f"the run is kept: `--resume {run.location}` goes on with it")
        raise
    if run is not None:
        run.leave()


def _open_run(path: str, check: typed.Check, options: Options) -> Checkpoint | None:
    asked = options.checkpoint or options.resume
    elsewhere = options.engine == "spark" or (options.engine == "auto" and options.cluster)
    if asked:
        require(options.engine, Feature.RUNS)
    elif options.engine in ("reference", "symbolic") or not (
        elsewhere or options.states_out is not None
    ):
        return None
    from checker.exploration.checkpoint import Checkpoint
    from checker.exploration.run_identity import Identity
    from checker.lang.sources import digests

    fine, coverage = options.fine_steps, options.coverage
    sources = digests(path)
    identity = Identity(
        version(), path, check.name, sources, options.settings, fine, coverage, options.reduce
    )
    if options.resume is not None:
        return Checkpoint.resume(options.resume, identity, keep=options.keep)
    if options.checkpoint is not None:
        return Checkpoint.begin(options.checkpoint, identity, keep=options.keep)
    return Checkpoint.scratch(identity)


def require_compact(options: Options) -> None:
    """Raises :class:`SpecError` (E007) where compact mode can't do what else is requested."""
    if not options.compact:
        return
    if options.engine in ENGINES:
        require(options.engine, Feature.COMPACT)
    others = {
        "--checkpoint": options.checkpoint,
        "--resume": options.resume,
        "--states-out": options.states_out,
        "--master": options.cluster,
    }
    for option, given in others.items():
        if given is not None:
            message = f"compact mode keeps no states, and `{option}` wants them"
            hint = f"leave out `--compact` or `{option}`"
            raise SpecError((Diagnostic("E007", message, hint=hint),))


def _journal(
    run: Checkpoint, options: Options, system: TransitionSystem, image: KernelImage
) -> Journal:
    from checker.exploration.journal import Journal

    leaves = options.engine == "auto" and options.cluster is not None
    return Journal(
        run.open(system, image),
        every=options.checkpoint_every,
        graduate_at=options.graduate_at if leaves else None,
        whole=_all_states(options),
    )

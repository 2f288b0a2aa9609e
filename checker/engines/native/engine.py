"""The native engine: machine code generated for the system, threads on one machine, exact.

Results do not depend on the number of threads.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from checker.engines import budgets
from checker.engines.capabilities import YES, Ability, Can, Feature
from checker.engines.engine import Problem
from checker.engines.native.codegen.fields import KEY_BITS, MAX_WORKERS
from checker.engines.native.codegen.image import KernelImage, build
from checker.engines.native.search.answers import answer_of_states
from checker.engines.native.search.capacity_growth import Carry
from checker.engines.native.search.compact import without_rounds
from checker.engines.native.search.explored import Explored
from checker.engines.native.search.finalize import answer_so_far, finalize
from checker.engines.native.search.reduction_stats import orbits_in
from checker.engines.native.search.search import Search
from checker.engines.native.search.tiered_jit import PendingOptimisation, first_kernel
from checker.engines.native.search.trace_reconstruction import path_to
from checker.engines.options import Options
from checker.engines.search_engine import REGISTERS, SearchEngine, SearchProblem
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Event
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.results.answer import (
    INTERRUPTED,
    Answer,
    Limits,
    Listener,
    State,
    Unsupported,
    nothing_known,
)

if TYPE_CHECKING:
    from checker.engines.chance import ChanceGraph, ChanceProblem
    from checker.engines.native.checkpoint.checkpoint import Checkpoint
    from checker.engines.native.checkpoint.journal import Journal
    from checker.engines.valence import ValenceGraph, ValenceProblem

Found = TypeVar("Found")
SOME, MANY = 20_000, 3_000_000
"""The numbers of states from which on the report names the variables that multiply them: of a
truncated search, and of any.
"""
NAME = "native"
_NO_ROOM = Ability(Can.PARTLY, "reports unknown if the state graph does not fit in memory")
CAPABILITIES = {
    Feature.SAFETY: YES,
    Feature.STEADY: _NO_ROOM,
    Feature.FOLLOWED: _NO_ROOM,
    Feature.LARGE: REGISTERS,
    Feature.FINE_STEPS: YES,
    Feature.COVERAGE: YES,
    Feature.LIMITS: YES,
    Feature.MEMORY: YES,
    Feature.THREADS: YES,
    Feature.RUNS: YES,
    Feature.TABLES: YES,
    Feature.REDUCTIONS: YES,
    Feature.COMPACT: YES,
    Feature.VIEW: YES,
    Feature.VALENCE: _NO_ROOM,
    Feature.CHANCE: _NO_ROOM,
}


class NativeEngine(SearchEngine):
    """Explores with machine code on this machine."""

    name = NAME
    capabilities = CAPABILITIES

    def search(self, problem: SearchProblem, listener: Listener | None) -> Answer:
        options, run = problem.options, problem.run
        return explore(
            problem.system,
            options.limits,
            plan=problem.plan,
            threads=options.threads,
            listener=listener,
            journal=None if run is None else partial(_journal, run, options, problem.system),
            compact=options.compact and run is None,
            carry=problem.carry,
            count_steps=options.coverage,
        )

    def valence(self, problem: ValenceProblem, listener: Listener | None) -> ValenceGraph:
        return valence(problem, listener)

    def chance(self, problem: ChanceProblem, listener: Listener | None) -> ChanceGraph:
        return chance(problem, listener)


ENGINE = NativeEngine()


def _journal(
    run: Checkpoint, options: Options, system: TransitionSystem, image: KernelImage
) -> Journal:
    """Opens the checkpoint of a run of ``image``, which is that of ``system``."""
    from checker.engines.native.checkpoint.journal import Journal

    return Journal(
        run.open(system, image),
        every=options.checkpoint_every,
        graduate_at=options.graduate_at if options.hands_over else None,
        whole=options.keeps_all_states,
    )


def explore(
    system: TransitionSystem,
    limits: Limits,
    *,
    plan: ReductionPlan = NOTHING,
    threads: int | None = None,
    listener: Listener | None = None,
    journal: Callable[[KernelImage], Journal] | None = None,
    compact: bool = False,
    carry: Carry | None = None,
    answer_only: bool = False,
    count_steps: bool = False,
) -> Answer:
    """Explores ``system`` and returns its answer.

    ``plan``: the reductions to use; ``threads``: how many may be used, all processors where it is
    ``None``; ``journal``: opens the checkpoint of the run, which is resumed from its end;
    ``compact``: where states take more than a word, fingerprints are kept in their place, and the
    answer states the probability that a state was omitted; there is no journal then; ``carry``:
    holds the results of an exploration with smaller capacities, and receives those of this one;
    ``answer_only``: no time is spent on an estimate of what multiplies the states; ``count_steps``:
    the steps of more states are counted for that.
    Raises :class:`Unsupported` where the engine can't take the system, ``RunFault`` where no
    initial state, or a property, can be computed, :class:`HandedOver` where the journal wants the
    run to continue elsewhere, and :class:`Cyclic` where the plan turns out not to be proven for the
    system.
    """
    assert not (compact and journal), "compact mode stores no states to resume from"
    begun = time.monotonic()
    with budgets.within(limits.timeout):
        try:
            with budgets.raising_when_exhausted():
                search, starts = _prepare_search(
                    system, limits, plan, threads, listener, journal, compact
                )
        except KeyboardInterrupt as error:
            return nothing_known(NAME, time.monotonic() - begun, error)
        search.begun = begun
        search.on_violation = _report_violations
        try:
            pack = search.kernel.image.layout.pack
            initial = None if starts is None else [pack(state) for state, _ in starts]
            search.run(initial, None if carry is None else carry.into)
            search.found.reach(event.mark for _, events in starts or () for event in events)
            if search.journal is not None:
                search.journal.over(search)
            answer = _conclude(search, search.journal, answer_only, count_steps)
            if carry is not None and answer.fault is not None:
                carry.leave(search)
            return answer
        finally:
            search.close()


def valence(problem: ValenceProblem, listener: Listener | None) -> ValenceGraph:
    """Returns the valence of the states of ``problem.system``, explored without reductions; raises
    what :func:`explore` does.
    """
    from checker.engines.native.valence.native_valence import NativeValence, searched_system

    by = searched_system(problem)

    def graph_of(found: Explored, answer: Answer) -> ValenceGraph:
        return NativeValence(problem, by, found, answer)

    return _searched_whole(by.system, problem, problem.options.threads, listener, graph_of)


def chance(problem: ChanceProblem, listener: Listener | None) -> ChanceGraph:
    """Returns the steps of ``problem.system`` with their probabilities, explored without reductions
    by one thread, so that states have the same numbers in every run; raises what :func:`explore`
    does.
    """
    from checker.engines.native.chance.labelled_system import LabelledSystem
    from checker.engines.native.chance.native_chance import NativeChance, searched_system
    from checker.model.transforms.hoist_choices import CannotHoist

    try:
        labels = LabelledSystem(problem.system)
    except CannotHoist as why:
        raise Unsupported(str(why)) from None

    def graph_of(found: Explored, answer: Answer) -> ChanceGraph:
        return NativeChance(problem, labels, found, answer)

    return _searched_whole(searched_system(problem, labels), problem, 1, listener, graph_of)


def _searched_whole(
    system: TransitionSystem,
    problem: Problem,
    threads: int | None,
    listener: Listener | None,
    graph_of: Callable[[Explored, Answer], Found],
) -> Found:
    """Returns what ``graph_of`` makes of a search of ``system`` without reductions."""
    limits, begun = problem.options.limits, time.monotonic()
    with budgets.within(limits.timeout):
        with budgets.raising_when_exhausted():
            search, starts = _prepare_search(
                system, limits, NOTHING, threads, listener, None, False
            )
        search.begun, search.asks_ends = begun, False
        search.store.keep_whole()  # all rows will be read
        try:
            pack = search.kernel.image.layout.pack
            search.run(None if starts is None else [pack(state) for state, _ in starts])
            found = _as_explored(search)
            return graph_of(found, answer_of_states(NAME, found))
        finally:
            search.close()


def _prepare_search(
    system: TransitionSystem,
    limits: Limits,
    plan: ReductionPlan,
    threads: int | None,
    listener: Listener | None,
    journal: Callable[[KernelImage], Journal] | None,
    compact: bool,
) -> tuple[Search, list[tuple[State, tuple[Event, ...]]] | None]:
    """Returns a search that is ready to run, and its initial states (``None``: native code or a
    journal has them).
    """
    image = build(system, plan, KEY_BITS if compact else 0)
    if image.compact and (plan.acyclic or plan.larger is not None):
        image = build(system, without_rounds(plan), KEY_BITS)
    kernel, improvable = first_kernel(image)
    kept = None if journal is None else journal(image)
    known = kept is not None or image.begins
    starts = None if known else interpreter.initial_events(system)
    # which of the states that a view takes for one is found first must not depend on a schedule
    wanted = 1 if system.view is not None else threads or os.cpu_count() or 1
    workers = max(1, min(wanted, MAX_WORKERS))
    upgrade = PendingOptimisation(image, limits.timeout) if improvable else None
    return Search(system, kernel, upgrade, limits, workers, listener, kept, compact), starts


def _conclude(
    search: Search, journal: Journal | None, answer_only: bool, count_steps: bool
) -> Answer:
    """Returns the answer, with estimates where they are wanted; commits the complete levels where
    the search is not exhaustive."""
    try:
        answer = finalize(NAME, _as_explored(search))
    except KeyboardInterrupt:
        if journal is not None:
            journal.save(search.store)
        raise
    if journal is not None and answer.undecided:
        from checker.engines.native.checkpoint.cannot_keep import CannotKeep

        with contextlib.suppress(CannotKeep):
            journal.save(search.store)
    # a search that meets an error is often made again, with larger capacities
    is_cut_short = not answer.exhaustive and answer.fault is None
    many = answer.distinct_states >= (SOME if is_cut_short else MANY) and not answer_only
    if many or count_steps:
        with contextlib.suppress(KeyboardInterrupt):
            search.report_known(answer)
            answer = _estimated(search, answer, many, count_steps, is_cut_short)
    return answer


def _estimated(
    search: Search, answer: Answer, many: bool, count_steps: bool, is_cut_short: bool
) -> Answer:
    """Returns the answer with estimates from a sample of the states: if there are ``many``, the
    factors that multiply them; the numbers of steps by what happens in them, on request or if the
    search was cut short."""
    from checker.engines.native.search.blowup import SAMPLE, blowup, sample_rows
    from checker.engines.native.search.step_counts import COUNTED, step_counts

    system, store, limits = search.system, search.store, search.limits
    if many and limits.max_states is not None and answer.stopped == limits.no_more_states:
        # with threads, which states of the next level were found is nondeterministic
        store.drop(search.found.depth + 1)
    rows = sample_rows(store, COUNTED if count_steps else SAMPLE)
    if many:
        weights, varieties = blowup(system, store, rows[:SAMPLE])
        answer = replace(answer, weights=weights, varieties=varieties)
    if (count_steps or is_cut_short) and not search.kernel.image.compact:
        with contextlib.suppress(RunFault):
            counts = step_counts(system, store, rows, answer.distinct_states)
            answer = replace(answer, step_counts=counts)
    return answer


def _report_violations(search: Search) -> None:
    """Reports the violations that a running search has found."""
    under_way = replace(_as_explored(search), stopped=INTERRUPTED)
    search.report_known(answer_so_far(NAME, under_way))


def _as_explored(search: Search) -> Explored:
    stopped, search.stopped = search.stopped, None
    return Explored(
        system=search.system,
        limits=search.limits,
        kernel=search.kernel,
        load=lambda: search.store,
        found=search.found,
        depth=search.depth,
        states=search.store.states,
        used=search.store.used_bytes,
        lost=search.lost,
        stopped=stopped,
        started=search.begun,
        seconds=search.seconds,
        path_to=partial(path_to, search),
        tell=search.tell,
        orbits=lambda: orbits_in(search.store),
        known=search.report_known,
        runs=search.runs,
        unfolds=search.unfolds,
    )

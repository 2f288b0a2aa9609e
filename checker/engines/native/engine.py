"""The native engine: machine code generated for the system, threads on one machine, exact.

Results do not depend on the number of threads.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from checker import budgets
from checker.exploration.blowup import blowup_factors
from checker.exploration.capacity_growth import Carry
from checker.exploration.compact import without_rounds
from checker.exploration.explored import Explored
from checker.exploration.finalize import finalize
from checker.exploration.journal import CannotKeep, Journal
from checker.exploration.search import Search
from checker.exploration.tiered_jit import PendingOptimisation, first_kernel
from checker.exploration.trace_reconstruction import path_to
from checker.kernels.fields import MAX_WORKERS
from checker.kernels.image import KernelImage, build
from checker.kernels.visited_set import KEY_BITS
from checker.reductions.reduction_plan import NOTHING, ReductionPlan
from checker.system import interpreter
from checker.system.interpreter import Event
from checker.system.ir import TransitionSystem
from checker.witness.answer import Answer, Limits, Listener, State, nothing_known

NAME = "native"
SOME, MANY = 20_000, 3_000_000
"""The numbers of states from which on the report names the variables that multiply them: of a
truncated search, and of any.
"""


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
) -> Answer:
    """Explores ``system`` and returns its answer.

    ``plan``: the reductions to use; ``threads``: how many may be used, all processors where it is
    ``None``; ``journal``: opens the checkpoint of the run, which is resumed from its end;
    ``compact``: where states take more than a word, fingerprints are kept in their place, and the
    answer states the probability that a state was omitted; there is no journal then; ``carry``:
    holds the results of an exploration with smaller capacities, and receives those of this one.
    Raises :class:`Unsupported` where the engine can't take the system, ``RunFault`` where no
    initial state, or a property, can be computed, :class:`HandedOver` where the journal wants the
    run to continue elsewhere, and :class:`Cyclic` where the plan turns out not to be proven for the
    system.
    """
    assert not (compact and journal), "compact mode keeps no states to go on from"
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
        try:
            pack = search.kernel.image.layout.pack
            initial = None if starts is None else [pack(state) for state, _ in starts]
            search.run(initial, None if carry is None else carry.into)
            search.found.reach(event.mark for _, events in starts or () for event in events)
            if search.journal is not None:
                search.journal.over(search)
            answer = _conclude(search, search.journal)
            if carry is not None and answer.fault is not None:
                carry.leave(search)
            return answer
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
    if image.compact and plan.acyclic:
        image = build(system, without_rounds(plan), KEY_BITS)
    kernel, improvable = first_kernel(image)
    kept = None if journal is None else journal(image)
    known = kept is not None or image.begins
    starts = None if known else interpreter.initial_events(system)
    workers = max(1, min(threads or os.cpu_count() or 1, MAX_WORKERS))
    upgrade = PendingOptimisation(image) if improvable else None
    return Search(system, kernel, upgrade, limits, workers, listener, kept), starts


def _conclude(search: Search, journal: Journal | None) -> Answer:
    """Returns the answer; commits the complete levels where the search is not exhaustive."""
    try:
        answer = finalize(NAME, _as_explored(search))
    except KeyboardInterrupt:
        if journal is not None:
            journal.save(search.store)
        raise
    if journal is not None and answer.undecided:
        with contextlib.suppress(CannotKeep):
            journal.save(search.store)
    if answer.distinct_states >= (MANY if answer.exhaustive else SOME):
        with contextlib.suppress(KeyboardInterrupt):
            limits = search.limits
            if limits.max_states is not None and answer.stopped == limits.no_more_states:
                # with threads, which states of the next level were found is nondeterministic
                search.store.drop(search.found.depth + 1)
            answer = replace(answer, weights=blowup_factors(search.system, search.store))
    return answer


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
    )

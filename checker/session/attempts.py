"""Explores one check repeatedly, with larger and larger guessed capacities, and combines the
answers.

An attempt that finds a guessed capacity too small is followed by one in a larger system.  That one
continues from there where it can (:mod:`checker.engines.native.search.capacity_growth`), and starts
over where it can't; if it is then cut short, an earlier attempt may have come further.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from checker.engines import budgets
from checker.engines.native.search.capacity_growth import Carry
from checker.engines.options import Options
from checker.instantiate.capacities import enlarge_bound, limit_text, maximum_bound
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.model import interpreter
from checker.model.bound_equivalence import same_up_to_bounds
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.records import replace
from checker.reductions.choose import SideQuestions
from checker.results.answer import (
    DECIDED,
    INTERRUPTED,
    Answer,
    Listener,
    Progress,
    Restart,
    Unsupported,
    stop_reason,
)
from checker.session.caveats import piles_up, why_unbounded
from checker.session.run_engine import (
    answer_of,
    marking_interruption,
    remaining_time,
    verdicts_alone,
    with_whole_timeout,
)
from checker.session.systems import instantiated

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.checkpoint import Checkpoint
    from checker.engines.native.codegen.layout import Layout
    from checker.session.exploring import Known


LONG = 50_000
"""After so many states it is worth enlarging a guess more than twofold, where that costs
nothing."""
TWICE = 3
"""Doublings at most beyond the first."""
EIGHTH = 8
"""A guess is enlarged by one part in so many at a time, where doubling it again would cost
something."""


def explore_with_growing_capacities(
    check: typed.Check,
    options: Options,
    question: SideQuestions,
    listener: Listener | None,
    run: Checkpoint | None,
    known: Known | None = None,
) -> tuple[Instantiated, Answer]:
    """Returns the answer for the smallest system of ``check`` whose guessed capacities are large
    enough; where it is ended before there is one, what is known from smaller systems.

    ``question``: what is queried beside properties; ``known`` is called with what is known
    before a phase that may take long.  Raises :class:`SpecError` where there is no initial state,
    and ``KeyboardInterrupt`` where nothing is known.
    """
    attempts = Attempts(known)
    try:
        return _attempt_until_sufficient(check, options, question, listener, run, attempts)
    except KeyboardInterrupt as error:
        return attempts.conclude_interrupted(error)


def _attempt_until_sufficient(
    check: typed.Check,
    options: Options,
    question: SideQuestions,
    listener: Listener | None,
    run: Checkpoint | None,
    attempts: Attempts,
) -> tuple[Instantiated, Answer]:
    started = time.monotonic()
    if verdicts_alone(check, options):
        options = replace(options, limits=replace(options.limits, until_decided=True))

    def make(capacities: Mapping[str, int]) -> Instantiated:
        return instantiated(check, options, capacities)

    with budgets.raising_when_exhausted():
        known = None if run is None else run.capacities
        made = instantiated(check, options) if known is None else make(known)
    while True:
        capacities = dict(made.capacities)
        if run is not None:
            run.capacities = capacities
        answer, why = None, None
        try:
            left = remaining_time(options, started)
            heard = attempts.hearing(made, listener)
            answer = answer_of(made.system, left, heard, run, question, attempts.carry)
        except RunFault as fault:
            too_small: tuple[str, ...] = () if fault.grows is None else (fault.grows,)
            if not too_small or capacities[too_small[0]] >= maximum_bound(too_small[0]):
                from checker.words.unjudged import diagnosed

                raise diagnosed(made.system, fault) from None
        else:
            answer = with_whole_timeout(answer, options)
            attempts.record_answer(made, answer)
            with marking_interruption(answer):
                too_small = too_small_capacities(made.system, answer)
                if not too_small:
                    return attempts.together(made, answer)
                why = why_not_larger(made, answer, too_small, options)
        if answer is not None and why is not None:
            endless = why != DECIDED
            answer = replace(answer, fault=None, stopped=why, endless=endless)
            return attempts.together(made, answer)
        states = 0 if answer is None else answer.distinct_states
        capacities = enlarge_capacities(make, capacities, too_small, states)
        attempts.outgrown(made, answer, capacities)
        if run is not None:
            run.afresh()
        made = make(capacities)


def too_small_capacities(system: TransitionSystem, answer: Answer) -> tuple[str, ...]:
    """Returns the guessed capacities that the errors at the end of an execution are about, each
    once; none where one of the errors is about anything else."""
    if answer.fault is None:
        return ()
    steps = interpreter.successors(system, answer.fault.states[-1])
    names = [step.fault.grows for step in steps if step.fault is not None]
    return () if None in names else tuple(dict.fromkeys(name for name in names if name))


def why_not_larger(
    made: Instantiated, answer: Answer, too_small: tuple[str, ...], options: Options
) -> str | None:
    """Returns why the system is not explored again with larger capacities; ``None`` where it is."""
    piled = piles_up(made.system, answer)
    if piled:
        return piled
    for name in too_small:
        size = made.capacities[name]
        without_end = why_unbounded(made.system, answer, name, size)
        if without_end or size >= maximum_bound(name):
            return without_end or limit_text(name, size)
    undecided = made.system.open_properties(answer.violations)
    decided = options.limits.until_decided and made.system.asked_properties and not undecided
    return DECIDED if decided else None


class Attempts:
    """Combines the findings of the attempts, and calls ``known`` with them before a phase that may
    take long. ``carry``: what the last attempt leaves to the next one."""

    def __init__(self, known: Known | None = None) -> None:
        self.carry = Carry()
        self._known = known
        self._earlier: list[tuple[Instantiated, Answer]] = []
        self._last: tuple[Instantiated, Answer] | None = None
        self._restarts: list[Restart] = []

    def hearing(self, made: Instantiated, listener: Listener | None) -> Listener | None:
        """Returns a listener before ``listener`` that passes answers about ``made`` on to
        ``known``."""
        known = self._known
        if listener is None or known is None:
            return listener

        def hear(progress: Progress) -> None:
            answer = progress.answer
            if answer is None:
                listener(progress)
                return
            if too_small_capacities(made.system, answer):  # another attempt follows
                answer = replace(answer, fault=None, stopped=INTERRUPTED)
            known(*self.together(made, answer))

        return hear

    def record_answer(self, made: Instantiated, answer: Answer) -> None:
        """Records that the last attempt has ended with ``answer``."""
        self._last = made, answer
        if self._restarts:
            self._restarts[-1] = replace(self._restarts[-1], kept=self.carry.went_on)

    def outgrown(
        self, made: Instantiated, answer: Answer | None, larger: Mapping[str, int]
    ) -> None:
        """Records that the last attempt needs ``larger`` capacities; ``answer`` is ``None`` where
        there is not even an initial state."""
        if answer is not None:
            self._earlier.append((made, answer))
            self._last = None
        names = tuple(name for name, size in larger.items() if size != made.capacities[name])
        self._restarts.append(
            Restart(
                tuple((name, made.capacities[name], larger[name]) for name in names),
                0 if answer is None else answer.distinct_states,
                0 if answer is None else answer.depth,
            )
        )

    def conclude_interrupted(self, error: KeyboardInterrupt) -> tuple[Instantiated, Answer]:
        """Returns what is known where ``error`` ends the next attempt, or what follows the last
        one; raises ``error`` where nothing is known."""
        known = [*self._earlier, *([] if self._last is None else [self._last])]
        if not known:
            raise error
        made, answer = known[-1]
        return self.together(made, replace(answer, fault=None, stopped=stop_reason(error)))

    def together(self, made: Instantiated, answer: Answer) -> tuple[Instantiated, Answer]:
        """Returns the answer of all attempts; ``answer`` is the last one's.

        Where that is exhaustive, or has met an error, it is the result.  Otherwise the answer that
        came furthest is taken, with the violations that others have found.
        """
        answer = replace(answer, restarts=tuple(self._restarts))
        if answer.exhaustive or answer.fault is not None or not self._earlier:
            return made, answer
        there, best = max((*self._earlier, (made, answer)), key=lambda each: _reach(each[1]))
        if best is answer and not any(a.violations for _, a in self._earlier):
            return made, answer
        restarts, stopped, endless = answer.restarts, answer.stopped, answer.endless
        best = replace(best, fault=None, restarts=restarts, stopped=stopped, endless=endless)
        if not same_up_to_bounds(there.system, made.system):
            return there, best
        found = dict(best.violations)
        for one, other in (*self._earlier, (made, answer)):
            if same_up_to_bounds(one.system, made.system):
                found = other.violations | found
        return made, replace(best, violations=found)


def _reach(answer: Answer) -> tuple[int, int, int]:
    """Returns how much is known: numbers of violations, complete levels, states."""
    levels = answer.judged if answer.up_to is None else answer.up_to
    return len(answer.violations), levels, answer.distinct_states


def enlarge_capacities(
    make: Callable[[Mapping[str, int]], Instantiated],
    capacities: Mapping[str, int],
    too_small: Sequence[str],
    states: int,
) -> dict[str, int]:
    """Returns ``capacities`` with those that are too small about doubled; enlarged further where
    that was found out after many ``states``, as long as no state takes more words for it.

    The number of states decides, not a time, so that what is explored is the same on every machine.
    """
    found = _twice(capacities, too_small)
    if states < LONG:
        return found
    system = make(found).system

    def room_for(more: Mapping[str, int]) -> TransitionSystem | None:
        if any(more[name] > maximum_bound(name) for name in too_small):
            return None
        larger = make(more).system
        return larger if _is_as_wide(system, larger) else None

    for _ in range(TWICE):
        more = _twice(found, too_small)
        larger = room_for(more)
        if larger is None or not same_up_to_bounds(system, larger):
            break
        found = more
    steps = {name: max(1, found[name] // EIGHTH) for name in too_small}
    for _ in range(EIGHTH - 1):
        more = {**found, **{name: found[name] + step for name, step in steps.items()}}
        if room_for(more) is None:
            break
        found = more
    return found


def _twice(capacities: Mapping[str, int], names: Sequence[str]) -> dict[str, int]:
    return {**capacities, **{name: enlarge_bound(capacities[name]) for name in names}}


def _is_as_wide(system: TransitionSystem, other: TransitionSystem) -> bool:
    """Returns whether states of the other system take no more words."""
    from checker.engines.native.codegen.image import MIN_LEVEL_BITS
    from checker.engines.native.codegen.layout import lay_out

    try:
        here, there = lay_out(system), lay_out(other)
    except Unsupported:
        return False
    levels = _free(here) < MIN_LEVEL_BITS or _free(there) >= MIN_LEVEL_BITS
    return there.words == here.words and levels


def _free(layout: Layout) -> int:
    """Returns the bits of a state's key in which a level may be stored."""
    from checker.engines.native.codegen.layout import WORD

    return WORD - 1 - layout.bits if layout.words == 1 else 0

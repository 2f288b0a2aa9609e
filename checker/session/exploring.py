"""Explores a check, and a second time where reductions may hide that something happens at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from checker.engines.options import Options
from checker.instantiate.instantiated import Instantiated
from checker.language.syntax import typed
from checker.records import replace
from checker.reductions.choose import SideQuestions
from checker.reductions.modes import is_named
from checker.results.answer import INTERRUPTED, Answer, Limits, Listener, stop_reason
from checker.session import run_engine

if TYPE_CHECKING:
    from checker.engines.native.checkpoint.checkpoint import Checkpoint

Known = Callable[[Instantiated, Answer], None]

LEAST_FOR_UNSEEN, TIMES_FOR_UNSEEN = 100_000, 10
"""What was not seen to happen is looked for in so many states, or so many times as many as decided
the verdicts if these are more."""


def explore_fully(
    check: typed.Check,
    options: Options,
    listener: Listener | None,
    run: Checkpoint | None,
    known: Known | None = None,
) -> tuple[Instantiated, Answer]:
    """Returns the answer; what is not seen to happen under reductions that may hide it is looked
    for without these.  ``known`` is called with what is known before a phase that may take
    long."""
    started = time.monotonic()
    made, answer = explore_once(check, options, listener, run, known)
    settled = not answer.reduced.used or answer.reduced.shows_all
    if settled or not answer.exhaustive or not _says_little(check, made, answer):
        return made, answer
    if run is not None:
        run.afresh()
    limits = _limits_of_search_for_unseen(check, made, answer, options.limits)
    fully = run_engine.remaining_time(replace(options, limits=limits), started)
    try:
        made_fully, again = explore_once(check, fully, listener, run, unseen=True)
    except KeyboardInterrupt as error:
        why = stop_reason(error)
        if why == INTERRUPTED:
            return made, replace(answer, exhaustive=False, stopped=why)
        return made, replace(answer, unseen=why)
    again = run_engine.with_whole_timeout(again, options)
    more = again.violations.keys() - answer.violations.keys()
    if again.exhaustive or more or again.fault is not None:
        return made_fully, again
    assert made.system.marks == made_fully.system.marks, "marks do not depend on capacities"
    marks, premises = answer.reached_marks | again.reached_marks, answer.premises | again.premises
    seen = replace(answer, reached_marks=marks, premises=premises)
    unseen = _says_little(check, made, seen)
    return made, replace(seen, unseen=(again.stopped or "") if unseen else "")


def _limits_of_search_for_unseen(
    check: typed.Check, made: Instantiated, answer: Answer, limits: Limits
) -> Limits:
    """Returns the limits within which it is looked for what was not seen to happen: it ends where
    all has happened, and is bounded by the search that has decided the verdicts."""
    from checker.results.vacuity import unreached

    most = max(LEAST_FOR_UNSEEN, TIMES_FOR_UNSEEN * answer.distinct_states)
    most = most if limits.max_states is None else min(most, limits.max_states)
    wanted = unreached(made.system, answer)
    reached = replace(answer, reached_marks=frozenset().union(answer.reached_marks, *wanted))
    marks_suffice = not _says_little(check, made, reached)
    return replace(limits, max_states=most, until_reached=wanted if marks_suffice else ())


def _says_little(check: typed.Check, made: Instantiated, answer: Answer) -> bool:
    """Returns whether some verdict would be vacuous."""
    from checker.results.vacuity import vacuous

    return any(
        vacuous(made.system, answer, prop, allow_unused=check.allow_unused, idle="")
        for prop in made.system.open_properties(answer.violations)
        if prop.name not in answer.undecided
    )


def explore_once(
    check: typed.Check,
    options: Options,
    listener: Listener | None,
    run: Checkpoint | None,
    known: Known | None = None,
    *,
    unseen: bool = False,
) -> tuple[Instantiated, Answer]:
    """Returns the answer for the smallest system whose guessed capacities are large enough; where
    it is ended before there is one, what is known from a smaller system.

    ``known`` is called with what is known before a phase that may take long; ``unseen``: what is
    not seen to happen must never happen.
    """
    from checker.session.attempts import explore_with_growing_capacities

    question = replace(_side_questions(check, options), unseen=unseen)
    return explore_with_growing_capacities(check, options, question, listener, run, known)


def _side_questions(check: typed.Check, options: Options) -> SideQuestions:
    """Returns what is queried beside properties: numbers of states, and lengths of executions.

    A reduction that is requested by name is used, whatever numbers the check expects.
    """
    idle = is_overridden(options) or is_named(options.reduce)
    numbers = {e.what for e in check.expect if isinstance(e.value, int) and not idle}
    tables = options.coverage or options.states_out is not None
    lengths = bool(numbers & {"trace", "depth"})
    return SideQuestions(states="states" in numbers or tables, lengths=lengths)


def is_overridden(options: Options) -> bool:
    """Returns whether the check does not run as it is written."""
    return bool(options.settings) or options.fine_steps or bool(options.unfair)

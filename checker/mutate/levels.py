"""The first steps of a check that its share of the time did not decide: as expected, up to a depth.

If a mutant violates a safety property within that depth, or meets a run-time error, the check
notices it: the run is one of the mutant, whatever a longer search finds, and the original has none
of that length.  Nothing else is known of such a check: with it no mutant survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from checker.engines import budgets
from checker.engines.options import Options
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.model.ir import PropertyKind
from checker.mutate.mutant_tasks import Asked, kills_of
from checker.mutate.shares import LEAST, Pace
from checker.records import replace
from checker.results.answer import DECIDED, Answer
from checker.session.exploring import explore_once
from checker.session.load import load_check
from checker.session.pipeline import report_of
from checker.session.result_cache import digest_of, outcome
from checker.session.run_engine import marking_interruption
from checker.session.systems import instantiated
from checker.worlds.assumptions import require_green
from checker.worlds.points import with_less_time, without_limits

if TYPE_CHECKING:
    from checker.results.answer import Listener

STATES = 100_000
"""The levels that are searched have at most so many states.  A mutant is searched as deep."""
PART = 2
"""One in this number of the seconds may be over when levels are known."""
LATEST = 2 / 3
"""After this part of the seconds no search for levels begins."""
DEEPEST = 1_000_000
"""A depth that no search reaches.  With a limit, reductions that change depths are not used."""


class Levels(Struct, frozen=True):
    """What is known of a check: no run of up to ``depth`` steps violates one of its ``safe``
    properties against what it expects, or meets an error; ``depth`` is -1 where nothing is known.
    ``states``, ``seconds``: of the search; ``whole``: more time would not make it deeper."""

    depth: int
    safe: tuple[str, ...]
    states: int = 0
    seconds: float = 0.0
    whole: bool = True


def ask_levels(
    spec: Spec,
    checks: Sequence[str],
    options: Options,
    pace: Pace,
    seconds: float,
    listener: Listener | None = None,
) -> list[Asked]:
    """Returns those of ``checks`` of which some levels are known; ``pace`` began with the command,
    whose budget is ``seconds``.  Raises :class:`SpecError` (E127) where one is not as expected."""
    found = []
    for number, check in enumerate(checks):
        if pace.wall > seconds * LATEST:
            break
        left = (seconds / PART - pace.wall) / (len(checks) - number)
        limited = with_less_time(options, max(LEAST * pace.slow / PART, left))
        levels = _stored_levels(spec, check, limited, listener)
        if levels.depth >= 0:
            found.append(Asked(check, levels.states, levels.seconds, "", levels.depth, levels.safe))
    return found


def _stored_levels(spec: Spec, check: str, options: Options, listener: Listener | None) -> Levels:
    digests = (digest_of(spec, check, without_limits(options)),)
    return outcome(
        f"levels of {STATES}", digests, Levels,
        lambda: levels_of(spec, check, options, listener), lambda levels: levels.whole,
    )  # fmt: skip


def levels_of(spec: Spec, check: str, options: Options, listener: Listener | None = None) -> Levels:
    """Returns how deep a check is as expected; raises :class:`SpecError`, also (E127) where it is
    not, and ``KeyboardInterrupt`` after an interrupt."""
    limits = replace(options.limits, max_depth=DEEPEST, max_states=STATES)
    deep = replace(options, limits=limits)
    try:
        with budgets.within(limits.timeout, limits.memory):
            seen = load_check(spec, check, options.settings)
            safe = safety_of(seen, options)
            if not safe or seen.view is not None:  # a view hides runs
                return Levels(-1, ())
            asked = load_check(spec.only(safe), check, options.settings)
            made, answer = explore_once(asked, deep, listener, None)
            with marking_interruption(answer):
                report = report_of(str(spec), asked, made, answer, deep)
    except budgets.BudgetExhausted:
        return Levels(-1, (), whole=False)
    if report.was_interrupted:
        raise KeyboardInterrupt
    if any(kills_of(report)):
        require_green(report, "E127")
    ended = answer.stopped in (DECIDED, limits.no_more_states)
    whole = answer.exhaustive or answer.endless or ended
    return Levels(_depth(answer), tuple(safe), answer.distinct_states, answer.seconds, whole)


def safety_of(check: typed.Check, options: Options) -> list[str]:
    """Returns the properties of a check that a finite run violates."""
    system = instantiated(check, options).system
    kinds: dict[str, set[PropertyKind]] = {}
    for each in system.properties:
        kinds.setdefault(each.asked, set()).add(each.kind)
    return [name for name, found in kinds.items() if found == {PropertyKind.INVARIANT}]


def _depth(answer: Answer) -> int:
    """Returns the last level that is known in full: after too small a guess the one before, since
    the guess ends runs that may meet an error."""
    return answer.judged - (1 if answer.restarts or answer.endless else 0)

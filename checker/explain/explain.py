"""Explains why an execution violates its property: a smaller one, in words, with counterfactuals.

Nothing here makes a verdict worse.  What can't be computed within the budget is left out, with a
note that says why; the trace that was given is the answer where there is no better one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from checker.explain import claims, leave_out, slice, verdict_sentences
from checker.explain.costs import cost_of
from checker.explain.counterfactual_queries import ExplainingBudget
from checker.explain.counterfactuals import COUNTED, counterfactuals_of, counts_messages
from checker.explain.goals import goal
from checker.explain.minimisation import MinimisedRun, minimise, shortest
from checker.explain.no_return import point_of_no_return
from checker.model.ir import STOPS, Property, PropertyKind, TransitionSystem
from checker.records import replace
from checker.results.answer import stop_reason
from checker.results.narrate import narrate
from checker.results.replay import path_of
from checker.results.rerun import Run, rerun
from checker.results.trace import (
    Claim,
    Cost,
    Counterfactual,
    Explanation,
    Header,
    Obligation,
    Trace,
)
from checker.words.wrappers import without_wrapper

FOR_SMALLER, FOR_ABLATION, FOR_SHORTEST = 0.4, 0.8, 0.2
"""Shares of the time left: for minimisation, then for counterfactuals, and at the end for whether
there is no shorter execution."""

NO_TIME_GIVEN = "no time was given to look for a smaller run"
ROUND = "whether a run with fewer steps violates it, too, is not determined"
NEAREST = "its loop is a short one, but not known to be the shortest"
APART = "a crash inside a handler counts as one before or after it if nothing distinguishes them"
ON_ITS_WAY = "a message that is on its way forever counts as no fault"
IRRELEVANT = "what does not matter"
NOTHING = "the run violates no property of the check"
ERROR = "the run ends with an error, and is shown as it was found"

_T = TypeVar("_T")


def explain(
    system: TransitionSystem,
    trace: Trace,
    clock: ExplainingBudget,
    *,
    is_shortest: bool = False,
    strict: bool = False,
) -> Trace:
    """Returns ``trace``, which violates a property of ``system``, or a smaller execution that does,
    explained.

    ``is_shortest``: the trace was found by a search that keeps shortest executions.  Work in
    progress when ``clock`` is over is ended, but not in the midst of compiling.  ``strict`` is for
    tests: every error is raised, above all :class:`checker.results.replay.ReplayMismatch`, which is
    an internal error.  Otherwise it is reported in the explanation's note, and the user keeps the
    trace.
    """
    telling = _Telling(system, clock, strict, is_shortest=is_shortest)
    prop = system.violated_part(trace.property_name, lasso=trace.loop is not None)
    if trace.failure is not None:
        return replace(trace, explanation=Explanation(note=ERROR))
    if prop is None:
        return replace(trace, explanation=Explanation(note=NOTHING))
    found = telling.attempt(lambda: telling.explain(trace, prop), None, "why it fails")
    if found is None:
        return replace(trace, explanation=Explanation(note="; ".join(telling.notes)))
    return found


def narrate_with_words(system: TransitionSystem, prop: Property, run: Run, header: Header) -> Trace:
    """Returns ``run``, which violates ``prop``, as it is, in words; nothing is explored for it."""
    trace = narrate(system, run, prop, header)
    telling = _Telling(system, ExplainingBudget(0.0), strict=False)
    took = cost_of(system, run)
    said = replace(telling.describe(prop, run, trace), before=took, after=took)
    return replace(trace, explanation=replace(said, note="; ".join(telling.notes)))


def _crashes_are_counted_apart(system: TransitionSystem, took: Cost | None, header: Header) -> bool:
    """Returns whether some execution might cost less if each crash inside a handler were a step of
    its own: where effects are no steps, those that are indistinguishable from others are left out.
    """
    crashes = any(info.kind in STOPS for info in system.marks)
    return crashes and not header.fine_steps and took is not None and took.faults > 0


class _Telling:
    """Builds an explanation."""

    def __init__(
        self,
        system: TransitionSystem,
        clock: ExplainingBudget,
        strict: bool,
        *,
        is_shortest: bool = False,
    ) -> None:
        self.system, self.clock, self.strict = system, clock, strict
        self.is_shortest = is_shortest
        self.notes: list[str] = []

    def attempt(self, part: Callable[[], _T], otherwise: _T, what: str) -> _T:
        """Returns what ``part`` gives, or ``otherwise`` and adds a note that ``what`` is
        missing."""
        try:
            return part()
        except KeyboardInterrupt as error:
            self.clock.stop(stop_reason(error))
            self.note(stop_reason(error))
        except Exception as problem:
            if self.strict:
                raise
            self.note(f"{what} can't be told: {problem or type(problem).__name__}")
        return otherwise

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def explain(self, trace: Trace, prop: Property) -> Trace:
        """Returns the smaller execution with its explanation."""
        system = self.system
        path = path_of(system, trace)
        run = rerun(system, path, prop)
        found = MinimisedRun(path, run, False, shortest=self.is_shortest)
        if self.clock.seconds_left:
            part = self.clock.part(FOR_SMALLER)
            found = self.attempt(
                lambda: minimise(system, prop, path, run, part, is_shortest=self.is_shortest),
                found,
                "whether it is the smallest",
            )
            self.notes.extend(note for note in found.notes if note not in self.notes)
        else:
            self.note(NO_TIME_GIVEN)
        if found.run is not run:
            trace = narrate(system, found.run, prop, trace.header)
        said = self.describe(prop, found.run, trace)
        said = replace(
            said,
            before=cost_of(system, run),
            after=cost_of(system, found.run),
            ablations=self.without(prop, found.run, trace),
        )
        essential = {one.step for one in said.ablations if one.outcome == "holds" and one.step}
        left = slice.without_past(trace, said.context, essential)
        if left != said.context:
            said = replace(said, context=self.irrelevant(prop, found.run, left))
        due = self.attempt(
            lambda: self.obligations(prop, found.run, trace),
            said.obligations,
            "when it became too late",
        )
        said = replace(said, obligations=due)
        least = found.fewest and self.shortest(prop, found)
        if least and _crashes_are_counted_apart(self.system, said.after, trace.header):
            self.note(APART)
        fails_later = prop.kind is not PropertyKind.INVARIANT
        if fails_later and trace.in_flight and said.after and not said.after.faults:
            self.note(ON_ITS_WAY)
        reasons = [*self.notes, *(one.why for one in said.ablations)]
        if self.clock.more and any(self.clock.over in reason for reason in reasons):
            self.note(self.clock.more)
        return replace(trace, explanation=replace(said, least=least, note="; ".join(self.notes)))

    def shortest(self, prop: Property, found: MinimisedRun) -> bool:
        """Returns whether no execution with as few faults and messages takes fewer steps."""
        if not found.shortest:
            return False
        part = self.clock.part(FOR_SHORTEST)
        known = self.attempt(
            lambda: shortest(self.system, prop, found, part), False, "whether it is the shortest"
        )
        if not known:
            self.note(ROUND if found.run.ends else NEAREST)
        return known

    def describe(self, prop: Property, run: Run, trace: Trace) -> Explanation:
        """Returns the part of the explanation that needs no exploration."""
        given = self.system, prop, run, trace
        said: tuple[str, ...] = ()
        said = self.attempt(lambda: verdict_sentences.sentences(*given), said, "how it came about")
        parts: tuple[Claim, ...] = ()
        parts = self.attempt(lambda: claims.claims(*given), parts, "what was true when")
        last = self.attempt(lambda: claims.read_when_down(*given), "", "what was true when")
        candidates: tuple[int, ...] = ()
        candidates = self.attempt(lambda: slice.context(*given), candidates, IRRELEVANT)
        return Explanation(
            sentences=(*said, last) if last else said,
            claims=parts,
            obligations=self.attempt(
                lambda: claims.obligations(*given), (), "which obligations were open when"
            ),
            context=self.irrelevant(prop, run, candidates),
        )

    def irrelevant(self, prop: Property, run: Run, steps: tuple[int, ...]) -> tuple[int, ...]:
        """Returns those of ``steps`` on which the violation does not depend."""
        return self.attempt(
            lambda: leave_out.irrelevant(self.system, prop, run, steps), (), IRRELEVANT
        )

    def without(self, prop: Property, run: Run, trace: Trace) -> tuple[Counterfactual, ...]:
        """Returns the counterfactual of each fault and each message."""
        if not self.clock.seconds_left:
            return ()
        part = self.clock.part(FOR_ABLATION)
        if counts_messages(self.system, run):
            self.note(COUNTED)
        what = "counterfactuals of its faults and messages"
        given = self.system, prop, run, part, without_wrapper(trace)
        return self.attempt(lambda: counterfactuals_of(*given), (), what)

    def obligations(self, prop: Property, run: Run, trace: Trace) -> tuple[Obligation, ...]:
        """Returns the obligations; each unmet one with the step after which nothing could meet
        it."""
        found = []
        for one, node, names in claims.obligations_of(self.system, prop, run, trace):
            wanted = None if one.met is not None else goal(node, names)
            if wanted is not None:
                step = point_of_no_return(self.system, run, wanted, self.clock)
                one = replace(one, impossible=step)
            found.append(one)
        return tuple(found)

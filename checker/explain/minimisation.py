"""Minimises an execution that violates a property: fewest faults, then fewest messages, then fewest
steps.

First it is tried what can be left out of the execution (:mod:`checker.explain.leave_out`): that
takes no search.  Then each number is found by bisection: is there a violation with at most that
many?  The engine answers that for all executions of an instrumented system
(:mod:`checker.instantiate.faults.budgeted`), breadth first and without reductions, so that the
execution it finds takes the fewest steps that these numbers allow.

What an execution repeats infinitely often can't be counted.  Where its loop has faults (or
messages) the query is for an execution with no more of them than its stem has; where there is none,
their number is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checker.diagnostics.english import listing
from checker.explain.costs import cost_of, faults, messages
from checker.explain.counterfactual_queries import ExplainingBudget, Inquiry, other_parts
from checker.explain.leave_out import remove_unneeded
from checker.graphs import cycles
from checker.instantiate.faults import budgeted
from checker.model import interpreter
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.results.answer import Path
from checker.results.rerun import Run
from checker.results.trace import Cost

FAULTS, MESSAGES = "@faults", "@messages"
MOST = 62
"""Numbers up to this one can be queried without instrumenting the system anew."""

FEW_STATES = 3000
"""At most so many states are searched for cycles."""

PART_NAMES = {PropertyKind.INVARIANT: "safety", PropertyKind.LIVENESS: "liveness"}

Count = Callable[[TransitionSystem, Run], tuple[int, int]]
"""How much of something an execution has: before its loop, and in it."""


class MinimisedRun(Struct, frozen=True):
    """A minimised execution; ``notes``: what is not known of it; ``fewest``: no violation has fewer
    faults, or as many and fewer messages; ``shortest``: none of as many has fewer steps, as far as
    finite executions are concerned."""

    path: Path
    run: Run
    fewest: bool
    notes: tuple[str, ...] = ()
    shortest: bool = False


def minimise(
    system: TransitionSystem,
    prop: Property,
    path: Path,
    run: Run,
    clock: ExplainingBudget,
    *,
    is_shortest: bool = False,
) -> MinimisedRun:
    """Returns a violation of ``prop`` that costs less than ``run`` (along ``path``), or ``run``
    itself.

    ``is_shortest``: it was found by a search that keeps shortest executions.  Raises
    :class:`checker.results.replay.ReplayMismatch` where the engine's execution is not one of
    ``system``.
    """
    path, run = remove_unneeded(system, prop, path, run, lambda: not clock.seconds_left)
    search = _Search(system, prop, clock, path, run, is_shortest)
    search.fewer(FAULTS, faults, "faults")
    search.fewer(MESSAGES, messages, "messages")
    search.shorter()
    for why, nouns in search.unknown.items():
        fewer = listing(dict.fromkeys(nouns), "or")
        search.note(f"whether fewer {fewer} suffice is not determined: {why}")
    search.compare_other_parts()
    found = tuple(search.notes)
    return MinimisedRun(search.path, search.run, search.fewest, found, search.shortest)


class _Search:
    """The smallest execution so far; ``held``: the bounds of the budgets minimised before;
    ``shortest``: whether none within these bounds has fewer steps, as far as finite executions are
    concerned; ``unknown``: by reason, of what there may be fewer."""

    def __init__(
        self,
        system: TransitionSystem,
        prop: Property,
        clock: ExplainingBudget,
        path: Path,
        run: Run,
        is_shortest: bool,
    ) -> None:
        self.system, self.prop, self.clock = system, prop, clock
        self.path, self.run, self.shortest = path, run, is_shortest
        self.held: dict[str, int] = {}
        self.fewest = True
        self.notes: list[str] = []
        self.unknown: dict[str, list[str]] = {}
        self._inquiry: Inquiry | None = None

    def fewer(self, name: str, count: Count, noun: str) -> None:
        """Minimises the number that the budget called ``name`` counts."""
        stem, loop = count(self.system, self.run)
        for_ever = loop > 0
        low, high = 0, stem + 1 if for_ever else stem
        while low < high:
            middle = (low + high) // 2
            reply = self.inquiry(stem).ask({**self.held, name: middle})
            if reply.path is not None and reply.run is not None:
                self.path, self.run, self.shortest = reply.path, reply.run, True
                high, for_ever = sum(count(self.system, self.run)), False
                continue
            if not reply.settled:
                self.fewest = False
                self.unknown.setdefault(reply.why, []).append(noun)
            low = middle + 1
        if for_ever:
            self.fewest = False
            self.note(f"its {noun} are not counted: they go on forever")
        else:
            self.held[name] = sum(count(self.system, self.run))

    def shorter(self) -> None:
        """Looks for an execution with fewer steps, within the numbers that are known to be least,
        where the one so far may not be a shortest one."""
        if self.shortest or not self.fewest:
            return
        reply = self.inquiry(max(self.held.values())).ask(self.held)
        if reply.path is not None and reply.run is not None:
            self.shortest = True
            if cost_of(self.system, reply.run).steps < cost_of(self.system, self.run).steps:
                self.path, self.run = reply.path, reply.run
        elif not reply.settled:
            self.unknown.setdefault(reply.why, []).append("steps")

    def compare_other_parts(self) -> None:
        """Notes whether another part of a conjunction fails with less."""
        took = cost_of(self.system, self.run)
        limits = [{FAULTS: took.faults, MESSAGES: took.messages}]
        if took.messages:
            limits.insert(0, {FAULTS: took.faults, MESSAGES: took.messages - 1})
        if took.faults:
            limits.insert(0, {FAULTS: took.faults - 1})
        budgets = (
            budgeted.faults_at_most(self.system, max(took.faults, MOST), FAULTS),
            budgeted.messages_at_most(max(took.messages, MOST), MESSAGES),
        )
        for part in other_parts(self.system, self.prop):
            inquiry = Inquiry.about(self.system, part, budgets, self.clock)
            self.compare_part(PART_NAMES[part.kind], inquiry, took, limits)

    def compare_part(
        self, part: str, inquiry: Inquiry, took: Cost, limits: list[dict[str, int]]
    ) -> None:
        """Notes whether the part called ``part`` fails in an execution that costs less than
        ``took``."""
        for limit in limits:
            reply = inquiry.ask(limit)
            if reply.run is not None:
                other = cost_of(self.system, reply.run)
                if (other.faults, other.messages, other.steps) >= (
                    took.faults,
                    took.messages,
                    took.steps,
                ):
                    continue
                self.note(f"its {part} part fails in another run that takes less: {other}")
            elif reply.settled:
                continue
            else:
                self.note(f"whether its {part} part fails with less is not known: {reply.why}")
            self.fewest = False
            return

    def inquiry(self, most: int) -> Inquiry:
        """Returns the instrumented system; a new one where the numbers have become too large for
        it."""
        most = max(most, *self.held.values(), 0) if self.held else most
        if self._inquiry is None or self._inquiry.twin.budgets[0].most < most:
            size = max(MOST, (1 << (most + 1).bit_length()) - 2)
            budgets = (
                budgeted.faults_at_most(self.system, size, FAULTS),
                budgeted.messages_at_most(size, MESSAGES),
            )
            self._inquiry = Inquiry.about(self.system, self.prop, budgets, self.clock)
        return self._inquiry

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


# ---- minimality -------------------------------------------------------------------------------


def shortest(
    system: TransitionSystem, prop: Property, found: MinimisedRun, clock: ExplainingBudget
) -> bool:
    """Returns whether no violation of ``prop`` within the same numbers takes fewer steps, as far as
    known.

    For invariants that is so where the search has kept shortest executions.  An execution that
    stays where it ends is then the shortest of those; a lasso with a cycle could be shorter, unless
    there is no cycle with that few steps.
    """
    if prop.kind is PropertyKind.INVARIANT or not found.shortest:
        return found.shortest
    if found.run.loop != len(found.run.moments) - 1:
        return False
    return _no_cycle(system, len(found.run.moments) - 1, clock)


def _no_cycle(system: TransitionSystem, steps: int, clock: ExplainingBudget) -> bool:
    """Returns whether no state can be reached, left and reached again in fewer than ``steps``
    steps."""
    level = list(interpreter.initial_states(system))
    after: dict[interpreter.State, list[interpreter.State]] = {}
    for _ in range(steps):
        found: dict[interpreter.State, None] = {}
        for state in level:
            if state in after:
                continue
            if len(after) >= FEW_STATES or not clock.seconds_left:
                return False
            ways = (t.successor for t in interpreter.successors(system, state))
            after[state] = [s for s in dict.fromkeys(ways) if s is not None and s != state]
            found.update(dict.fromkeys(after[state]))
        level = [state for state in found if state not in after]
    return not cycles(after, after.__getitem__)

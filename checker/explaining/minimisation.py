"""From a run that violates a property to one with the fewest faults, then the fewest messages, then
the fewest steps.

Each number is found by halving what is possible: is there a violation with no more than so many?
The engine answers that for all runs of a restricted twin (:mod:`checker.system.passes.budgeted`),
breadth first, so that the run it finds takes the fewest steps that these numbers allow.

What a run repeats for ever can't be counted.  Where its loop has faults (or messages) a run with no
more of them than its stem has is asked for; where there is none, their number is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from checker.explaining.counterfactual_queries import ExplainingBudget, Inquiry
from checker.system import interpreter
from checker.system.ir import Property, PropertyKind, TransitionSystem
from checker.system.passes import budgeted
from checker.system.passes.fault_marks import faults_at_start, faults_of
from checker.witness.answer import Path
from checker.witness.rerun import Moment, Run
from checker.witness.trace import Cost

FAULTS, MESSAGES = "@faults", "@messages"
MOST = 62
"""Numbers up to this one can be asked for without making the twin anew."""

FEW_STATES = 3000
"""So many states at most are looked through one by one for cycles."""

Count = Callable[[TransitionSystem, Run], tuple[int, int]]
"""How much of something a run has: before its loop, and in it."""


@dataclass(frozen=True, slots=True)
class MinimisedRun:
    """A run; ``notes``: what is not known of it; ``fewest``: no violation has fewer faults, or as
    many and fewer messages, nor, as far as runs that end are concerned, fewer steps."""

    path: Path
    run: Run
    fewest: bool
    notes: tuple[str, ...] = ()


def minimise(
    system: TransitionSystem, prop: Property, path: Path, run: Run, clock: ExplainingBudget
) -> MinimisedRun:
    """A violation of ``prop`` that takes less than ``run`` (along ``path``), or ``run`` itself.

    ``run`` has to be a shortest one.  Raises :class:`checker.witness.replay.ReplayMismatch` where
    the engine's run is none of ``system``.
    """
    search = _Search(system, prop, clock, path, run)
    search.fewer(FAULTS, faults, "faults")
    search.fewer(MESSAGES, messages, "messages")
    return MinimisedRun(search.path, search.run, search.fewest, tuple(search.notes))


class _Search:
    """The smallest run so far, and what is held of what was found before."""

    def __init__(
        self,
        system: TransitionSystem,
        prop: Property,
        clock: ExplainingBudget,
        path: Path,
        run: Run,
    ) -> None:
        self.system, self.prop, self.clock = system, prop, clock
        self.path, self.run = path, run
        self.held: dict[str, int] = {}
        self.fewest = True
        self.notes: list[str] = []
        self._inquiry: Inquiry | None = None

    def fewer(self, name: str, count: Count, noun: str) -> None:
        """Makes what the budget called ``name`` is about as little as it can be."""
        stem, loop = count(self.system, self.run)
        for_ever = loop > 0
        low, high = 0, stem + 1 if for_ever else stem
        while low < high:
            middle = (low + high) // 2
            reply = self.inquiry(stem).ask({**self.held, name: middle})
            if reply.path is not None and reply.run is not None:
                self.path, self.run = reply.path, reply.run
                high, for_ever = sum(count(self.system, self.run)), False
                continue
            if not reply.settled:
                self.fewest = False
                self.note(f"whether fewer {noun} do is not known: {reply.why}")
            low = middle + 1
        if for_ever:
            self.fewest = False
            self.note(f"its {noun} are not counted: they go on for ever")
        else:
            self.held[name] = sum(count(self.system, self.run))

    def inquiry(self, most: int) -> Inquiry:
        """The twin that is asked; a new one where the numbers have become too large for it."""
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


# ---- what a run takes -------------------------------------------------------------------------


def cost_of(system: TransitionSystem, run: Run) -> Cost:
    """What ``run`` takes; of a loop, what it takes to go round once."""
    steps = len(run.moments) - 1 + (run.closing is not None)
    return Cost(sum(faults(system, run)), sum(messages(system, run)), steps)


def faults(system: TransitionSystem, run: Run) -> tuple[int, int]:
    """Faults before the loop of ``run``, and in it."""
    start = len(faults_at_start(system, run.moments[0].state))
    stem, loop = _split(run)
    counts = [len(f) for f in faults_of(system, (moment.events for moment in (*stem, *loop)))]
    return start + sum(counts[: len(stem)]), sum(counts[len(stem) :])


def messages(system: TransitionSystem, run: Run) -> tuple[int, int]:
    """Messages that are sent before the loop of ``run``, and in it; a multicast is one."""
    stem, loop = _split(run)
    return _messages(system, stem), _messages(system, loop)


def loop_of(run: Run) -> tuple[Moment, ...]:
    """The moments that ``run`` repeats for ever."""
    if run.loop is None or run.closing is None:
        return ()
    return (*run.moments[run.loop + 1 :], run.closing)


def _split(run: Run) -> tuple[tuple[Moment, ...], tuple[Moment, ...]]:
    """What a run does once, and what it repeats for ever, without the steps that leave the state as
    it is: a twin does not count what they do."""
    loop = loop_of(run)
    stem = run.moments if not loop else run.moments[: (run.loop or 0) + 1]
    return (stem[0], *_moving(stem)), tuple(_moving((stem[-1], *loop)))


def _moving(moments: tuple[Moment, ...]) -> Iterator[Moment]:
    return (b for a, b in pairwise(moments) if a.state != b.state)


def _messages(system: TransitionSystem, moments: tuple[Moment, ...]) -> int:
    events = (event for moment in moments for event in moment.events)
    return sum(budgeted.is_message(system, event) for event in events)


# ---- whether it is a shortest one -------------------------------------------------------------


def shortest(
    system: TransitionSystem, prop: Property, found: MinimisedRun, clock: ExplainingBudget
) -> bool:
    """Whether no violation of ``prop`` within the same numbers is known to take fewer steps.

    For states that is so: the engine goes breadth first.  A run that stays where it ends is the
    shortest of those; one that goes round could be shorter, unless nothing goes round in so few
    steps.
    """
    if prop.kind is PropertyKind.INVARIANT:
        return True
    if found.run.loop != len(found.run.moments) - 1:
        return False
    return _no_cycle(system, len(found.run.moments) - 1, clock)


def _no_cycle(system: TransitionSystem, steps: int, clock: ExplainingBudget) -> bool:
    """Whether no state can be reached, left and come back to in fewer than ``steps`` steps."""
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
    return _acyclic(after)


def _acyclic(after: dict[interpreter.State, list[interpreter.State]]) -> bool:
    """Whether the graph has no cycle; what has no entry leads nowhere."""
    missing = dict.fromkeys(after, 0)
    for targets in after.values():
        for target in targets:
            if target in missing:
                missing[target] += 1
    ready = [state for state, count in missing.items() if not count]
    seen = 0
    while ready:
        seen += 1
        for target in after[ready.pop()]:
            if target in missing:
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)
    return seen == len(missing)

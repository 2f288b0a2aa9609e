"""What can still be decided in each state of one execution, looked for forwards from its states.

The valence of Fischer, Lynch and Paterson (1985), of a few states in place of all of them.  It can
only shrink along an execution, so the last state comes first: what follows it follows the others,
too, and where every value is found, nothing more can be found before.  What is not found within a
number of steps is not said to be impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from random import Random

from msgspec import Struct, field

from checker.engines.valence import MOST_VALUES, USUAL
from checker.model import interpreter
from checker.model.interpreter import Event, State
from checker.model.ir import MarkKind, TransitionSystem
from checker.model.types import TupleT, Type, Value, sort_key, universe
from checker.records import replace
from checker.results.replay import path_of
from checker.results.rerun import run_from_start
from checker.results.show_values import show
from checker.results.trace import StillOpen, Trace
from checker.results.verdict import PropertyVerdict, Report

STEPS = 1_500
"""So many steps are looked at for the traces of a report, a few tenths of a second of the
interpreter where few of what it tries are no steps, and one more for every so many states of the
search, 5 to 10 % of its time:"""
STATES_PER_STEP = 500
SECONDS = 5.0
"""Whoever shows a run looks no longer than that for what can still be decided, as one step may take
the interpreter long: a handler that chooses among many values, of which few are admitted."""
PROBES = 0.3
"""The share of the steps that is kept for finding out where every value is still open."""
LATEST, JUMP = 3, 16
"""A walk goes on from one of so many states that were found last, and once in so many times from
any."""
UNKNOWN = (
    "what can still be decided in a run is not shown, as too many steps follow to look at them"
    " here: `--valence` looks at all"
)


def with_strips(report: Report, system: TransitionSystem) -> Report:
    """Returns ``report``, on a check of which ``system`` is the system, with what can still be
    decided in each state of its traces, as far as it can be found in a number of steps;
    as it is where nothing is decided (no indication ``decide`` with a value).

    How far depends on numbers of steps and states alone.  A note says where nothing is known.
    """
    search = DecisionSearch.of(system, STEPS + report.distinct_states // STATES_PER_STEP)
    if search is None or not any(verdict.trace for verdict in report.verdicts):
        return report
    verdicts = tuple(_with_strips(search, verdict) for verdict in report.verdicts)
    report = replace(report, verdicts=verdicts)
    if any(verdict.trace and not verdict.trace.still_open for verdict in verdicts):
        report = replace(report, notes=(*report.notes, UNKNOWN))
    return report


def _with_strips(search: DecisionSearch, verdict: PropertyVerdict) -> PropertyVerdict:
    if verdict.trace is None:
        return verdict
    others = tuple(search.with_strip(trace) for trace in verdict.others)
    return replace(verdict, trace=search.with_strip(verdict.trace), others=others)


def with_strip(system: TransitionSystem, trace: Trace) -> Trace:
    """Returns a trace of ``system`` with the same; as it is where nothing is decided, or known."""
    search = DecisionSearch.of(system, STEPS)
    return trace if search is None else search.with_strip(trace)


class DecisionSearch(Struct):
    """Looks for decisions that follow states of ``system``, at ``left`` more steps at most.

    ``marks``: those that say that a value is decided; ``values``: all of their types, which the
    statements that decide narrow, with how each is shown.  ``later``: the values that are decided
    after a state, where just these are.
    """

    system: TransitionSystem
    left: int
    marks: frozenset[int]
    values: dict[Value, str]
    later: dict[State, frozenset[Value]] = field(default_factory=dict)
    random: Random = field(default_factory=lambda: Random(0))
    strips: dict[tuple[State, ...], tuple[StillOpen, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, system: TransitionSystem, most: int) -> DecisionSearch | None:
        """Returns a search through ``most`` steps; ``None`` where no value is ever decided, or any
        of more than :data:`MOST_VALUES`."""
        marks = {
            number: info.types
            for number, info in enumerate(system.marks)
            if info.kind is MarkKind.INDICATION and info.text == USUAL and len(info.types) > 1
        }
        values = dict[Value, str]()
        for item in sorted(set(map(_item, marks.values())), key=repr):
            for value in islice(universe(item), MOST_VALUES + 1):
                values[value] = show(item, value)
        if not 0 < len(values) <= MOST_VALUES:
            return None
        values = dict(sorted(values.items(), key=lambda pair: sort_key(pair[0])))
        return cls(system, most, frozenset(marks), values)

    def with_strip(self, trace: Trace) -> Trace:
        """Returns a trace of the system with what can still be decided; as it is where that is not
        known of any of its states."""
        states = path_of(self.system, trace).states
        if states not in self.strips:
            self.strips[states] = self._strip(states)
        return replace(trace, still_open=self.strips[states])

    def _strip(self, states: tuple[State, ...]) -> tuple[StillOpen, ...]:
        """Returns what is open in each state of an execution, or nothing."""
        moments = run_from_start(self.system, states).moments
        steps = [self._decided(moment.events) for moment in moments]
        found = self._backwards(states, steps)
        full = self._last_with_all(states, found)
        past, shown = frozenset[Value](), list[StillOpen]()
        for number, (later, known) in enumerate(found):
            past |= steps[number]
            values = frozenset(self.values) if number <= full else past | later
            more = not known and len(values) < len(self.values)
            shown.append(StillOpen(self._shown(values), more))
        tells = any(not each.perhaps_more or len(each.values) > 1 for each in shown)
        return tuple(shown) if tells else ()

    def _backwards(
        self, states: Sequence[State], steps: Sequence[frozenset[Value]]
    ) -> list[tuple[frozenset[Value], bool]]:
        """Returns the values that are decided after each state, and whether that is all of them.

        ``steps``: what is decided in the step to each.
        """
        kept = int(self.left * PROBES)
        self.left -= kept
        found, known, seen = frozenset[Value](), True, set[State]()
        results = list[tuple[frozenset[Value], bool]]()
        for number in reversed(range(len(states))):
            state = states[number]
            if state in self.later:
                found |= self.later[state]
            elif known or len(found) < len(self.values):
                found, all_seen = self._after(state, found, seen, self.left)
                known = known and all_seen
            if known:
                self.later[state] = found
            results.append((found, known or len(found) == len(self.values)))
            found |= steps[number]
        self.left += kept
        return results[::-1]

    def _last_with_all(
        self, states: Sequence[State], found: Sequence[tuple[frozenset[Value], bool]]
    ) -> int:
        """Returns the number of the last state for which it was found, from there or from one
        behind it, that every value can still be decided; -1 where there is none.

        It is looked for by halves among those of which not all is known.
        """
        unknown = [number for number, (_, known) in enumerate(found) if not known]
        if not unknown:
            return -1
        low, high = unknown[0] - 1, unknown[-1] + 1
        most = self.left // (high - low).bit_length()
        while high - low > 1:
            middle = (low + high) // 2
            values, _ = self._after(states[middle], found[middle][0], set(), most)
            low, high = (middle, high) if len(values) == len(self.values) else (low, middle)
        return low

    def _after(
        self, state: State, found: frozenset[Value], seen: set[State], most: int
    ) -> tuple[frozenset[Value], bool]:
        """Returns ``found`` with the values that are decided after ``state``, and whether that is
        all of them: until all values are found or ``most`` steps are looked at.  It goes where a
        random walk would, which finds a decision sooner than an order would that is always the
        same, and now and then on from elsewhere.

        ``seen``: states that need not be looked at again; those found are added.
        """
        end, todo, known = max(self.left - most, 0), [state], True
        seen.add(state)
        while todo and len(found) < len(self.values):
            for step in interpreter.successors(self.system, self._taken(todo)):
                if self.left <= end:
                    return found, False
                self.left -= 1
                found |= self._decided(step.events)
                after = step.successor
                if after is None:
                    known = False
                elif after in self.later:
                    found |= self.later[after]
                elif after not in seen:
                    seen.add(after)
                    todo.append(after)
        return found, known or len(found) == len(self.values)

    def _taken(self, todo: list[State]) -> State:
        """Takes a state out of ``todo``: one of those that came last, or else any."""
        last = len(todo) - 1
        lowest = 0 if self.random.randrange(JUMP) == 0 else max(last - LATEST, 0)
        chosen = self.random.randint(lowest, last)
        todo[chosen], todo[last] = todo[last], todo[chosen]
        return todo.pop()

    def _decided(self, events: Sequence[Event]) -> frozenset[Value]:
        """Returns the values that are decided in a step."""
        given = (event.args[1:] for event in events if event.mark in self.marks)
        return frozenset(args[0] if len(args) == 1 else args for args in given)

    def _shown(self, values: frozenset[Value]) -> tuple[str, ...]:
        return tuple(text for value, text in self.values.items() if value in values)


def _item(types: Sequence[Type]) -> Type:
    """Returns the type of what is decided; ``types``: of the process and of the arguments."""
    return types[1] if len(types) == 2 else TupleT(tuple(types[1:]))

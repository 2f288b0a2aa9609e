"""Looks, with the interpreter, at what walks have found: violations, errors, capacities."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct, field

from checker.engines.reference.liveness import counterexample, graph_of
from checker.engines.walks import CompletedWalk, FoundWalk, Inspection
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Moves, State
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.properties.persistence import persistence
from checker.results.answer import Path
from checker.simulate.judging import Truths, violated_properties, why_not_admitted

CYCLES_EVERY = 256
"""Around each so-many-th walk it is looked for a cycle: that takes the interpreter."""
AROUND = 200
"""The states behind the end and the middle of a walk that are looked at, too."""


class Finding(Struct):
    """What is found at the end of a walk.

    ``violations``: a path for each property; ``fault``: one to a state from which an action has an
    error; ``grows``: guessed capacities that are too small there, in place of all that.
    """

    violations: dict[str, Path] = field(default_factory=dict)
    fault: Path | None = None
    grows: tuple[str, ...] = ()


KEPT = 100_000
"""The largest number of truth values that are kept."""
KEPT_MOVES = 10_000
"""The largest number of states whose moves are kept."""


class Judge:
    """Judges the liveness of completed walks of ``system``, which start behind ``before``; can be
    pickled.
    """

    def __init__(self, system: TransitionSystem, before: tuple[State, ...] = ()) -> None:
        self.system, self.before = system, before
        self._truths = Truths(system)
        self._moves: dict[State, Moves] = {}

    def inspection(self) -> Inspection:
        """Returns which walks it has to see: those that might stay where a violation does not show
        in single states, and some of those that could go on."""
        live = [p for p in self.system.properties if p.kind is PropertyKind.LIVENESS]
        followed = any(persistence(prop) is None for prop in live)
        return Inspection(followed, CYCLES_EVERY if live else 0, self)

    def __call__(self, walk: CompletedWalk) -> tuple[Path, str] | None:
        """Returns an admissible execution that violates a property, and its name: one that is
        ``walk`` and stays where it might, or, around some walks, a lasso."""
        for end in walk.ends:
            found = self._lasso(walk.states[: end + 1], end)
            if found is not None:
                return found
        return self._around(walk.states) if walk.number % CYCLES_EVERY == 0 else None

    def _around(self, walked: Sequence[State]) -> tuple[Path, str] | None:
        """Looks for a fair lasso in the subgraph of the states of a walk and some behind them: what
        is enabled is enabled in the whole graph, so a lasso that is fair there is fair."""
        states = (*self.before, *walked)
        graph = graph_of(
            self.system, self._region(states), lambda: None, failing=True, moves_of=self._moves_of
        )
        graph.initial = [states[0]]
        for prop in self.system.properties:
            if prop.kind is PropertyKind.LIVENESS and prop.automaton is not None:
                try:
                    path = counterexample(graph, prop, lambda: None)
                except RunFault:
                    continue
                if path is not None and path.loop is not None:
                    found = self._judged(path.states, path.loop)
                    if found is not None:
                        return found
        return None

    def _region(self, states: Sequence[State]) -> list[State]:
        """Returns these states, and next ones, breadth first: from the last of them on half of the
        states, from the one in their middle on the others."""
        found = dict.fromkeys(states)
        for start in (states[-1], states[len(states) // 2]):
            self._spread(found, start, len(found) + AROUND // 2)
        return list(found)

    def _spread(self, found: dict[State, None], start: State, most: int) -> None:
        """Adds the states behind ``start`` until there are so many."""
        queue, seen = deque([start]), {start}
        while queue and len(found) < most:
            try:
                steps = self._moves_of(self.system, queue.popleft()).steps
            except RunFault:
                continue
            queue.extend(state for state in steps if state not in seen)
            seen.update(steps)
            found.update(dict.fromkeys(steps))

    def _moves_of(self, system: TransitionSystem, state: State) -> Moves:
        moves = self._moves.get(state)
        if moves is None:
            if len(self._moves) >= KEPT_MOVES:
                self._moves.clear()
            moves = self._moves[state] = interpreter.moves(system, state)
        return moves

    def _lasso(self, states: Sequence[State], loop: int) -> tuple[Path, str] | None:
        return self._judged((*self.before, *states), loop + len(self.before))

    def _judged(self, whole: tuple[State, ...], loop: int) -> tuple[Path, str] | None:
        """Returns the lasso, and a property that it violates, where it is fair and violates one."""
        if self._truths.count > KEPT:
            self._truths = Truths(self.system)
        broken = next(iter(violated_properties(self._truths, whole, loop)), None)
        if broken is None or why_not_admitted(self.system, whole, loop) is not None:
            return None
        return Path(whole, False, loop, broken.values), broken.property.name


def look_at(system: TransitionSystem, before: tuple[State, ...], found: FoundWalk) -> Finding:
    """Returns what was found in the last state of a walk that starts behind ``before``.

    Raises ``RunFault`` where a property can't be evaluated there.
    """
    if found.path is not None:
        return Finding({found.property: found.path})
    states = (*before, *found.states)
    bad = [prop for prop in system.properties if _is_bad(system, prop, states)]
    if bad:
        return Finding({prop.name: Path(states) for prop in bad})
    steps = interpreter.successors(system, states[-1])
    faults = [step.fault for step in steps if step.fault is not None]
    if faults:
        grows = tuple(dict.fromkeys(fault.grows for fault in faults if fault.grows is not None))
        enough = all(fault.grows is not None for fault in faults)
        return Finding(grows=grows) if enough else Finding(fault=Path(states, True))
    last = len(states) - 1
    broken = violated_properties(Truths(system), states, last)
    if not broken:
        _require_evaluable(system, states)
    return Finding({b.property.name: Path(states, False, last, b.values) for b in broken})


def _is_bad(system: TransitionSystem, prop: Property, states: tuple[State, ...]) -> bool:
    """Returns whether the last state violates an invariant; raises ``RunFault``."""
    if prop.kind is not PropertyKind.INVARIANT:
        return False
    try:
        return interpreter.holds(system, prop.bad, states[-1])
    except RunFault as fault:
        fault.states = states
        raise


def _require_evaluable(system: TransitionSystem, states: tuple[State, ...]) -> None:
    """Raises ``RunFault`` where a proposition can't be evaluated in the last state."""
    truths = Truths(system)
    for prop in system.properties:
        for values in interpreter.assignments(prop.params):
            try:
                truths.of(prop, values, states[-1])
            except RunFault as fault:
                fault.states = states
                raise

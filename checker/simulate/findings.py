"""Looks, with the interpreter, at what walks have found: violations, errors, capacities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from checker.engines.walks import CompletedWalk, FoundWalk, Inspection
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.properties.persistence import persistence
from checker.results.answer import Path
from checker.simulate.judging import Truths, violated_properties, why_not_admitted

CYCLES_EVERY = 256
"""Each so-many-th walk is looked at for a cycle at its end: to judge one takes the interpreter."""


@dataclass(slots=True)
class Finding:
    """What is found at the end of a walk.

    ``violations``: a path for each property; ``fault``: one to a state from which an action has an
    error; ``grows``: guessed capacities that are too small there, in place of all that.
    """

    violations: dict[str, Path] = field(default_factory=dict)
    fault: Path | None = None
    grows: tuple[str, ...] = ()


KEPT = 100_000
"""The largest number of truth values that are kept."""


class Judge:
    """Judges the liveness of completed walks of ``system``, which start behind ``before``; can be
    pickled.
    """

    def __init__(self, system: TransitionSystem, before: tuple[State, ...] = ()) -> None:
        self.system, self.before = system, before
        self._truths = Truths(system)

    def inspection(self) -> Inspection:
        """Returns which walks it has to see: those that might stay where a violation does not show
        in single states, and some that are long enough to repeat a state."""
        live = [p for p in self.system.properties if p.kind is PropertyKind.LIVENESS]
        followed = any(persistence(prop) is None for prop in live)
        return Inspection(followed, CYCLES_EVERY if live else 0, self)

    def __call__(self, walk: CompletedWalk) -> tuple[Path, str] | None:
        """Returns an admissible execution that ``walk`` is, or begins, and the property that it
        violates: one that stays where it might, or repeats the cycle at its end."""
        for end in walk.ends:
            found = self._lasso(walk.states[: end + 1], end)
            if found is not None:
                return found
        first = walk.states.index(walk.states[-1])
        last = len(walk.states) - 1
        return None if first == last else self._lasso(walk.states[:-1], first)

    def _lasso(self, states: Sequence[State], loop: int) -> tuple[Path, str] | None:
        whole, loop = (*self.before, *states), loop + len(self.before)
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

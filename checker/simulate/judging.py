"""Judges an execution: the invariants, and the liveness properties where it is infinite."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import State
from checker.model.ir import Property, PropertyKind, TransitionSystem, domain_item
from checker.model.types import Value
from checker.results.fair_lasso import Unfair, fairness_justification, truth
from checker.results.show_values import show


class ViolatedProperty(Struct, frozen=True):
    """A property that the execution violates, with the values of its parameters."""

    property: Property
    values: tuple[Value, ...]
    text: str


class Truths:
    """The truth values of a system's atomic propositions in states, each evaluated once."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self._assignments: dict[str, list[tuple[Value, ...]]] = {}
        self._known: dict[tuple[str, tuple[Value, ...], State], tuple[bool, ...]] = {}

    def assignments(self, prop: Property) -> list[tuple[Value, ...]]:
        """Returns the assignments of the parameters of ``prop``."""
        if prop.name not in self._assignments:
            self._assignments[prop.name] = interpreter.assignments(prop.params)
        return self._assignments[prop.name]

    @property
    def count(self) -> int:
        """How many are known."""
        return len(self._known)

    def of(self, prop: Property, values: tuple[Value, ...], state: State) -> tuple[bool, ...]:
        """Evaluates the propositions of ``prop`` in ``state``; may raise ``RunFault``."""
        key = prop.name, values, state
        found = self._known.get(key)
        if found is None:
            names = {p.name: v for p, v in zip(prop.params, values, strict=True)}
            found = tuple(
                interpreter.holds(self.system, proposition, state, names)
                for proposition in prop.propositions
            )
            self._known[key] = found
        return found


def why_not_admitted(system: TransitionSystem, states: Sequence[State], loop: int) -> str | None:
    """Explains which fairness assumption the lasso that cycles from ``loop`` violates; ``None``
    where it is fair.
    """
    try:
        fairness_justification(system, states, loop)
    except Unfair as why:
        return str(why)
    except RunFault as fault:
        return fault.message
    return None


def invariants(system: TransitionSystem) -> tuple[Property, ...]:
    """Returns the properties that a single state can violate."""
    return tuple(p for p in system.asked_properties if p.kind is PropertyKind.INVARIANT)


def is_bad(system: TransitionSystem, prop: Property, state: State) -> bool:
    """Returns whether ``state`` violates an invariant; ``False`` where it can't be evaluated."""
    return interpreter.surely_holds(system, prop.bad, state)


def violated_properties(
    truths: Truths, states: Sequence[State], loop: int, only: Sequence[Property] | None = None
) -> tuple[ViolatedProperty, ...]:
    """Returns the liveness properties (``only``: among these) that the lasso through ``states``
    with the cycle from ``loop`` violates; for each the first values of its parameters that violate
    it.
    """
    found = []
    for prop in truths.system.properties if only is None else only:
        if prop.kind is not PropertyKind.LIVENESS or prop.formula is None:
            continue
        for values in truths.assignments(prop):
            try:
                rows = [truths.of(prop, values, state) for state in states]
            except RunFault:
                continue
            columns = list(zip(*rows, strict=True))
            if not truth(prop.formula, columns, len(states), loop)[0]:
                found.append(ViolatedProperty(prop, values, _describe(prop, values)))
                break
    return tuple(found)


def _describe(prop: Property, values: tuple[Value, ...]) -> str:
    pairs = zip(prop.params, values, strict=True)
    given = ", ".join(f"{p.name} = {show(domain_item(p.domain), v)}" for p, v in pairs)
    return f"{prop.asked} with {given}" if given else prop.asked

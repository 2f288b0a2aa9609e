"""Compiles a property's formula to an invariant of states or to a liveness property.

Formulas about single states are invariants: a predicate ``bad``, and a premise that tells whether
the property is vacuous.  All others are about whole executions, see :mod:`.liveness_formulas`.  A
conjunction of both becomes two properties of one name: its safety part is judged state by state.
"""

from __future__ import annotations

from checker.instantiate.protocol.expressions import Env, exists, lower
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model.build import conj, disj, negation
from checker.model.ir import FALSE, TRUE, Expr, Property, PropertyKind
from checker.properties.buchi_automaton import AutomatonTooLarge
from checker.properties.finite_violations import FiniteViolations
from checker.properties.histories import Histories
from checker.properties.liveness_formulas import liveness_parts, premise_in_states, too_large
from checker.properties.polarity import check as check_polarity
from checker.properties.polarity import may_be_correct
from checker.properties.premises import ways
from checker.properties.property_wording import reading
from checker.properties.reader import Reader
from checker.properties.safety_parts import PremiseGoal, invariants, split_conjunction
from checker.records import replace


def ask(world: World, definitions: tuple[typed.PropertyDef, ...]) -> tuple[Property, ...]:
    """Compiles ``definitions``; declares the histories and effects of the interface that they
    need."""
    histories = Histories(world)
    for definition in definitions:
        histories.need(definition.formula)
    histories.declare()
    return tuple(prop for definition in definitions for prop in _compile(world, definition))


def _compile(world: World, definition: typed.PropertyDef) -> tuple[Property, ...]:
    goals = invariants(definition.formula)
    if goals is not None:
        return (_invariant(world, definition, goals),)
    try:
        parts = _parts(world, definition)
    except AutomatonTooLarge:
        if world.check.bounds:
            raise too_large(definition.formula) from None
        parts = _parts_as_written(world, definition)
    if len(parts) == 1:
        return parts
    # A conjunction is vacuous as a whole: where no premise of it is ever true.
    premise, name = premise_in_states(world, definition.formula), definition.name
    return tuple(
        replace(part, name=f"{name} ({kind})", part_of=name, premise=premise)
        for part, kind in zip(parts, ("safety", "liveness"), strict=True)
    )


def _parts(world: World, definition: typed.PropertyDef) -> tuple[Property, ...]:
    """Returns what of ``definition`` finite executions violate, and what of it only infinite ones
    do; raises :class:`AutomatonTooLarge`."""
    finite = FiniteViolations(world, definition.name, definition.formula)
    if finite.all:
        return (_finite(world, definition, finite),)
    written = _parts_as_written(world, definition)
    if finite.is_empty:
        return written
    _, live = split_conjunction(world, definition.formula)
    rest = replace(definition, formula=live or definition.formula)
    if len(written) == 2 and finite.adds_nothing_to(rest):
        return written
    return _finite(world, definition, finite), _liveness(world, rest)


def _parts_as_written(world: World, definition: typed.PropertyDef) -> tuple[Property, ...]:
    """Returns the conjuncts of ``definition`` about single states, and the others."""
    safe, live = split_conjunction(world, definition.formula)
    goals = None if safe is None else invariants(safe)
    if safe is None or live is None or goals is None:
        return (_liveness(world, definition),)
    return (
        _invariant(world, replace(definition, formula=safe), goals),
        _liveness(world, replace(definition, formula=live)),
    )


def _invariant(
    world: World, definition: typed.PropertyDef, parts: tuple[PremiseGoal, ...]
) -> Property:
    check_polarity(world, definition.formula, True)
    env = Env(world, world.instances[0], None, {}, Reader(world, may_be_correct(world)).read)
    found = [_state_predicates(part, env) for part in parts]
    return Property(
        name=definition.name,
        kind=PropertyKind.INVARIANT,
        bad=disj(*(bad for bad, _ in found)),
        premise=disj(*(premise for _, premise in found)),
        definition=definition.document or definition.text,
        place=world.place(definition.span),
        origin=definition.origin,
        reading=reading(world, definition.formula, whole_runs=False),
    )


def _finite(world: World, definition: typed.PropertyDef, finite: FiniteViolations) -> Property:
    premise = finite.premise()
    return Property(
        name=definition.name,
        kind=PropertyKind.INVARIANT,
        bad=finite.bad(),
        premise=premise_in_states(world, definition.formula) if premise is None else premise,
        definition=definition.document or definition.text,
        place=world.place(definition.span),
        origin=definition.origin,
        reading=replace(reading(world, definition.formula, whole_runs=False), of_runs=True),
    )


def _liveness(world: World, definition: typed.PropertyDef) -> Property:
    asked = liveness_parts(world, definition.formula)
    env = Env(world, world.instances[0], None, {}, Reader(world, may_be_correct(world)).read)
    return Property(
        name=definition.name,
        kind=PropertyKind.LIVENESS,
        bad=FALSE,
        premise=asked.premise,
        definition=definition.document or definition.text,
        place=world.place(definition.span),
        origin=definition.origin,
        params=asked.params,
        propositions=asked.propositions,
        formula=asked.formula,
        automaton=asked.automaton,
        given=asked.given,
        ways=ways(definition.formula, env),
        reading=reading(world, definition.formula, whole_runs=True),
    )


def _state_predicates(parts: PremiseGoal, env: Env) -> tuple[Expr, Expr]:
    """Builds ``bad`` and the premise as nested existential quantifiers over the binders."""

    def premise(inner: Env) -> Expr:
        return TRUE if parts.premise is None else lower(parts.premise, inner)

    def bad(inner: Env) -> Expr:
        return conj(premise(inner), negation(lower(parts.goal, inner)))

    return exists(parts.binders, env, bad), exists(parts.binders, env, premise)

"""Compiles a property's formula to an invariant of states or to a liveness property.

Formulas about single states are invariants: a predicate ``bad``, and a premise that tells whether
the property is vacuous.  All others are about whole executions, see :mod:`.liveness_formulas`.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.instantiate.protocol.expressions import Env, exists, lower
from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.model.build import conj, disj, negation
from checker.model.ir import FALSE, TRUE, Expr, Property, PropertyKind
from checker.properties.histories import Histories
from checker.properties.liveness_formulas import liveness_parts
from checker.properties.polarity import check as check_polarity
from checker.properties.polarity import may_be_correct
from checker.properties.premises import is_temporal, ways
from checker.properties.property_wording import reading
from checker.properties.reader import Reader


@dataclass(frozen=True, slots=True)
class PremiseGoal:
    """``always forall binders: premise => goal``."""

    binders: tuple[typed.Binder, ...]
    premise: typed.Expr | None
    goal: typed.Expr


def ask(world: World, definitions: tuple[typed.PropertyDef, ...]) -> tuple[Property, ...]:
    """Compiles ``definitions``; declares the histories and effects of the interface that they
    need."""
    histories = Histories(world)
    for definition in definitions:
        histories.need(definition.formula)
    histories.declare()
    return tuple(_compile(world, definition) for definition in definitions)


def invariants(
    formula: typed.Expr, binders: tuple[typed.Binder, ...] = (), within: bool = False
) -> tuple[PremiseGoal, ...] | None:
    """Returns the parts of a formula about single states; ``None`` for any other formula.

    `always` distributes over conjunctions and `forall`.  ``within``: ``formula`` already stands
    inside an `always`.
    """
    match formula:
        case typed.Temporal(_, "always", (body,), _):
            return invariants(body, binders, True)
        case typed.Quantified(_, "forall", inner, body, _):
            return invariants(body, binders + inner, within)
        case typed.Operation(_, "and", parts, _) if is_temporal(formula):
            found = [invariants(part, binders, within) for part in parts]
            known = [shapes for shapes in found if shapes is not None]
            return tuple(s for ss in known for s in ss) if len(known) == len(found) else None
        case _ if is_temporal(formula) or not within:
            return None
        case typed.Operation(_, "=>", (premise, goal), _):
            return (PremiseGoal(binders, premise, goal),)
        case _:
            return (PremiseGoal(binders, None, formula),)


def _compile(world: World, definition: typed.PropertyDef) -> Property:
    safe = invariants(definition.formula)
    if safe is not None:
        return _invariant(world, definition, safe)
    return _in_the_end(world, definition)


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
        reading=reading(world, definition.formula, whole_runs=False),
    )


def _in_the_end(world: World, definition: typed.PropertyDef) -> Property:
    asked = liveness_parts(world, definition.formula)
    env = Env(world, world.instances[0], None, {}, Reader(world, may_be_correct(world)).read)
    return Property(
        name=definition.name,
        kind=PropertyKind.LIVENESS,
        bad=FALSE,
        premise=asked.premise,
        definition=definition.document or definition.text,
        place=world.place(definition.span),
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

"""Finds what a formula says about single states; splits conjunctions into safety and liveness."""

from __future__ import annotations

from msgspec import Struct

from checker.instantiate.world import World
from checker.language.syntax import typed
from checker.properties.polarity import stands_in_premise_only
from checker.properties.premises import is_temporal
from checker.records import replace

Halves = tuple[typed.Expr | None, typed.Expr | None]
"""The part of a formula about single states, and the rest; ``None`` where there is none."""


class PremiseGoal(Struct, frozen=True):
    """``always forall binders: premise => goal``."""

    binders: tuple[typed.Binder, ...]
    premise: typed.Expr | None
    goal: typed.Expr


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


def split_conjunction(world: World, formula: typed.Expr, within: bool = False) -> Halves:
    """Splits ``formula`` into the part that single states decide and the rest.

    The formula is equivalent to the conjunction of both: `forall` and `always` distribute over
    `and`.  ``within``: it already stands inside an `always`.
    """
    if _is_safe(world, formula, within):
        return formula, None
    match formula:
        case typed.Operation(_, "and", parts, _) if is_temporal(formula):
            halves = [split_conjunction(world, part, within) for part in parts]
            return _all(formula, [s for s, _ in halves]), _all(formula, [r for _, r in halves])
        case typed.Quantified(_, "forall", binders, body, _) if not is_temporal(binders):
            safe, rest = split_conjunction(world, body, within)
            return safe and replace(formula, body=safe), rest and replace(formula, body=rest)
        case typed.Temporal(_, "always", (body,), _):
            safe, rest = split_conjunction(world, body, within=True)
            return safe and replace(formula, args=(safe,)), rest and replace(formula, args=(rest,))
        case _:
            return None, formula


def _is_safe(world: World, formula: typed.Expr, within: bool) -> bool:
    """Tells whether single states decide ``formula``."""
    decided = invariants(formula, within=within) is not None
    return decided and stands_in_premise_only(world, formula)


def _all(formula: typed.Operation, parts: list[typed.Expr | None]) -> typed.Expr | None:
    """Returns the conjunction of those of ``parts``, which are of ``formula``, that there are."""
    there = tuple(part for part in parts if part is not None)
    if len(there) < 2:
        return there[0] if there else None
    return replace(formula, args=there)

"""Properties as questions about configurations of a threshold automaton.

``always F`` is violated where a configuration without F is reachable.  ``A ~> B`` is decided on the
final configurations (rules make no cycle, so that every fair execution reaches one): it is violated
where A and not B can hold forever.  That is exact where A and B are stable for the processes of
which they are true, which is checked against the rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checker.language.syntax import typed
from checker.parametric.automaton.automaton import Automaton, Question, StateFormula
from checker.parametric.automaton.fragment import FragmentErrors, Leaves
from checker.parametric.automaton.questions_stability import Steadiness
from checker.parametric.automaton.questions_states import (
    FALSE,
    TRUE,
    Cast,
    CounterAbstraction,
    Views,
    both,
    either,
    inverse,
    names_read,
)
from checker.parametric.extract.rounds import one_round
from checker.parametric.extract.world import Settings, for_every, settings_of
from checker.properties.premises import is_temporal

Binders = tuple[typed.Binder, ...]


class Shape(Struct, frozen=True):
    """``forall binders: premise => goal``: at all times, or (``later``) whenever the premise holds,
    the goal eventually holds."""

    binders: Binders
    premise: typed.Expr | None
    goal: typed.Expr
    later: bool


def questions(check: typed.Check, automaton: Automaton) -> tuple[Question, ...]:
    """Returns a question for each property that ``check`` requires, in its order.

    ``automaton`` is :func:`~checker.parametric.extract.extract.extract`'s.  Raises
    :class:`SpecError` with a diagnostic (T013, T014) for each property that can't be expressed.
    """
    found = FragmentErrors()
    check = one_round(for_every(check), found)
    settings = settings_of(check, found)
    asked: list[Question] = []
    for definition in check.prove:
        try:
            asked.append(_question(definition, settings, automaton))
        except Leaves as leaves:
            found.add(_of_property(leaves, definition))
    found.raise_if_any()
    return tuple(asked)


def _of_property(leaves: Leaves, definition: typed.PropertyDef) -> Leaves:
    """Returns ``leaves`` as an error of a property that can't be counted."""
    one = leaves.diagnostic
    code = one.code if one.code in ("T013", "T014", "T015", "E162") else "T013"
    message = f"`{definition.name}`: {one.message}"
    return Leaves(code, message, one.span or definition.span, one.hint)


def _question(definition: typed.PropertyDef, settings: Settings, automaton: Automaton) -> Question:
    shapes = tuple(_shapes(definition.formula, (), None))
    later = {shape.later for shape in shapes}
    if len(later) > 1:
        message = "it combines safety and liveness"
        raise Leaves("T013", message, definition.formula.span, "write a property for each")
    views = Views(settings, automaton, names_read(definition.formula))
    counting = CounterAbstraction(views)
    if later == {True} and automaton.next_round:
        message = "liveness of a protocol in rounds is not decided"
        hint = "write `always F`, or model one round"
        raise Leaves("E162", message, definition.formula.span, hint)
    if later == {True}:
        steadiness = Steadiness(settings, automaton)
        for shape in shapes:
            steadiness.require(shape.binders, shape.premise, shape.goal)
    violated = either(*(_violation(shape, counting) for shape in shapes))
    premises = [_premise(shape, counting) for shape in shapes]
    premise = None if any(p is None for p in premises) else either(*(p for p in premises if p))
    return Question(definition.name, violated, later == {True}, premise)


# ---- shapes -----------------------------------------------------------------------------------


def _shapes(formula: typed.Expr, binders: Binders, given: typed.Expr | None) -> Iterator[Shape]:
    """Yields the parts of a property; ``given``: what stands before `=>`, fixed for an
    execution."""
    match formula:
        case typed.Quantified(_, "forall", inner, body, _) if is_temporal(body):
            yield from _shapes(body, binders + inner, given)
        case typed.Operation(_, "and", parts, _) if is_temporal(formula):
            for part in parts:
                yield from _shapes(part, binders, given)
        case typed.Operation(_, "=>", (premise, body), _) if not is_temporal(premise):
            if not is_temporal(body):
                raise _odd(formula)
            if names_read(premise):
                raise _odd(premise)
            yield from _shapes(body, binders, _and(given, premise))
        case typed.Temporal(_, "~>", (premise, goal), _) if not is_temporal((premise, goal)):
            yield Shape(binders, _and(given, premise), goal, True)
        case typed.Temporal(_, "eventually", (goal,), _) if not is_temporal(goal):
            yield Shape(binders, given, goal, True)
        case typed.Temporal(_, "always", (body,), _):
            yield from _always(body, binders, given)
        case _:
            raise _odd(formula)


def _always(body: typed.Expr, binders: Binders, given: typed.Expr | None) -> Iterator[Shape]:
    match body:
        case typed.Temporal(_, "always", (inner,), _):
            yield from _always(inner, binders, given)
        case typed.Temporal(_, "eventually", (goal,), _) if not is_temporal(goal):
            yield Shape(binders, given, goal, True)
        case typed.Quantified(_, "forall", more, inner, _):
            yield from _always(inner, binders + more, given)
        case typed.Operation(_, "and", parts, _):
            for part in parts:
                yield from _always(part, binders, given)
        case typed.Operation(_, "=>", (premise, goal), _):
            if is_temporal(premise):
                raise _odd(premise)
            yield from _shapes_of_implication(_and(given, premise), goal, binders)
        case _:
            if is_temporal(body):
                raise _odd(body)
            yield Shape(binders, given, body, False)


def _shapes_of_implication(
    premise: typed.Expr, goal: typed.Expr, binders: Binders
) -> Iterator[Shape]:
    match goal:
        case typed.Temporal(_, "eventually", (later,), _) if not is_temporal(later):
            yield Shape(binders, premise, later, True)
        case _ if is_temporal(goal):
            raise _odd(goal)
        case _:
            yield Shape(binders, premise, goal, False)


def _and(left: typed.Expr | None, right: typed.Expr) -> typed.Expr:
    if left is None:
        return right
    return typed.Operation(right.type, "and", (left, right), right.span)


def _odd(expr: typed.Expr) -> Leaves:
    message = "this combination of temporal operators is unsupported"
    hint = "use `always F`, `eventually F` or `F ~> G` under `forall`"
    return Leaves("T013", message, expr.span, hint)


# ---- counting ---------------------------------------------------------------------------------


def _violation(shape: Shape, counting: CounterAbstraction) -> StateFormula:
    """Returns the formula that some values have the premise and not the goal."""
    premise, goal = shape.premise, shape.goal

    def bad(cast: Cast) -> StateFormula:
        given = TRUE if premise is None else counting.formula(premise, cast, True)
        if given == FALSE:
            return FALSE
        return both(given, inverse(counting.formula(goal, cast, False)))

    return counting.whole(lambda cast: counting.exists(shape.binders, bad, cast, True))


def _premise(shape: Shape, counting: CounterAbstraction) -> StateFormula | None:
    premise = shape.premise
    if premise is None:
        return None

    def formula(cast: Cast) -> StateFormula:
        return counting.formula(premise, cast, True)

    return counting.whole(lambda cast: counting.exists(shape.binders, formula, cast, True))

"""Probability queries: objectives of executions in the states of a check."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from checker.chance.objective import Kind
from checker.instantiate.instantiated import Instantiated
from checker.instantiate.protocol.sizes import evaluate_size, refuse
from checker.language.syntax import typed
from checker.model import build, interpreter, ir
from checker.model.distributions import is_by_chance
from checker.model.ir import Apply, Connective, Const, Expr, Formula, Holds, Modal, Op, Property
from checker.model.types import BOOL

_DUAL = {"eventually": "always", "always": "eventually"}


class Goal(Struct, frozen=True):
    """``kind`` of the states in which ``condition`` holds, and before them only ``until`` holds
    (``None``: anything does)."""

    kind: Kind
    condition: Expr
    until: Expr | None = None


class Asked(Struct, frozen=True):
    """A question in a system: ``goals`` are answered one by one, for example one per process.

    ``bound``: what the value is compared with, ``None`` for ``almost surely``; ``steps``: the
    largest number of steps.
    """

    question: typed.ChanceQuestion
    goals: tuple[Goal, ...]
    bound: Fraction | None
    steps: int | None

    @property
    def conditions(self) -> tuple[Expr, ...]:
        """The conditions on states: of each goal its own, and the one that holds until then."""
        both = ((goal.condition, goal.until) for goal in self.goals)
        return tuple(condition for pair in both for condition in pair if condition is not None)

    @property
    def largest(self) -> bool:
        """Whether the largest value that an adversary attains decides."""
        return self.question.at_least is self.question.some


def asked_of(made: Instantiated, question: typed.ChanceQuestion) -> Asked:
    """Returns a question in the system of a check; raises :class:`SpecError`: E063 if it makes
    no random choice, E064 if the formula has an unsupported form, E065 for its numbers, E066 if
    the initial states depend on a random choice."""
    system = made.system
    _require_chance(system, question)
    goals = _goals(system, question)
    if question.keeps is not None:
        (invariant,) = system.parts_of(question.keeps.name)
        if invariant.kind is not ir.PropertyKind.INVARIANT:
            raise _no_form(question)
        goals = tuple(
            Goal(goal.kind, goal.condition, build.negation(invariant.bad)) for goal in goals
        )
    steps = None if question.steps is None else evaluate_size(question.steps, made.sizes.values)
    if steps is not None and steps < 0:
        raise refuse("E065", f"{steps} is not a number of steps", question.span, "0 or more")
    if question.bound_by_one and len(goals) > 1:
        message = "the values quantified over need not occur at the same time"
        hint = "put `forall` after `eventually`, or name one: `eventually p1.done`"
        raise refuse("E064", message, question.span, hint)
    if steps is not None and any(goal.kind not in _BOUNDED for goal in goals):
        raise refuse("E064", "this can't be bounded by a number of steps", question.span)
    return Asked(question, goals, _bound(made, question), steps)


_BOUNDED = (Kind.EVENTUALLY, Kind.ALWAYS)


def _require_chance(system: ir.TransitionSystem, question: typed.ChanceQuestion) -> None:
    start = ir.Action("start", ir.ActionKind.WORLD, (), ir.TRUE, system.init, ir.FALSE)
    if is_by_chance(start):
        message = "the initial states depend on a random choice"
        hint = "move the choice to a handler: `upon condition not chosen { choose … by chance }`"
        raise refuse("E066", message, question.span, hint)
    if not any(is_by_chance(action) for action in system.actions):
        message = "this check has no random choices: no `flip()` and no `by chance`"
        hint = "write it as a property of all runs: `prove …`"
        raise refuse("E063", message, question.span, hint)


def _bound(made: Instantiated, question: typed.ChanceQuestion) -> Fraction | None:
    if question.numerator is None:
        return None
    over, values = question.denominator, made.sizes.values
    below = 1 if over is None else evaluate_size(over, values)
    if below == 0:
        raise refuse("E065", "this divides by zero", question.span)
    found = Fraction(evaluate_size(question.numerator, values), below)
    if found < 0 or (found > 1 and not question.counts):
        what = "an expected number (0 or more)" if question.counts else "a probability (0 to 1)"
        raise refuse("E065", f"{found} is not {what}", question.span)
    return found


# ---- formulas ---------------------------------------------------------------------------------


def _goals(system: ir.TransitionSystem, question: typed.ChanceQuestion) -> tuple[Goal, ...]:
    parts = system.parts_of(question.goal.name)
    if len(parts) != 1:
        raise _no_form(question)
    (prop,) = parts
    if prop.kind is ir.PropertyKind.INVARIANT:
        return (Goal(Kind.ALWAYS, build.negation(prop.bad)),)
    assert prop.formula is not None
    found = _shape(prop.formula)
    if found is None:
        raise _no_form(question)
    kind, formula = found
    condition = _condition(formula, prop)
    every = interpreter.assignments(prop.params)
    return tuple(Goal(kind, _with(condition, prop, values)) for values in every)


def _no_form(question: typed.ChanceQuestion) -> Exception:
    message = "the probability of this formula is not computed"
    known = "`eventually e`, `always e`, `e until g`, `always eventually e`, `eventually always e`"
    hint = f"use one of {known}"
    return refuse("E064", message, question.goal.formula.span, hint)


_KINDS = {
    ("eventually",): Kind.EVENTUALLY,
    ("always",): Kind.ALWAYS,
    ("always", "eventually"): Kind.INFINITELY_OFTEN,
    ("eventually", "always"): Kind.PERSISTENTLY,
}


def _shape(formula: Formula) -> tuple[Kind, Formula] | None:
    """Returns what a formula asks of which states; ``None`` where it is of no known form."""
    found = _modal(formula)
    if found is None:
        return None
    kind = _KINDS.get(found[0])
    return None if kind is None else (kind, found[1])


def _modal(formula: Formula) -> tuple[tuple[str, ...], Formula] | None:
    """Returns the temporal operators in front of a formula without any; ``None``: it has others.

    They move to the front by the usual laws: ``eventually a or eventually b`` is ``eventually (a or
    b)``, ``not always a`` is ``eventually not a``.
    """
    match formula:
        case Holds():
            return (), formula
        case Modal(op, part):
            inner = _modal(part)
            if inner is None:
                return None
            operators = (op, *inner[0])
            return (operators[1:] if operators[:1] == operators[1:2] else operators), inner[1]
        case Connective("not", (part,)):
            inner = _modal(part)
            if inner is None:
                return None
            return tuple(_DUAL[op] for op in inner[0]), Connective("not", (inner[1],))
        case Connective(op, parts):
            inners = [_modal(part) for part in parts]
            known = [inner for inner in inners if inner is not None]
            fronts = {inner[0] for inner in known}
            if len(known) < len(inners) or len(fronts) != 1:
                return None
            (front,) = fronts
            if not _distributes(op, front):
                return None
            return front, Connective(op, tuple(inner[1] for inner in known))


def _distributes(op: str, front: tuple[str, ...]) -> bool:
    """Returns whether temporal operators in front of all parts may stand in front of the whole."""
    if not front:
        return True
    if op == "or":
        return front in (("eventually",), ("always", "eventually"))
    return front in (("always",), ("eventually", "always"))


def _condition(formula: Formula, prop: Property) -> Expr:
    match formula:
        case Holds(index):
            return prop.propositions[index]
        case Connective(op, parts):
            found = tuple(_condition(part, prop) for part in parts)
            names = {"not": Op.NOT, "and": Op.AND, "or": Op.OR}
            return Apply(BOOL, names[op], found)
        case Modal():
            raise AssertionError("temporal operators are in front")


def _with(condition: Expr, prop: Property, values: tuple[object, ...]) -> Expr:
    for param, value in zip(prop.params, values, strict=True):
        constant = Const(ir.domain_item(param.domain), value)
        condition = ir.Let(BOOL, param.name, constant, condition)
    return condition

"""Lowers choices: the adversary's, and those by chance with their weights."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from checker.diagnostics.english import listing
from checker.instantiate.protocol.expressions import Env, bind_domain, lower
from checker.instantiate.protocol.sizes import evaluate_size, refuse
from checker.instantiate.world import World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj, disj
from checker.model.ir import FLIP, Apply, Block, Const, Expr, MarkKind, Op
from checker.model.types import IntT


def choose(stmt: typed.Choose, env: Env) -> tuple[Block, Env]:
    """Lowers a choice; raises :class:`SpecError` (N070) where its weights are no distribution."""
    name, members, fits, inner = bind_domain(stmt.pattern, stmt.domain, stmt.where, env)
    if stmt.weights is None:
        return (ir.Choose(name, members, fits),), inner
    drawn = ir.Local(ir.domain_item(members), name)
    place = env.world.place(stmt.span)
    shown = _shown(stmt, env, drawn, place)
    if not stmt.weights:
        return (ir.Choose(name, members, fits, _number(1), place), shown), inner
    same = [build.equal(drawn, lower(weight.value, env, drawn.type)) for weight in stmt.weights]
    numbers = _integers(stmt, env.world)
    terms: tuple[Expr, ...] = tuple(
        Apply(IntT(0, number), Op.ITE, (is_it, _number(number), _number(0)))
        for is_it, number in zip(same, numbers, strict=True)
    )
    likely = disj(*(is_it for is_it, number in zip(same, numbers, strict=True) if number))
    whole = IntT(0, sum(numbers))
    weight = reduce(lambda one, other: Apply(whole, Op.ADD, (one, other)), terms)
    return (ir.Choose(name, members, conj(fits, likely), weight, place), shown), inner


def _shown(stmt: typed.Choose, env: Env, drawn: ir.Local, place: ir.SourceLocation) -> ir.Mark:
    """Returns the mark that says what a coin shows."""
    title = stmt.pattern.name if isinstance(stmt.pattern, typed.Bind) else ""
    title = FLIP if title.partition("'")[2].isdigit() else title  # names cannot be written so
    if env.self is None:
        return mark(env.world, MarkKind.COIN, title, ("value",), drawn, place=place)
    return mark(env.world, MarkKind.COIN, title, ("self", "value"), env.self, drawn, place=place)


def _number(value: int) -> Expr:
    return Const(IntT(value, value), value)


def _integers(stmt: typed.Choose, world: World) -> list[int]:
    """Returns the weights as the smallest integers that are in the same proportion."""
    found: list[Fraction] = []
    assert stmt.weights is not None
    for weight in stmt.weights:
        over = 1 if weight.denominator is None else _value(weight.denominator, world)
        if over == 0:
            raise refuse("N070", "this weight divides by zero", weight.span)
        found.append(Fraction(_value(weight.numerator, world), over))
        if found[-1] < 0:
            hint = "write a weight of 0 or more: probabilities are proportional to weights"
            raise refuse("N070", f"the weight {found[-1]} is negative", weight.span, hint)
    if not any(found):
        shown = listing([str(weight) for weight in found])
        hint = "give at least one value a weight above 0"
        raise refuse("N070", f"the weights {shown} sum to nothing", stmt.span, hint)
    whole = lcm(*(weight.denominator for weight in found))
    numbers = [int(weight * whole) for weight in found]
    common = gcd(*numbers)
    return [number // common for number in numbers]


def _value(expr: typed.Expr, world: World) -> int:
    return evaluate_size(expr, world.sizes.values)

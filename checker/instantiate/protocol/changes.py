"""Computes whether executing a block changes the state, as an expression over the state before."""

from __future__ import annotations

from typing import assert_never

from checker.instantiate.world import World
from checker.model import build, ir
from checker.model.build import conj, disj, equal, member, negation
from checker.model.ir import FALSE, TRUE, Apply, Block, Expr, Op
from checker.model.tree import nodes
from checker.model.types import BOOL, IntT, MapT, SeqT


def changes(world: World, block: Block) -> Expr:
    """Returns whether some execution of ``block`` assigns a value that differs from the present
    one.

    Every assignment is evaluated in the state before: as long as nothing has changed, that is the
    state in which it is executed.  The same holds for each iteration of a loop and for whether it
    is possible; a change in one iteration that disables all executions of another is not detected.
    """
    return _changes(world, block, FALSE)


def _changes(world: World, block: Block, so_far: Expr) -> Expr:
    """Returns whether some execution of ``block`` changes something; any execution if
    ``so_far``."""
    if not block:
        return so_far
    stmt, rest = block[0], block[1:]
    match stmt:
        case ir.Assign(target, value):
            if target.is_state:
                so_far = disj(so_far, _differs(_current(world, target), value))
            return _changes(world, rest, so_far)
        case ir.Declare(name, type_, value):
            after = _changes(world, rest, so_far)
            if not any(isinstance(x, ir.Local) and x.name == name for x in nodes(after)):
                return after
            return ir.Let(BOOL, name, build.coerce(value, type_), after)
        case ir.If(condition, then, otherwise):
            if _restricts(then) or _restricts(otherwise):
                one = _changes(world, (*then, *rest), so_far)
                other = _changes(world, (*otherwise, *rest), so_far)
                return disj(conj(condition, one), conj(negation(condition), other))
            one, other = _changes(world, then, FALSE), _changes(world, otherwise, FALSE)
            here = disj(conj(condition, one), conj(negation(condition), other))
            return _changes(world, rest, disj(so_far, here))
        case ir.For(name, domain, body):
            local = ir.Local(ir.domain_item(domain), name)
            passable = negation(some(local, domain, negation(_changes(world, body, TRUE))))
            changed = some(local, domain, _changes(world, body, FALSE))
            return conj(passable, _changes(world, rest, disj(so_far, changed)))
        case ir.While(condition, body):
            passable = disj(negation(condition), _changes(world, body, TRUE))
            changed = conj(condition, _changes(world, body, FALSE))
            return conj(passable, _changes(world, rest, disj(so_far, changed)))
        case ir.Choose(name, domain, where):
            local = ir.Local(ir.domain_item(domain), name)
            return some(local, domain, conj(where, _changes(world, rest, so_far)))
        case ir.Assume(condition):
            return conj(condition, _changes(world, rest, so_far))
        case ir.Fault():
            return TRUE
        case ir.Mark() | ir.Emit():
            return _changes(world, rest, so_far)
        case _:
            assert_never(stmt)


def _current(world: World, target: ir.Target) -> Expr:
    """Returns the present value of ``target``."""
    result = world.read(target.name)
    for step in target.path:
        base = result.type
        if isinstance(step, ir.Pos):
            result = build.item(result, step.position)
        elif isinstance(base, MapT):
            result = ir.Index(base.value, result, step.key)
        else:
            assert isinstance(base, SeqT)
            result = ir.Index(base.item, result, step.key)
    return result


def _differs(current: Expr, value: Expr) -> Expr:
    """Returns whether ``value`` differs from the present value."""
    if value == current:
        return FALSE
    if isinstance(value, Apply):
        match value.op, value.args:
            case ((Op.BAG_ADD | Op.APPEND), (base, *_)) if base == current:
                return TRUE
            case Op.INSERT, (base, item) if base == current:
                return negation(member(item, current))
            case ((Op.REMOVE | Op.BAG_REMOVE), (base, item)) if base == current:
                return member(item, current)
            case Op.ITE, (condition, then, otherwise):
                return disj(
                    conj(condition, _differs(current, then)),
                    conj(negation(condition), _differs(current, otherwise)),
                )
            case _:
                pass
    numbers = isinstance(current.type, IntT) and isinstance(value.type, IntT)
    if current.type != value.type and not numbers:
        return FALSE
    return negation(equal(current, value))


def _restricts(block: Block) -> bool:
    """Tells whether some execution of ``block`` may be removed, or depends on a choice."""
    for stmt in block:
        match stmt:
            case ir.Choose() | ir.Assume():
                return True
            case ir.If(_, then, otherwise):
                if _restricts(then) or _restricts(otherwise):
                    return True
            case ir.For(body=body) | ir.While(body=body):
                if _restricts(body):
                    return True
            case _:
                pass
    return False


def some(local: ir.Local, domain: ir.Domain, body: Expr) -> Expr:
    """Returns whether ``body`` is true of some member of ``domain``."""
    if body == FALSE:
        return FALSE
    return ir.Quant(ir.Quantifier.EXISTS, local.name, domain, body, BOOL)

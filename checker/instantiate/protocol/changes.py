"""Computes whether executing a block changes the state, as an expression over the state before."""

from __future__ import annotations

from typing import assert_never

from checker.diagnostics import Span
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import VARYING, World
from checker.model import build, ir
from checker.model.build import conj, disj, equal, fresh, member, negation
from checker.model.ir import FALSE, TRUE, Apply, Block, Expr, Op, VariableKind
from checker.model.transforms.substitute import substitute
from checker.model.tree import nodes
from checker.model.types import BOOL, IntT, MapT, SeqT, TupleT, Type


def changes(world: World, block: Block) -> Expr:
    """Returns whether some execution of ``block`` assigns a value that differs from the present
    one.

    Every assignment is evaluated in the state before: as long as nothing has changed, that is the
    state in which it is executed.  The same holds for each iteration of a loop and for whether it
    is possible; a change in one iteration that disables all executions of another is not detected.
    Ghosts only observe: what changes nothing else changes nothing.
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
            if target.name.startswith(VARYING):
                return _changes_behind(world, target, value, rest, so_far)
            if target.is_state and world.variables[target.name].kind is not VariableKind.GHOST:
                so_far = disj(so_far, _differs(_current(world, target), value))
            return _changes(world, rest, so_far)
        case ir.Declare(name, type_, value):
            after = _changes(world, rest, so_far)
            if not any(isinstance(x, ir.Local) and x.name == name for x in nodes(after)):
                return after
            return ir.Let(BOOL, name, build.coerce(value, type_), after)
        case ir.If(condition, then, otherwise):
            if _goes_on(then) or _goes_on(otherwise):
                one = _changes(world, (*then, *rest), so_far)
                other = _changes(world, (*otherwise, *rest), so_far)
                return disj(conj(condition, one), conj(negation(condition), other))
            one, other = _changes(world, then, FALSE), _changes(world, otherwise, FALSE)
            here = disj(conj(condition, one), conj(negation(condition), other))
            return _changes(world, rest, disj(so_far, here))
        case ir.For(name, domain, body):
            _refuse_carried(body)
            local = ir.Local(ir.domain_item(domain), name)
            passable = negation(some(local, domain, negation(_changes(world, body, TRUE))))
            changed = some(local, domain, _changes(world, body, FALSE))
            return conj(passable, _changes(world, rest, disj(so_far, changed)))
        case ir.While(condition, body):
            _refuse_carried(body)
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


def _changes_behind(
    world: World, target: ir.Target, value: Expr, rest: Block, so_far: Expr
) -> Expr:
    """Returns whether ``rest`` changes something, with ``value`` stored in the local ``target``."""
    old = ir.Local(_whole(target, rest) or target.type, target.name)
    new = ir.Local(old.type, fresh(target.name.split(".")[0]))
    after = _changes(world, substitute(rest, {target.name: new}), so_far)
    if not any(isinstance(x, ir.Local) and x.name == new.name for x in nodes(after)):
        return after
    return ir.Let(BOOL, new.name, build.coerce(_updated(old, target.path, value), old.type), after)


def _whole(target: ir.Target, rest: Block) -> Type | None:
    """Returns the type of the local that ``target`` is a part of; ``None`` where it is all of it,
    or nothing reads it."""
    if not target.path:
        return None
    reads = (x for x in nodes(rest) if isinstance(x, ir.Local) and x.name == target.name)
    return next((x.type for x in reads), None)


def _updated(old: Expr, path: tuple[ir.Key | ir.Pos, ...], value: Expr) -> Expr:
    """Returns ``old`` with the part that ``path`` leads to replaced by ``value``."""
    if not path:
        return value
    step, *others = path
    if isinstance(step, ir.Pos):
        assert isinstance(old.type, TupleT)
        parts = [build.item(old, i) for i in range(len(old.type.items))]
        parts[step.position] = _updated(parts[step.position], tuple(others), value)
        return Apply(old.type, Op.TUPLE, tuple(parts))
    assert isinstance(old.type, MapT)
    key = ir.Local(old.type.key, fresh("_key"))
    entry = ir.Index(old.type.value, old, key)
    new = build.coerce(_updated(entry, tuple(others), value), old.type.value)
    chosen = Apply(old.type.value, Op.ITE, (equal(key, step.key), new, entry))
    return ir.MapOf(old.type, key.name, chosen)


def _goes_on(block: Block) -> bool:
    """Tells whether what follows ``block`` depends on which way it goes: some execution of it may
    be removed, or depends on a choice, or it stores something in a local."""
    return _restricts(block) or bool(_stored(block))


def _stored(block: Block) -> list[ir.Assign]:
    """Returns the assignments of ``block`` to locals that are declared before it."""
    inside = {x.name for x in nodes(block) if isinstance(x, ir.Declare)}
    return [
        x
        for x in nodes(block)
        if isinstance(x, ir.Assign)
        and x.target.name.startswith(VARYING)
        and x.target.name not in inside
    ]


def _refuse_carried(body: Block) -> None:
    """Refuses (C202) a loop in which an iteration depends on the one before."""
    for stmt in _stored(body):
        at = stmt.place
        span = None if at is None else Span(at.file, at.line, at.column, at.line, at.column + 1)
        message = "in synchronous rounds a loop can't assign a `var` that is declared before it"
        hint = "use a set, a quantifier or a definition, or store it in a state variable"
        raise refuse("C202", message, span, hint)


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

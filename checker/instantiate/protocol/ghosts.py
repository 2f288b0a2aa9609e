"""Makes ghosts part of a system: those that a property of the check reads, and no others.

Ghost code belongs to the effect before it.  It becomes an effect of kind ``GHOST``, whose body is
the code itself; no crash falls beside it.  Where effects are steps of their own it waits for its
effect, and then sees the ghosts as they are by then, and all else as it was in the handler.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checker.instantiate.protocol.expressions import Env
from checker.instantiate.protocol.stack import prefix_of
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.language.syntax.typed_code import with_blocks
from checker.language.typecheck.ghosts import root_of
from checker.model import build, ir, tree
from checker.model.build import fresh
from checker.model.ir import Block, EffectDef, EffectKind, Expr, VariableKind
from checker.model.names import BINDERS
from checker.model.types import MapT, default
from checker.records import replace

GHOST = "ghost."
"""Prefix of the names of the effects that ghost code becomes."""

Name = tuple[str | None, str]
"""Role (``None``: of the world) and name of a ghost."""


# ---- which ghosts there are --------------------------------------------------------------------


def without_unread(check: typed.Check) -> typed.Check:
    """Returns ``check`` without the ghosts that none of its properties depends on."""
    if not has_any(check):
        return check
    given = tuple(
        replace(g, protocol=None if g.protocol is None else _keeping(g.protocol, frozenset()))
        for g in check.given
    )
    kept = _read_by(check)
    return replace(check, protocol=_keeping(check.protocol, kept), given=given)


def has_any(check: typed.Check) -> bool:
    """Tells whether ``check`` has ghosts."""
    return any(isinstance(n, typed.StateDecl) and n.ghost for n in tree.nodes(check))


def _read_by(check: typed.Check) -> frozenset[Name]:
    """Returns the ghosts that properties and bounds read, or what is written to such a ghost."""
    kept = {r for prop in check.observed for r in _read(prop.formula)}
    code = [n for n in nodes(check.protocol) if isinstance(n, typed.Ghost)]
    size = -1
    while size < len(kept):
        size = len(kept)
        kept.update(r for stmt in code for r in _read(_only(stmt.body, frozenset(kept))))
    return frozenset(kept)


def _read(node: object) -> Iterator[Name]:
    assigned = {id(root_of(n.target)) for n in nodes(node) if isinstance(n, typed.Assign)}
    for each in nodes(node):
        if isinstance(each, typed.StateRef) and each.ghost and id(each) not in assigned:
            yield each.role, each.name


def _written(node: object) -> set[Name]:
    roots = (root_of(n.target) for n in nodes(node) if isinstance(n, typed.Assign))
    return {(root.role, root.name) for root in roots}


def _keeping(protocol: typed.Protocol, kept: frozenset[Name]) -> typed.Protocol:
    """Returns ``protocol`` with no other ghosts than ``kept``, and its layers without any."""

    def change(node: Any) -> Any:
        match node:
            case typed.Layer(protocol=typed.Protocol() as below):
                return replace(node, protocol=_keeping(below, frozenset()))
            case typed.Layer() | typed.Interface() | typed.PropertyDef():
                return node
            case typed.Role(name=role, states=states):
                return replace(_rebuilt(node), states=_declared(role, states))
            case _:
                return _rebuilt(node)

    def _rebuilt(node: Any) -> Any:
        made = tree.mapped(node, change)
        return with_blocks(made, lambda block: _pruned(block, kept))

    def _declared(
        role: str | None, states: tuple[typed.StateDecl, ...]
    ) -> tuple[typed.StateDecl, ...]:
        return tuple(s for s in states if not s.ghost or (role, s.name) in kept)

    made: typed.Protocol = tree.mapped(protocol, change)
    return replace(made, shared=_declared(None, made.shared))


def _pruned(block: typed.Block, kept: frozenset[Name]) -> typed.Block:
    """Returns ``block`` without ghost code that writes none of ``kept``."""
    found: list[typed.Stmt] = []
    for stmt in block:
        match stmt:
            case typed.Ghost(body, _):
                left = _only(body, kept)
                if left:
                    found.append(replace(stmt, body=left))
            case _:
                found.append(stmt)
    return tuple(found)


def _only(block: typed.Block, kept: frozenset[Name]) -> typed.Block:
    """Returns those statements of ghost code that write some of ``kept``, with all that they need;
    none where there are none."""
    if not _written(block) & kept:
        return ()
    found: list[typed.Stmt] = []
    for stmt in block:
        if isinstance(stmt, typed.LetIn):
            found.append(stmt)
        elif _written(stmt) & kept:
            found.append(with_blocks(stmt, lambda inner: _only(inner, kept)))
    return tuple(found)


# ---- variables and code -------------------------------------------------------------------------


def declare(world: World, instance: Instance) -> None:
    """Declares the ghosts of ``instance``."""
    for decl in instance.protocol.shared:
        if decl.ghost:
            name = f"{instance.path}{decl.name}"
            type_ = world.type_of(decl.type, instance, name, decl.span)
            world.add(name, type_, default(type_), VariableKind.GHOST, f"ghost {decl.name}")
    for role in instance.protocol.roles:
        for decl in role.states:
            if decl.ghost:
                name = f"{prefix_of(instance, role)}{decl.name}"
                inner = world.type_of(decl.type, instance, name, decl.span)
                type_ = MapT(world.role_type(role.name), inner)
                title = f"ghost {instance.path}{decl.name}"
                world.add(name, type_, default(type_), VariableKind.GHOST, title)


def effect(stmt: typed.Ghost, code: Block, env: Env) -> ir.Emit:
    """Returns the effect that executes ``code``, to which ghost code was lowered."""
    world = env.world
    assert env.self is not None
    name = f"{GHOST}{len(world.ghost_code)}"
    params: tuple[tuple[str, Expr], ...] = ()
    if world.queues:
        code, params = _closure(world, code, env.self)
    types = tuple((param, value.type) for param, value in params)
    made = EffectDef(name, EffectKind.GHOST, (("_self", world.proc), *types), code)
    world.ghost_code.append(made)
    world.effects.setdefault(name, made)
    args = (env.self, *(value for _, value in params))
    return ir.Emit(name, args, world.place(stmt.span))


def _closure(world: World, code: Block, self: Expr) -> tuple[Block, tuple[tuple[str, Expr], ...]]:
    """Returns ``code`` with a parameter for each value that it takes from around it, and these.

    A parameter is a local, a variable or what the process has in one: reading them can't fail.
    """
    bound = {n.name for n in tree.nodes(code) if isinstance(n, BINDERS)}
    values: dict[Expr, str] = {}

    def parameter(value: Expr) -> Expr:
        name = values.setdefault(value, fresh("_seen"))
        return ir.Local(value.type, name)

    def change(node: Any) -> Any:
        match node:
            case ir.Index(_, ir.Read() as whole, key) if key == self and not _is_ghost(whole):
                return parameter(build.entry(whole, self))
            case ir.Read() if not _is_ghost(node):
                return parameter(node)
            case ir.Local(_, name) if name not in bound:
                return parameter(node)
            case _:
                return None

    def _is_ghost(read: ir.Read) -> bool:
        return world.variables[read.variable].kind is VariableKind.GHOST

    made = tuple(tree.rewritten(stmt, change) for stmt in code)
    return made, tuple((name, value) for value, name in values.items())

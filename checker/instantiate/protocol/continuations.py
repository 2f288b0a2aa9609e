"""Models the rest of a handler that has been split: the names that it uses, and its step."""

from __future__ import annotations

from checker.instantiate.protocol.expressions import Env
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.statements import Root
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import VARYING, Instance, Later, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import fresh
from checker.model.ir import Block, Expr, MarkInfo, MarkKind
from checker.model.types import IntT, TupleT, Type
from checker.records import replace

Split = typed.Yield | typed.Await | typed.Call
"""A statement after which the rest of a handler is a separate step."""


def label(instance: Instance, stmt: Split) -> str:
    """Returns the text for the location of ``stmt``."""
    return f"{instance.path}line {stmt.span.line}:{stmt.span.column}"


def used_names(handler: typed.Handler, code: object, env: Env) -> dict[str, typed.Local | None]:
    """Returns the names used in ``code``, the rest of ``handler``, with an occurrence of each.

    If ``code`` contains an ``await``, it also uses the names with which a condition started its
    handler: see :mod:`checker.instantiate.protocol.activities`.
    """
    found: dict[str, typed.Local | None] = {
        n.name: n for n in nodes(code) if isinstance(n, typed.Local) and n.name in env.names
    }
    if any(isinstance(n, typed.Await) for n in nodes(code)):
        for name in begun_with(handler):
            found.setdefault(name, None)
    return found


def begun_with(handler: typed.Handler) -> tuple[str, ...]:
    """Returns the names with which a condition, or a timer with keys, starts its handler; empty for
    other events."""
    match handler.event:
        case typed.OnCondition(free=free):
            return tuple(name for name, _ in free)
        case typed.OnTimeout(key=(name, _)):
            return (name,)
        case _:
            return ()


def kept_type(env: Env, used: dict[str, typed.Local | None], variable: str) -> TupleT:
    """Returns the type of the values of the names ``used``, as they are stored in ``variable``."""
    types = (_type_of(env.world, env, name, local, variable) for name, local in used.items())
    return TupleT(tuple(types))


def _type_of(world: World, env: Env, name: str, local: typed.Local | None, variable: str) -> Type:
    """Returns the type of a stored name: its declared type if that is wider than the type of its
    current value."""
    value = env.names[name]
    now = value.type
    if local is None or (isinstance(value, ir.Local) and value.name.startswith(VARYING)):
        return now
    if isinstance(now, IntT) and isinstance(local.type, typed.Int) and local.type.lo is not None:
        return build.hull(now, world.type_of(local.type, env.instance, f"{variable}.{name}"))
    return now


def kept_values(stmt: Split, used: dict[str, typed.Local | None], type_: TupleT, env: Env) -> Expr:
    """Returns the tuple of the current values of the names ``used``; refuses (C202) values that do
    not fit into ``type_``."""
    values = [env.names[n] for n in used]
    for value, wanted in zip(values, type_.items, strict=True):
        if not _holds(wanted, value.type):
            word = "await" if isinstance(stmt, typed.Await) else "yield"
            message = f"a local can't be preserved across this `{word}`: its type changes"
            raise refuse("C202", message, stmt.span, "store it in a state variable")
    pairs = zip(values, type_.items, strict=True)
    return ir.Apply(type_, ir.Op.TUPLE, tuple(build.coerce(v, t) for v, t in pairs))


def _holds(wanted: Type, found: Type) -> bool:
    if isinstance(wanted, IntT) and isinstance(found, IntT):
        return True
    return build.hull(wanted, found) == wanted


def going_on(world: World, later: Later, names: dict[str, Expr], self: Expr, word: str) -> Block:
    """Returns the step that runs the statements in ``later``, after a statement that begins with
    ``word``; ``names``: the stored values."""
    from checker.instantiate.protocol.dispatch import whole
    from checker.instantiate.protocol.yields import lower_handler

    declared, names = _declare_varying(later, names)
    handler = replace(later.handler, body=later.rest)
    root = Root(world, self)
    inner = lower_handler(handler, later.rest, Env(world, later.instance, self, names), root)
    inner = whole(world, later.instance, handler, inner, root)
    return (*declared, _resume_mark(world, later, names, self, word), *inner)


def _declare_varying(later: Later, names: dict[str, Expr]) -> tuple[Block, dict[str, Expr]]:
    """Declares a local for each of ``names`` that the code in ``later`` assigns, and replaces the
    name by the local."""
    targets = (n.target for n in nodes(later.rest) if isinstance(n, typed.Assign))
    assigned = {n.name for target in targets for n in nodes(target) if isinstance(n, typed.Local)}
    found: list[ir.Stmt] = []
    names = dict(names)
    for name in sorted(assigned & set(names)):
        value = names[name]
        local = ir.Local(value.type, fresh(f"{VARYING}{name}"))
        found.append(ir.Declare(local.name, local.type, value))
        names[name] = local
    return tuple(found), names


def _resume_mark(
    world: World, later: Later, names: dict[str, Expr], self: Expr, word: str
) -> ir.Mark:
    shown = {n: e for n, e in names.items() if not n.startswith("_")}
    text = f"{later.handler.label}, after `{word}`"
    info = MarkInfo(
        MarkKind.HANDLER,
        f"{later.instance.path}{text}",
        ("self", *shown),
        tuple(e.type for e in (self, *shown.values())),
        required=not later.instance.protocol.shipped,
        place=later.place,
        family=f"{later.instance.family}{text}",
    )
    return ir.Mark(world.mark(info), (self, *shown.values()))

"""Resolves families of layers: one instance for each index, and which of them is meant.

Where the index is a `Nat`, there are as many instances as have been needed so far: a call of one
beyond them is a runtime error that enlarges a capacity (see :mod:`checker.session.pipeline`).
"""

from __future__ import annotations

from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.patterns import match_pattern
from checker.instantiate.protocol.stack import family
from checker.instantiate.protocol.statements import CallKey
from checker.instantiate.world import Instance
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import fresh
from checker.model.ir import TRUE, Block, Expr
from checker.model.types import Type


def any_member(stmt: typed.Call, ways: list[tuple[CallKey, Block]], env: Env) -> Block:
    """Selects among ``ways`` (an instance, and what calling it does) by the value of the index."""
    if stmt.index is None or stmt.layer is None:
        ((_, body),) = ways
        return body
    world = env.world
    members = {i.path: i for i in family(world, env.instance, stmt.layer)}
    type_ = _index(next(iter(members.values())))
    which = ir.Local(type_, fresh("_index"))
    chosen: Block = ()
    for (path, _, _), body in reversed(ways):
        index = members[path].index
        assert index is not None
        chosen = (ir.If(build.equal(which, index), body, chosen),)
    return (ir.Declare(which.name, type_, lower(stmt.index, env, type_)), *chosen)


def _index(instance: Instance) -> Type:
    assert instance.index is not None
    return instance.index.type


def match_index(
    pattern: typed.Pattern | None, instance: Instance, env: Env
) -> tuple[Expr, dict[str, Expr]]:
    """Returns when a handler's index pattern matches the indicating ``instance``, and its names."""
    if pattern is None or instance.index is None:
        return TRUE, {}
    return match_pattern(pattern, instance.index, env)

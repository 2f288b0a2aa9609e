"""Compiles patterns to conditions and bindings."""

from __future__ import annotations

from typing import assert_never

from checker.instantiate.protocol.expressions import Env, same
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import conj
from checker.model.ir import TRUE, Expr
from checker.model.types import VariantT


def match_pattern(pattern: typed.Pattern, value: Expr, env: Env) -> tuple[Expr, dict[str, Expr]]:
    """Returns when ``value`` matches, and the bindings of the names in ``pattern``: all of them,
    unless it never matches."""
    match pattern:
        case typed.Bind(_, name):
            return TRUE, {name: value}
        case typed.Ignore():
            return TRUE, {}
        case typed.Equals(_, expected):
            return same(value, expected, env), {}
        case typed.Match(_, message, fields):
            return _constructor(message, fields, value, env)
        case typed.Parts(_, items):
            return match_patterns(
                items, tuple(build.item(value, i) for i in range(len(items))), env
            )
        case _:
            assert_never(pattern)


def match_patterns(
    patterns: tuple[typed.Pattern, ...], values: tuple[Expr, ...], env: Env
) -> tuple[Expr, dict[str, Expr]]:
    """Matches patterns side by side: all must match."""
    conditions: list[Expr] = []
    names: dict[str, Expr] = {}
    for pattern, value in zip(patterns, values, strict=True):
        condition, bound = match_pattern(pattern, value, env.bind_all(names))
        if condition == ir.FALSE:
            return ir.FALSE, {}
        conditions.append(condition)
        names.update(bound)
    return conj(*conditions), names


def _constructor(
    message: str, fields: tuple[typed.Pattern, ...], value: Expr, env: Env
) -> tuple[Expr, dict[str, Expr]]:
    variant = value.type
    assert isinstance(variant, VariantT)
    index, case = next((i, c) for i, c in enumerate(variant.cases) if c.name == message)
    if isinstance(value, ir.Make):
        if value.case != index:
            return ir.FALSE, {}
        return match_patterns(fields, value.args, env)
    parts = tuple(ir.CaseField(t, value, index, i) for i, (_, t) in enumerate(case.fields))
    condition, names = match_patterns(fields, parts, env)
    tag = TRUE if len(variant.cases) == 1 else ir.IsCase(value, index)
    return conj(tag, condition), names

"""Patterns and binders: what matches a pattern, and the values over which a binder ranges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import permutations

from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import TRUE
from checker.parametric.automaton.automaton import Condition
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.extract.numbers import both, either, inverse
from checker.parametric.extract.operations import equal_values
from checker.parametric.extract.values import Scene, condition, evaluate, no_count, truth

MOST_ORDERS = 120
"""Orders at most of a loop over an unordered collection."""


def domain(binder: typed.Binder, scene: Scene) -> tuple[object, ...]:
    """Returns the values over which ``binder`` ranges, in a fixed order."""
    found = evaluate(binder.domain, scene)
    if not isinstance(found, frozenset | tuple):
        raise no_count(binder.domain)
    return tuple(sorted(found, key=repr)) if isinstance(found, frozenset) else found


def match_pattern(
    pattern: typed.Pattern, value: object, scene: Scene
) -> tuple[object, dict[str, object]] | None:
    """Returns when ``value`` matches and what names stand for; ``None``: never."""
    match pattern:
        case typed.Bind(_, name):
            return True, {name: value}
        case typed.Ignore():
            return True, {}
        case typed.Equals(_, wanted):
            same = equal_values(value, evaluate(wanted, scene), wanted.span)
            return None if same is False else (same, {})
        case typed.Parts(_, items) if isinstance(value, tuple):
            return match_patterns(items, value, scene)
        case _:
            raise Leaves("T007", "this pattern can't be counted", None)


def match_patterns(
    patterns: tuple[typed.Pattern, ...], values: tuple[object, ...], scene: Scene
) -> tuple[object, dict[str, object]] | None:
    """Matches patterns side by side: all must match."""
    parts, names = [], dict[str, object]()
    for pattern, value in zip(patterns, values, strict=True):
        one = match_pattern(pattern, value, scene.bound(names))
        if one is None:
            return None
        parts.append(condition(one[0]))
        names.update(one[1])
    return truth(both(*parts)), names


def bindings(binder: typed.Binder, scene: Scene) -> Iterator[tuple[Condition, Scene]]:
    """Yields for each value of ``binder`` the condition under which it is included, and the scene
    inside."""
    for value in domain(binder, scene):
        found = binding(binder, value, scene)
        if found is not None:
            yield found


def binding(binder: typed.Binder, value: object, scene: Scene) -> tuple[Condition, Scene] | None:
    """Returns the condition under which this ``value`` of ``binder`` is included, and the scene
    inside; ``None``: never."""
    found = match_pattern(binder.pattern, value, scene)
    if found is None:
        return None
    inner = scene.bound(found[1])
    where = True if binder.where is None else evaluate(binder.where, inner)
    return None if where is False else (both(condition(found[0]), condition(where)), inner)


def orders(binder: typed.Binder, scene: Scene) -> Iterable[tuple[object, ...]]:
    """Returns the orders in which a loop may traverse the values of ``binder``: sequences and
    numbers have one, for all else it is open."""
    values = domain(binder, scene)
    match binder.domain.type:
        case typed.Seq():
            return (values,)
        case typed.Set(typed.Int()):
            return (tuple(sorted(values)),)  # type: ignore[type-var]
    if math.factorial(len(values)) > MOST_ORDERS:
        message = f"a loop over {len(values)} values, in any order, can't be counted"
        raise Leaves(
            "T006", message, binder.domain.span, "use a loop over a sequence or over numbers"
        )
    return permutations(values)


def evaluate_quantified(expr: typed.Quantified, scene: Scene) -> object:
    def nest(binders: tuple[typed.Binder, ...], scene: Scene) -> Condition:
        if not binders:
            return condition(evaluate(expr.body, scene))
        inner = [(where, nest(binders[1:], s)) for where, s in bindings(binders[0], scene)]
        if expr.kind == "forall":
            return both(*(either(inverse(where), part) for where, part in inner))
        return either(*(both(where, part) for where, part in inner))

    return truth(nest(expr.binders, scene))


def collect_in_order(expr: typed.Comprehension, scene: Scene) -> Iterator[object]:
    """Yields the items of a sequence."""
    (binder,) = expr.binders
    (values,) = orders(binder, scene)
    for value in values:
        found = binding(binder, value, scene)
        if found is not None:
            if found[0] != TRUE:
                raise no_count(expr)
            yield evaluate(expr.item, found[1])


def total(expr: typed.Sum, scene: Scene) -> int:
    """Returns a sum that is the same for every n."""
    found = 0
    for item in collect_items(expr, expr.binders, scene):
        if not isinstance(item, int):
            raise no_count(expr)
        found += item
    return found


def collect_items(
    expr: typed.Comprehension | typed.Sum, binders: tuple[typed.Binder, ...], scene: Scene
) -> Iterator[object]:
    if not binders:
        yield evaluate(expr.item, scene)
        return
    for where, inner in bindings(binders[0], scene):
        if where != TRUE:
            raise no_count(expr)
        yield from collect_items(expr, binders[1:], inner)

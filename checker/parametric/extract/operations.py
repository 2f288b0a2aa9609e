"""Operations on values, on numbers that depend on parameters, and on what was received."""

from __future__ import annotations

import itertools

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import FALSE, TRUE, plus, times
from checker.parametric.automaton.automaton import Condition, Linear
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.extract.numbers import (
    as_linear,
    both,
    comparison,
    either,
    inverse,
    minus,
    plain,
)
from checker.parametric.extract.values import (
    EVERYTHING,
    ME,
    PEER,
    Cases,
    Count,
    Scene,
    Who,
    condition,
    evaluate,
    is_condition,
    no_count,
    truth,
)
from checker.records import replace

# ---- numbers ----------------------------------------------------------------------------------


def ways_of(value: object) -> tuple[tuple[Condition, Linear], ...]:
    if isinstance(value, Cases):
        return value.ways
    assert isinstance(value, int | Linear)
    return ((TRUE, as_linear(value)),)


def _number(ways: tuple[tuple[Condition, Linear], ...]) -> object:
    possible = tuple(way for way in ways if way[0] != FALSE)
    return plain(possible[0][1]) if len(possible) == 1 else Cases(possible)


def _arithmetic(expr: typed.Operation, left: object, right: object, scene: Scene) -> object:
    pairs = itertools.product(ways_of(left), ways_of(right))
    return _number(tuple((both(c, d), _one(expr, a, b, scene)) for (c, a), (d, b) in pairs))


def _one(expr: typed.Operation, left: Linear, right: Linear, scene: Scene) -> Linear:
    hint = "use sums, and products with a number"
    match expr.op:
        case "+":
            return plus(left, right)
        case "-":
            return minus(left, right)
        case "*" if not left.terms:
            return times(right, left.constant)
        case "*" if not right.terms:
            return times(left, right.constant)
        case "div" | "mod" if not right.terms and right.constant > 0:
            if any(name.startswith("#") for name, _ in left.terms):
                message = "a count can't be divided"
                raise Leaves(
                    "T008",
                    message,
                    expr.span,
                    "multiply the other side: `2 * #received(M) > n` for a half",
                )
            quotient = scene.scale.quotient_term(left, right.constant)
            if expr.op == "div":
                return quotient
            return minus(left, times(quotient, right.constant))
        case _:
            raise Leaves("T008", f"this use of `{expr.op}` is not linear", expr.span, hint)


def _compare(expr: typed.Operation, left: object, right: object) -> object:
    pairs = itertools.product(ways_of(left), ways_of(right))
    return truth(either(*(both(c, d, comparison(expr.op, a, b)) for (c, a), (d, b) in pairs)))


def equal_values(left: object, right: object, span: object) -> object:
    """Returns whether two values that are no conditions are equal."""
    match left, right:
        case ((Who() as one), (Who() as other)):
            if {one, other} == {ME, PEER} or one == other == PEER:
                where = span if isinstance(span, Span) else None
                message = "unnamed processes can't be distinguished"
                raise Leaves("T009", message, where, "use a parameter of type `Proc`")
            return one == other
        case ((int() | Linear() | Cases()), (int() | Linear() | Cases())):
            pairs = itertools.product(ways_of(left), ways_of(right))
            same = (both(c, d, comparison("==", a, b)) for (c, a), (d, b) in pairs)
            return truth(either(*same))
        case tuple(), tuple() if len(left) == len(right):
            parts = (condition(equal_values(a, b, span)) for a, b in zip(left, right, strict=True))
            return truth(both(*parts))
        case _:
            return left == right


# ---- operations -------------------------------------------------------------------------------

_COMPARISONS = ("<", "<=", ">", ">=")


def operation(expr: typed.Operation, scene: Scene) -> object:
    op, args = expr.op, expr.args
    match op:
        case "and" | "or":
            return _connective(expr, scene)
        case "=>":
            left = evaluate(args[0], scene)
            if left is False:
                return True
            return truth(either(inverse(condition(left)), condition(evaluate(args[1], scene))))
        case "not":
            return truth(inverse(condition(evaluate(args[0], scene))))
        case "in" | "not in":
            found = truth(condition(_inside(expr, scene)))
            return found if op == "in" else truth(inverse(condition(found)))
        case "size" if isinstance(args[0], typed.Received):
            return plain(scene.scale.count_term(count_of(args[0], None, scene)))
        case "if":
            return _either_way(expr, scene)
        case _:
            pass
    values = [evaluate(arg, scene) for arg in args]
    if op in ("==", "!="):
        same = _same(values[0], values[1], expr)
        return same if op == "==" else truth(inverse(condition(same)))
    if op in _COMPARISONS:
        return _compare(expr, values[0], values[1])
    if op == "neg":
        return _arithmetic(replace(expr, op="-"), 0, values[0], scene)
    if op == "size" and values[0] is EVERYTHING:
        return scene.scale.values["n"]
    if op in ("+", "-", "*", "div", "mod") and isinstance(values[0], int | Linear | Cases):
        return _arithmetic(expr, values[0], values[1], scene)
    return _function(expr, values)


def _connective(expr: typed.Operation, scene: Scene) -> object:
    stop = expr.op == "or"
    parts = []
    for arg in expr.args:
        part = evaluate(arg, scene)
        if part is stop:
            return stop
        parts.append(condition(part))
    return truth(either(*parts) if stop else both(*parts))


def _same(left: object, right: object, expr: typed.Expr) -> object:
    if is_condition(left) or is_condition(right):
        a, b = condition(left), condition(right)
        return truth(either(both(a, b), both(inverse(a), inverse(b))))
    if EVERYTHING in (left, right):
        raise no_count(expr)
    return equal_values(left, right, expr.span)


def _either_way(expr: typed.Operation, scene: Scene) -> object:
    chosen = evaluate(expr.args[0], scene)
    if isinstance(chosen, bool):
        return evaluate(expr.args[1 if chosen else 2], scene)
    then, otherwise = evaluate(expr.args[1], scene), evaluate(expr.args[2], scene)
    yes, no = condition(chosen), inverse(condition(chosen))
    if isinstance(then, bool) or is_condition(then):
        return truth(either(both(yes, condition(then)), both(no, condition(otherwise))))
    if isinstance(then, int | Linear | Cases):
        first = tuple((both(yes, c), a) for c, a in ways_of(then))
        return _number((*first, *((both(no, c), a) for c, a in ways_of(otherwise))))
    message = "a value that depends on received messages can't be stored"
    raise Leaves("T007", message, expr.span, "use an `if` statement")


def _inside(expr: typed.Operation, scene: Scene) -> object:
    item, of = evaluate(expr.args[0], scene), expr.args[1]
    match of:
        case typed.Received():
            if not isinstance(item, Who) or item in (ME, PEER):
                message = "the set of senders can't be used, only its size"
                raise Leaves("T009", message, expr.span, "use `#received(M) >= k`")
            count = scene.scale.count_term(count_of(of, item.name, scene))
            return comparison(">=", count, Linear((), 1))
        case typed.Range(_, lo, hi, _):
            low, high = evaluate(lo, scene), evaluate(hi, scene)
            pairs = itertools.product(ways_of(low), ways_of(item), ways_of(high))
            return either(
                *(
                    both(c, d, e, comparison("<=", a, b), comparison("<=", b, z))
                    for (c, a), (d, b), (e, z) in pairs
                )
            )
        case _:
            pass
    values = evaluate(of, scene)
    if values is EVERYTHING:
        return True
    if not isinstance(values, frozenset | tuple):
        raise no_count(of)
    return either(*(condition(_same(item, value, expr)) for value in values))


def count_of(received: typed.Received, sender: str | None, scene: Scene) -> Count:
    """Returns what a ``received`` counts."""
    if received.owner is not None:
        raise no_count(received)
    return Count(received.message, patterns_of(received.patterns, scene), sender)


def patterns_of(patterns: tuple[typed.Pattern, ...], scene: Scene) -> tuple[object, ...]:
    """Returns patterns with every name in them replaced by its value."""
    return tuple(_pattern(pattern, scene) for pattern in patterns)


def _pattern(pattern: typed.Pattern, scene: Scene) -> object:
    match pattern:
        case typed.Equals(_, value):
            found = evaluate(value, scene)
            if isinstance(found, Linear | Cases) or is_condition(found):
                message = "the counted messages depend on the number of processes"
                raise Leaves(
                    "T007", message, value.span, "use a value that is the same for every n"
                )
            return found
        case typed.Parts(_, items):
            return tuple(_pattern(item, scene) for item in items)
        case _:
            return EVERYTHING


def fits(pattern: object, value: object) -> bool:
    """Returns whether ``value`` matches ``pattern``."""
    if pattern is EVERYTHING:
        return True
    if isinstance(pattern, tuple) and isinstance(value, tuple) and len(pattern) == len(value):
        return all(fits(p, v) for p, v in zip(pattern, value, strict=True))
    return pattern == value


def _function(expr: typed.Operation, values: list[object]) -> object:
    """Evaluates functions of values that depend neither on parameters nor on what was received."""
    span = expr.span
    match expr.op, *values:
        case "some", value:
            return (value,)
        case "is_some", value:
            return value is not None
        case (("get" | "head" | "last" | "tail"), (tuple() as items)) if items:
            of = {"get": items[0], "head": items[0], "last": items[-1], "tail": items[1:]}
            return of[expr.op]
        case "size", (frozenset() | tuple()) as items:
            return len(items)
        case "+", (frozenset() as items), item:
            return items | {item}
        case "-", (frozenset() as items), item:
            return items - {item}
        case "+", (tuple() as items), item:
            return (*items, item)
        case "++", tuple(one), tuple(other):
            return (*one, *other)
        case "union", (frozenset() as one), (frozenset() as other):
            return one | other
        case "intersect", (frozenset() as one), (frozenset() as other):
            return one & other
        case "minus", (frozenset() as one), (frozenset() as other):
            return one - other
        case "subset", (frozenset() as one), (frozenset() as other):
            return one <= other
        case "prefix", tuple(one), tuple(other):
            return one == other[: len(one)]
        case "take", (tuple() as items), int(count) if 0 <= count <= len(items):
            return items[:count]
        case "drop", (tuple() as items), int(count) if 0 <= count <= len(items):
            return items[count:]
        case "slice", (tuple() as items), int(a), int(b) if 0 <= a <= b + 1 <= len(items):
            return items[a : b + 1]
        case "index", (tuple() as items), item if item in items:
            return items.index(item)
        case (("take" | "drop" | "slice" | "index"), *_):
            message = "this part or item of the sequence may not exist"
            raise Leaves("T016", message, span, "test first whether it exists")
        case "sum", (frozenset() | tuple()) as items:
            return sum(i for i in items if isinstance(i, int))
        case (("min" | "max"), (frozenset() | tuple()) as items) if items:
            numbers = sorted(i for i in items if isinstance(i, int))
            return numbers[0 if expr.op == "min" else -1]
        case "count", (tuple() as items), item:
            return items.count(item)
        case (("get" | "head" | "last" | "tail" | "min" | "max"), (None | () | frozenset())):
            raise Leaves(
                "T016", f"`{expr.op}` of an empty operand", span, "test first whether it exists"
            )
        case _:
            raise no_count(expr)

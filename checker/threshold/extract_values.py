"""Expressions of handlers at one process: values, and numbers and conditions over what is received.

A value is a bool, an int (also the index of an enum's label), the name of a payload, ``None`` or a
1-tuple (options), a tuple, a frozenset, or :class:`Who`.  What depends on parameters is a
:class:`Linear` or :class:`Cases`, what depends on what was received a :data:`Condition`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from checker.diagnostics import Span
from checker.lang import typed
from checker.threshold.arithmetic import FALSE, TRUE, plus, times
from checker.threshold.automaton import And, AtLeast, Condition, Linear, Not, Or, Quotient
from checker.threshold.extract_numbers import (
    as_linear,
    both,
    compared,
    either,
    inverse,
    minus,
    named,
    plain,
)
from checker.threshold.fragment import Leaves

LARGEST = 64
"""Values of a type at most."""


@dataclass(frozen=True, slots=True)
class Who:
    """A process: by its name, or ``ME`` or ``PEER`` where it has none."""

    name: str


ME, PEER = Who("self"), Who("another")
OTHERS = ""
"""As the sender of what is counted: processes without a name."""


class Everything:
    """As a pattern: any value.  As a set of processes: all of them."""

    def __repr__(self) -> str:
        return "_"


EVERYTHING = Everything()


@dataclass(frozen=True, slots=True)
class Made:
    """A message of the protocol."""

    message: str
    fields: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Cases:
    """A number that depends on what was received: one of the conditions holds."""

    ways: tuple[tuple[Condition, Linear], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """What is counted: messages whose fields are as in ``patterns``, from ``sender``: anybody
    (``None``), one with a name, or ``OTHERS``."""

    message: str
    patterns: tuple[object, ...]
    sender: str | None = None

    @property
    def name(self) -> str:
        fields = f"({', '.join(shown(p) for p in self.patterns)})" if self.patterns else ""
        start = f"#{self.message}{fields}"
        if self.sender is None:
            return start
        return f"{start} from {self.sender or 'others'}"


def shown(value: object) -> str:
    """``value`` as the spec writes it, as far as it can be told without its type."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case Who(name):
            return name
        case (inner,):
            return f"some({shown(inner)})"
        case tuple():
            return f"({', '.join(shown(v) for v in value)})"
        case frozenset():
            return "{" + ", ".join(sorted(shown(v) for v in value)) + "}"
        case _:
            return str(value)


@dataclass
class Scale:
    """What is fixed for all runs: parameters (numbers and processes), payloads, names of
    processes, quotients met so far, what is counted so far."""

    values: dict[str, object] = field(default_factory=dict)
    payloads: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    quotients: dict[str, Quotient] = field(default_factory=dict)
    counts: dict[str, Count] = field(default_factory=dict)

    def counted(self, count: Count) -> Linear:
        self.counts.setdefault(count.name, count)
        return named(count.name)

    def divided(self, value: Linear, divisor: int) -> Linear:
        if not value.terms:
            return Linear((), value.constant // divisor)
        name = f"({written(value)}) div {divisor}"
        self.quotients.setdefault(name, Quotient(name, value, divisor))
        return named(name)


def written(value: Linear) -> str:
    """``value`` as text."""
    parts = [name if c == 1 else f"{c} * {name}" for name, c in value.terms]
    if value.constant or not parts:
        parts.append(str(value.constant))
    return " + ".join(parts).replace("+ -", "- ")


@dataclass(frozen=True)
class Scene:
    """Where an expression stands: who ``self`` is, its variables, the names that are bound.

    ``read``: what only properties may ask, such as the variables of others.
    """

    scale: Scale
    self: Who | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, object] = field(default_factory=dict)
    read: Callable[[typed.Expr, Scene], object] | None = None

    def bound(self, names: Mapping[str, object]) -> Scene:
        return replace(self, names={**self.names, **names})


def is_condition(value: object) -> bool:
    return isinstance(value, AtLeast | Not | And | Or)


def condition(value: object) -> Condition:
    """A truth value as a condition."""
    if isinstance(value, AtLeast | Not | And | Or):
        return value
    return TRUE if value is True else FALSE


def truth(found: Condition) -> object:
    """A condition as ``True`` or ``False`` where it is one of them."""
    return True if found == TRUE else False if found == FALSE else found


def members(type_: typed.Type, scene: Scene, span: object = None) -> tuple[object, ...]:
    """All values of ``type_``; raises :class:`Leaves` (T005) where they are not fixed."""
    found = tuple(itertools.islice(_members(type_, scene), LARGEST + 1))
    if len(found) > LARGEST:
        where = span if isinstance(span, Span) else None
        raise Leaves("T005", f"more than {LARGEST} values to try", where, "a smaller type")
    return found


def _members(type_: typed.Type, scene: Scene) -> Iterator[object]:
    match type_:
        case typed.Bool():
            yield from (False, True)
        case typed.Int(lo, hi) if hi is not None:
            yield from range(*_ends(lo, hi, scene))
        case typed.Enum(_, labels):
            yield from range(len(labels))
        case typed.Msg():
            yield from scene.scale.payloads
        case typed.Proc():
            yield from (Who(name) for name in scene.scale.named)
        case typed.Option(item):
            yield None
            yield from ((value,) for value in _members(item, scene))
        case typed.Tuple(items):
            yield from itertools.product(*(tuple(_members(t, scene)) for t in items))
        case typed.Set(item):
            inner = members(item, scene)
            sizes = range(len(inner) + 1)
            yield from (frozenset(c) for size in sizes for c in itertools.combinations(inner, size))
        case _:
            raise Leaves("T005", "values of this type can't all be tried", None)


def _ends(lo: typed.Expr | None, hi: typed.Expr, scene: Scene) -> tuple[int, int]:
    low = 0 if lo is None else evaluate(lo, scene)
    high = evaluate(hi, scene)
    if not isinstance(low, int) or not isinstance(high, int):
        message = "this range depends on the number of processes"
        raise Leaves("T005", message, hi.span, "a range with numbers at both ends")
    return low, high + 1


def evaluate(expr: typed.Expr, scene: Scene) -> object:
    """The value of ``expr``; raises :class:`Leaves`."""
    match expr:
        case typed.Literal(_, value, _):
            return value
        case typed.Nothing():
            return None
        case typed.Local(_, name, _):
            return scene.names[name]
        case typed.Param(_, name, span):
            if name not in scene.scale.values:
                hint = f"`{name} = …`, or name it in `for all`"
                raise Leaves("T015", f"the check gives no value to `{name}`", span, hint)
            return scene.scale.values[name]
        case typed.Self():
            assert scene.self is not None
            return scene.self
        case typed.Named(type_, name, _):
            return name if isinstance(type_, typed.Msg) else Who(name)
        case typed.StateRef(_, name, role, owner, span):
            if owner is not None and scene.read is not None:
                return scene.read(expr, scene)
            if role is None or owner is not None or name not in scene.values:
                raise Leaves("T007", f"`{name}` is not the process's own", span)
            return scene.values[name]
        case typed.Processes():
            return EVERYTHING
        case typed.All(_, item, span):
            return frozenset(members(item, scene, span))
        case typed.Range(_, lo, hi, _):
            return frozenset(range(*_ends(lo, hi, scene)))
        case typed.Construct(_, message, args, _):
            return Made(message, tuple(evaluate(arg, scene) for arg in args))
        case typed.Display(type_, items, _):
            parts = tuple(evaluate(item, scene) for item in items)
            return frozenset(parts) if isinstance(type_, typed.Set) else parts
        case typed.Part(_, base, position, _):
            whole = evaluate(base, scene)
            assert isinstance(whole, tuple)
            return whole[position]
        case typed.Operation():
            return _operation(expr, scene)
        case typed.Quantified():
            return _quantified(expr, scene)
        case typed.Comprehension():
            return frozenset(_collected(expr, expr.binders, scene))
        case _:
            if scene.read is not None:
                return scene.read(expr, scene)
            raise _no_count(expr)


def _no_count(expr: typed.Expr) -> Leaves:
    message = "what this says of other processes can't be counted"
    return Leaves("T007", message, expr.span, "`#received(M) >= k`, with a linear term for k")


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
    hint = "sums, and products with a number"
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
                message = "a count can't be divided: multiply the other side"
                raise Leaves("T008", message, expr.span, "`2 * #received(M) > n` for a half")
            quotient = scene.scale.divided(left, right.constant)
            if expr.op == "div":
                return quotient
            return minus(left, times(quotient, right.constant))
        case _:
            raise Leaves("T008", f"this use of `{expr.op}` is not linear", expr.span, hint)


def _compared(expr: typed.Operation, left: object, right: object) -> object:
    pairs = itertools.product(ways_of(left), ways_of(right))
    return truth(either(*(both(c, d, compared(expr.op, a, b)) for (c, a), (d, b) in pairs)))


def alike(left: object, right: object, span: object) -> object:
    """Whether two values that are no conditions are the same."""
    match left, right:
        case ((Who() as one), (Who() as other)):
            if {one, other} == {ME, PEER} or one == other == PEER:
                where = span if isinstance(span, Span) else None
                message = "which of the processes without a name it is can't be told"
                raise Leaves("T009", message, where, "a parameter of type `Proc`")
            return one == other
        case ((int() | Linear() | Cases()), (int() | Linear() | Cases())):
            pairs = itertools.product(ways_of(left), ways_of(right))
            same = (both(c, d, compared("==", a, b)) for (c, a), (d, b) in pairs)
            return truth(either(*same))
        case tuple(), tuple() if len(left) == len(right):
            parts = (condition(alike(a, b, span)) for a, b in zip(left, right, strict=True))
            return truth(both(*parts))
        case _:
            return left == right


# ---- operations -------------------------------------------------------------------------------

_COMPARISONS = ("<", "<=", ">", ">=")


def _operation(expr: typed.Operation, scene: Scene) -> object:
    op, args = expr.op, expr.args
    match op:
        case "and" | "or":
            return _joined(expr, scene)
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
            return plain(scene.scale.counted(count_of(args[0], None, scene)))
        case "if":
            return _either_way(expr, scene)
        case _:
            pass
    values = [evaluate(arg, scene) for arg in args]
    if op in ("==", "!="):
        same = _same(values[0], values[1], expr)
        return same if op == "==" else truth(inverse(condition(same)))
    if op in _COMPARISONS:
        return _compared(expr, values[0], values[1])
    if op == "neg":
        return _arithmetic(replace(expr, op="-"), 0, values[0], scene)
    if op == "size" and values[0] is EVERYTHING:
        return scene.scale.values["n"]
    if op in ("+", "-", "*", "div", "mod") and isinstance(values[0], int | Linear | Cases):
        return _arithmetic(expr, values[0], values[1], scene)
    return _function(expr, values)


def _joined(expr: typed.Operation, scene: Scene) -> object:
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
        raise _no_count(expr)
    return alike(left, right, expr.span)


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
    message = "a value that depends on what was received can't be kept"
    raise Leaves("T007", message, expr.span, "`if` as a statement")


def _inside(expr: typed.Operation, scene: Scene) -> object:
    item, of = evaluate(expr.args[0], scene), expr.args[1]
    match of:
        case typed.Received():
            if not isinstance(item, Who) or item in (ME, PEER):
                message = "which processes it has received this from can't be asked"
                raise Leaves("T009", message, expr.span, "`#received(M) >= k`")
            count = scene.scale.counted(count_of(of, item.name, scene))
            return compared(">=", count, Linear((), 1))
        case typed.Range(_, lo, hi, _):
            low, high = evaluate(lo, scene), evaluate(hi, scene)
            pairs = itertools.product(ways_of(low), ways_of(item), ways_of(high))
            return either(
                *(
                    both(c, d, e, compared("<=", a, b), compared("<=", b, z))
                    for (c, a), (d, b), (e, z) in pairs
                )
            )
        case _:
            pass
    values = evaluate(of, scene)
    if values is EVERYTHING:
        return True
    if not isinstance(values, frozenset | tuple):
        raise _no_count(of)
    return either(*(condition(_same(item, value, expr)) for value in values))


def count_of(received: typed.Received, sender: str | None, scene: Scene) -> Count:
    """What a ``received`` counts."""
    if received.owner is not None:
        raise _no_count(received)
    return Count(received.message, patterns_of(received.patterns, scene), sender)


def patterns_of(patterns: tuple[typed.Pattern, ...], scene: Scene) -> tuple[object, ...]:
    """Patterns with every name in them replaced by what it stands for."""
    return tuple(_pattern(pattern, scene) for pattern in patterns)


def _pattern(pattern: typed.Pattern, scene: Scene) -> object:
    match pattern:
        case typed.Equals(_, value):
            found = evaluate(value, scene)
            if isinstance(found, Linear | Cases) or is_condition(found):
                message = "which messages are counted depends on the number of processes"
                raise Leaves("T007", message, value.span, "a value that is the same for every n")
            return found
        case typed.Parts(_, items):
            return tuple(_pattern(item, scene) for item in items)
        case _:
            return EVERYTHING


def fits(pattern: object, value: object) -> bool:
    """Whether ``value`` matches ``pattern``."""
    if pattern is EVERYTHING:
        return True
    if isinstance(pattern, tuple) and isinstance(value, tuple) and len(pattern) == len(value):
        return all(fits(p, v) for p, v in zip(pattern, value, strict=True))
    return pattern == value


def _function(expr: typed.Operation, values: list[object]) -> object:
    """Functions of values that do not depend on parameters or on what was received."""
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
        case (("min" | "max"), (frozenset() as items)) if items:
            numbers = sorted(i for i in items if isinstance(i, int))
            return numbers[0 if expr.op == "min" else -1]
        case "count", (tuple() as items), item:
            return items.count(item)
        case (("get" | "head" | "last" | "tail" | "min" | "max"), (None | () | frozenset())):
            raise Leaves("T016", f"`{expr.op}` of nothing", span, "ask first whether it is there")
        case _:
            raise _no_count(expr)


# ---- what is said of all values of something --------------------------------------------------


def domain(binder: typed.Binder, scene: Scene) -> tuple[object, ...]:
    """The values that ``binder`` goes through, in a fixed order."""
    found = evaluate(binder.domain, scene)
    if not isinstance(found, frozenset | tuple):
        raise _no_count(binder.domain)
    return tuple(sorted(found, key=repr)) if isinstance(found, frozenset) else found


def matched(
    pattern: typed.Pattern, value: object, scene: Scene
) -> tuple[object, dict[str, object]] | None:
    """When ``value`` matches and what names stand for; ``None``: never."""
    match pattern:
        case typed.Bind(_, name):
            return True, {name: value}
        case typed.Ignore():
            return True, {}
        case typed.Equals(_, wanted):
            same = alike(value, evaluate(wanted, scene), wanted.span)
            return None if same is False else (same, {})
        case typed.Parts(_, items):
            assert isinstance(value, tuple)
            return matched_all(items, value, scene)
        case _:
            raise Leaves("T007", "this pattern can't be counted", None)


def matched_all(
    patterns: tuple[typed.Pattern, ...], values: tuple[object, ...], scene: Scene
) -> tuple[object, dict[str, object]] | None:
    """Patterns side by side: all must match."""
    parts, names = [], dict[str, object]()
    for pattern, value in zip(patterns, values, strict=True):
        one = matched(pattern, value, scene.bound(names))
        if one is None:
            return None
        parts.append(condition(one[0]))
        names.update(one[1])
    return truth(both(*parts)), names


def bindings(binder: typed.Binder, scene: Scene) -> Iterator[tuple[Condition, Scene]]:
    """For each value of ``binder`` when it counts, and the scene inside."""
    for value in domain(binder, scene):
        found = matched(binder.pattern, value, scene)
        if found is None:
            continue
        inner = scene.bound(found[1])
        where = True if binder.where is None else evaluate(binder.where, inner)
        if where is not False:
            yield both(condition(found[0]), condition(where)), inner


def _quantified(expr: typed.Quantified, scene: Scene) -> object:
    def nest(binders: tuple[typed.Binder, ...], scene: Scene) -> Condition:
        if not binders:
            return condition(evaluate(expr.body, scene))
        inner = [(where, nest(binders[1:], s)) for where, s in bindings(binders[0], scene)]
        if expr.kind == "forall":
            return both(*(either(inverse(where), part) for where, part in inner))
        return either(*(both(where, part) for where, part in inner))

    return truth(nest(expr.binders, scene))


def _collected(
    expr: typed.Comprehension, binders: tuple[typed.Binder, ...], scene: Scene
) -> Iterator[object]:
    if not binders:
        yield evaluate(expr.item, scene)
        return
    for where, inner in bindings(binders[0], scene):
        if where != TRUE:
            raise _no_count(expr)
        yield from _collected(expr, binders[1:], inner)

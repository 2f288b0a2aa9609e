"""Expressions of handlers at one process: values, and numbers and conditions over what is received.

A value is a bool, an int (also the index of an enum's label), the name of a payload, ``None`` or a
1-tuple (options), a tuple, a frozenset, or :class:`Who`.  What depends on parameters is a
:class:`Linear` or :class:`Cases`, what depends on what was received a :data:`Condition`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.parametric.automaton.arithmetic import FALSE, TRUE
from checker.parametric.automaton.automaton import (
    And,
    AtLeast,
    Condition,
    Linear,
    Not,
    Or,
    Quotient,
)
from checker.parametric.automaton.fragment import Leaves
from checker.parametric.extract.numbers import term
from checker.records import replace

LARGEST = 64
"""Values of a type at most."""


class Who(Struct, frozen=True):
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


class Made(Struct, frozen=True):
    """A message of the protocol."""

    message: str
    fields: tuple[object, ...]


class Cases(Struct, frozen=True):
    """A number that depends on what was received: one of the conditions holds."""

    ways: tuple[tuple[Condition, Linear], ...]


class Count(Struct, frozen=True):
    """A count: messages whose fields match ``patterns``, from ``sender``: any process (``None``),
    one with a name, or ``OTHERS``."""

    message: str
    patterns: tuple[object, ...]
    sender: str | None = None

    @property
    def name(self) -> str:
        fields = f"({', '.join(value_text(p) for p in self.patterns)})" if self.patterns else ""
        start = f"#{self.message}{fields}"
        if self.sender is None:
            return start
        return f"{start} from {self.sender or 'others'}"


def value_text(value: object) -> str:
    """Returns ``value`` as the spec writes it, as far as that is possible without its type."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case Who(name):
            return name
        case (inner,):
            return f"some({value_text(inner)})"
        case tuple():
            return f"({', '.join(value_text(v) for v in value)})"
        case frozenset():
            return "{" + ", ".join(sorted(value_text(v) for v in value)) + "}"
        case _:
            return str(value)


class Scale(Struct):
    """What is the same in all executions: parameters (numbers and processes), payloads, names of
    processes, and the quotients and counts met so far."""

    values: dict[str, object] = field(default_factory=dict)
    payloads: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    quotients: dict[str, Quotient] = field(default_factory=dict)
    counts: dict[str, Count] = field(default_factory=dict)

    def count_term(self, count: Count) -> Linear:
        self.counts.setdefault(count.name, count)
        return term(count.name)

    def quotient_term(self, value: Linear, divisor: int) -> Linear:
        if not value.terms:
            return Linear((), value.constant // divisor)
        name = f"({linear_text(value)}) div {divisor}"
        self.quotients.setdefault(name, Quotient(name, value, divisor))
        return term(name)


def linear_text(value: Linear) -> str:
    """Returns ``value`` as text."""
    parts = [name if c == 1 else f"{c} * {name}" for name, c in value.terms]
    if value.constant or not parts:
        parts.append(str(value.constant))
    return " + ".join(parts).replace("+ -", "- ")


class Scene(Struct, frozen=True):
    """The scope of an expression: who ``self`` is, its variables, the names that are bound.

    ``read``: reads what is visible to properties only, such as the variables of others.
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
    """Returns a truth value as a condition."""
    if isinstance(value, AtLeast | Not | And | Or):
        return value
    return TRUE if value is True else FALSE


def truth(found: Condition) -> object:
    """Returns a condition as ``True`` or ``False`` where it is one of them."""
    return True if found == TRUE else False if found == FALSE else found


def members(type_: typed.Type, scene: Scene, span: object = None) -> tuple[object, ...]:
    """Returns all values of ``type_``; raises :class:`Leaves` (T005) where they are not fixed."""
    found = tuple(itertools.islice(_members(type_, scene), LARGEST + 1))
    if len(found) > LARGEST:
        where = span if isinstance(span, Span) else None
        raise Leaves("T005", f"more than {LARGEST} values", where, "use a smaller type")
    return found


def _members(type_: typed.Type, scene: Scene) -> Iterator[object]:
    match type_:
        case typed.Bool():
            yield from (False, True)
        case typed.Int(lo, hi) if hi is not None:
            yield from range(*ends(lo, hi, scene))
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
            raise Leaves("T005", "values of this type can't be enumerated", None)


def outside_range(type_: typed.Type, value: object, scene: Scene) -> object:
    """Returns a number in ``value``, or a sequence, that ``type_`` does not admit, or ``None``."""
    match type_, value:
        case typed.Int(None, None), _:
            return None
        case typed.Int(), Cases(ways):
            found = (outside_range(type_, number, scene) for _, number in ways)
        case typed.Int(_, hi), Linear(terms, constant) if terms:
            grows = constant >= 0 and all(factor >= 0 for _, factor in terms)
            return None if grows and hi is None else linear_text(value)
        case typed.Int(lo, hi), Linear() | int():
            number = value.constant if isinstance(value, Linear) else value
            first, last = ends(lo, hi, scene) if hi is not None else (0, number + 1)
            return None if first <= number < last else number
        case typed.Option(item), (one,):
            return outside_range(item, one, scene)
        case typed.Tuple(items), tuple(parts):
            found = (outside_range(t, p, scene) for t, p in zip(items, parts, strict=True))
        case typed.Seq(item), tuple(parts):
            found = (outside_range(item, part, scene) for part in parts)
        case typed.Set(item), frozenset(parts):
            found = (outside_range(item, part, scene) for part in parts)
        case _:
            return None
    return next((number for number in found if number is not None), None)


def ends(lo: typed.Expr | None, hi: typed.Expr, scene: Scene) -> tuple[int, int]:
    low = 0 if lo is None else evaluate(lo, scene)
    high = evaluate(hi, scene)
    if not isinstance(low, int) or not isinstance(high, int):
        message = "this range depends on the number of processes"
        raise Leaves("T005", message, hi.span, "use a range with numbers at both ends")
    return low, high + 1


def evaluate(expr: typed.Expr, scene: Scene) -> object:
    """Returns the value of ``expr``; raises :class:`Leaves`."""
    from checker.parametric.extract.binders import (
        collect_in_order,
        collect_items,
        evaluate_quantified,
        total,
    )
    from checker.parametric.extract.operations import operation

    match expr:
        case typed.Literal(_, value, _):
            return value
        case typed.Nothing():
            return None
        case typed.Local(_, name, _):
            return scene.names[name]
        case typed.Param():
            return _parameter(expr, scene)
        case typed.Self():
            assert scene.self is not None
            return scene.self
        case typed.Named(type_, name, _):
            return name if isinstance(type_, typed.Msg) else Who(name)
        case typed.StateRef():
            return _state(expr, scene)
        case typed.Processes():
            return EVERYTHING
        case typed.All(_, item, span):
            return frozenset(members(item, scene, span))
        case typed.Range(_, lo, hi, _):
            return frozenset(range(*ends(lo, hi, scene)))
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
            return operation(expr, scene)
        case typed.Quantified():
            return evaluate_quantified(expr, scene)
        case typed.Comprehension(typed.Seq()):
            return tuple(collect_in_order(expr, scene))
        case typed.Sum():
            return total(expr, scene)
        case typed.Comprehension():
            return frozenset(collect_items(expr, expr.binders, scene))
        case typed.Again(definition=definition):
            message = (
                f"`{definition.name}` calls itself, and recursion is expanded only for known sizes"
            )
            raise Leaves("T007", message, expr.span.caller, "count without it")
        case _:
            if scene.read is not None:
                return scene.read(expr, scene)
            raise no_count(expr)


def _parameter(expr: typed.Param, scene: Scene) -> object:
    if expr.name not in scene.scale.values:
        hint = f"add `{expr.name} = …`, or name it in `for all`"
        raise Leaves("T015", f"the check gives no value to `{expr.name}`", expr.span, hint)
    return scene.scale.values[expr.name]


def _state(expr: typed.StateRef, scene: Scene) -> object:
    if expr.owner is not None and scene.read is not None:
        return scene.read(expr, scene)
    if expr.role is None or expr.owner is not None or expr.name not in scene.values:
        raise Leaves("T007", f"`{expr.name}` is not the process's own", expr.span)
    return scene.values[expr.name]


def no_count(expr: typed.Expr) -> Leaves:
    message = "this condition on other processes can't be counted"
    return Leaves("T007", message, expr.span, "use `#received(M) >= k`, with a linear term for k")

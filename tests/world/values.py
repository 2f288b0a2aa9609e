"""What a typed expression of the language is worth at a place: the language page once more.

Values are those of :mod:`tests.world.sorts`, but a record is the tuple of its fields, and a label
of an enumeration is a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from itertools import product
from typing import Any

from checker.language.syntax import typed
from tests.world import spec as s
from tests.world.running import HISTORIES, subsets
from tests.world.sorts import Sort, in_order, option_of, order, set_of, with_one, without_one
from tests.world.system import TOP


class Unsupported(Exception):
    """The second definition has no word for this."""


Value = Callable[[Any], Any]


def walked(node: object) -> Iterator[Any]:
    """``node`` and all nodes in it."""
    if isinstance(node, tuple):
        for each in node:
            yield from walked(each)
    elif hasattr(node, "__struct_fields__"):
        yield node
        for name in node.__struct_fields__:
            yield from walked(getattr(node, name))


class Expressions:
    """Reads types, patterns and expressions; ``sizes``: the values of parameters."""

    def __init__(self, sizes: Mapping[str, Any]) -> None:
        self.sizes = sizes

    # -- types ----------------------------------------------------------------------------------

    def sort(self, type_: typed.Type) -> Sort:
        """``type_`` with its values; they are listed only where somebody asks for them."""
        told = self.told(type_)
        match type_:
            case typed.Bool():
                return Sort(told, lambda basic: (False, True))
            case typed.Int(lo, hi) if lo is not None and hi is not None:
                return Sort(told, lambda basic: tuple(range(self.size(lo), self.size(hi) + 1)))
            case typed.Enum(_, labels):
                return Sort(told, lambda basic: labels)
            case typed.Proc():
                return Sort(told, lambda basic: basic("Proc"))
            case typed.Msg():
                return Sort(told, lambda basic: basic("Msg"))
            case typed.Tuple(items):
                sorts = [self.sort(item) for item in items]
                return Sort(told, lambda basic: tuple(product(*(x.values(basic) for x in sorts))))
            case typed.Option(item):
                return option_of(self.sort(item))
            case typed.Set(item):
                return set_of(self.sort(item))
            case typed.Map(key, item):
                return self._maps(told, self.sort(key), self.sort(item))

        def unlisted(basic: Any) -> tuple[Any, ...]:
            raise Unsupported(f"all values of a {type(type_).__name__}")

        return Sort(told, unlisted)

    def _maps(self, told: str, key: Sort, item: Sort) -> Sort:
        def values(basic: Any) -> tuple[Any, ...]:
            keys = sorted(key.values(basic), key=order)
            some = product(item.values(basic), repeat=len(keys))
            return tuple(tuple(zip(keys, each, strict=True)) for each in some)

        return Sort(told, values)

    def default(self, type_: typed.Type) -> Value:
        """What a variable starts with that is given no value."""
        match type_:
            case typed.Bool():
                return lambda at: False
            case typed.Int(lo):
                first = 0 if lo is None else self.size(lo)
                return lambda at: first
            case typed.Enum(_, labels):
                return lambda at: labels[0]
            case typed.Option() | typed.Seq() | typed.Bag():
                return lambda at: ()
            case typed.Set():
                return lambda at: frozenset()
            case typed.Tuple(items):
                parts = [self.default(item) for item in items]
                return lambda at: tuple(part(at) for part in parts)
            case typed.Map(key, item):
                return self._map(key, self.default(item))
            case _:
                return lambda at: self.all_of(at, type_)[0]

    def all_of(self, at: Any, type_: typed.Type) -> tuple[Any, ...]:
        found: tuple[Any, ...] = at.model.domain(self.sort(type_), getattr(at, "path", TOP))
        return found

    def _map(self, key: typed.Type, item: Value, name: str = "") -> Value:
        def value(at: Any) -> tuple[Any, ...]:
            keys = sorted(self.all_of(at, key), key=order)
            return tuple((k, item(named(at, {name: k}) if name else at)) for k in keys)

        return value

    def size(self, expr: typed.Expr | None, default: int = 0) -> Any:
        """What does not depend on any state."""
        try:
            return default if expr is None else self.value(expr)(None)
        except AttributeError:
            raise Unsupported("a size that depends on a state") from None

    # -- patterns -------------------------------------------------------------------------------

    def pattern(self, pattern: typed.Pattern) -> s.Pattern:
        match pattern:
            case typed.Bind(_, name):
                return s.Bind(name)
            case typed.Ignore():
                return s.Bind("_")
            case typed.Equals(_, value):
                return self.expr(value)
            case typed.Match(_, message, fields):
                return s.Shape(message, tuple(map(self.pattern, fields)))
            case typed.Parts(_, items):
                return s.Parts(tuple(map(self.pattern, items)))

    def fits(self, pattern: typed.Pattern, value: Any, at: Any) -> bool:
        """Whether ``value`` fits; new names are bound in ``at``, which is nobody else's."""
        match pattern:
            case typed.Bind(_, name):
                at.names[name] = value
                return True
            case typed.Ignore():
                return True
            case typed.Equals(_, wanted):
                return bool(self.value(wanted)(at) == value)
            case typed.Match(_, message, fields):
                parts = zip(fields, value[1:], strict=True) if value[0] == message else None
                return parts is not None and all(self.fits(f, v, at) for f, v in parts)
            case typed.Parts(_, items):
                return all(self.fits(i, v, at) for i, v in zip(items, value, strict=True))

    def bound(self, binders: tuple[typed.Binder, ...], at: Any) -> Iterator[Any]:
        """``at`` with every value of the names of ``binders``."""
        if not binders:
            yield at
            return
        first, *others = binders
        for member in listed(self.value(first.domain)(at)):
            inner = named(at, {})
            if self.fits(first.pattern, member, inner) and (
                first.where is None or self.value(first.where)(inner)
            ):
                yield from self.bound(tuple(others), inner)

    # -- expressions ----------------------------------------------------------------------------

    def expr(self, expr: typed.Expr) -> s.Expr:
        return s.Expr(self.told(expr), self.value(expr))

    def told(self, node: object) -> str:
        """A text that is the same for nodes that mean the same; ``received(KIND`` is in it."""
        if isinstance(node, typed.Received):
            return f"received({node.message}({self.told((node.patterns, node.owner))}))"
        if isinstance(node, tuple):
            return f"[{', '.join(map(self.told, node))}]"
        if isinstance(node, typed.Recursive):
            return node.name
        if hasattr(node, "__struct_fields__"):
            names = [n for n in node.__struct_fields__ if n not in ("span", "type")]
            inside = ", ".join(self.told(getattr(node, n)) for n in names)
            return f"{type(node).__name__} ({inside})"
        return str(node)

    def value(self, e: typed.Expr) -> Value:
        """What ``e`` is worth, as a function of the place."""
        match e:
            case typed.Literal(typed.Enum(_, labels), value):
                word = labels[value]
                return lambda at: word
            case typed.Literal(_, literal):
                return lambda at: literal
            case typed.Nothing():
                return lambda at: ()
            case typed.Local(_, name):
                return lambda at: at.names[name]
            case typed.Param(_, name):
                if name not in self.sizes:
                    raise Unsupported(f"the parameter {name}")
                given = self.sizes[name]
                return lambda at: given
            case typed.Self():
                return lambda at: at.me
            case typed.Named(_, name):
                return lambda at: name
            case typed.Processes(_, None):
                return lambda at: frozenset(at.model.processes)
            case typed.Processes(_, role):
                return lambda at: frozenset(at.model.roles[role])
            case typed.All(_, item):
                return lambda at: frozenset(self.all_of(at, item))
            case typed.Range(_, lo, hi):
                first, last = self.value(lo), self.value(hi)
                return lambda at: frozenset(range(first(at), last(at) + 1))
            case typed.Operation():
                return self.operation(e)
            case typed.Again(_, definition, arguments, None):
                return self._again(definition, arguments)
            case typed.Fill(typed.Map(key), value):
                return self._map(key, self.value(value))
            case typed.MapDisplay(typed.Map(key), name, value):
                return self._map(key, self.value(value), name)
            case _:
                return self.made(e)

    def made(self, e: typed.Expr) -> Value:
        """What is made of other values, or taken from them."""
        match e:
            case typed.Part(_, base, position):
                whole = self.value(base)
                return lambda at: whole(at)[position]
            case typed.Entry(_, base, key):
                return self._entry(base, self.whole(base), self.value(key))
            case typed.Construct(_, message, arguments):
                parts = [self.value(a) for a in arguments]
                return lambda at: (message, *(part(at) for part in parts))
            case typed.Display(type_, items):
                parts, put = [self.value(item) for item in items], _collected(type_)
                return lambda at: put(part(at) for part in parts)
            case typed.Quantified(_, kind, binders, body):
                word, inside = all if kind == "forall" else any, self.value(body)
                return lambda at: word(inside(each) for each in self.bound(binders, at))
            case typed.Comprehension(type_, item, binders):
                inside, put = self.value(item), _collected(type_)
                return lambda at: put(inside(each) for each in self.bound(binders, at))
            case typed.Sum(_, item, binders):
                inside = self.value(item)
                return lambda at: sum(inside(each) for each in self.bound(binders, at))
            case _:
                return self.observed(e)

    def observed(self, e: typed.Expr) -> Value:
        """What a state says."""
        match e:
            case typed.StateRef(_, _, typed.CLOCKS, None):
                return s.NOW.value
            case typed.StateRef(_, _, typed.CLOCKS, owner) if owner is not None:
                whose = self.value(owner)
                return lambda at: state_of(at)["clock", whose(at)]
            case typed.StateRef(_, name, role, owner):
                whose = (lambda at: getattr(at, "me", "")) if owner is None else self.value(owner)

                def read(at: Any) -> Any:
                    path = getattr(at, "path", TOP)
                    p = "" if role is None else whose(at)
                    return state_of(at)[at.model.key(path, name, p)]

                return read
            case typed.Received(_, message, patterns, owner):
                whose = (lambda at: at.me) if owner is None else self.value(owner)

                def senders(at: Any) -> frozenset[str]:
                    path = getattr(at, "path", TOP)
                    return frozenset(
                        sender
                        for where, (kind, *parts), sender in state_of(at)["received", whose(at)]
                        if (where, kind) == (path, message)
                        and all(map(self.fits, patterns, parts, [named(at, {})] * len(parts)))
                    )

                return senders
            case typed.History() | typed.HistoryOrder() | typed.Repeated():
                return self._history(e)
            case typed.Correct(_, "crashed", process):
                whose = self.value(process)
                return lambda at: whose(at) in state_of(at)["down"]
            case typed.Correct(_, "faulty", process):
                whose = self.value(process)
                bad = ("down", "byzantine", "omitted")
                return lambda at: any(whose(at) in state_of(at)[word] for word in bad)
            case typed.Acts(_, kind):
                return lambda at: at.acts(kind)
            case typed.RepeatedAct(_, kind, item):
                act = self.value(item)
                return lambda at: at.acts(kind).count(act(at)) > 1
            case typed.Opinion(_, _, owner):
                whose = self.value(owner)
                return lambda at: state_of(at)["told", whose(at)]
            case typed.Correct():
                raise Unsupported("correct(p) that is no premise")
            case _:
                raise Unsupported(f"an expression: {type(e).__name__}")

    def _again(self, definition: typed.Recursive, arguments: tuple[typed.Expr, ...]) -> Value:
        given = [self.value(a) for a in arguments]

        def value(at: Any) -> Any:
            assert definition.body is not None
            names = {n: v(at) for (n, _), v in zip(definition.params, given, strict=True)}
            return self.value(definition.body)(named(at, names))

        return value

    def _history(self, e: Any) -> Value:
        word, whose = history_word(e.kind, e.op), self.value(e.owner)
        if isinstance(e, typed.Repeated):
            item = self.value(e.item)
            return lambda at: at.history(word, whose(at)).count(item(at)) > 1
        if isinstance(e, typed.HistoryOrder):
            first, second = self.value(e.first), self.value(e.second)

            def before(at: Any) -> bool:
                told, x, y = at.history(word, whose(at)), first(at), second(at)
                return x in told and y in told and told.index(x) < told.index(y)

            return before
        return lambda at: at.history(word, whose(at))

    def _entry(self, base: typed.Expr, whole: Value, key: Value) -> Value:
        if isinstance(base.type, typed.Map):
            return lambda at: dict(whole(at))[key(at)]

        def item(at: Any) -> Any:
            position = key(at)
            if position < 0:
                raise IndexError(position)
            return whole(at)[position]

        return item

    def whole(self, e: typed.Expr) -> Value:
        """A sequence of which more is asked than what is in it: of a history, where all is kept."""
        value = self.value(e)
        if not isinstance(e, typed.History):
            return value

        def kept(at: Any) -> tuple[Any, ...]:
            found: tuple[Any, ...] = value(at)
            if len(set(found)) < len(found):
                raise Unsupported("a history with an entry that came twice, as a sequence")
            return found

        return kept

    def operation(self, e: typed.Operation) -> Value:
        read = self.value if e.op in ("in", "not in") else self.whole
        arguments = [read(a) for a in e.args]
        match e.op, arguments:
            case "and", _:
                return lambda at: all(a(at) for a in arguments)
            case "or", _:
                return lambda at: any(a(at) for a in arguments)
            case "=>", [a, b]:
                return lambda at: not a(at) or b(at)
            case "if", [a, b, c]:
                return lambda at: b(at) if a(at) else c(at)
            case "rank", [a]:
                return lambda at: at.model.processes.index(a(at)) + 1
            case ("+" | "-" | "++") as sign, _ if not isinstance(e.args[0].type, typed.Int):
                does = _WITH[type(e.args[0].type), sign]
            case op, _ if op in _OPERATIONS:
                does = _OPERATIONS[op]
            case op, _:
                raise Unsupported(f"the operator {op}")
        return lambda at: does(*(a(at) for a in arguments))


def history_word(kind: str, op: str) -> str:
    """What the histories of the definition call the events of a request or an indication."""
    return HISTORIES.get(op, op) if kind == "indication" else op


def state_of(at: Any) -> Any:
    return at.way.state if hasattr(at, "way") else at.state


def named(at: Any, names: dict[str, Any]) -> Any:
    """The same place with more names."""
    inner = copy(at)
    inner.names = {**at.names, **names}
    return inner


def listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, tuple) else in_order(values)


def _collected(type_: typed.Type) -> Callable[[Iterator[Any]], Any]:
    match type_:
        case typed.Set():
            return frozenset
        case typed.Bag():
            return lambda items: tuple(in_order(items))
        case _:
            return tuple


def _only(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else values


_WITH: dict[tuple[type, str], Callable[..., Any]] = {
    (typed.Set, "+"): lambda a, b: a | {b},
    (typed.Set, "-"): lambda a, b: a - {b},
    (typed.Bag, "+"): with_one,
    (typed.Bag, "-"): without_one,
    (typed.Seq, "+"): lambda a, b: (*a, b),
    (typed.Seq, "++"): lambda a, b: a + b,
}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "not": lambda a: not a,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "neg": lambda a: -a,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
    "subset": lambda a, b: a <= b,
    "prefix": lambda a, b: b[: len(a)] == a,
    "union": lambda a, b: a | b,
    "intersect": lambda a, b: a & b,
    "minus": lambda a, b: a - b,
    "size": len,
    "some": lambda a: (a,),
    "get": lambda a: a[0],
    "is_some": bool,
    "head": lambda a: a[0],
    "last": lambda a: a[-1],
    "tail": lambda a: a[1:] if a else a[0],
    "take": lambda a, k: a[: max(k, 0)],
    "drop": lambda a, k: a[max(k, 0) :],
    "slice": lambda a, i, j: a[i : j + 1],
    "index": lambda a, b: a.index(b),
    "count": lambda a, b: a.count(b),
    "subsets": lambda a: frozenset(map(frozenset, subsets(in_order(a)))),
    "min": lambda *a: min(_only(a)),
    "max": lambda *a: max(_only(a)),
    "sum": lambda *a: sum(_only(a)),
}

"""Random values, domains and expressions of every kind.

Expressions are well typed: their value is in their type whenever they have one.  Whether they have
one is left to chance, unless the generator is ``safe``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from checker.model import ir
from checker.model import types as t
from checker.model.ir import Apply, Const, Expr, Op, Quantifier
from checker.model.types import BOOL, Type, Value

Draw = Callable[[int], int]
"""A number below the argument."""
T = TypeVar("T")

ROLE = t.AtomT("role", ("a", "b", "c"))
PART = t.AtomT("part", ("b", "c"), 1)
SMALL, SIGNED = t.IntT(0, 2), t.IntT(-1, 1)
LEAVES: tuple[Type, ...] = (BOOL, ROLE, PART, SMALL, SIGNED)
MESSAGE = t.VariantT(
    "M",
    (t.Case("Two", (("p", PART), ("n", SIGNED))), t.Case("None"), t.Case("One", (("r", ROLE),))),
)
STATE_TYPES: tuple[Type, ...] = (
    *LEAVES,
    t.TupleT((PART, SIGNED)),
    t.OptionT(ROLE),
    t.SetT(ROLE),
    t.SetT(PART),
    t.SetT(SMALL),
    t.SetT(t.TupleT((PART, BOOL))),
    t.MapT(PART, SMALL),
    t.MapT(ROLE, BOOL),
    t.SeqT(PART, 2),
    t.SeqT(SMALL, 2),
    t.BagT(PART, 2),
    t.BagT(MESSAGE, 2),
    MESSAGE,
    t.MapT(PART, t.SetT(PART)),
    t.TupleT((BOOL, t.OptionT(BOOL))),
    t.OptionT(t.SetT(PART)),
    t.MapT(t.TupleT((PART, BOOL)), BOOL),
    t.MapT(SIGNED, t.OptionT(PART)),
)
WIDE_TYPES: tuple[Type, ...] = (
    t.MapT(ROLE, t.SetT(t.IntT(0, 29))),
    t.SetT(t.IntT(-3, 80)),
    t.SeqT(t.IntT(0, 200), 9),
    t.BagT(t.TupleT((t.IntT(0, 500), ROLE)), 8),
    t.MapT(t.IntT(0, 20), t.IntT(0, 9)),
    t.MapT(PART, t.SetT(t.IntT(0, 70))),
    t.SetT(t.TupleT((ROLE, t.IntT(0, 9), t.OptionT(ROLE)))),
)


@dataclass
class Expressions:
    """Draws everything from ``draw``; ``names`` are the locals in scope with their types."""

    draw: Draw
    safe: bool = False
    variables: tuple[ir.Variable, ...] = ()
    names: dict[str, Type] = field(default_factory=dict)
    mutable: set[str] = field(default_factory=set)
    serial: int = 0
    marks: int = 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.draw(len(options))]

    def chance(self, percent: int) -> bool:
        return self.draw(100) < percent

    def fresh(self) -> str:
        self.serial += 1
        return f"n{self.serial}"

    # -- values and leaves ----------------------------------------------------------------------

    def value(self, type_: Type) -> Value:
        match type_:
            case t.BoolT():
                return bool(self.draw(2))
            case t.IntT(lo, hi):
                return lo + self.draw(hi - lo + 1)
            case t.AtomT(labels=labels, first=first):
                return first + self.draw(len(labels))
            case t.TupleT(items):
                return tuple(self.value(i) for i in items)
            case t.OptionT(item):
                return (self.value(item),) if self.draw(2) else None
            case t.SetT(item):
                return frozenset(self.value(item) for _ in range(self.draw(3)))
            case t.MapT(key, value):
                return tuple(self.value(value) for _ in range(t.cardinality(key)))
            case t.SeqT(item, cap):
                return tuple(self.value(item) for _ in range(self.draw(cap + 1)))
            case t.BagT(item, cap):
                items = [self.value(item) for _ in range(self.draw(cap + 1))]
                return tuple(sorted(items, key=t.sort_key))
            case t.VariantT(cases=cases):
                case = self.draw(len(cases))
                return (case, *(self.value(f) for _, f in cases[case].fields))

    def leaf(self, type_: Type) -> Expr:
        found: list[Expr] = [ir.Local(type_, n) for n, have in self.names.items() if have == type_]
        found += [ir.Read(type_, v.name) for v in self.variables if v.type == type_]
        if found and self.chance(80):
            return self.pick(found)
        return Const(type_, self.value(type_))

    def bound(self, type_: Type, make: Callable[[], T]) -> tuple[str, T]:
        """A new name of ``type_``, and what ``make`` gives where it is in scope."""
        name = self.fresh()
        self.names[name] = type_
        result = make()
        del self.names[name]
        return name, result

    # -- domains --------------------------------------------------------------------------------

    def domain(self, depth: int) -> tuple[ir.Domain, Type]:
        kind = self.draw(5)
        if kind == 0:
            type_ = self.pick((*LEAVES, t.SetT(PART), t.OptionT(PART), MESSAGE, t.SeqT(PART, 1)))
            return ir.Universe(type_), type_
        if kind == 1:
            of = self.expr(t.SetT(self.pick((ROLE, PART))), depth)
            return ir.Subsets(of, of.type), of.type
        owners: tuple[t.SetT | t.SeqT | t.BagT, ...] = (
            *(t.SetT(ROLE), t.SetT(SMALL), t.SeqT(PART, 2)),
            *(t.BagT(PART, 2), t.BagT(MESSAGE, 2)),
        )
        owner = self.pick(owners)
        return ir.Members(self.expr(owner, depth), owner.item), owner.item

    def domain_for(self, item: Type, depth: int) -> ir.Domain:
        owners: list[Type] = [t.SetT(item), t.SeqT(item, 2), t.BagT(item, 2)]
        if self.chance(40):
            return ir.Universe(item)
        return ir.Members(self.expr(self.pick(owners), depth), item)

    # -- expressions ----------------------------------------------------------------------------

    def expr(self, type_: Type, depth: int) -> Expr:
        """An expression of exactly ``type_``."""
        if depth <= 0:
            return self.leaf(type_)
        options: list[Callable[[], Expr]] = [lambda: self.leaf(type_), *self._any(type_, depth - 1)]
        own = self._own(type_, depth - 1)
        return self.pick(own)() if own and self.chance(75) else self.pick(options)()

    def _any(self, type_: Type, d: int) -> list[Callable[[], Expr]]:
        def let() -> Expr:
            value = self.expr(self.pick(STATE_TYPES), d)
            name, body = self.bound(value.type, lambda: self.expr(type_, d))
            return ir.Let(type_, name, value, body)

        def index() -> Expr:
            key = self.pick((PART, ROLE))
            base = self.expr(t.MapT(key, type_), d)
            return ir.Index(type_, base, self.expr(key, d))

        def item() -> Expr:
            return ir.Item(type_, self.expr(t.TupleT((BOOL, type_, PART)), d), 1)

        def odd_key() -> Expr:
            base = self.expr(t.MapT(SIGNED, type_), d)
            return ir.Index(type_, base, self.integer(d))

        def get() -> Expr:
            return Apply(type_, Op.GET, (self.expr(t.OptionT(type_), d),))

        def end() -> Expr:
            op = self.pick((Op.HEAD, Op.LAST))
            return Apply(type_, op, (self.expr(t.SeqT(type_, 2), d),))

        def at() -> Expr:
            return ir.Index(type_, self.expr(t.SeqT(type_, 2), d), self.integer(d))

        def case_field() -> Expr:
            variant = t.VariantT("V", (t.Case("X"), t.Case("Y", (("b", BOOL), ("v", type_)))))
            base = self.expr(variant, d)
            found = ir.CaseField(type_, base, 1, 1)
            return Apply(type_, Op.ITE, (ir.IsCase(base, 1), found, self.expr(type_, d)))

        options = [
            lambda: Apply(
                type_, Op.ITE, (self.expr(BOOL, d), self.expr(type_, d), self.expr(type_, d))
            ),
            let,
            index,
            item,
            case_field,
        ]
        if not self.safe:
            options += [odd_key, get, end, at]
        return options

    def _own(self, type_: Type, d: int) -> list[Callable[[], Expr]]:
        match type_:
            case t.BoolT():
                return self._bool(d)
            case t.IntT(lo, hi):
                return [lambda: self._within(self.integer(d), lo, hi)]
            case t.TupleT(items):
                return [lambda: Apply(type_, Op.TUPLE, tuple(self.expr(i, d) for i in items))]
            case t.OptionT(item):
                return [lambda: Apply(type_, Op.SOME, (self.expr(item, d),))]
            case t.SetT():
                return self._set(type_, d)
            case t.MapT():
                return [lambda: self._map_of(type_, d), lambda: self._fill(type_, d)]
            case t.SeqT():
                return self._seq(type_, d)
            case t.BagT(item):
                ops = [Op.BAG_REMOVE] if self.safe else [Op.BAG_ADD, Op.BAG_REMOVE]
                small = not self.safe and item in LEAVES
                more = [lambda: self._comprehension(type_, d)] if small else []
                return [
                    lambda: Apply(type_, self.pick(ops), (self.expr(type_, d), self.expr(item, d))),
                    *more,
                ]
            case t.VariantT(cases=cases):
                case = self.draw(len(cases))
                fields = cases[case].fields
                return [lambda: ir.Make(type_, case, tuple(self.expr(f, d) for _, f in fields))]
            case _:
                return []

    def _map_of(self, type_: t.MapT, d: int) -> Expr:
        name, body = self.bound(type_.key, lambda: self.expr(type_.value, d))
        return ir.MapOf(type_, name, body)

    def _fill(self, type_: t.MapT, d: int) -> Expr:
        return Apply(type_, Op.FILL, (self.expr(type_.value, d),))

    def _within(self, value: Expr, lo: int, hi: int) -> Expr:
        """``value`` where it is in ``lo..hi``."""
        type_ = t.IntT(lo, hi)
        above = Apply(BOOL, Op.LE, (Const(type_, lo), value))
        below = Apply(BOOL, Op.LE, (value, Const(type_, hi)))
        inside = Apply(BOOL, Op.AND, (above, below))
        return Apply(type_, Op.ITE, (inside, value, self.leaf(type_)))

    def integer(self, d: int) -> Expr:
        """An expression of some integer type, with the interval that it has."""
        kind = self.draw(9 if self.safe else 12) if d > 0 else self.draw(2)
        d -= 1
        match kind:
            case 0 | 1:
                return self.expr(self.pick((SMALL, SIGNED)), d)
            case 2 | 3 | 4:
                return self._arithmetic(self.pick((Op.ADD, Op.SUB, Op.MUL)), d)
            case 5:
                owner = self.pick((t.SetT(ROLE), t.SeqT(PART, 2), t.BagT(PART, 2)))
                op = Op.CARD if isinstance(owner, t.SetT) else Op.LEN
                return Apply(t.IntT(0, 3), op, (self.expr(owner, d),))
            case 6:
                bag, item = self.expr(t.BagT(MESSAGE, 2), d), self.expr(MESSAGE, d)
                return Apply(t.IntT(0, 2), Op.BAG_COUNT, (bag, item))
            case 7:
                domain, type_ = self.domain(d)
                name, body = self.bound(type_, lambda: self.expr(BOOL, d))
                return ir.Quant(Quantifier.COUNT, name, domain, body, t.IntT(0, 40))
            case 8:
                domain, type_ = self.domain(d)
                name, body = self.bound(type_, lambda: self.expr(SIGNED, d))
                return ir.Quant(Quantifier.SUM, name, domain, body, t.IntT(-400, 400))
            case 9:
                return Apply(
                    t.IntT(0, 1),
                    Op.INDEX_OF,
                    (self.expr(t.SeqT(PART, 2), d), self.expr(self.pick((ROLE, PART)), d)),
                )
            case 10:
                op = self.pick((Op.MIN, Op.MAX))
                return Apply(SMALL, op, (self.expr(t.SetT(SMALL), d),))
            case _:
                a, b = self.integer(d), self.integer(d)
                reach = max(abs(x) for e in (a, b) for x in _interval(e)) + 1
                return Apply(t.IntT(-reach, reach), self.pick((Op.DIV, Op.MOD)), (a, b))

    def _arithmetic(self, op: Op, d: int) -> Expr:
        if self.chance(20):
            return Apply(t.IntT(1, 3), Op.RANK, (self.expr(ROLE, d),))
        a, b = self.integer(d), self.integer(d)
        compute = {
            Op.ADD: lambda x, y: x + y,
            Op.SUB: lambda x, y: x - y,
            Op.MUL: lambda x, y: x * y,
        }[op]
        corners = [compute(x, y) for x in _interval(a) for y in _interval(b)]
        return Apply(t.IntT(min(corners), max(corners)), op, (a, b))

    def _bool(self, d: int) -> list[Callable[[], Expr]]:
        def quant() -> Expr:
            domain, type_ = self.domain(d)
            name, body = self.bound(type_, lambda: self.expr(BOOL, d))
            kind = self.pick((Quantifier.FORALL, Quantifier.EXISTS))
            return ir.Quant(kind, name, domain, body, BOOL)

        def equal() -> Expr:
            groups: list[tuple[Type, ...]] = [
                (ROLE, PART),
                (t.SetT(ROLE), t.SetT(PART)),
                (t.OptionT(ROLE), t.OptionT(PART)),
                (t.SeqT(ROLE, 1), t.SeqT(PART, 2)),
                (t.BagT(PART, 2), t.BagT(ROLE, 3)),
                (t.TupleT((ROLE, SMALL)), t.TupleT((PART, SIGNED))),
                (t.MapT(PART, SMALL), t.MapT(PART, SIGNED)),
                *[(s, s) for s in STATE_TYPES],
            ]
            group = self.pick(groups)
            a, b = (self.expr(self.pick(group), d) for _ in range(2))
            return Apply(BOOL, Op.EQ, (a, b))

        def order() -> Expr:
            op = self.pick((Op.LT, Op.LE))
            if self.chance(30):
                return Apply(BOOL, op, (self.expr(ROLE, d), self.expr(PART, d)))
            return Apply(BOOL, op, (self.integer(d), self.integer(d)))

        def member() -> Expr:
            item = self.pick((ROLE, PART))
            other = self.pick((ROLE, PART))
            owner = self.pick((t.SetT(other), t.SeqT(other, 2), t.BagT(other, 2)))
            return Apply(BOOL, Op.IN, (self.expr(item, d), self.expr(owner, d)))

        def odd_member() -> Expr:
            return Apply(BOOL, Op.IN, (self.integer(d), self.expr(t.SetT(SMALL), d)))

        def wide_member() -> Expr:
            sets = [v for v in self.variables if isinstance(v.type, t.SetT)]
            wide = [v for v in sets if v.type in WIDE_TYPES]
            if not wide:
                return odd_member()
            of = self.pick(wide)
            assert isinstance(of.type, t.SetT)
            return Apply(BOOL, Op.IN, (self.expr(of.type.item, d), ir.Read(of.type, of.name)))

        def subset() -> Expr:
            a, b = (t.SetT(self.pick((ROLE, PART))) for _ in range(2))
            return Apply(BOOL, Op.SUBSET, (self.expr(a, d), self.expr(b, d)))

        def lazy() -> Expr:
            args = tuple(self.expr(BOOL, d) for _ in range(2 + self.draw(2)))
            return Apply(BOOL, self.pick((Op.AND, Op.OR)), args)

        def prefix() -> Expr:
            a, b = (self.pick((t.SeqT(ROLE, 1), t.SeqT(PART, 2))) for _ in range(2))
            return Apply(BOOL, Op.PREFIX, (self.expr(a, d), self.expr(b, d)))

        return [
            lazy,
            lazy,
            quant,
            prefix,
            equal,
            equal,
            order,
            member,
            odd_member,
            subset,
            wide_member,
            lambda: Apply(BOOL, Op.NOT, (self.expr(BOOL, d),)),
            lambda: Apply(BOOL, Op.IS_SOME, (self.expr(t.OptionT(self.pick(LEAVES)), d),)),
            lambda: ir.IsCase(self.expr(MESSAGE, d), self.draw(3)),
        ]

    def _set(self, type_: t.SetT, d: int) -> list[Callable[[], Expr]]:
        item = type_.item

        def combine() -> Expr:
            op = self.pick((Op.UNION, Op.INTERSECT, Op.MINUS))
            left, right = type_, type_
            if type_ == t.SetT(ROLE) and self.chance(40):
                right = t.SetT(PART)
            if type_ == t.SetT(PART) and op is Op.INTERSECT and self.chance(40):
                left = t.SetT(ROLE)
            return Apply(type_, op, (self.expr(left, d), self.expr(right, d)))

        def change() -> Expr:
            op = self.pick((Op.INSERT, Op.REMOVE))
            what = ROLE if item == PART and op is Op.REMOVE and self.chance(40) else item
            return Apply(type_, op, (self.expr(type_, d), self.expr(what, d)))

        return [
            lambda: self._comprehension(type_, d),
            combine,
            combine,
            change,
            change,
            lambda: Apply(type_, Op.SET, tuple(self.expr(item, d) for _ in range(self.draw(3)))),
        ]

    def _comprehension(self, type_: t.SetT | t.SeqT | t.BagT, d: int) -> Expr:
        domain, member = self.domain(d)
        name = self.fresh()
        self.names[name] = member
        where, value = self.expr(BOOL, d), self.expr(type_.item, d)
        del self.names[name]
        return ir.Comprehension(type_, name, domain, where, value)

    def _seq(self, type_: t.SeqT, d: int) -> list[Callable[[], Expr]]:
        item = type_.item

        def listed() -> Expr:
            return Apply(type_, Op.SEQ, tuple(self.expr(item, d) for _ in range(self.draw(3))))

        if self.safe:
            return [lambda: Const(type_, self.value(type_))]
        return [
            listed,
            lambda: Apply(type_, Op.APPEND, (self.expr(type_, d), self.expr(item, d))),
            lambda: Apply(type_, Op.CONCAT, (self.expr(type_, d), self.expr(type_, d))),
            lambda: Apply(type_, Op.TAIL, (self.expr(type_, d),)),
            lambda: Apply(type_, Op.DELETE_AT, (self.expr(type_, d), self.integer(d))),
            lambda: Apply(
                type_, self.pick((Op.TAKE, Op.DROP)), (self.expr(type_, d), self.integer(d))
            ),
            lambda: self._comprehension(type_, d),
        ]


def _interval(expr: Expr) -> tuple[int, int]:
    assert isinstance(expr.type, t.IntT)
    return expr.type.lo, expr.type.hi

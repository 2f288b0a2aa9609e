"""Lowers typed expressions to expressions of the transition system."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec import Struct, field

from checker.diagnostics import Span
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.type_sizes import LARGEST, fitting
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import coerce, conj, constant, disj, equal, fresh, hull, integer, negation
from checker.model.evaluate import misfit
from checker.model.ir import TRUE, Apply, Const, Expr, Op, Quantifier
from checker.model.types import (
    BOOL,
    AtomT,
    BagT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    cardinality,
    universe,
)
from checker.records import replace

HistoryReader = Callable[["Env", typed.Expr], Expr]


class Env(Struct, frozen=True):
    """The context of an expression: its instance, its ``self``, the meaning of local names.

    ``history`` lowers the expressions that only properties may use.
    """

    world: World
    instance: Instance
    self: Expr | None
    names: dict[str, Expr] = field(default_factory=dict)
    history: HistoryReader | None = None

    def bind(self, name: str, value: Expr) -> Env:
        return replace(self, names={**self.names, name: value})

    def bind_all(self, names: dict[str, Expr]) -> Env:
        return replace(self, names={**self.names, **names})


def lower(expr: typed.Expr, env: Env, expected: Type | None = None) -> Expr:
    """Lowers ``expr`` in ``env``; with ``expected`` the result is coerced to that type."""
    result = _lower(expr, env, expected)
    return result if expected is None else coerce(result, expected)


def _lower(expr: typed.Expr, env: Env, expected: Type | None) -> Expr:
    match expr:
        case (
            typed.Literal()
            | typed.Nothing()
            | typed.Param()
            | typed.Named()
            | typed.Processes()
            | typed.All()
        ):
            return _constant(expr, env, expected)
        case typed.Local(_, name, _):
            return env.names[name]
        case typed.Self():
            assert env.self is not None
            return env.self
        case typed.StateRef():
            return _state(expr, env)
        case typed.Range(_, lo, hi, span):
            return _range(lower(lo, env), lower(hi, env), span)
        case typed.Received():
            return _lower_received(expr, env)
        case typed.Construct(_, message, args, _):
            return construct(env, message, args)
        case typed.Display():
            return _display(expr, env, expected)
        case typed.Part(_, base, position, _):
            return build.item(lower(base, env), position)
        case typed.Entry(_, base, key, span):
            return _entry(lower(base, env), key, env, span)
        case typed.Operation():
            return _operation(expr, env, expected)
        case typed.Quantified():
            return _lower_quantified(expr, env)
        case typed.Comprehension(typed.Seq()):
            return _seq_comprehension(expr, env, expected)
        case typed.Comprehension():
            return _comprehension(expr, env, expected)
        case typed.Sum(_, item, binders, _):
            return _sum(item, binders, env)
        case typed.MapDisplay() | typed.Fill():
            return _map(expr, env, expected)
        case typed.Again():
            raise AssertionError("calls are written out before")
        case (
            typed.History()
            | typed.HistoryOrder()
            | typed.Repeated()
            | typed.Causes()
            | typed.Correct()
            | typed.Acts()
            | typed.RepeatedAct()
            | typed.Opinion()
            | typed.Consistent()
            | typed.Temporal()
        ):
            return _of_history(expr, env)
        case _:
            assert_never(expr)


def _of_history(expr: typed.Expr, env: Env) -> Expr:
    if env.history is None:
        raise refuse("N210", "this is allowed only in properties", expr.span)
    return env.history(env, expr)


def _constant(
    expr: (typed.Literal | typed.Nothing | typed.Param | typed.Named | typed.Processes | typed.All),
    env: Env,
    expected: Type | None,
) -> Expr:
    """Lowers what has one value in all states of a check."""
    world = env.world
    match expr:
        case typed.Literal(type_, value, _):
            if isinstance(type_, typed.Int):
                return integer(int(value))
            return Const(world.type_of(type_, env.instance, "_"), value)
        case typed.Nothing():
            if isinstance(expected, OptionT):
                return Const(expected, None)
            return Const(world.type_of(expr.type, env.instance, "_none"), None)
        case typed.Param(type_, name, span):
            if name not in world.sizes.values:
                raise refuse("C200", f"the check gives no value to `{name}`", span)
            value = world.sizes.values[name]
            if isinstance(type_, typed.Bool):
                return Const(BOOL, bool(value))
            return Const(world.proc, value) if isinstance(type_, typed.Proc) else integer(value)
        case typed.Named(type_, name, _):
            return _lower_atom(world, env, type_, name, expr)
        case typed.Processes(_, role, _):
            return Const(SetT(world.proc), world.processes(role))
        case typed.All(_, item, _):
            members = world.type_of(item, env.instance, "_all")
            return Const(SetT(members), frozenset(universe(members)))
        case _:
            assert_never(expr)


def _map(expr: typed.MapDisplay | typed.Fill, env: Env, expected: Type | None) -> Expr:
    type_ = expected or env.world.type_of(expr.type, env.instance, "_map")
    assert isinstance(type_, MapT)
    hint = None if expected is None else type_.value
    if isinstance(expr, typed.Fill):
        value = lower(expr.value, env, hint)
        return Apply(MapT(type_.key, hint or value.type), Op.FILL, (value,))
    key = ir.Local(type_.key, fresh(expr.key))
    value = lower(expr.value, env.bind(expr.key, key), hint)
    return ir.MapOf(MapT(type_.key, hint or value.type), key.name, value)


def _lower_atom(world: World, env: Env, type_: typed.Type, name: str, expr: typed.Expr) -> Expr:
    atoms = (
        env.world.type_of(type_, env.instance, "_")
        if not isinstance(type_, typed.Msg)
        else (world.instances[0].payload)
    )
    assert isinstance(atoms, AtomT)
    if name not in atoms.labels:
        hint = "known: " + ", ".join(atoms.labels)
        raise refuse("E003", f"there is no `{name}` in this check", expr.span, hint)
    return Const(atoms, atoms.labels.index(name) + atoms.first)


def state_name(expr: typed.StateRef, instance: Instance) -> str:
    """Returns the name of the variable that a state reference denotes."""
    if expr.role == typed.CLOCKS:
        return typed.CLOCKS
    role = f"{expr.role}." if expr.role else ""
    return f"{instance.path}{role}{expr.name}"


def _state(expr: typed.StateRef, env: Env) -> Expr:
    name = state_name(expr, env.instance)
    if name == typed.CLOCKS and name not in env.world.variables:
        message = "`now` is read here, but the check sets no time at which clocks stop"
        hint = "write `timing clocks drift 1 until 10`: clocks start at 0 and stop at 10"
        raise refuse("C013", message, expr.span, hint)
    whole = env.world.read(name)
    if env.history is not None:
        env.world.read_by_properties.add(name)
    if expr.role is None:
        return whole
    owner = env.self if expr.owner is None else lower(expr.owner, env)
    assert owner is not None
    return build.entry(whole, owner, env.world.place(expr.span))


def _range(lo: Expr, hi: Expr, span: Span) -> Expr:
    assert isinstance(lo.type, IntT) and isinstance(hi.type, IntT)
    least, largest = lo.type.lo, max(hi.type.hi, lo.type.lo)
    type_ = SetT(IntT(least, largest))
    if isinstance(lo, Const) and isinstance(hi, Const):
        assert isinstance(lo.value, int) and isinstance(hi.value, int)
        if hi.value - lo.value >= LARGEST:
            message = f"a set of more than {LARGEST:,} numbers"
            raise refuse("C202", message, span, "compare with the bounds: `a <= x and x <= b`")
        return Const(type_, frozenset(range(lo.value, hi.value + 1)))
    name = fresh("_i")
    local = ir.Local(type_.item, name)
    where = conj(build.at_most(lo, local), build.at_most(local, hi))
    return ir.Comprehension(type_, name, ir.Universe(type_.item), where, local)


def _lower_received(expr: typed.Received, env: Env) -> Expr:
    """Returns the distinct senders of the matching receptions; see :mod:`.receptions`."""
    from checker.instantiate.protocol.receptions import record_of

    record, kept = record_of(env.world, env.instance, expr.message)
    owner = env.self if expr.owner is None else lower(expr.owner, env)
    assert owner is not None
    name = fresh("_r")
    if env.history is not None:
        env.world.read_by_properties.add(f"{env.instance.path}@received.{expr.message}")
    mine = build.entry(record, owner)
    item_type = build.element(mine.type)
    local = ir.Local(item_type, name)
    conditions = []
    for column, position in enumerate(kept):
        pattern = expr.patterns[position]
        if isinstance(pattern, typed.Equals):
            conditions.append(same(build.item(local, column + 1), pattern.value, env))
    if not kept:
        return mine
    senders = SetT(env.world.proc)
    domain = ir.Members(mine, item_type)
    return ir.Comprehension(senders, name, domain, conj(*conditions), build.item(local, 0))


def same(part: Expr, wanted: typed.Expr, env: Env) -> Expr:
    """Returns whether ``part`` equals ``wanted``: an out-of-range number is no match, and no
    error."""
    match wanted, part.type:
        case typed.Display(typed.Tuple(), items), TupleT():
            pairs = enumerate(items)
            return conj(*(same(build.item(part, i), item, env) for i, item in pairs))
        case typed.Operation(_, "some", (inner,)), OptionT(item):
            value = Apply(item, Op.GET, (part,))
            return conj(Apply(BOOL, Op.IS_SOME, (part,)), same(value, inner, env))
        case ((typed.Local() | typed.StateRef() | typed.Entry() | typed.Part()), TupleT()):
            return _equal_items(part, lower(wanted, env), env)
        case _, IntT():
            return equal(part, lower(wanted, env))
        case _:
            return equal(part, lower(wanted, env, part.type))


def _equal_items(left: Expr, right: Expr, env: Env) -> Expr:
    """Returns whether both are equal, item by item where they are tuples of different types."""
    if left.type == right.type or not isinstance(left.type, TupleT):
        return equal(left, coerce(right, left.type))
    positions = range(len(left.type.items))
    return conj(*(_equal_items(build.item(left, i), build.item(right, i), env) for i in positions))


def construct(env: Env, message: str, args: tuple[typed.Expr, ...]) -> Expr:
    """Builds a message of this instance's protocol."""
    messages = env.instance.messages
    assert messages is not None
    for index, case in enumerate(messages.cases):
        if case.name == message:
            fields = (lower(a, env, t) for a, (_, t) in zip(args, case.fields, strict=True))
            return ir.Make(messages, index, tuple(fields))
    raise KeyError(message)


def _display(expr: typed.Display, env: Env, expected: Type | None) -> Expr:
    match expr.type:
        case typed.Tuple(_, names):
            hints: tuple[Type | None, ...] = (None,) * len(expr.items)
            if isinstance(expected, TupleT):
                hints = expected.items
            parts = tuple(lower(e, env, t) for e, t in zip(expr.items, hints, strict=True))
            type_ = expected or TupleT(tuple(p.type for p in parts), names)
            return Apply(type_, Op.TUPLE, parts)
        case typed.Set():
            op = Op.SET
        case _:
            op = Op.SEQ
    hint = build.element(expected) if isinstance(expected, SetT | SeqT | BagT) else None
    parts = tuple(lower(e, env, hint) for e in expr.items)
    if not parts:
        type_ = expected or env.world.type_of(expr.type, env.instance, "_empty")
        return Const(type_, frozenset() if isinstance(type_, SetT) else ())
    inner = hint
    for part in parts:
        if hint is None:
            inner = part.type if inner is None else hull(inner, part.type)
    assert inner is not None
    parts = tuple(coerce(p, inner) for p in parts)
    if op is Op.SET:
        shape: Type = SetT(inner)
        if all(isinstance(p, Const) and misfit(inner, p.value, None) is None for p in parts):
            return Const(shape, frozenset(constant(p) for p in parts))
    else:
        shape = SeqT(inner, len(parts))
    made = Apply(shape, op, parts)
    return coerce(made, BagT(inner, len(parts))) if isinstance(expr.type, typed.Bag) else made


def _entry(base: Expr, key: typed.Expr, env: Env, span: Span) -> Expr:
    place = env.world.place(span)
    match base.type:
        case MapT(key_type, value):
            return ir.Index(value, base, lower(key, env, key_type), place)
        case SeqT(item):
            return ir.Index(item, base, lower(key, env), place)
        case other:
            raise TypeError(f"{other} has no entries")


def bind_domain(
    pattern: typed.Pattern, domain: typed.Expr, where: typed.Expr | None, env: Env
) -> tuple[str, ir.Domain, Expr, Env]:
    """Binds ``pattern in domain when where``: the local, its domain, its condition, the inner
    scope."""
    from checker.instantiate.protocol.patterns import match_pattern

    lowered = as_domain(domain, env)
    local = ir.Local(ir.domain_item(lowered), fresh(shown_name(pattern)))
    condition, names = match_pattern(pattern, local, env)
    inner = env.bind_all(names)
    if where is not None:
        condition = conj(condition, lower(where, inner))
    return local.name, lowered, condition, inner


def shown_name(pattern: typed.Pattern) -> str:
    """Returns the name that users see of a local for ``pattern``."""
    return pattern.name if isinstance(pattern, typed.Bind) else "_x"


def exists(binders: tuple[typed.Binder, ...], env: Env, body: Callable[[Env], Expr]) -> Expr:
    """Builds an existential quantifier; ``body`` is given the scope inside of the binders."""
    if not binders:
        return body(env)
    one, *others = binders
    name, domain, where, inner = bind_domain(one.pattern, one.domain, one.where, env)
    whole = conj(where, exists(tuple(others), inner, body))
    return ir.Quant(ir.Quantifier.EXISTS, name, domain, whole, BOOL)


def as_domain(domain: typed.Expr, env: Env) -> ir.Domain:
    """Returns the domain of a binder."""
    match domain:
        case typed.Operation(_, "subsets", (of,), _):
            inner = lower(of, env)
            return ir.Subsets(inner, inner.type)
        case typed.All(_, item, _):
            return ir.Universe(env.world.type_of(item, env.instance, "_all"))
        case _:
            lowered = lower(domain, env)
            members = build.element(lowered.type)
            if isinstance(lowered, Const) and isinstance(lowered.type, SetT):
                assert isinstance(lowered.value, frozenset)
                if len(lowered.value) == cardinality(members):
                    return ir.Universe(members)
            return ir.Members(lowered, members)


def _lower_quantified(expr: typed.Quantified, env: Env) -> Expr:
    binders = list(expr.binders)

    def nest(depth: int, env: Env) -> Expr:
        if depth == len(binders):
            return lower(expr.body, env)
        binder = binders[depth]
        name, domain, where, inner = bind_domain(binder.pattern, binder.domain, binder.where, env)
        body = nest(depth + 1, inner)
        if expr.kind == "forall":
            return ir.Quant(Quantifier.FORALL, name, domain, disj(negation(where), body), BOOL)
        return ir.Quant(Quantifier.EXISTS, name, domain, conj(where, body), BOOL)

    return nest(0, env)


def _comprehension(expr: typed.Comprehension, env: Env, expected: Type | None) -> Expr:
    inner = env
    for binder in expr.binders:
        name, domain, where, inner = bind_domain(binder.pattern, binder.domain, binder.where, inner)
    hint = build.element(expected) if isinstance(expected, SetT | BagT) else None
    item = lower(expr.item, inner, hint)
    type_, place = _collected(hint or item.type, expr, env, expected), env.world.place(expr.span)
    if len(expr.binders) == 1:
        return ir.Comprehension(type_, name, domain, where, item, place)
    x = ir.Local(build.element(type_), fresh("_x"))
    some = _is_item(x, expr, env, expected)
    return ir.Comprehension(type_, x.name, ir.Universe(x.type), some, x, place)


def _is_item(x: Expr, expr: typed.Comprehension, env: Env, expected: Type | None) -> Expr:
    """Returns whether ``x`` is the item for some members of the domains.

    The member of a domain that is a part of the item is that part of ``x``; all others of the
    domains are tried.
    """
    if not expr.binders:
        return equal(x, lower(expr.item, env, x.type))
    binder, rest = expr.binders[0], replace(expr, binders=expr.binders[1:])
    domain = as_domain(binder.domain, env)
    name = binder.pattern.name if isinstance(binder.pattern, typed.Bind) else ""
    part = _part_bound(name, expr.item, x, domain)
    if part is not None:
        inner = env.bind(name, part)
        where = TRUE if binder.where is None else lower(binder.where, inner)
        return conj(build.belongs(part, domain), where, _is_item(x, rest, inner, expected))
    if len(expr.binders) == 1:
        return build.member(x, _comprehension(expr, env, expected))
    name, domain, where, inner = bind_domain(binder.pattern, binder.domain, binder.where, env)
    some = conj(where, _is_item(x, rest, inner, expected))
    return ir.Quant(Quantifier.EXISTS, name, domain, some, BOOL)


def _part_bound(name: str, item: typed.Expr, x: Expr, domain: ir.Domain) -> Expr | None:
    """Returns the component of ``x`` that is ``name``, if ``item`` is a tuple with that name in
    it."""
    if not (isinstance(x.type, TupleT) and isinstance(item, typed.Display)):
        return None
    for position, part in enumerate(item.items):
        if isinstance(part, typed.Local) and part.name == name:
            found = build.item(x, position)
            return found if found.type == ir.domain_item(domain) else None
    return None


def _collected(item: Type, expr: typed.Comprehension, env: Env, expected: Type | None) -> Type:
    """Returns the type of a set of ``item``: that of where it is stored, if that is a large set."""
    if isinstance(expected, BagT):
        return expected
    place = env.world.place(expr.span)
    return env.world.set_of(item, f"{env.instance.path}@set.{place.line}.{place.column}")


def _seq_comprehension(expr: typed.Comprehension, env: Env, expected: Type | None) -> Expr:
    (binder,) = expr.binders
    name, domain, where, inner = bind_domain(binder.pattern, binder.domain, binder.where, env)
    hint = expected if isinstance(expected, SeqT) else None
    item = lower(expr.item, inner, hint and hint.item)
    type_ = hint or fitting(SeqT(item.type, build.most_members(domain)), expr.span)
    return ir.Comprehension(type_, name, domain, where, item, env.world.place(expr.span))


def _sum(item: typed.Expr, binders: tuple[typed.Binder, ...], env: Env) -> Expr:
    if not binders:
        return lower(item, env)
    one, *others = binders
    name, domain, where, inner = bind_domain(one.pattern, one.domain, one.where, env)
    return build.total(name, domain, where, _sum(item, tuple(others), inner))


def _operation(expr: typed.Operation, env: Env, expected: Type | None) -> Expr:
    from checker.instantiate.protocol.operations import operate

    return operate(expr, env, expected)

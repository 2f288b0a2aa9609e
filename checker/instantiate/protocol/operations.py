"""Lowers operators and functions by the types of their arguments."""

from __future__ import annotations

from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.sizes import refuse
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import coerce, conj, disj, equal, fits_in, hull, negation
from checker.model.evaluate import misfit
from checker.model.ir import TRUE, Apply, Const, Expr, Op
from checker.model.types import BOOL, AtomT, BagT, IntT, OptionT, SeqT, SetT, Type

_LOGIC = {"and": conj, "or": disj}


def operate(expr: typed.Operation, env: Env, expected: Type | None) -> Expr:
    """Lowers the operation ``expr`` in ``env``."""
    op, args = expr.op, expr.args
    place = env.world.place(expr.span)
    if op in _LOGIC:
        return _LOGIC[op](*(lower(a, env) for a in args))
    match op:
        case "not":
            return negation(lower(args[0], env))
        case "=>":
            return disj(negation(lower(args[0], env)), lower(args[1], env))
        case "==" | "!=":
            same = _same(args[0], args[1], env)
            return same if op == "==" else negation(same)
        case "<" | "<=" | ">" | ">=":
            return _comparison(op, lower(args[0], env), lower(args[1], env))
        case "in" | "not in":
            inside = _member(args[0], args[1], env)
            return inside if op == "in" else negation(inside)
        case "if":
            return _conditional(args, env, expected)
        case "size":
            return build.size(lower(args[0], env))
        case "neg":
            return _arithmetic("-", build.integer(0), lower(args[0], env), place)
        case "some":
            inner = expected.item if isinstance(expected, OptionT) else None
            value = lower(args[0], env, inner)
            return Apply(OptionT(inner or value.type), Op.SOME, (value,))
        case "+" | "-" | "++" | "union" | "intersect" | "minus" | "*" | "div" | "mod":
            return _binary(op, args, env, expected, place)
        case "subset" | "prefix":
            left, right = lower(args[0], env), lower(args[1], env)
            if isinstance(left.type, BagT) or isinstance(right.type, BagT):
                return _is_subset(left, right)
            left, right = _unify(left, right)
            return Apply(BOOL, Op.SUBSET if op == "subset" else Op.PREFIX, (left, right))
        case "slice":
            return _slice(args, env, place)
        case _:
            return _function(op, expr, env, place)


def _unify(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Brings both sides to one type: that of the side that is not a display."""
    if left.type == right.type or isinstance(left.type, IntT):
        return left, right
    if isinstance(left, Const) or (isinstance(left, Apply) and not isinstance(right, Const)):
        if hull(left.type, right.type) == right.type:
            return coerce(left, right.type), right
    if hull(left.type, right.type) == left.type:
        return left, coerce(right, left.type)
    wide = hull(left.type, right.type)
    return coerce(left, wide), coerce(right, wide)


def _same(left: typed.Expr, right: typed.Expr, env: Env) -> Expr:
    if isinstance(left, typed.Nothing) or (isinstance(left, typed.Display) and not left.items):
        left, right = right, left
    a = lower(left, env)
    if isinstance(right, typed.Nothing):
        return negation(Apply(BOOL, Op.IS_SOME, (a,)))
    empty = isinstance(right, typed.Display) and not right.items
    b = lower(right, env, a.type if empty else None)
    large = isinstance(a.type, BagT) or isinstance(b.type, BagT)
    if large and isinstance(left.type, typed.Set) and a.type != b.type:
        a, b = _sparse(a), _sparse(b)
        return conj(_is_subset(a, b), _is_subset(b, a))
    return equal(*_unify(a, b))


def _sparse(display: Expr) -> Expr:
    """Returns a set that is written out as what takes space for its members only."""
    if isinstance(display.type, SetT) and isinstance(display, Apply) and display.op is Op.SET:
        return coerce(display, BagT(display.type.item, len(display.args)))
    return display


def _is_subset(left: Expr, right: Expr) -> Expr:
    """Returns whether ``left`` is a subset of ``right``, member by member: one of them is large."""
    item = build.element(left.type)
    x = ir.Local(item, build.fresh("_x"))
    inside = build.member(x, right)
    return ir.Quant(ir.Quantifier.FORALL, x.name, ir.Members(left, item), inside, BOOL)


def _slice(args: tuple[typed.Expr, ...], env: Env, place: ir.SourceLocation) -> Expr:
    """Lowers ``q[a..b]``: what is left of the first ``b + 1`` items without the first ``a``."""
    seq, first, last = (lower(arg, env) for arg in args)
    end = _arithmetic("+", last, build.integer(1), place)
    return Apply(seq.type, Op.DROP, (Apply(seq.type, Op.TAKE, (seq, end), place), first), place)


def _comparison(op: str, left: Expr, right: Expr) -> Expr:
    match op:
        case "<":
            return build.below(left, right)
        case "<=":
            return build.at_most(left, right)
        case ">":
            return build.below(right, left)
        case _:
            return build.at_most(right, left)


def _member(item: typed.Expr, of: typed.Expr, env: Env) -> Expr:
    if isinstance(of, typed.Range):
        value = lower(item, env)
        lo, hi = lower(of.lo, env), lower(of.hi, env)
        return conj(build.at_most(lo, value), build.at_most(value, hi))
    if isinstance(of, typed.Operation) and of.op == "subsets":
        whole, part = lower(of.args[0], env), lower(item, env)
        if not _is_one_of(part, whole.type):
            return Apply(BOOL, Op.SUBSET, _unify(part, whole))
        return Apply(BOOL, Op.SUBSET, (lower(item, env, whole.type), whole))
    if isinstance(of, typed.Display) and of.items:
        return disj(*(_same(item, choice, env) for choice in of.items))
    if isinstance(of, typed.History) and env.history is not None:
        return env.history(env, typed.Operation(typed.Bool(), "in", (item, of), of.span))
    collection = lower(of, env)
    inner = build.element(collection.type)
    value = lower(item, env)
    if _is_one_of(value, inner):
        return build.member(lower(item, env, inner), collection)
    return _compared(ir.Quantifier.EXISTS, value, collection, BOOL)


def _is_one_of(value: Expr, type_: Type) -> bool:
    """Tells whether ``value`` can be looked for among values of ``type_``: a number always,
    anything else if the numbers in it are in the ranges of ``type_``."""
    if isinstance(value, Const) and not isinstance(type_, BagT):
        return misfit(type_, value.value, None) is None
    return isinstance(value.type, IntT | BagT) or fits_in(value.type, type_)


def _compared(word: ir.Quantifier, value: Expr, collection: Expr, type_: Type) -> Expr:
    """Returns whether, or how often, ``value`` is in ``collection``, of which no item may be of its
    type."""
    held = ir.Local(value.type, build.fresh("_e"))
    x = ir.Local(build.element(collection.type), build.fresh("_x"))
    same = equal(*_unify(x, held))
    members = ir.Members(collection, x.type)
    return ir.Let(type_, held.name, value, ir.Quant(word, x.name, members, same, type_))


def _conditional(args: tuple[typed.Expr, ...], env: Env, expected: Type | None) -> Expr:
    condition = lower(args[0], env)
    then, otherwise = lower(args[1], env, expected), lower(args[2], env, expected)
    type_ = hull(then.type, otherwise.type)
    if isinstance(args[1], typed.Nothing):
        type_ = otherwise.type
    parts = (condition, coerce(then, type_), coerce(otherwise, type_))
    return Apply(type_, Op.ITE, parts)


def _arithmetic(op: str, left: Expr, right: Expr, place: ir.SourceLocation) -> Expr:
    assert isinstance(left.type, IntT) and isinstance(right.type, IntT)
    a, b = left.type, right.type
    match op:
        case "+":
            type_, code = IntT(a.lo + b.lo, a.hi + b.hi), Op.ADD
        case "-":
            type_, code = IntT(a.lo - b.hi, a.hi - b.lo), Op.SUB
        case "*":
            ends = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
            type_, code = IntT(min(ends), max(ends)), Op.MUL
        case "div":
            reach = max(abs(a.lo), abs(a.hi))
            type_, code = IntT(0 if a.lo >= 0 and b.lo >= 0 else -reach - 1, reach), Op.DIV
        case _:
            reach = max(abs(b.lo), abs(b.hi))
            type_, code = IntT(0 if b.lo >= 0 else -reach, reach), Op.MOD
    if isinstance(left, Const) and isinstance(right, Const) and code in _FOLD:
        return build.integer(_FOLD[code](left.value, right.value))
    return Apply(type_, code, (left, right), place)


_FOLD = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
}


def _binary(
    op: str, args: tuple[typed.Expr, ...], env: Env, expected: Type | None, place: ir.SourceLocation
) -> Expr:
    hint = expected if isinstance(expected, SetT | SeqT | BagT) else None
    left = lower(args[0], env, hint)
    if isinstance(left.type, IntT):
        return _arithmetic(op, left, lower(args[1], env), place)
    if op in ("union", "intersect", "minus"):
        return _sets(op, left, args[1], env)
    if op == "++":
        right = lower(args[1], env, hint)
        assert isinstance(left.type, SeqT) and isinstance(right.type, SeqT)
        cap, items = left.type.cap + right.type.cap, (left.type.item, right.type.item)
        if hint is None:
            left, right = _widened(left, items[1]), _widened(right, items[0])
        return Apply(hint or SeqT(build.element(left.type), cap), Op.CONCAT, (left, right), place)
    if isinstance(left.type, SeqT):
        cap = left.type.cap + 1
        if hint is None:
            left = _widened(left, lower(args[1], env).type)
        inner = build.element(left.type)
        type_ = hint or SeqT(inner, cap)
        return Apply(type_, Op.APPEND, (left, lower(args[1], env, inner)), place)
    return _with_or_without(op, left, args, env, hint, place)


def _with_or_without(
    op: str,
    left: Expr,
    args: tuple[typed.Expr, ...],
    env: Env,
    hint: Type | None,
    place: ir.SourceLocation,
) -> Expr:
    """Lowers ``+`` and ``-`` of a set or a bag ``left``; nothing has to be in a range to be taken
    out, nor, where no type is expected (``hint``), to be put in."""
    inner, is_bag = build.element(left.type), isinstance(args[0].type, typed.Bag)
    value = lower(args[1], env)
    if op == "-" and not _is_one_of(value, inner):
        if is_bag:
            taken = Apply(left.type, Op.BAG_REMOVE, (left, coerce(value, inner)), place)
            some = _compared(ir.Quantifier.EXISTS, value, left, BOOL)
            return Apply(left.type, Op.ITE, (some, taken, left))
        x = ir.Local(inner, build.fresh("_x"))
        others = negation(equal(*_unify(x, value)))
        return ir.Comprehension(left.type, x.name, ir.Members(left, inner), others, x)
    if op == "-":
        value = lower(args[1], env, inner)
        if is_bag:
            return Apply(left.type, Op.BAG_REMOVE, (left, value), place)
        return build.without_item(left, value)
    is_wider = hint is None and not fits_in(value.type, inner)
    if is_wider:
        inner = hull(inner, value.type)
        left = coerce(left, SetT(inner)) if isinstance(left.type, SetT) else left
    if isinstance(left.type, BagT) and (is_bag or is_wider):
        more = (left, lower(args[1], env, inner))
        added = Apply(hint or BagT(inner, left.type.cap + 1), Op.BAG_ADD, more, place)
        there = _compared(ir.Quantifier.EXISTS, value, left, BOOL)
        return added if is_bag else Apply(added.type, Op.ITE, (there, left, added))
    return build.with_item(left, lower(args[1], env, inner), place)


def _widened(seq: Expr, item: Type) -> Expr:
    """Returns ``seq`` as a sequence that may have items of the type ``item``, too."""
    assert isinstance(seq.type, SeqT)
    if fits_in(item, seq.type.item):
        return seq
    return coerce(seq, SeqT(hull(seq.type.item, item), seq.type.cap))


def _sets(op: str, left: Expr, other: typed.Expr, env: Env) -> Expr:
    empty = isinstance(other, typed.Display) and not other.items
    right = lower(other, env, left.type if empty else None)
    if isinstance(left.type, BagT) or isinstance(right.type, BagT):
        if op == "union":
            message = "`union` is unsupported on a set with this many possible members"
            raise refuse("C202", message, other.span, "add members one by one, in a `for`")
        item = build.element(left.type)
        x = ir.Local(item, build.fresh("_x"))
        inside = build.member(x, right)
        where = inside if op == "intersect" else negation(inside)
        return ir.Comprehension(left.type, x.name, ir.Members(left, item), where, x)
    left, right = _unify(left, right)
    code = {"union": Op.UNION, "intersect": Op.INTERSECT, "minus": Op.MINUS}[op]
    return Apply(left.type, code, (left, right))


def _function(op: str, expr: typed.Operation, env: Env, place: ir.SourceLocation) -> Expr:
    base = lower(expr.args[0], env)
    match op, base.type:
        case "get", OptionT(item):
            return Apply(item, Op.GET, (base,), place)
        case "is_some", _:
            return Apply(BOOL, Op.IS_SOME, (base,))
        case (("head" | "last"), SeqT(item)):
            return Apply(item, Op.HEAD if op == "head" else Op.LAST, (base,), place)
        case "tail", SeqT():
            return Apply(base.type, Op.TAIL, (base,), place)
        case "take" | "drop", SeqT():
            part = Op.TAKE if op == "take" else Op.DROP
            return Apply(base.type, part, (base, lower(expr.args[1], env)), place)
        case "index", SeqT(item, cap):
            value = lower(expr.args[1], env, item)
            return Apply(IntT(0, max(cap - 1, 0)), Op.INDEX_OF, (base, value), place)
        case "min" | "max", (SeqT(item) | BagT(item)):
            local = ir.Local(item, build.fresh("_e"))
            members = ir.Members(base, item)
            base = ir.Comprehension(SetT(item), local.name, members, TRUE, local)
            return Apply(item, Op.MIN if op == "min" else Op.MAX, (base,), place)
        case "min" | "max", SetT(item):
            return Apply(item, Op.MIN if op == "min" else Op.MAX, (base,), place)
        case "sum", (SetT(item) | SeqT(item) | BagT(item)):
            local = ir.Local(item, build.fresh("_e"))
            return build.total(local.name, ir.Members(base, item), TRUE, local)
        case "rank", AtomT(_, labels):
            if isinstance(base, Const) and isinstance(base.value, int):
                return build.integer(base.value + 1)
            return Apply(IntT(1, len(labels)), Op.RANK, (base,))
        case "count", (BagT(item, cap) | SeqT(item, cap)):
            value = lower(expr.args[1], env)
            if not _is_one_of(value, item):
                return _compared(ir.Quantifier.COUNT, value, base, IntT(0, cap))
            value = lower(expr.args[1], env, item)
            if isinstance(base.type, BagT):
                return Apply(IntT(0, cap), Op.BAG_COUNT, (base, value))
            local = ir.Local(item, build.fresh("_e"))
            domain = ir.Members(base, item)
            body = equal(local, value)
            return ir.Quant(ir.Quantifier.COUNT, local.name, domain, body, IntT(0, cap))
        case _:
            raise refuse("C202", f"`{op}` can't be applied here", expr.span)

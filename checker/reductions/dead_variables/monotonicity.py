"""Monotonicity: expressions that move in one direction only, and so stay true or false.

An order on the values of a type: ``false < true``, integers and enumerations by size, sets by
inclusion, ``none`` below everything else, maps and tuples component by component.  A variable moves
*up* when every assignment to it, in every action and in the monitor, stores a value that is not
below the current one.  ``init`` is no step and does not count.

Some variables move up but are cleared at the end: with a crash, or when a phase is over.  Such a
variable moves up *until* a condition holds that never ceases to hold (``k in crashed``): every
assignment that removes something comes, in the same step, after the one that makes the condition
true, and happens only where it was false before.

What a crash inside a handler takes back is a value that the variable had earlier in that step.  So
every value in a step is not below the one before the step, though one assignment may go back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import assert_never

from msgspec import Struct

from checker.model import ir
from checker.model.build import conj, disj, negation
from checker.model.ir import Apply, Expr, Op
from checker.model.memo import Keeping, in_its_object
from checker.model.names import bound_in, free_in, reads_in
from checker.model.tree import nodes
from checker.model.types import BOOL, AtomT, BagT, BoolT, IntT, MapT, OptionT, SeqT, SetT
from checker.reductions.dead_variables.terms import replace_all, same


class Direction(Enum):
    """The direction in which a value moves along an execution."""

    STILL = auto()
    UP = auto()
    DOWN = auto()
    ANY = auto()


def flip(way: Direction) -> Direction:
    """The direction of the negation."""
    return {Direction.UP: Direction.DOWN, Direction.DOWN: Direction.UP}.get(way, way)


def joint(*ways: Direction) -> Direction:
    """The direction of a value that is monotone in its parts."""
    moving = {way for way in ways if way is not Direction.STILL}
    if not moving:
        return Direction.STILL
    return moving.pop() if len(moving) == 1 else Direction.ANY


KEY = ir.Local(BOOL, "@key")
"""The first key of an assignment in the conditions ``until`` and ``once`` of a :class:`Trend`."""


class Trend(Struct, frozen=True):
    """The direction of a variable; ``until``: a condition on its first key, :data:`KEY`.

    ``ends``: the actions after whose guard something may be removed.  ``undone``: the actions that
    may take back what they have stored, so that of their steps as a whole only this direction is
    known.  ``once``: a condition on its first key; it moves in this direction from when that holds.
    """

    way: Direction
    until: Expr | None = None
    ends: frozenset[int | None] = frozenset()
    undone: frozenset[int | None] = frozenset()
    once: Expr | None = None


class Trends(Keeping):
    """The directions of expressions, derived from those of variables."""

    def __init__(self, variables: Mapping[str, Trend]) -> None:
        super().__init__()
        self.variables = variables

    def way(self, expr: Expr, names: Mapping[str, Direction] | None = None) -> Direction:
        """The direction of ``expr``'s value; ``names``: those of local names, where they move at
        all.
        """
        return self._way(expr, names) if names else self._way_alone(expr)

    @in_its_object
    def _way_alone(self, expr: Expr) -> Direction:
        return self._way(expr, {})

    def _way(self, expr: Expr, names: Mapping[str, Direction]) -> Direction:
        match expr:
            case ir.Const():
                return Direction.STILL
            case ir.Local(name=name):
                return names.get(name, Direction.STILL)
            case ir.Read(variable=variable):
                return self.variables[variable].way
            case ir.Index(base=base, key=key):
                still = self.way(key, names) is Direction.STILL and isinstance(base.type, MapT)
                return self.way(base, names) if still else self._still(expr, names)
            case ir.Item(base=base):
                return self.way(base, names)
            case Apply():
                return self._apply_trend(expr, names)
            case ir.Let(name=name, value=value, body=body):
                return self.way(body, {**names, name: self.way(value, names)})
            case ir.Quant(kind=kind, name=name, domain=domain, body=body):
                inner = self.way(body, names)
                over = self._over(domain, names)
                over = flip(over) if kind is ir.Quantifier.FORALL else over
                if isinstance(body.type, IntT) and body.type.lo < 0:
                    return self._still(expr, names)
                return joint(inner, over)
            case ir.Comprehension(type=SeqT() | BagT()):
                return self._still(expr, names)
            case ir.Comprehension(domain=domain, where=where, item=item):
                if self.way(item, names) is not Direction.STILL:
                    return Direction.ANY
                return joint(self._over(domain, names), self.way(where, names))
            case ir.MapOf(body=body):
                return self.way(body, names)
            case ir.Make() | ir.IsCase() | ir.CaseField():
                return self._still(expr, names)
            case _:
                assert_never(expr)

    def _still(self, expr: Expr, names: Mapping[str, Direction]) -> Direction:
        """Constant where nothing in it moves, otherwise unknown."""
        reads = [self.variables[v].way for v in reads_in(expr)]
        local = [names.get(name, Direction.STILL) for name in free_in(expr)]
        return (
            Direction.STILL if all(w is Direction.STILL for w in reads + local) else Direction.ANY
        )

    def _over(self, domain: ir.Domain, names: Mapping[str, Direction]) -> Direction:
        match domain:
            case ir.Universe():
                return Direction.STILL
            case ir.Members(of=of) | ir.Subsets(of=of):
                way = self.way(of, names)
                return way if way is Direction.STILL or isinstance(of.type, SetT) else Direction.ANY
            case _:
                assert_never(domain)

    def _apply_trend(self, expr: Apply, names: Mapping[str, Direction]) -> Direction:
        op, args = expr.op, expr.args
        ways = [self.way(arg, names) for arg in args]
        if all(way is Direction.STILL for way in ways):
            return Direction.STILL
        match op:
            case Op.NOT:
                return flip(ways[0])
            case Op.AND | Op.OR | Op.ADD | Op.UNION | Op.INTERSECT | Op.TUPLE:
                return joint(*ways)
            case Op.SUB | Op.MINUS:
                return joint(ways[0], flip(ways[1]))
            case Op.LT | Op.LE | Op.SUBSET:
                return joint(flip(ways[0]), ways[1])
            case Op.CARD | Op.IS_SOME:
                return ways[0]
            case Op.IN:
                sets = isinstance(args[1].type, SetT)
                return ways[1] if ways[0] is Direction.STILL and sets else Direction.ANY
            case Op.INSERT | Op.REMOVE:
                return ways[0] if ways[1] is Direction.STILL else Direction.ANY
            case Op.ITE if ways[0] is Direction.STILL:
                return joint(*ways[1:])
            case Op.ITE if isinstance(args[1], ir.Const) and isinstance(args[2], ir.Const):
                return self._choice_trend(ways[0], args[1], args[2])
            case _:
                return Direction.ANY

    def _choice_trend(self, way: Direction, yes: ir.Const, no: ir.Const) -> Direction:
        """The direction of a choice between two numbers by a condition of direction ``way``."""
        if not (isinstance(yes.value, int) and isinstance(no.value, int)):
            return Direction.ANY
        return way if yes.value >= no.value else flip(way)

    # -- what stays -----------------------------------------------------------------------------

    @in_its_object
    def ever(self, expr: Expr) -> Expr:
        """A condition under which ``expr`` is true, now and forever."""
        way = self.way(expr)
        if way in (Direction.STILL, Direction.UP):
            return expr
        match expr:
            case Apply(op=Op.NOT, args=(part,)):
                return self.never(part)
            case Apply(op=Op.AND, args=args):
                return conj(*(self.ever(arg) for arg in args))
            case Apply(op=Op.OR, args=args):
                return disj(*(self.ever(arg) for arg in args))
            case ir.Quant(kind=kind, domain=domain, body=body) if expr.type == BOOL:
                over = self._over(domain, {})
                wanted = Direction.DOWN if kind is ir.Quantifier.FORALL else Direction.UP
                if over in (Direction.STILL, wanted):
                    return self._quantifier(expr, self.ever(body))
                return ir.FALSE
            case Apply(op=Op.EQ, args=(left, right)) if left.type == right.type == BOOL:
                both = conj(self.ever(left), self.ever(right))
                return disj(both, conj(self.never(left), self.never(right)))
            case _:
                return ir.FALSE

    @in_its_object
    def never(self, expr: Expr) -> Expr:
        """A condition under which ``expr`` is false, now and forever."""
        way = self.way(expr)
        if way in (Direction.STILL, Direction.DOWN):
            return negation(expr)
        match expr:
            case Apply(op=Op.NOT, args=(part,)):
                return self.ever(part)
            case Apply(op=Op.AND, args=args):
                return disj(*(self.never(arg) for arg in args))
            case Apply(op=Op.OR, args=args):
                return conj(*(self.never(arg) for arg in args))
            case ir.Quant(kind=kind, domain=domain, body=body) if expr.type == BOOL:
                over = self._over(domain, {})
                exists = kind is ir.Quantifier.EXISTS
                if over not in (Direction.STILL, Direction.DOWN if exists else Direction.UP):
                    return ir.FALSE
                other = ir.Quantifier.FORALL if exists else ir.Quantifier.EXISTS
                return self._quantifier(
                    ir.Quant(other, expr.name, domain, body, BOOL), self.never(body)
                )
            case Apply(op=Op.EQ, args=(left, right)):
                return self._apart(left, right)
            case _:
                return ir.FALSE

    def _quantifier(self, expr: ir.Quant, body: Expr) -> Expr:
        if body == ir.FALSE:
            return ir.FALSE
        return ir.Quant(expr.kind, expr.name, expr.domain, body, BOOL)

    def _apart(self, left: Expr, right: Expr) -> Expr:
        """A condition under which two values, different now, never become equal."""
        if left.type == right.type == BOOL:
            one = conj(self.ever(left), self.never(right))
            return disj(one, conj(self.never(left), self.ever(right)))
        found: list[Expr] = []
        for low, high in ((left, right), (right, left)):
            rising = self.way(high) in (Direction.STILL, Direction.UP)
            falling = self.way(low) in (Direction.STILL, Direction.DOWN)
            if not (rising and falling):
                continue
            if isinstance(low.type, IntT) and isinstance(high.type, IntT):
                found.append(Apply(BOOL, Op.LT, (low, high)))
            elif isinstance(low.type, OptionT) and low == ir.Const(low.type, None):
                found.append(Apply(BOOL, Op.IS_SOME, (high,)))
            elif isinstance(low.type, SetT) and low.type == high.type:
                found.append(negation(Apply(BOOL, Op.SUBSET, (high, low))))
        return disj(*found)

    @in_its_object
    def sides(self, expr: Expr) -> tuple[Expr, ...] | None:
        """The conditions that end the monotonicity on which results about ``expr`` rest: one for
        each variable that moves up until then.

        ``None`` where the first key of such a variable is not known.
        """
        return self._at_keys(expr, lambda trend: trend.until)

    @in_its_object
    def onces(self, expr: Expr) -> tuple[Expr, ...] | None:
        """The conditions from which on the monotonicity holds on which results about ``expr``
        rest; ``None`` as for :meth:`sides`.
        """
        return self._at_keys(expr, lambda trend: trend.once)

    def _at_keys(
        self, expr: Expr, condition: Callable[[Trend], Expr | None]
    ) -> tuple[Expr, ...] | None:
        """The ``condition`` of each variable in ``expr`` that has one, at its first key there."""
        if all(condition(self.variables[name]) is None for name in reads_in(expr)):
            return ()
        found: list[Expr] = []
        seen = 0
        for node in nodes(expr):
            if isinstance(node, ir.Index) and isinstance(node.base, ir.Read):
                asked = condition(self.variables[node.base.variable])
                if asked is not None:
                    seen += 1
                    found.append(at_key(asked, node.key))
        every = [n for n in nodes(expr) if isinstance(n, ir.Read)]
        if seen != sum(condition(self.variables[n.variable]) is not None for n in every):
            return None
        if any(free_in(one) & bound_in(expr) for one in found):
            return None
        return tuple(dict.fromkeys(found))


def at_key(condition: Expr, key: Expr) -> Expr:
    """A condition on :data:`KEY` for one key."""
    return replace_all(condition, KEY, key)


def not_below(value: Expr, now: Expr, facts: tuple[Expr, ...], up: bool) -> bool:
    """Whether ``value`` is at least the current value ``now`` (at most, unless ``up``)."""
    value = meant(value, facts)
    if same(value, now) or _is_known(value, now, facts, up):
        return True
    match value:
        case ir.Const(value=const) if isinstance(value.type, BoolT):
            return const is up
        case ir.Const(value=const) if isinstance(value.type, SetT) and const == frozenset():
            return not up
        case Apply(op=Op.INSERT, args=(base, _)) if up:
            return not_below(base, now, facts, up)
        case Apply(op=Op.REMOVE | Op.MINUS, args=(base, _)) if not up:
            return not_below(base, now, facts, up)
        case Apply(op=Op.UNION, args=args) if up:
            return any(not_below(arg, now, facts, up) for arg in args)
        case Apply(op=Op.INTERSECT, args=args) if not up:
            return any(not_below(arg, now, facts, up) for arg in args)
        case Apply(op=Op.OR | Op.AND as op, args=args) if up is (op is Op.OR):
            return any(not_below(arg, now, facts, up) for arg in args)
        case Apply(op=Op.ADD, args=(left, right)) if up:
            for base, more in ((left, right), (right, left)):
                grows = isinstance(more.type, IntT) and more.type.lo >= 0
                if grows and not_below(base, now, facts, up):
                    return True
            return False
        case Apply(op=Op.ITE, args=(test, yes, no)):
            return not_below(yes, now, (*facts, test), up) and not_below(
                no, now, (*facts, negation(test)), up
            )
        case Apply(op=Op.SOME) if up:
            return True
        case _:
            return False


def meant(value: Expr, facts: tuple[Expr, ...]) -> Expr:
    """What a local name stands for, where that has not changed since; else ``value`` itself."""
    for fact in facts:
        match value, fact:
            case ir.Local(name=name), Apply(op=Op.EQ, args=(ir.Local(name=other), Apply() as what)):
                if name == other:
                    return what
            case _:
                continue
    return value


def _is_known(value: Expr, now: Expr, facts: tuple[Expr, ...], up: bool) -> bool:
    """Whether the facts tested on the way imply it."""
    low, high = (now, value) if up else (value, now)
    for fact in facts:
        match fact:
            case Apply(op=Op.LT | Op.LE, args=(left, right)):
                if same(left, low) and same(right, high):
                    return True
            case Apply(op=Op.NOT, args=(Apply(op=Op.LT | Op.LE, args=(left, right)),)):
                if same(right, low) and same(left, high):
                    return True
            case Apply(op=Op.EQ, args=args):
                for one, other in (args, args[::-1]):
                    if same(one, now) and _is_ordered(other, value, up):
                        return True
            case _:
                continue
    return False


def _is_ordered(old: Expr, new: Expr, up: bool) -> bool:
    if not (isinstance(old, ir.Const) and isinstance(new, ir.Const)):
        return False
    if not isinstance(old.type, AtomT | IntT):
        return False
    assert isinstance(old.value, int) and isinstance(new.value, int)
    return new.value >= old.value if up else new.value <= old.value

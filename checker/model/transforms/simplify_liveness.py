"""Simplifies liveness properties that, once all actions are known, single states decide.

``always (a => eventually b)`` is violated by an execution in which ``a`` is true once and ``b``
never again.  Where ``a`` is stable once true, ``a and not b`` holds eventually always in such an
execution: the automaton need not remember that ``a`` was true.  What no action changes is constant
in an execution, so that ``always`` and ``eventually`` are redundant there.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from checker.model import interpreter, ir
from checker.model.ir import (
    Automaton,
    AutomatonEdge,
    Connective,
    Expr,
    Formula,
    Holds,
    Modal,
    Op,
    Property,
    PropertyKind,
    TransitionSystem,
)
from checker.model.tree import nodes
from checker.model.types import BOOL
from checker.records import replace

_LASTS = Automaton(
    2,
    (
        AutomatonEdge(0, 0, frozenset(), frozenset()),
        AutomatonEdge(0, 1, frozenset({0}), frozenset()),
        AutomatonEdge(1, 1, frozenset({0}), frozenset()),
    ),
    (frozenset({1}),),
)
"""Accepts the executions in which proposition 0 holds eventually always."""

_NOT_FOREVER = Modal("always", Modal("eventually", Connective("not", (Holds(0),))))


def simplify_liveness(system: TransitionSystem) -> TransitionSystem:
    """Returns ``system`` with such properties expressed by one proposition; all others are
    unchanged."""
    trends = _trends(system)
    return replace(system, properties=tuple(_simplify(p, trends) for p in system.properties))


def never(system: TransitionSystem, expr: Expr) -> bool:
    """Tells whether ``expr`` is false in all states because no action changes what it reads."""
    if not _trends(system).is_constant(expr):
        return False
    return not any(interpreter.holds(system, expr, s) for s, _ in interpreter.starts(system))


def _simplify(prop: Property, trends: _Trends) -> Property:
    if prop.kind is not PropertyKind.LIVENESS or prop.formula is None or prop.given is not None:
        return prop
    formula = _without_idle(prop.formula, prop.propositions, trends)
    match formula:
        case Modal("always", Connective("or", parts)):
            pass
        case _:
            return prop
    later = [part for part in parts if isinstance(part, Modal)]
    now = [part for part in parts if part not in later]
    if len(later) != 1 or later[0].op != "eventually" or any(map(_is_temporal, now)):
        return prop
    if _is_temporal(later[0].part):
        return prop
    given = _negate(_expression(Connective("or", tuple(now)), prop.propositions))
    if not trends.stays(given):
        return prop
    missed = _negate(_expression(later[0].part, prop.propositions))
    lasting = ir.Apply(BOOL, Op.AND, (given, missed))
    return replace(prop, propositions=(lasting,), formula=_NOT_FOREVER, automaton=_LASTS)


def _without_idle(formula: Formula, propositions: tuple[Expr, ...], trends: _Trends) -> Formula:
    """Returns ``formula`` without ``always`` and ``eventually`` of what does not change."""
    match formula:
        case Holds():
            return formula
        case Connective(op, parts):
            return Connective(op, tuple(_without_idle(p, propositions, trends) for p in parts))
        case Modal(op, part):
            inner = _without_idle(part, propositions, trends)
            idle = not _is_temporal(inner) and trends.is_constant(_expression(inner, propositions))
            return inner if idle else Modal(op, inner)
        case _:
            assert_never(formula)


def _is_temporal(formula: Formula) -> bool:
    match formula:
        case Holds():
            return False
        case Connective(_, parts):
            return any(map(_is_temporal, parts))
        case Modal():
            return True
        case _:
            assert_never(formula)


def _expression(formula: Formula, propositions: tuple[Expr, ...]) -> Expr:
    """Returns a formula without temporal operators as an expression."""
    match formula:
        case Holds(index):
            return propositions[index]
        case Connective("not", (part,)):
            return _negate(_expression(part, propositions))
        case Connective(op, parts):
            args = tuple(_expression(part, propositions) for part in parts)
            if not args:
                return ir.TRUE if op == "and" else ir.FALSE
            return args[0] if len(args) == 1 else ir.Apply(BOOL, Op(op), args)
        case Modal():
            raise AssertionError("nothing temporal is left")
        case _:
            assert_never(formula)


def _negate(expr: Expr) -> Expr:
    if isinstance(expr, ir.Apply) and expr.op is Op.NOT:
        return expr.args[0]
    return ir.Apply(BOOL, Op.NOT, (expr,))


# ---- monotonicity of variables -------------------------------------------------------------------


class _Trends(Struct, frozen=True):
    """``changed``: variables that some action assigns; ``rising``: flags that actions only raise,
    and sets that they only extend."""

    changed: frozenset[str]
    rising: frozenset[str]

    def is_constant(self, expr: Expr) -> bool:
        """Tells whether ``expr`` has one value in each execution."""
        return not any(isinstance(n, ir.Read) and n.variable in self.changed for n in nodes(expr))

    def stays(self, expr: Expr) -> bool:
        """Tells whether ``expr``, once true in an execution, stays true."""
        return self.is_constant(expr) or self._moves(expr, up=True)

    def _moves(self, expr: Expr, up: bool) -> bool:
        if self.is_constant(expr):
            return True
        match expr:
            case ir.Apply(_, Op.NOT, (arg,)):
                return self._moves(arg, not up)
            case ir.Apply(_, Op.AND | Op.OR, args):
                return all(self._moves(arg, up) for arg in args)
            case ir.Apply(_, Op.IN, (item, of)):
                return up and self.is_constant(item) and self._rises(of)
            case ir.Quant(ir.Quantifier.FORALL | ir.Quantifier.EXISTS, _, ir.Universe(), body):
                return self._moves(body, up)
            case _:
                return up and self._rises(expr)

    def _rises(self, expr: Expr) -> bool:
        """Tells whether ``expr`` is a variable that rises, or an entry of one at a fixed key."""
        match expr:
            case ir.Read(variable=name):
                return name in self.rising
            case ir.Index(_, base, key):
                return self.is_constant(key) and self._rises(base)
            case _:
                return False


def _trends(system: TransitionSystem) -> _Trends:
    blocks = (*(action.body for action in system.actions), system.monitor)
    assigned = [n for n in nodes(blocks) if isinstance(n, ir.Assign) and n.target.is_state]
    changed = frozenset(stmt.target.name for stmt in assigned)
    falling = {stmt.target.name for stmt in assigned if not _raises(stmt)}
    return _Trends(changed, changed - falling)


def _raises(stmt: ir.Assign) -> bool:
    """Tells whether an assignment can only raise a flag, or add to a set."""
    match stmt.value:
        case ir.Const(type_, True):
            return type_ == BOOL
        case ir.Apply(_, Op.INSERT | Op.UNION, (old, *_)):
            return _is_at(old, stmt.target)
        case _:
            return False


def _is_at(expr: Expr, target: ir.Target) -> bool:
    """Tells whether ``expr`` reads what ``target`` assigns."""
    path = list(target.path)
    while isinstance(expr, ir.Index):
        step = path.pop() if path else None
        if not isinstance(step, ir.Key) or step.key != expr.key:
            return False
        expr = expr.base
    return isinstance(expr, ir.Read) and expr.variable == target.name and not path

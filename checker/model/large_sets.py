"""Recognises bags that represent large sets: each item is put in only where it is not yet there."""

from __future__ import annotations

from checker.model import ir
from checker.model.ir import Apply, Expr, Op, TransitionSystem, Variable
from checker.model.tree import statements
from checker.model.types import BagT, IntT, SeqT, parts_of


def is_finite_set(system: TransitionSystem, variable: Variable) -> bool:
    """Tells whether ``variable`` is a large set over a fixed universe, which has an end however
    large the set becomes."""
    type_ = variable.type
    if not isinstance(type_, BagT):
        return False
    if any(isinstance(part, IntT | SeqT | BagT) and part.grows for part in parts_of(type_.item)):
        return False
    bodies = (system.init, system.monitor, *(action.body for action in system.actions))
    stores = (
        node
        for body in bodies
        for node in statements(body)
        if isinstance(node, ir.Assign) and node.target.name == variable.name
    )
    here = ir.Read(type_, variable.name)
    return all(not s.target.path and _keeps_each_once(s.value, here) for s in stores)


def inserted(value: Expr) -> tuple[Expr, Expr] | None:
    """Returns the collection and the item where ``value`` is a set with one more item, or a bag
    that represents a large one with an item that it lacks."""
    match value:
        case Apply(op=Op.INSERT, args=(held, what)):
            return held, what
        case Apply(op=Op.ITE, args=(Apply(op=Op.IN, args=(what, held)), kept, Apply() as more)):
            again = held == kept and more.op is Op.BAG_ADD and more.args == (held, what)
            return (held, what) if again else None
        case _:
            return None


def adds_only(value: Expr, here: Expr) -> bool:
    """Tells whether ``value`` is ``here``, a set or a large one, with one more item."""
    added = inserted(value)
    return added is not None and added[0] == here


def adds_to_itself(stmt: ir.Assign) -> bool:
    """Tells whether ``stmt``, without source locations, puts one more item into a set or a large
    one, and does nothing else."""
    target = stmt.target
    return not target.path and adds_only(stmt.value, ir.Read(target.type, target.name))


def _keeps_each_once(value: Expr, here: Expr) -> bool:
    """Tells whether ``value`` has no element twice if ``here``, from which it is made, has none."""
    match value:
        case Apply(op=Op.BAG_REMOVE, args=(held, _)):
            return held == here
        case ir.Comprehension(name=name, domain=ir.Members(of=of), item=ir.Local(name=item)):
            return of == here and item == name
        case _:
            return adds_only(value, here)

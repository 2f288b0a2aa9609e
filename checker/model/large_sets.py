"""Recognises bags that represent large sets: each item is put in only where it is not yet there."""

from __future__ import annotations

from checker.model import ir
from checker.model.ir import Apply, Expr, Op, TransitionSystem, Variable
from checker.model.tree import nodes
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
        for node in nodes(body)
        if isinstance(node, ir.Assign) and node.target.name == variable.name
    )
    return all(not stmt.target.path and _adds_what_lacks(stmt.value) for stmt in stores)


def _adds_what_lacks(value: Expr) -> bool:
    match value:
        case Apply(op=Op.ITE, args=(Apply(op=Op.IN, args=(what, held)), kept, Apply() as more)):
            return kept == held and more.op is Op.BAG_ADD and more.args == (held, what)
        case Apply(op=Op.BAG_REMOVE, args=(ir.Read(), _)):
            return True
        case ir.Comprehension(domain=ir.Members(of=ir.Read()), item=ir.Local(name=name)):
            return name == value.name
        case _:
            return False

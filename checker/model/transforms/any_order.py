"""Gives loops over unordered collections every order.

A loop over a sequence, or over integers, goes in their order.  Anything else is unordered.  Where
the order of the iterations can make a difference (:mod:`.commuting_loops`), a loop becomes one that
takes any remaining member, so that every order is explored; the others are unchanged.

A condition on the members that no iteration can change is evaluated beforehand: that leaves fewer
members, and so fewer orders.
"""

from __future__ import annotations

from checker.model import build, ir
from checker.model.build import fresh, member
from checker.model.ir import TRUE, Block, Expr, TransitionSystem
from checker.model.names import assigned_in, locals_in, reads_in, stored_in
from checker.model.run_errors import can_fault
from checker.model.transforms.commuting_loops import commutes
from checker.model.types import BOOL, BagT, IntT, SeqT, SetT, Type, cardinality
from checker.records import replace


def in_any_order(system: TransitionSystem) -> TransitionSystem:
    """Returns ``system`` in which every unordered loop is executed in any order."""
    return replace(
        system,
        init=_block(system.init),
        actions=tuple(replace(a, body=_block(a.body)) for a in system.actions),
        monitor=_block(system.monitor),
    )


def _block(block: Block) -> Block:
    found: list[ir.Stmt] = []
    for stmt in block:
        match stmt:
            case ir.If(_, then, otherwise):
                found.append(replace(stmt, then=_block(then), otherwise=_block(otherwise)))
            case ir.For(body=body) | ir.While(body=body):
                loop = replace(stmt, body=_block(body))
                if isinstance(loop, ir.While) or _has_order(loop.domain) or commutes(loop):
                    found.append(loop)
                else:
                    found.extend(_any_order(loop))
            case _:
                found.append(stmt)
    return tuple(found)


def _has_order(domain: ir.Domain) -> bool:
    if isinstance(domain, ir.Members) and isinstance(domain.of.type, SeqT):
        return True
    return isinstance(ir.domain_item(domain), IntT)


def _any_order(loop: ir.For) -> Block:
    """Returns ``loop`` as one that takes any remaining member."""
    item = ir.Local(ir.domain_item(loop.domain), loop.name)
    where, body = _split_condition(loop)
    members = _members(loop.domain, item)
    left = ir.Local(members.type, fresh("_left"))
    among = ir.Members(left, item.type)
    some = ir.Quant(ir.Quantifier.EXISTS, item.name, among, where, BOOL)
    target = ir.Target(left.type, left.name, False)
    taken: ir.Stmt = ir.Assign(target, build.without_item(left, item))
    if isinstance(left.type, BagT):
        taken = ir.While(member(item, left), (taken,), left.type.cap)
    rounds = (ir.Choose(item.name, among, where), taken, *body)
    return (
        ir.Declare(left.name, left.type, members),
        ir.While(some, rounds, _most(left.type)),
    )


def _split_condition(loop: ir.For) -> tuple[Expr, Block]:
    """Splits the condition on the members that no iteration can change from the rest of the
    body."""
    match loop.body:
        case (ir.If(condition, then, ()),) if not can_fault(condition):
            changed = assigned_in(then) | stored_in(then)
            if changed.isdisjoint(reads_in(condition) | locals_in(condition)):
                return condition, then
        case _:
            pass
    return TRUE, loop.body


def _members(domain: ir.Domain, item: ir.Local) -> Expr:
    """Returns the members of ``domain`` as a set, or as the bag that they are in."""
    if isinstance(domain, ir.Members):
        return domain.of
    return ir.Comprehension(SetT(item.type), item.name, domain, TRUE, item)


def _most(members: Type) -> int:
    """Returns the largest number of iterations."""
    assert isinstance(members, SetT | BagT)
    return members.cap if isinstance(members, BagT) else cardinality(members.item)

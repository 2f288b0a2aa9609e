"""Statements that reset dead parts."""

from __future__ import annotations

from msgspec import Struct

from checker.model import ir
from checker.model.build import conj, disj, member
from checker.model.ir import Apply, Block, Expr, Op
from checker.model.names import free_in
from checker.model.tree import nodes
from checker.model.types import BagT, BoolT, SetT, TupleT, Type, default, universe
from checker.reductions.dead_variables.conditions import VariablePart
from checker.reductions.dead_variables.monotonicity import Direction
from checker.reductions.dead_variables.terms import replace_all

COPIES = 1000
"""The maximum number of copies of one message."""


class Reset(Struct, frozen=True):
    """The reset of the parts of a variable, where all of ``clauses`` hold.

    ``way``: everything is put in (``UP``), the item is removed (``DOWN``), or any value may be
    stored.
    """

    cell: VariablePart
    clauses: list[list[Expr]]
    way: Direction


def reset_statements(rest: Reset) -> Block:
    """The statements that perform the reset."""
    cell = rest.cell
    item = cell.item
    if item is None:
        body = _if(rest.clauses, (_assign(cell, _resting(cell.entry.type, rest.way)),))
    elif rest.way is Direction.DOWN:
        body = _remove_item(rest, item)
    else:
        body = _reset_items(rest, item)
    for key in reversed(cell.keys):
        body = (ir.For(key.name, ir.Universe(key.type), body),)
    return body


def _if(clauses: list[list[Expr]], body: Block) -> Block:
    condition = conj(*(disj(*clause) for clause in clauses))
    return body if condition == ir.TRUE else (ir.If(condition, body),)


def _assign(cell: VariablePart, value: Expr) -> ir.Assign:
    path = tuple(ir.Key(key, key.type) for key in cell.keys)
    return ir.Assign(ir.Target(cell.entry.type, cell.variable, True, path), value)


def _resting(type_: Type, way: Direction) -> Expr:
    if way is Direction.UP and isinstance(type_, BoolT):
        return ir.TRUE
    return ir.Const(type_, default(type_))


def _remove_item(rest: Reset, item: ir.Local) -> Block:
    entry = rest.cell.entry
    op = Op.REMOVE if isinstance(entry.type, SetT) else Op.BAG_REMOVE
    take: Block = (_assign(rest.cell, Apply(entry.type, op, (entry, item))),)
    if isinstance(entry.type, BagT):
        take = (ir.While(member(item, entry), take, COPIES),)
    said = (n for clause in rest.clauses for part in clause for n in nodes(part))
    alone = not any(isinstance(n, ir.Read) and n.variable == rest.cell.variable for n in said)
    return (ir.For(item.name, ir.Members(entry, item.type), _if(rest.clauses, take), alone),)


def _reset_items(rest: Reset, item: ir.Local) -> Block:
    """Tests the conditions on the entry first, then those on each item."""
    entry = rest.cell.entry
    all_, some = list[list[Expr]](), list[list[Expr]]()
    for clause in rest.clauses:
        (some if any(item.name in free_in(part) for part in clause) else all_).append(clause)
    if not some:
        full = ir.Const(entry.type, frozenset(universe(item.type)))
        return _if(all_, (_assign(rest.cell, full),))
    asked, unasked = _components(item, some)
    if asked is None:
        add: Block = (_assign(rest.cell, Apply(entry.type, Op.INSERT, (entry, item))),)
        inner: Block = (ir.For(item.name, ir.Universe(item.type), _if(some, add)),)
        return _if(all_, inner)
    assert isinstance(item.type, TupleT)
    names = [ir.Local(t, f"{item.name}.{i}") for i, t in enumerate(item.type.items)]
    whole = Apply(item.type, Op.TUPLE, tuple(names))
    inner = (_assign(rest.cell, Apply(entry.type, Op.INSERT, (entry, whole))),)
    for i in unasked:
        inner = (ir.For(names[i].name, ir.Universe(names[i].type), inner),)
    for i, name in enumerate(names):
        component = ir.Item(name.type, item, i)
        some = [[replace_all(part, component, name) for part in clause] for clause in some]
    inner = _if(some, inner)
    for i in asked:
        inner = (ir.For(names[i].name, ir.Universe(names[i].type), inner),)
    return _if(all_, inner)


def _components(item: ir.Local, clauses: list[list[Expr]]) -> tuple[list[int] | None, list[int]]:
    """The components of an item that the clauses mention, and the others; ``None``: the item as a
    whole.
    """
    if not isinstance(item.type, TupleT):
        return None, []
    asked: set[int] = set()
    uses = components = 0
    for clause in clauses:
        for part in clause:
            for node in nodes(part):
                if node == item:
                    uses += 1
                if isinstance(node, ir.Item) and node.base == item:
                    components += 1
                    asked.add(node.position)
    if uses != components:
        return None, []
    everything = range(len(item.type.items))
    return sorted(asked), [i for i in everything if i not in asked]

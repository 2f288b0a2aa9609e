"""Rows that stand for others: what nobody will look at again rests, and of the states that differ
by a renaming one is taken.

``rest(row, source)`` does the first, ``canonical(worker, row)`` the second, both in place; ``normal(worker,
row)`` does both, and is what Python calls.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from checker.kernels.canonical import canonical
from checker.kernels.emit import Fn, Val, const
from checker.kernels.frame import Frame
from checker.kernels.layout import Layout
from checker.kernels.statements import Ways
from checker.reductions.plan import Plan
from checker.system import ir
from checker.system.ir import Block, Stmt

NULL = Val("null", 0)


def functions(layout: Layout, plan: Plan) -> list[Fn]:
    """What a plan needs of them, and ``normal``."""
    found = []
    if plan.dead:
        found.append(rest(layout, plan.dead))
    if plan.symmetry is not None:
        found += canonical(layout, plan.symmetry)
    fn = Fn("normal", [("worker", 0), ("row", 0)], None)
    worker, row = fn.args
    if plan.dead:
        fn.call("rest", [row, NULL], None)
    if plan.symmetry is not None:
        fn.call("canonical", [worker, row], None)
    fn.ret()
    return [*found, fn]


def rest(layout: Layout, block: Block) -> Fn:
    """``rest(row, source)``: gives what nobody will look at again its value of rest.

    ``source`` is a row at rest, or null.  A statement that finds everything that it mentions as it
    is in the source has nothing to do: it has left that alone.
    """
    fn = Fn("rest", [("row", 0), ("source", 0)], None)
    row, source = fn.args
    work = fn.alloca(64, layout.words)

    def commit(dirty: bool) -> None:
        if dirty:
            for i in range(layout.words):
                fn.store(fn.load(fn.at(work, i), 64), fn.at(row, i))

    for stmt in block:
        fault, following = fn.label(), fn.label()
        frame = Frame(fn, layout, row, fault)
        first = fn.eq(source, NULL)
        with fn.if_(fn.not_(first)):
            fn.leave_if(fn.not_(_differ(fn, layout, stmt, row, source)), following)
        Ways(frame, work, {}, commit, lambda: None, lambda: None).run((stmt,))
        fn.place(following)
        fn.jump(after := fn.label())
        fn.place_fresh(fault)
        fn.jump(after)
        fn.place_fresh(after)
    fn.ret()
    return fn


def _differ(fn: Fn, layout: Layout, stmt: Stmt, row: Val, source: Val) -> Val:
    """Whether the rows differ in a variable that ``stmt`` mentions."""
    masks = dict.fromkeys(range(layout.words), 0)
    for name in mentioned(stmt):
        for word, mask in layout.bits_of(name).items():
            masks[word] |= mask
    other = const(0)
    for word, mask in masks.items():
        if mask:
            here, there = (fn.load(fn.at(one, word), 64) for one in (row, source))
            other = fn.or_(other, fn.and_(fn.xor(here, there), const(mask)))
    return fn.ne(other, const(0))


def mentioned(node: object) -> set[str]:
    """The variables of the state that some code reads or writes."""
    match node:
        case ir.Read(variable=name):
            return {name}
        case ir.Target(name=name, is_state=True, path=path):
            return {name}.union(*(mentioned(step) for step in path))
        case tuple():
            return set[str]().union(*(mentioned(part) for part in node))
        case _ if is_dataclass(node):
            return set[str]().union(*(mentioned(getattr(node, f.name)) for f in fields(node)))
        case _:
            return set()

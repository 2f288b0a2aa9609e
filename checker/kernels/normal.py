"""Rows that stand for others: what nobody will look at again rests, and of the states that differ
by a renaming one is taken.

``rest(row)`` does the first, ``canonical(worker, row)`` the second, both in place; ``normal(worker,
row)`` does both, and is what Python calls.
"""

from __future__ import annotations

from checker.kernels.canonical import canonical
from checker.kernels.emit import Fn
from checker.kernels.frame import Frame
from checker.kernels.layout import Layout
from checker.kernels.statements import Ways
from checker.reductions.plan import Plan
from checker.system.ir import Block


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
        fn.call("rest", [row], None)
    if plan.symmetry is not None:
        fn.call("canonical", [worker, row], None)
    fn.ret()
    return [*found, fn]


def rest(layout: Layout, block: Block) -> Fn:
    """``rest(row)``: gives what nobody will look at again its value of rest."""
    fn = Fn("rest", [("row", 0)], None)
    (row,) = fn.args
    fault = fn.label()
    frame = Frame(fn, layout, row, fault)
    work = fn.alloca(64, layout.words)

    def commit(dirty: bool) -> None:
        if dirty:
            for i in range(layout.words):
                fn.store(fn.load(fn.at(work, i), 64), fn.at(row, i))

    Ways(frame, work, {}, commit, lambda: None, lambda: None).run(block)
    fn.ret()
    fn.place_fresh(fault)
    fn.ret()
    return fn

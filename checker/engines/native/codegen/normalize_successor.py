"""Puts a successor into its normal form, where states represent others.

One function does this for all actions: a way through an action may end in many places, and code
that is inlined at each of them has to be compiled at each of them.  More than half of all
successors of some systems are their source unchanged; they are left alone.
"""

from __future__ import annotations

from checker.engines.native.codegen.canonical import differs
from checker.engines.native.codegen.emit import Fn, const
from checker.engines.native.codegen.fields import Worker
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.record_access import put
from checker.reductions.reduction_plan import ReductionPlan


def functions(layout: Layout, plan: ReductionPlan) -> list[Fn]:
    """``arrive``, where some states represent others."""
    return [emit_arrive(layout, plan)] if stands_for_others(plan) else []


def stands_for_others(plan: ReductionPlan) -> bool:
    """Whether successors are put into a normal form."""
    return plan.symmetry is not None or bool(plan.resets)


def emit_arrive(layout: Layout, plan: ReductionPlan) -> Fn:
    """``arrive(worker, source, row)``: puts the successor at ``row`` into its normal form.

    ``source``, from which the step leads, is in normal form.  Returns whether it is a step: it is
    not where the successor, once reset, is the source.  Sets TURNED where it leads to another state
    of the same orbit.
    """
    params = [("worker", 0), ("source", 0), ("row", 0)]
    fn = Fn("arrive", params, 1, "noinline", readonly=("source",))
    worker, source, row = fn.args
    with fn.if_(fn.not_(differs(fn, source, row, layout.words))):
        fn.ret(const(0, 1))
    if plan.resets:
        fn.call("rest", [row, source], None)
        with fn.if_(fn.not_(differs(fn, source, row, layout.words))):
            fn.ret(const(0, 1))
    if plan.symmetry is not None:
        fn.call("canonical", [worker, row], None)
        with fn.if_(fn.not_(differs(fn, source, row, layout.words))):
            put(fn, worker, Worker.TURNED, const(1))
    fn.ret(const(1, 1))
    return fn

"""Ample sets of one step, in the states that have one: the other steps are postponed.

``ample(context, worker, source)`` takes the first instance of an eager action that leads to another
state, and returns whether there was one (Peled 1993).  The order of actions and instances is fixed,
so that the states explored do not depend on the number of workers.
"""

from __future__ import annotations

from collections import Counter

from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Val, const
from checker.engines.native.codegen.fields import Context, Mode, Worker
from checker.engines.native.codegen.record_access import get, put
from checker.reductions.reduction_plan import AmpleAction
from checker.reductions.reduction_plan import ReductionPlan as Reductions

OFTEN = 64
"""The search for ample sets is not worth it below one state in so many."""


def functions(reductions: Reductions) -> list[Fn]:
    """``ample``; nothing where no action is eager."""
    if not reductions.ample_actions:
        return []
    fn = Fn("ample", [("context", 0), ("worker", 0), ("source", 0)], 1)
    asked = Counter[int]()
    for one in reductions.ample_actions:
        asked[one.action] += 1
        alone = const(asked[one.action])
        with fn.if_(fn.call(f"action_{one.action}", [*fn.args, alone], 1)):
            fn.ret(TRUE)
    fn.ret(FALSE)
    return [fn]


def eager_instances(reductions: Reductions, action: int) -> tuple[AmpleAction, ...]:
    """Returns where instances of an action may be taken alone, in the order of their numbers."""
    return tuple(one for one in reductions.ample_actions if one.action == action)


def emit_ample(fn: Fn, context: Val, worker: Val, source: Val) -> Val:
    """Whether an ample step was taken; only where states are searched.

    To find predecessors and edges all steps are taken.
    """
    taken = fn.var(FALSE)
    mode = get(fn, worker, Worker.MODE)
    searching = fn.or_(fn.eq(mode, const(Mode.SEARCH)), fn.eq(mode, const(Mode.ROUTE)))
    asked = fn.eq(get(fn, context, Context.WHOLE), const(0))
    with fn.if_(fn.and_(searching, asked)):
        taken.set(fn.call("ample", [context, worker, source], 1))
        lone = fn.add(get(fn, worker, Worker.LONE), const(-1))
        with fn.if_(taken.get()):
            put(fn, worker, Worker.LONE, fn.add(lone, const(OFTEN)))
        with fn.if_(fn.not_(taken.get())):
            put(fn, worker, Worker.LONE, lone)
    return taken.get()

"""Ample sets of one step, in the states that have one: the other steps are postponed.

``ample(context, worker, source)`` takes the first instance of an eager action that leads to another
state, and returns whether there was one (Peled 1993).  The order of actions and instances is fixed,
so that the states explored do not depend on the number of workers.
"""

from __future__ import annotations

from checker.engines.native.codegen.actions import ActionCode
from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.emit import FALSE, TRUE, Fn, Val, const
from checker.engines.native.codegen.fields import Context, Mode, Worker
from checker.engines.native.codegen.layout import Layout
from checker.engines.native.codegen.record_access import get, put
from checker.model.ir import TransitionSystem
from checker.reductions.reduction_plan import AmpleAction
from checker.reductions.reduction_plan import ReductionPlan as Reductions

OFTEN = 64
"""The search for ample sets is not worth it below one state in so many."""


def functions(
    system: TransitionSystem, layout: Layout, plan: ConstraintLayout | None, reductions: Reductions
) -> list[Fn]:
    """``ample`` and what it calls; nothing where no action is eager."""
    found = []
    for number, one in enumerate(reductions.ample_actions):
        action, name = system.actions[one.action], _name(number)
        code = ActionCode(system, layout, action, plan, reductions, one.when, name, one.adds)
        found.append(code.emit())
    return [*found, _ample(reductions.ample_actions)] if found else []


def _name(number: int) -> str:
    return f"eager_{number}"


def _ample(eager: tuple[AmpleAction, ...]) -> Fn:
    fn = Fn("ample", [("context", 0), ("worker", 0), ("source", 0)], 1)
    for number in range(len(eager)):
        with fn.if_(fn.call(_name(number), list(fn.args), 1)):
            fn.ret(TRUE)
    fn.ret(FALSE)
    return fn


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

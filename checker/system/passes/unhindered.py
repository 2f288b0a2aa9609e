"""Under fine steps a process that has effects still to come can do nothing else, and so, while it
is busy now and then, nothing else is possible for it without a break.

That must not excuse it from what fairness owes: handlers are one step, and what is possible
between any two of them is possible all the time.  So what is owed can also be done by a busy
process: it plays at once all that is still to come and goes on from there.  This reaches no state
that could not be reached in more steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from checker.system.build import negation
from checker.system.instantiate.world import Draft, World
from checker.system.ir import FALSE, ActionKind, Block, Expr, fairness_of


def unhindered_drafts(
    world: World, drafts: Iterable[Draft], rest: Callable[[Expr], Block]
) -> list[Draft]:
    """The twins of those ``drafts`` that a promise is about, for processes that are busy.

    ``rest`` gives what plays all effects that a process has still to come.
    """
    found = []
    for draft in drafts:
        action, process = draft.action, draft.process
        if process is None or action.kind is ActionKind.EFFECT or action.promised == FALSE:
            continue
        idle = world.idle(process)
        busy = negation(idle)
        params, guard = _with((action.params, action.guard), idle, busy)
        if (params, guard) == (action.params, action.guard):
            continue
        name = f"{action.name}, after what was still to come"
        body = (*rest(process), *action.body)
        twin = replace(
            action, name=name, params=params, guard=guard, body=body, fairness=fairness_of(action)
        )
        found.append(Draft(twin, process))
    return found


def _with(node: Any, old: Expr, new: Expr) -> Any:
    """``node`` with ``new`` wherever ``old`` stands."""
    if node == old:
        return new
    if isinstance(node, tuple):
        return tuple(_with(part, old, new) for part in node)
    if is_dataclass(node) and not isinstance(node, type):
        return replace(
            node, **{f.name: _with(getattr(node, f.name), old, new) for f in fields(node)}
        )
    return node

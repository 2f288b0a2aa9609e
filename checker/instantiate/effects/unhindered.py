"""Keeps fairness constraints enabled, under fine steps, for processes that have pending effects.

A process with pending effects can do nothing else, and so its other actions are not continuously
enabled.  That must not disable a fairness constraint: in the system of one-step handlers, what is
enabled between any two handlers is enabled all the time.  So a busy process can also take such an
action: it executes all pending effects at once and continues from there.  This reaches no state
that could not be reached in more steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from checker.instantiate.world import Draft, World
from checker.model.build import negation
from checker.model.ir import CAUGHT_UP, FALSE, ActionKind, Block, Expr, fairness_of
from checker.model.tree import rewritten
from checker.records import replace


def unhindered_drafts(
    world: World, drafts: Iterable[Draft], rest: Callable[[Expr], Block]
) -> list[Draft]:
    """Returns the copies, for busy processes, of those ``drafts`` that are subject to fairness.

    ``rest`` gives what executes all pending effects of a process.
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
        name = f"{action.name}{CAUGHT_UP}"
        body = (*rest(process), *action.body)
        twin = replace(
            action, name=name, params=params, guard=guard, body=body, fairness=fairness_of(action)
        )
        found.append(Draft(twin, process))
    return found


def _with(node: Any, old: Expr, new: Expr) -> Any:
    """Returns ``node`` with ``new`` in place of ``old``."""
    return rewritten(node, lambda part: new if part == old else None)

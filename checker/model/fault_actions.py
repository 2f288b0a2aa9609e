"""Tells which actions are faults of the environment, and of which kind."""

from __future__ import annotations

from checker.model.ir import CRASHING, PAUSING, WHILE_DOWN, Action, ActionKind

FAULTS = (ActionKind.CRASH, ActionKind.LOSE, ActionKind.FORGE)
"""The kinds of actions that are faults; a crash or a pause inside a handler is one as well."""


def is_fault(action: Action) -> bool:
    """Returns whether a step of ``action`` is a fault of the environment."""
    return action.kind in FAULTS or action.name.endswith((CRASHING, PAUSING))


def fault_kind(action: Action) -> str:
    """Returns ``crash``, ``lose``, ``forge`` or ``recover``; empty for any other action, and for
    the loss of a message whose sender or receiver is down: the crash is the fault."""
    if action.name.startswith(WHILE_DOWN):
        return ""
    if action.name.endswith(CRASHING):
        return ActionKind.CRASH.value
    return action.kind.value if action.kind in (*FAULTS, ActionKind.RECOVER) else ""

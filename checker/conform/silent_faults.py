"""Faults that are no lines of a log: messages that are lost, received twice or forged, pauses and
cuts.  A step of a run shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checker.instantiate.faults.fault_marks import fault_kind
from checker.model import interpreter, ir
from checker.model.interpreter import State
from checker.model.ir import MarkInfo, MarkKind, TransitionSystem, VariableKind
from checker.model.tree import statements

TWICE = "duplicate"
"""The name of the fault in which a message is received and stays in transit."""

_ALSO = {MarkKind.RECOVER: "recover", MarkKind.FORGE: "forged message"}


def name_of_fault(info: MarkInfo) -> str | None:
    """Returns the name of the fault that a mark denotes, or of a fault's end; ``None`` if it is
    neither."""
    kind = fault_kind(info)
    return _ALSO.get(info.kind) if kind is None else kind.value


class Duplicates:
    """Finds the steps of a system in which a message is received and stays in transit."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        links = {v.name for v in system.variables if v.kind is VariableKind.LINK}
        self._links = [n for n, v in enumerate(system.variables) if v.name in links]
        self._actions = {a.name for a in system.actions if _may_keep(a, links)}

    @property
    def possible(self) -> bool:
        """Whether some step may be one."""
        return bool(self._actions)

    def is_one(self, before: State, step: interpreter.Transition) -> bool:
        """Returns whether a step from the state ``before`` is one."""
        after = step.successor
        if after is None or step.action.name not in self._actions:
            return False
        kinds = [self.system.marks[event.mark].kind for event in step.events]
        if MarkKind.RECEIVE not in kinds:
            return False
        message = step.events[kinds.index(MarkKind.RECEIVE)].args[2]
        sent = sum(
            len(event.args[1]) if isinstance(event.args[1], frozenset) else 1
            for event, kind in zip(step.events, kinds, strict=True)
            if kind is MarkKind.SEND and event.args[2] == message
        )
        left = sum(_count(after[n], message) - _count(before[n], message) for n in self._links)
        return left == sent


def _count(value: Any, message: Any) -> int:
    """Returns how often a message is in the value of a link."""
    if value == message:
        return 1
    parts = value if isinstance(value, tuple | frozenset) else ()
    return sum(_count(part, message) for part in parts)


def _may_keep(action: ir.Action, links: set[str]) -> bool:
    """Returns whether a reception is also a step in which the message stays."""
    return any(isinstance(stmt, ir.If) and _takes(stmt, links) for stmt in action.body)


def _takes(stmt: ir.If, links: set[str]) -> bool:
    return not stmt.then and any(
        isinstance(inside, ir.Assign) and inside.target.name in links
        for inside in statements(stmt.otherwise)
    )


def shown_by(
    system: TransitionSystem, duplicates: Duplicates, before: State, step: interpreter.Transition
) -> Iterator[str]:
    """Yields the names of the faults that a step from the state ``before`` shows."""
    for event in step.events:
        name = name_of_fault(system.marks[event.mark])
        if name is not None:
            yield name
    if duplicates.is_one(before, step):
        yield TWICE

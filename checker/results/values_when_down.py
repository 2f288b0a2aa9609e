"""The values that a process had when it stopped.

A crash resets variables that no property reads, so that fewer states differ; their values
in a state while the process is down are not values that it ever had.
"""

from __future__ import annotations

from checker.model.ir import VariableKind
from checker.results.events import Crashed, Recovered, Stored
from checker.results.trace import Change, Step, Trace


def is_reset(step: Step, change: Change) -> bool:
    """Returns whether ``change``, of ``step``, is only that a crash resets a variable."""
    crashed = {event.process for event in step.events if isinstance(event, Crashed)}
    stored = {(e.process, e.variable) for e in step.events if isinstance(e, Stored)}
    reset = change.quiet and change.kind is VariableKind.LOCAL and change.process in crashed
    return reset and (change.process, change.title) not in stored


def recovered_in(step: Step) -> frozenset[str]:
    """Returns the processes that come back in ``step``, with initial values."""
    return frozenset(event.process for event in step.events if isinstance(event, Recovered))


def values_when_down(trace: Trace) -> dict[tuple[str, str], str]:
    """Returns for processes that are down at the end of ``trace`` the values, as text, that they
    had when they stopped, by process and title of the variable: of those that the crash reset."""
    had: dict[tuple[str, str], str] = {}
    for step in trace.steps:
        back = recovered_in(step)
        had = {key: text for key, text in had.items() if key[0] not in back}
        had |= {(c.process, c.title): c.before for c in step.changes if is_reset(step, c)}
    return had

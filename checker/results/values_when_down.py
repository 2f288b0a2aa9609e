"""The values that a process had when it stopped.

A crash resets variables that no property reads, so that fewer states differ; their values
in a state while the process is down are not values that it ever had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from checker.diagnostics.english import listing
from checker.results.events import Crashed, Recovered, Stored
from checker.results.trace import Change, Claim, Step, Trace


def is_reset(step: Step, change: Change) -> bool:
    """Returns whether ``change``, of ``step``, is only that a crash resets a variable."""
    crashed = {event.process for event in step.events if isinstance(event, Crashed)}
    stored = {(e.process, e.variable) for e in step.events if isinstance(e, Stored)}
    reset = change.quiet and change.kind == "local" and change.process in crashed
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


def read_when_down(trace: Trace, claims: Iterable[Claim]) -> str:
    """Returns what is to be known of state that ``claims``, the parts of the violated property,
    read of processes that are down at the end of ``trace``; empty where they read none, or also
    ask whether the process is down."""
    down = {fate.process for fate in trace.fates if fate.crashed}
    formulas = [claim.formula for claim in claims]
    asked = {who for who in down for text in formulas if f"crashed({who})" in text}
    found = [m for text in formulas for m in re.finditer(r"\b(\w+)\.\w+", text)]
    read = [m for m in found if m[1] in down - asked]
    if not read:
        return ""
    who = list(dict.fromkeys(m[1] for m in read))
    names = listing(dict.fromkeys(f"`{m[0]}`" for m in read))
    one = len(who) == 1
    wanted = "not crashed(p)" if trace.loop is None else "correct(p)"
    return (
        f"{listing(who)} {'is' if one else 'are'} down: {names} as when {'it' if one else 'they'}"
        f" stopped; if that is not intended, check `{wanted} => …`."
    )

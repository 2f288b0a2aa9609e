"""The bounds of a check: which of them some execution exceeds, and which a state is beyond."""

from __future__ import annotations

from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.results.answer import Answer, State


def bounds_met(system: TransitionSystem, answer: Answer) -> str:
    """Returns the bounds that some execution exceeds, in words; empty where there is none.

    One that was seen to be exceeded counts also where there was no time to compute the execution.
    """
    known = {*answer.violations, *answer.undecided}
    return " and ".join(p.definition for p in system.properties if p.is_bound and p.name in known)


def beyond(system: TransitionSystem, state: State) -> str:
    """Returns the bounds that ``state`` is beyond, in words; empty where it is within all."""
    try:
        return " and ".join(
            f"`{p.definition}`"
            for p in system.properties
            if p.is_bound and interpreter.holds(system, p.bad, state)
        )
    except RunFault:
        return ""


def not_followed(system: TransitionSystem, state: State) -> str:
    """Returns that no step leads on from ``state``, where it is beyond a bound; else empty."""
    found = beyond(system, state)
    return f"the state is beyond the bound {found}: no step from it is followed" if found else ""

"""Limits of a search: the bounds of a check, beyond which executions are not followed, and its
view, which identifies states."""

from __future__ import annotations

from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import TransitionSystem
from checker.results.answer import Answer, State


def bounds_met(system: TransitionSystem, answer: Answer) -> str:
    """Returns the bounds that some execution exceeds, in words; empty where there is none.

    A bound seen to be exceeded counts even if there was no time to compute the execution.
    """
    known = {*answer.violations, *answer.undecided}
    return " and ".join(p.definition for p in system.properties if p.is_bound and p.name in known)


def limits_met(system: TransitionSystem, answer: Answer) -> str:
    """Returns the bounds that some execution exceeds, and the view, in words; empty where there is
    none.  An engine that unrolls executions identifies no states."""
    view = _view(system, answer)
    return " and ".join(part for part in (bounds_met(system, answer), view) if part)


def _view(system: TransitionSystem, answer: Answer) -> str:
    unrolled = answer.up_to is not None
    return "" if system.view is None or unrolled else f"the view {system.view.text}"


def where_it_holds(system: TransitionSystem, answer: Answer) -> str:
    """Returns in which states an invariant holds that no explored state violates, where these are
    not all."""
    bounds, view = bounds_met(system, answer), _view(system, answer)
    where = "in every explored state"
    if bounds:
        where = f"in every state within {bounds}, and in their direct successors"
    return f"{where}: the first one found for each value of the view" if view else where


def named_limits(system: TransitionSystem, answer: Answer) -> str:
    """Returns the limits within which something was not seen to happen, as a suffix; empty if it
    was not seen in any run."""
    names = (
        *(["the bound"] if bounds_met(system, answer) else []),
        *(["the view"] if _view(system, answer) else []),
    )
    return f" within {' and '.join(names)}" if names else ""


def states_within(system: TransitionSystem, answer: Answer) -> int | None:
    """Returns the number of states within the bounds; ``None`` if there is no bound, if not all
    states were found, or if the engine does not count the states beyond."""
    bounded = any(p.is_bound for p in system.properties)
    if not bounded or not answer.exhaustive or answer.beyond is None:
        return None
    return answer.distinct_states - answer.beyond


def is_beyond(system: TransitionSystem, state: State) -> bool:
    """Returns whether ``state`` is beyond a bound."""
    return any(p.is_bound and interpreter.holds(system, p.bad, state) for p in system.properties)


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
    """Returns why the steps of ``state`` are not explored, if it is beyond a bound; else empty."""
    found = beyond(system, state)
    return f"the state is beyond the bound {found}: no step from it is explored" if found else ""

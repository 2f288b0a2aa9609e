"""Transfers a known execution, as far as possible, to another model: another protocol, or no
faults.

The steps are given as the phrases of the known execution.  What can't happen is left out, so that a
protocol that does more, or less, on the way still applies; at the end the execution is completed,
without any fault, until no fairness constraint is enabled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checker.model.interpreter import State
from checker.model.ir import ActionKind
from checker.results.trace import Trace
from checker.simulate.choices import Choice
from checker.simulate.prepared_check import PreparedCheck
from checker.simulate.session import SteppingSession, trace_of_choices

MOST = 500
"""The largest number of steps that are added at the end."""

FAULTS = frozenset({ActionKind.CRASH, ActionKind.LOSE, ActionKind.FORGE, ActionKind.RECOVER})
"""Kinds of steps that are left out where an execution is transferred without its faults, and never
added at its end.
"""

CRASHES = ", and crashes"
"""The text in a phrase behind what a process does that crashes during the step."""

ORDER = (
    ActionKind.EFFECT,
    ActionKind.RECEIVE,
    ActionKind.STEP,
    ActionKind.REQUEST,
    ActionKind.DETECT,
    ActionKind.TIMEOUT,
    ActionKind.WORLD,
)
"""The preference among kinds of steps where an execution is completed."""


def phrases_of(taken: Sequence[Choice], *, faults: bool = True) -> tuple[str, ...]:
    """Returns the phrases of the steps of an execution, without its start; ``faults``: whether to
    include faults.
    """
    steps = taken[1:]
    if faults:
        return tuple(choice.text for choice in steps)
    left = (choice for choice in steps if choice.kind not in FAULTS)
    return tuple(choice.text.partition(CRASHES)[0] for choice in left)


def transfer_run(opened: PreparedCheck, phrases: Iterable[str]) -> Trace:
    """Returns the execution of ``opened`` that performs ``phrases``, each time the first of them
    that is enabled, and is then completed.

    It may violate a property, or none.  Raises ``RunFault`` where there is no initial state.
    """
    session = SteppingSession(opened)
    if session.state is None:  # several initial states
        session.pick(session.choices.ways[0])
    waiting = list(phrases)
    while waiting:
        found = _next(session, waiting)
        if found is None:
            break
        session.pick(found[1])
        del waiting[found[0]]
    _finish(session)
    return trace_of_choices(opened, session.steps_taken)


def _next(session: SteppingSession, waiting: Sequence[str]) -> tuple[int, Choice] | None:
    """Returns the first of the phrases that is enabled now, and its choice."""
    ways = {way.text: way for way in session.choices.ways if not way.idle}
    for number, phrase in enumerate(waiting):
        if phrase in ways:
            return number, ways[phrase]
    return None


def _finish(session: SteppingSession) -> None:
    """Extends the execution, never to a visited state, until it could end."""
    seen: set[State] = set(session.states)
    for _ in range(MOST):
        if session.ends():
            return
        fresh = [
            way
            for way in session.choices.ways
            if way.kind in ORDER and way.successor not in seen and CRASHES not in way.text
        ]
        if not fresh:
            return
        session.pick(min(fresh, key=lambda way: ORDER.index(ActionKind(way.kind))))
        seen.add(session.states[-1])

"""Transfers a known run, as far as it goes, to another model: another protocol, or no faults.

What is to happen is told in the phrases of the known run.  What can't happen is left out, so that a
protocol that does more, or less, on the way still has its say; at the end the run goes on, without
any fault, until nothing is left to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checker.stepping.choices import Choice
from checker.stepping.prepared_check import PreparedCheck
from checker.stepping.session import SteppingSession, trace_of_choices
from checker.system.interpreter import State
from checker.system.ir import ActionKind
from checker.witness.trace import Trace

MOST = 500
"""Steps that are added at the end at most."""

FAULTS = frozenset({ActionKind.CRASH, ActionKind.LOSE, ActionKind.FORGE, ActionKind.RECOVER})
"""What is not done again where a run is told without its faults, nor added at its end."""

CRASHES = ", and crashes"
"""Before it, in a phrase, stands what a process does that crashes on the way."""

ORDER = (
    ActionKind.EFFECT,
    ActionKind.RECEIVE,
    ActionKind.STEP,
    ActionKind.REQUEST,
    ActionKind.DETECT,
    ActionKind.TIMEOUT,
    ActionKind.WORLD,
)
"""What is preferred where a run goes on by itself."""


def phrases_of(taken: Sequence[Choice], *, faults: bool = True) -> tuple[str, ...]:
    """The steps of a run in words, without its start; ``faults``: those, too."""
    steps = taken[1:]
    if faults:
        return tuple(choice.text for choice in steps)
    left = (choice for choice in steps if choice.kind not in FAULTS)
    return tuple(choice.text.partition(CRASHES)[0] for choice in left)


def transfer_run(opened: PreparedCheck, phrases: Iterable[str]) -> Trace:
    """The run of ``opened`` that does what ``phrases`` say, the first of them that it can each
    time, and then goes on to an end.

    It may violate a property, or none.  Raises ``RunFault`` where no run can start.
    """
    session = SteppingSession(opened)
    if session.state is None:  # several ways to start
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
    """The first of the phrases that can happen now, and how."""
    ways = {way.text: way for way in session.choices.ways if not way.idle}
    for number, phrase in enumerate(waiting):
        if phrase in ways:
            return number, ways[phrase]
    return None


def _finish(session: SteppingSession) -> None:
    """Goes on, never to a state that the run has been in, until the run could end."""
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

"""Counts the messages of the worst run of a system: a longest path in its state graph.

The strongly connected components are taken in their order (Cormen et al., *Introduction to
Algorithms*, 24.2, on the condensation); a cycle on which a message is sent makes the number
infinite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checker.graphs import components
from checker.model import interpreter
from checker.model.interpreter import Event, State
from checker.model.ir import TransitionSystem
from checker.model.mark_kinds import MarkKind
from checker.polling import poll
from checker.session.small_systems import TooLarge

Steps = Mapping[State, Mapping[State, int]]
"""The messages of the dearest step from a state to another one."""


def most_messages(system: TransitionSystem, most: int) -> int | None:
    """Returns how many messages a run of ``system`` sends at most, counted by their receivers;
    ``None``: there is no bound.  Raises :class:`TooLarge` where it has more than ``most`` states,
    and ``RunFault``."""
    starts = {state: _sent(system, events) for state, events in interpreter.initial_events(system)}
    return longest(starts, _explored(system, starts, most))


def longest(starts: Mapping[State, int], steps: Steps) -> int | None:
    """Returns the largest weight of a path from one of ``starts``, which have weights of their own;
    ``None``: there is none, for some cycle has a weight."""
    best = dict(starts)
    for component in components(steps, lambda state: steps[state]):
        here = max(best[state] for state in component if state in best)
        for state in component:
            for target, weight in steps[state].items():
                if target not in component:
                    best[target] = max(best.get(target, 0), here + weight)
                elif weight:
                    return None
    return max(best.values(), default=0)


def _explored(system: TransitionSystem, starts: Iterable[State], most: int) -> Steps:
    found: dict[State, dict[State, int]] = {state: {} for state in starts}
    waiting = [*found]
    for state in waiting:  # which grows
        poll()
        for step in interpreter.successors(system, state):
            if step.fault is not None:
                raise step.fault
            weight, target = _sent(system, step.events), step.successor
            assert target is not None
            found[state][target] = max(found[state].get(target, 0), weight)
            if target not in found:
                found[target] = {}
                waiting.append(target)
        if len(found) > most:
            raise TooLarge
    return found


def _sent(system: TransitionSystem, events: Iterable[Event]) -> int:
    """Returns how many messages the events send, counted by their receivers."""
    sends = (e for e in events if system.marks[e.mark].kind is MarkKind.SEND)
    return sum(len(receivers) for e in sends if isinstance(receivers := e.args[1], frozenset))

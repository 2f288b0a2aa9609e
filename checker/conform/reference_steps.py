"""Steps by the interpreter, which is the definition of what a system does."""

from __future__ import annotations

from collections.abc import Iterable

from checker.conform.choices import choices_of
from checker.conform.explain_events import Cursors, EventExplainer, says_state
from checker.conform.search import Way
from checker.instantiate.faults.fault_marks import fault_kind
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Event, State, Transition
from checker.model.ir import TransitionSystem

MOST_KEPT = 5_000
"""The largest number of states whose transitions are kept."""


class Transitions:
    """The transitions of the states of a system, kept for the next log that reaches them."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self._known: dict[State, list[Transition]] = {}

    def of(self, state: State) -> list[Transition]:
        """Returns the transitions of ``state``, runtime errors included."""
        found = self._known.get(state)
        if found is None:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            found = self._known[state] = list(interpreter.successors(self.system, state))
        return found


_kept: list[Transitions] = []
"""The transitions of the system that was searched last."""


def transitions_of(system: TransitionSystem) -> Transitions:
    """Returns the transitions of ``system``, those that are known already included."""
    if not _kept or _kept[0].system is not system:
        _kept[:] = [Transitions(system)]
    return _kept[0]


class Outgrown(Exception):
    """A step needs more room than was guessed; ``fault`` names the capacity."""

    def __init__(self, fault: RunFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def count_faults(system: TransitionSystem, events: Iterable[Event]) -> int:
    """Returns how many of ``events`` are faults."""
    return sum(fault_kind(system.marks[event.mark]) is not None for event in events)


class ReferenceSteps:
    """The steps of ``system`` that the log of ``explainer`` admits."""

    def __init__(self, system: TransitionSystem, explainer: EventExplainer) -> None:
        self.system, self.explainer = system, explainer
        self._transitions = transitions_of(system)

    def starts(self) -> list[State]:
        """Returns the initial states; may raise ``RunFault``."""
        return interpreter.initial_states(self.system)

    def ways(self, state: State, cursors: Cursors) -> list[Way[State]]:
        """Returns the steps of ``state`` that what is logged admits.

        Raises :class:`Outgrown` where a step needs more room than was guessed.
        """
        return [way for way, _ in self.transitions(state, cursors)]

    def transitions(self, state: State, cursors: Cursors) -> list[tuple[Way[State], Transition]]:
        """Returns the same with the transitions, each way once."""
        found: dict[tuple[State, Cursors], tuple[Way[State], Transition]] = {}
        for transition in self._transitions.of(state):
            if transition.successor is None:
                if transition.fault is not None and transition.fault.grows is not None:
                    raise Outgrown(transition.fault)
                continue
            events = self.explainer.relevant(transition.events)
            choices = choices_of(self.system, transition.events)
            for after, lines in self.explainer.after(cursors, events, choices):
                if says_state(lines, transition.successor):
                    faults = count_faults(self.system, transition.events)
                    way = Way(transition.successor, after, len(lines), faults)
                    found.setdefault((way.state, after), (way, transition))
        return list(found.values())

    def shown(self, state: State) -> State:
        """Returns ``state`` itself."""
        return state

    def packed(self, state: State) -> State:
        """Returns ``state`` itself."""
        return state

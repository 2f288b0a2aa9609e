"""Steps by the interpreter, which is the definition of what a system does."""

from __future__ import annotations

from collections.abc import Iterable

from checker.conform.explain_events import Cursors, EventExplainer, says_state
from checker.conform.search import Way
from checker.instantiate.faults.fault_marks import fault_kind
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.interpreter import Event, State, Transition
from checker.model.ir import TransitionSystem


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
        for transition in interpreter.successors(self.system, state):
            if transition.successor is None:
                if transition.fault is not None and transition.fault.grows is not None:
                    raise Outgrown(transition.fault)
                continue
            events = self.explainer.relevant(transition.events)
            for after, lines in self.explainer.after(cursors, events):
                if says_state(lines, transition.successor):
                    faults = count_faults(self.system, transition.events)
                    way = Way(transition.successor, after, len(lines), faults)
                    found.setdefault((way.state, after), (way, transition))
        return list(found.values())

    def shown(self, state: State) -> State:
        """Returns ``state`` itself."""
        return state

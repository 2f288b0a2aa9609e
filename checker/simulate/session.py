"""An execution that a user makes step by step."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from checker.model import interpreter
from checker.model.distributions import odds
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, Transition
from checker.model.ir import Property, PropertyKind, TransitionSystem
from checker.model.types import Value
from checker.results.answer import Path
from checker.results.bounds import not_followed
from checker.results.fair_lasso import in_words
from checker.results.narrate import narrate
from checker.results.replay import replay
from checker.results.rerun import Moment, Run
from checker.results.trace import Trace
from checker.simulate.choices import Choice, Choices, choices, starts
from checker.simulate.drawn_steps import draw_transition
from checker.simulate.judging import (
    Truths,
    ViolatedProperty,
    invariants,
    is_bad,
    violated_properties,
    why_not_admitted,
)
from checker.simulate.phrase_matching import Unclear, match_choice
from checker.simulate.prepared_check import Outgrown, PreparedCheck


def _instance(way: Choice) -> tuple[str, tuple[Value, ...]]:
    """Returns the name of a step's action, and its parameters."""
    assert way.transition is not None
    return way.transition.action.name, way.transition.params


class NotPossible(Exception):
    """The requested step is not enabled now; the message says why."""


class SteppingSession:
    """The execution so far, the steps undone, and the choices now.

    An estimated capacity that is too small grows on the way: the execution is replayed from the
    phrases of its steps.
    """

    def __init__(self, opened: PreparedCheck) -> None:
        """Starts where there is only one initial state.  Raises ``RunFault`` where there is
        none.
        """
        self._opened = opened
        self._taken: list[Choice] = []
        self._undone: list[Choice] = []
        self._now: Choices | None = None
        if len(self.choices.ways) == 1:
            self.pick(self.choices.ways[0])

    # ---- the position ---------------------------------------------------------------------

    @property
    def prepared(self) -> PreparedCheck:
        """The check that is stepped through."""
        return self._opened

    @property
    def system(self) -> TransitionSystem:
        """The system that the states are of."""
        return self._opened.system

    @property
    def steps_taken(self) -> tuple[Choice, ...]:
        """The choices that were taken, the start first."""
        return tuple(self._taken)

    @property
    def states(self) -> tuple[State, ...]:
        """The states of the execution, the initial one first; empty before it has started."""
        return tuple(choice.successor for choice in self._taken)

    @property
    def state(self) -> State | None:
        """The current state; ``None`` before the execution has started."""
        return self._taken[-1].successor if self._taken else None

    @property
    def choices(self) -> Choices:
        """The current choices; before the execution has started, the initial states."""
        while self._now is None:
            try:
                self._now = self._choices_now()
            except Outgrown:
                self._again()
        return self._now

    def odds(self) -> dict[str, Fraction]:
        """Returns how probable the steps in which chance has a part are, by their phrases, once the
        adversary has picked the step and all that is its choice there."""
        ways = self.choices.ways
        if self.state is None:
            return {}
        known = odds(self.system, self.state)
        keys = ((w, w.transition) for w in ways if w.transition is not None)
        found = {w.text: known.get((t.action.name, t.params, w.successor)) for w, t in keys}
        return {text: share for text, share in found.items() if share is not None}

    def moving(self) -> list[Choice]:
        """Returns the choices that may change the state: also what a coin may show that does not,
        where it may show something else that does."""
        known, ways = self.odds(), [w for w in self.choices.ways if w.transition is not None]
        moved = {_instance(way) for way in ways if not way.idle}
        return [w for w in ways if not w.idle or (w.text in known and _instance(w) in moved)]

    def draw(
        self, among: Sequence[Transition], chance: random.Random, rate: float
    ) -> Transition | None:
        """Draws one of some steps that are possible now: see
        :mod:`checker.simulate.drawn_steps`."""
        known = {} if self.state is None else odds(self.system, self.state)
        return draw_transition(self.system, among, chance, rate, known)

    def _choices_now(self) -> Choices:
        if self.state is None:
            try:
                return Choices(starts(self.system))
            except RunFault as fault:
                if self._opened.fit(fault):
                    raise Outgrown from None
                raise
        found = choices(self.system, self.state)
        for failing in found.faults:
            self._opened.require_room(failing)
        return found

    def _again(self) -> None:
        """Replays the execution in a larger system."""
        texts, undone = [c.text for c in self._taken], [c.text for c in self._undone]
        self._taken, self._undone, self._now = [], [], None
        for text in (*texts, *reversed(undone)):
            found = match_choice(text, self.choices.ways)
            if isinstance(found, Unclear):
                raise NotPossible(
                    f"the run can't be replayed with larger capacities: {found.message}"
                )
            self.pick(found)
        for _ in undone:
            self.undo()

    # ---- moves ----------------------------------------------------------------------------

    def pick(self, choice: Choice) -> None:
        """Takes the step ``choice``, one of :attr:`choices`; the steps undone are discarded."""
        self._undone.clear()
        self._go(choice)

    def say(self, words: str) -> Choice | Unclear:
        """Takes the choice that ``words`` match, and returns it, or explains why none matches."""
        found = match_choice(words, self.choices.ways)
        if isinstance(found, Choice):
            self.pick(found)
        return found

    def _go(self, choice: Choice) -> None:
        self._taken.append(choice)
        self._now = None

    def undo(self) -> Choice:
        """Undoes the last step; raises :class:`NotPossible` at the start."""
        alone = len(self._taken) == 1 and len(starts(self.system)) == 1
        if not self._taken or alone:
            raise NotPossible("this is the start: there is nothing to undo")
        self._undone.append(self._taken.pop())
        self._now = None
        return self._undone[-1]

    def redo(self) -> Choice:
        """Takes the step again that was undone last."""
        if not self._undone:
            raise NotPossible("nothing was undone")
        choice = self._undone.pop()
        self._go(choice)
        return choice

    def jump(self, number: int) -> None:
        """Goes to step ``number`` of the execution, back or, where steps were undone, forward."""
        last = len(self._taken) + len(self._undone) - 1
        if not 0 <= number <= last:
            raise NotPossible(f"the run has no step {number}: it has steps 0 to {last}")
        while len(self._taken) - 1 > number:
            self.undo()
        while len(self._taken) - 1 < number:
            self.redo()

    def follow(self, taken: Sequence[Choice], number: int) -> None:
        """Makes ``taken``, the start first, the execution, and goes to its step ``number``; the
        later ones can be redone.  Raises :class:`NotPossible` where there is no such step.
        """
        self._taken, self._undone, self._now = list(taken), [], None
        self.jump(number)

    def instead(self, number: int, choice: Choice) -> None:
        """Goes back before step ``number`` and takes ``choice``, one of the other choices there."""
        self._taken = self._taken[:number]
        self.pick(choice)

    # ---- judgement ------------------------------------------------------------------------

    def ends(self) -> bool:
        """Returns whether the execution may end here: no fairness constraint is enabled."""
        return self._is(interpreter.is_over)

    def stays(self) -> bool:
        """Returns whether the execution could stay here forever, possibly by steps that do not
        change the state.
        """
        return self._is(interpreter.is_admissible_end)

    def beyond(self) -> str:
        """Returns the bound that ends the execution here, in a sentence; empty where none does."""
        return "" if self.state is None else not_followed(self.system, self.state)

    def _is(self, question: Callable[[TransitionSystem, State], bool]) -> bool:
        if self.state is None:
            return False
        try:
            return question(self.system, self.state)
        except RunFault:
            return False

    def enabled_fairness(self) -> tuple[str, ...]:
        """Describes the fairness constraints that are enabled now; empty at an end."""
        if self.state is None or self.ends():
            return ()
        try:
            enabled = interpreter.moves(self.system, self.state).enabled
        except RunFault:
            return ()
        texts = [in_words(constraint, fairness) for constraint, fairness in enabled.items()]
        return tuple(dict.fromkeys(texts))

    def violated_invariants(self) -> tuple[Property, ...]:
        """Returns the invariants that are violated in the current state."""
        if self.state is None:
            return ()
        return tuple(p for p in invariants(self.system) if is_bad(self.system, p, self.state))

    def open(self) -> tuple[ViolatedProperty, ...]:
        """Returns the liveness properties that are violated if the execution stays here."""
        if not self._taken:
            return ()
        return violated_properties(Truths(self.system), self.states, len(self.states) - 1)

    def faults(self) -> tuple[Transition, ...]:
        """Returns the steps that would meet a runtime error."""
        return self.choices.faults

    def trace(self) -> Trace:
        """Returns the trace so far: of the invariant that is violated now, of the liveness property
        that is violated if the execution ends here, or of no property.
        """
        return trace_of_choices(self._opened, self.steps_taken)


def trace_of_choices(
    opened: PreparedCheck, taken: Sequence[Choice], loop: int | None = None, about: str = ""
) -> Trace:
    """Returns the trace through ``taken``; ``loop``: the start of the cycle, as in
    :class:`checker.results.answer.Path`; ``about``: the property that it is about where it violates
    that one (otherwise: the first that it violates).

    Violations are replayed; an execution that violates nothing has the word ``run``.
    """
    system, header = opened.system, opened.header
    states = tuple(choice.successor for choice in taken)
    end = len(states) - 1 if loop is None else loop
    admitted = why_not_admitted(system, states, end) is None
    whole = [prop for prop in system.properties if prop.kind is PropertyKind.LIVENESS]
    for prop in _first([*invariants(system), *whole], about):
        if prop.kind is PropertyKind.INVARIANT:
            if loop is None and is_bad(system, prop, states[-1]):
                return replay(system, Path(states), prop, header)
        elif admitted:
            for broken in violated_properties(Truths(system), states, end, [prop]):
                path = Path(states, False, end, broken.values)
                return replay(system, path, broken.property, header)
    moments = tuple(Moment(c.successor, c.transition, c.events) for c in taken)
    stays = loop is None and admitted
    return narrate(system, Run(moments, stays), None, header)


def _first(properties: Sequence[Property], name: str) -> list[Property]:
    """Moves the property called ``name`` to the front of ``properties``."""
    return sorted(properties, key=lambda prop: prop.asked != name)

"""A run that somebody makes step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checker.stepping.choices import Choice, Choices, choices, starts
from checker.stepping.judging import (
    Truths,
    ViolatedProperty,
    invariants,
    is_bad,
    violated_properties,
    why_not_admitted,
)
from checker.stepping.phrase_matching import Unclear, match_choice
from checker.stepping.prepared_check import Outgrown, PreparedCheck
from checker.system import interpreter
from checker.system.evaluate import RunFault
from checker.system.interpreter import State, Transition
from checker.system.ir import Property, TransitionSystem
from checker.witness.answer import Path
from checker.witness.fair_lasso import in_words
from checker.witness.narrate import narrate
from checker.witness.replay import replay
from checker.witness.rerun import Moment, Run
from checker.witness.trace import Trace


class NotPossible(Exception):
    """What was asked for can't be done now; the message says why."""


class SteppingSession:
    """The run so far, what was undone, and what can happen now.

    A capacity that the tool guessed too small grows in passing: the run is made again from the
    phrases of its steps.
    """

    def __init__(self, opened: PreparedCheck) -> None:
        """Starts, where there is only one way to.  Raises ``RunFault`` where none can."""
        self._opened = opened
        self._taken: list[Choice] = []
        self._undone: list[Choice] = []
        self._now: Choices | None = None
        if len(self.choices.ways) == 1:
            self.pick(self.choices.ways[0])

    # ---- where the run is -----------------------------------------------------------------

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
        """What was picked, the start first."""
        return tuple(self._taken)

    @property
    def states(self) -> tuple[State, ...]:
        """The states of the run, the initial one first; empty before it has started."""
        return tuple(choice.successor for choice in self._taken)

    @property
    def state(self) -> State | None:
        """The state now; ``None`` before the run has started."""
        return self._taken[-1].successor if self._taken else None

    @property
    def choices(self) -> Choices:
        """What can happen now; before the run has started, the ways to start."""
        while self._now is None:
            try:
                self._now = self._choices_now()
            except Outgrown:
                self._again()
        return self._now

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
        """The run once more, in a larger system."""
        texts, undone = [c.text for c in self._taken], [c.text for c in self._undone]
        self._taken, self._undone, self._now = [], [], None
        for text in (*texts, *reversed(undone)):
            found = match_choice(text, self.choices.ways)
            if isinstance(found, Unclear):
                raise NotPossible(f"the run can't be made again with more room: {found.message}")
            self.pick(found)
        for _ in undone:
            self.undo()

    # ---- going on and back ----------------------------------------------------------------

    def pick(self, choice: Choice) -> None:
        """Goes on by ``choice``, one of :attr:`choices`; what was undone is gone."""
        self._undone.clear()
        self._go(choice)

    def say(self, words: str) -> Choice | Unclear:
        """Goes on by the choice that ``words`` mean, and returns it, or says why it can't."""
        found = match_choice(words, self.choices.ways)
        if isinstance(found, Choice):
            self.pick(found)
        return found

    def _go(self, choice: Choice) -> None:
        self._taken.append(choice)
        self._now = None

    def undo(self) -> Choice:
        """Takes the last step back; raises :class:`NotPossible` at the start."""
        alone = len(self._taken) == 1 and len(starts(self.system)) == 1
        if not self._taken or alone:
            raise NotPossible("this is the start: there is nothing to undo")
        self._undone.append(self._taken.pop())
        self._now = None
        return self._undone[-1]

    def redo(self) -> Choice:
        """Takes again what was undone last."""
        if not self._undone:
            raise NotPossible("nothing was undone")
        choice = self._undone.pop()
        self._go(choice)
        return choice

    def jump(self, number: int) -> None:
        """Goes to step ``number`` of the run, back or, where steps were undone, forth."""
        last = len(self._taken) + len(self._undone) - 1
        if not 0 <= number <= last:
            raise NotPossible(f"the run has no step {number}: it has steps 0 to {last}")
        while len(self._taken) - 1 > number:
            self.undo()
        while len(self._taken) - 1 < number:
            self.redo()

    # ---- what there is to say -------------------------------------------------------------

    def ends(self) -> bool:
        """Whether the run is over here: nothing that is promised is left to do."""
        return self._is(interpreter.is_over)

    def stays(self) -> bool:
        """Whether the run could stay here for ever, be it by steps that change nothing."""
        return self._is(interpreter.is_admissible_end)

    def _is(self, question: Callable[[TransitionSystem, State], bool]) -> bool:
        if self.state is None:
            return False
        try:
            return question(self.system, self.state)
        except RunFault:
            return False

    def enabled_fairness(self) -> tuple[str, ...]:
        """What the world promises and what is possible now, in words; empty at an end."""
        if self.state is None or self.ends():
            return ()
        try:
            enabled = interpreter.moves(self.system, self.state).enabled
        except RunFault:
            return ()
        texts = [in_words(owed, fairness) for owed, fairness in enabled.items()]
        return tuple(dict.fromkeys(texts))

    def violated_invariants(self) -> tuple[Property, ...]:
        """The invariants that are violated in the state now."""
        if self.state is None:
            return ()
        return tuple(p for p in invariants(self.system) if is_bad(self.system, p, self.state))

    def open(self) -> tuple[ViolatedProperty, ...]:
        """The liveness properties that would be violated if the run stayed here for ever."""
        if not self._taken:
            return ()
        return violated_properties(Truths(self.system), self.states, len(self.states) - 1)

    def faults(self) -> tuple[Transition, ...]:
        """The steps that would meet an error of the run."""
        return self.choices.faults

    def trace(self) -> Trace:
        """The run so far: of the invariant that it violates now, of the liveness property that it
        violates where it ends here, or of no property."""
        return trace_of_choices(self._opened, self.steps_taken)


def trace_of_choices(
    opened: PreparedCheck, taken: Sequence[Choice], loop: int | None = None, about: str = ""
) -> Trace:
    """The run through ``taken``; ``loop``: it goes on for ever from there, as in
    :class:`checker.witness.answer.Path`; ``about``: the property that it is about where it
    violates that one (otherwise: the first that it violates).

    Violations are replayed; a run that violates nothing has the word ``run``.
    """
    system, header = opened.system, opened.header
    states = tuple(choice.successor for choice in taken)
    for prop in _first(invariants(system), about):
        if loop is None and is_bad(system, prop, states[-1]):
            return replay(system, Path(states), prop, header)
    end = len(states) - 1 if loop is None else loop
    if why_not_admitted(system, states, end) is None:
        for broken in violated_properties(
            Truths(system), states, end, _first(system.properties, about)
        ):
            path = Path(states, False, end, broken.values)
            return replay(system, path, broken.property, header)
    moments = tuple(Moment(c.successor, c.transition, c.events) for c in taken)
    stays = loop is None and why_not_admitted(system, states, end) is None
    return narrate(system, Run(moments, stays), None, header)


def _first(properties: Sequence[Property], name: str) -> list[Property]:
    """``properties`` with the one called ``name`` in front."""
    return sorted(properties, key=lambda prop: prop.name != name)

"""A counterexample to induction in the words of the spec: a state that nothing excludes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from checker.engines.symbolic.certificate import Fact, Faultless, describe_fact
from checker.engines.symbolic.induction import NotExcluded
from checker.model import interpreter
from checker.model.interpreter import State, Transition
from checker.model.ir import TransitionSystem, Variable
from checker.model.types import MapT, default, universe
from checker.results.narrate import is_of_processes, narrate
from checker.results.rerun import Moment, Run
from checker.results.show_values import show
from checker.results.trace import Header
from checker.words.steps import headline

HINT = "an `invariant` clause that is false in this state would exclude it"


def not_excluded(system: TransitionSystem, found: NotExcluded) -> tuple[str, ...]:
    """Returns lines that describe ``found``: the state, each step, and what fails after it.

    Raises ``AssertionError`` where the interpreter does not confirm a step: an internal error.
    """
    trace = narrate(system, _run(system, found.states), None, Header("", system.name, ""))
    lines = [f"this state is not excluded: {'; '.join(_state_lines(system, found.states[0]))}"]
    for step in trace.steps[1:]:
        changes = [f"{c.title}{_of(c.process)} becomes {c.after}" for c in step.changes]
        lines.append(f"then {headline(step)}" + (f": {'; '.join(changes)}" if changes else ""))
    lines.append(_fails(system, found.fact, found.states[-1]))
    return (*lines, HINT)


def error_of(system: TransitionSystem, state: State) -> Transition | None:
    """Returns a transition of ``state`` that meets an error, one about a guessed capacity if there
    is one."""
    failing = [t for t in interpreter.successors(system, state) if t.fault is not None]
    grown = [t for t in failing if t.fault is not None and t.fault.grows is not None]
    return next(iter((*grown, *failing)), None)


def _run(system: TransitionSystem, states: tuple[State, ...]) -> Run:
    moments = [Moment(states[0], None, ())]
    for before, after in pairwise(states):
        ways = [t for t in interpreter.successors(system, before) if t.successor == after]
        assert ways, "a step of the encoding is not a step of the interpreter"
        moments.append(Moment(after, ways[0], ways[0].events))
    return Run(tuple(moments), ends=False)


def _fails(system: TransitionSystem, fact: Fact, state: State) -> str:
    if not isinstance(fact, Faultless):
        return f"then it is false: {describe_fact(system, fact)}"
    transition = error_of(system, state)
    assert transition is not None and transition.fault is not None, "no action meets an error"
    return f"then {transition.action.name} meets an error: {transition.fault.message}"


def _of(process: str) -> str:
    return f"[{process}]" if process else ""


def _state_lines(system: TransitionSystem, state: State) -> Iterator[str]:
    """Yields the state without what was never assigned."""
    empty = True
    for variable, value in zip(system.variables, state, strict=True):
        for line in _entries(system, variable, value):
            empty = False
            yield line
    if empty:
        yield "nothing has happened"


def _entries(system: TransitionSystem, variable: Variable, value: object) -> Iterator[str]:
    type_, title = variable.type, variable.title or variable.name
    if isinstance(type_, MapT) and is_of_processes(system, type_):
        assert isinstance(value, tuple)
        for key, held in zip(universe(type_.key), value, strict=True):
            if held != default(type_.value):
                yield f"{title}[{show(type_.key, key)}] = {show(type_.value, held)}"
    elif value != default(type_):
        yield f"{title} = {show(type_, value)}"

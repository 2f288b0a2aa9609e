"""Explores the whole state graph of a check that is small, as the interpreter defines it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from msgspec import Struct

from checker.engines.options import Options
from checker.instantiate.capacities import enlarge_bound, maximum_bound
from checker.language.load import Spec
from checker.model import interpreter, ir
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, Transition
from checker.model.names import reads_in
from checker.polling import poll
from checker.session.load import load_check
from checker.session.systems import instantiated


class TooLarge(Exception):
    """The graph has more states than are wanted, or a capacity may not be enlarged."""


class RunError(Struct, frozen=True):
    """The end of a run that meets a run-time error."""

    code: str


class Expanded(Struct, frozen=True):
    """A state, or the end of a run with an error, and the steps from it, each with the number of
    the state that it leads to; states are numbered as they are yielded."""

    state: State | RunError
    steps: tuple[tuple[Transition, int], ...]
    initial: bool


Found = TypeVar("Found")


def of_small_system(
    spec: Spec, name: str, options: Options, use: Callable[[ir.TransitionSystem], Found]
) -> Found:
    """Returns what ``use`` makes of the system of a check; where a guessed capacity is too small
    for it, the system is made again with a larger one.  Raises :class:`TooLarge` where that may not
    be, and :class:`SpecError`."""
    check = load_check(spec, name, options.settings)
    capacities: dict[str, int] | None = None
    while True:
        made = instantiated(check, options, capacities)
        try:
            return use(made.system)
        except RunFault as fault:
            size = fault.grows and made.capacities[fault.grows]
            if not fault.grows or not size or size >= maximum_bound(fault.grows):
                raise TooLarge from None
            capacities = {**made.capacities, fault.grows: enlarge_bound(size)}


def explored(system: ir.TransitionSystem, most: int) -> Iterator[Expanded]:
    """Yields all states, in the order of a breadth-first search.  Raises :class:`TooLarge` where
    there are more than ``most``, and the error of a capacity that is too small."""
    numbers: dict[Hashable, int] = {}
    for state in interpreter.initial_states(system):
        numbers.setdefault(state, len(numbers))
    initial = len(numbers)
    waiting: list[Any] = [*numbers]
    for at, state in enumerate(waiting):  # which grows
        poll()
        steps: list[tuple[Transition, int]] = []
        for step in () if isinstance(state, RunError) else interpreter.successors(system, state):
            if step.fault is not None and step.fault.grows is not None:
                raise step.fault
            target: Any = step.successor
            if step.fault is not None:
                target = RunError(step.fault.code)
            assert target is not None
            if target not in numbers:
                if len(waiting) >= most:
                    raise TooLarge
                numbers[target] = len(waiting)
                waiting.append(target)
            steps.append((step, numbers[target]))
        yield Expanded(state, tuple(steps), at < initial)


def columns_of_properties(system: ir.TransitionSystem) -> list[int]:
    """Returns the places of the variables that the properties and justice conditions read."""
    asked = [(p.bad, p.premise, *p.propositions) for p in system.properties]
    asked += [(justice.holds,) for justice in system.justice]
    read = {variable for formulas in asked for variable in reads_in(formulas)}
    return [at for at, variable in enumerate(system.variables) if variable.name in read]

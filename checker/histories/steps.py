"""Binds recorded operations to an object, and numbers its steps as they are met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from checker.histories.initial import Initial
from checker.histories.objects import (
    Executed,
    Found,
    Invocation,
    Machines,
    Misfit,
    free_values,
    operators_of,
    results_of,
)
from checker.histories.pairing import Operation, Shape, recorded_result
from checker.histories.rows import FAIL, MISSING, shown, wrong
from checker.language.syntax import typed
from checker.language.typecheck.scope import suggestion


class Bound(Struct, frozen=True, gc=False):
    """An operation of the object: its ``recorded`` one, the ``name`` and arguments that the object
    has for it, and its ``result``, :data:`MISSING` where none is known."""

    recorded: Operation
    name: str
    arguments: tuple[Any, ...]
    result: Any

    @property
    def text(self) -> str:
        """The operation as a call with its result."""
        given = ", ".join(map(shown, self.arguments))
        said = "" if self.result is MISSING else f" = {shown(self.result)}"
        return f"{self.name}({given}){said}"


def bind(found: Found, operations: Iterable[Operation], shape: Shape) -> list[Bound]:
    """Returns the operations that may have taken effect, as operations of the object.

    Raises :class:`SpecError` (E095) for an operation that the object does not have, or not with
    these arguments.
    """
    operators, results = operators_of(found.of), results_of(found.of)
    taken = []
    for one in operations:
        if one.f not in operators:
            known = ", ".join(f"`{each}`" for each in operators)
            hint = suggestion(one.f, operators) or f"it has {known}"
            raise wrong("E095", f"`{found.name}` has no operation `{one.f}`", one.call.place, hint)
        if one.outcome != FAIL or one.f in shape.fail_means_false:
            taken.append((one, operators[one.f]))
    arguments = [_arguments(one, operator, False) for one, operator in taken]
    with_key = not shape.by_key or None in arguments
    if with_key:
        arguments = [_arguments(one, operator, True) for one, operator in taken]
    bound = []
    for (one, operator), given in zip(taken, arguments, strict=True):
        if given is None:
            raise _misfit(one, operator)
        result: Any = MISSING
        if operator.name in results:
            is_bool = isinstance(results[operator.name], typed.Bool)
            takes_value = len(given) > (with_key and one.key is not MISSING)
            result = recorded_result(one, is_bool, takes_value, shape)
        bound.append(Bound(one, operator.name, given, result))
    return bound


def _arguments(one: Operation, operator: typed.Operator, with_key: bool) -> tuple[Any, ...] | None:
    """Returns the arguments of ``one``, the key first where it has one and ``with_key``; ``None``
    where their number is wrong."""
    key = (one.key,) if with_key and one.key is not MISSING else ()
    given = one.arguments
    if given is None:
        value = one.value
        wanted = len(operator.fields) - len(key)
        given = () if wanted == 0 else value if wanted > 1 else (value,)
    return key + given if isinstance(given, tuple) and _fits(operator, key, given) else None


def _fits(operator: typed.Operator, key: tuple[Any, ...], given: tuple[Any, ...]) -> bool:
    return len(key) + len(given) == len(operator.fields)


def _misfit(one: Operation, operator: typed.Operator) -> Exception:
    names = ", ".join(name for name, _ in operator.fields)
    recorded = one.value if one.arguments is None else one.arguments
    message = f"`{operator.name}` takes ({names}), but {shown(recorded)} is recorded"
    return wrong("E095", message, one.call.place, "several arguments are recorded as a vector")


def executed_on(
    machines: Machines, bound: Sequence[Bound], initial: Sequence[Initial] = ()
) -> Executed:
    """Returns the object as it is executed on a history, with the values that occur in ``bound``
    and ``initial``.

    Raises :class:`SpecError` (E095) for an initial operation that the object does not have.
    """
    found = machines.found
    fields = {o.name: [type_ for _, type_ in o.fields] for o in operators_of(found.of).values()}
    values: dict[str, dict[Any, None]] = {n.text: {} for n in found.decl.types}
    largest = length = 3
    for first in initial:
        if len(fields.get(first.name, ())) != len(first.arguments) or first.name not in fields:
            message = f"`{found.name}` has no operation `{first.name}` with these arguments"
            raise wrong("E095", message, first.place)
    applied = [(first.name, first.arguments) for first in initial]
    applied += [(one.name, one.arguments) for one in bound]
    for name, arguments in applied:
        for type_, argument in zip(fields[name], arguments, strict=True):
            free_values(type_, argument, values)
            if type(argument) is int and not isinstance(type_, typed.Enum):
                largest = max(largest, min(argument, 1 << 30))
    length += len(bound)
    processes = tuple(dict.fromkeys(one.recorded.process for one in bound))
    made = {name: tuple(of) for name, of in values.items()}
    return Executed(machines, made, processes, largest + len(bound), length)


class Steps:
    """The steps of an object on a history: for a state and an operation the states after it.

    Operations that are alike have the same number: ``number_of`` each of ``bound``.  ``start``: the
    state after the ``initial`` operations.
    """

    def __init__(
        self, executed: Executed, bound: Sequence[Bound], initial: Sequence[Initial] = ()
    ) -> None:
        self.executed, self.bound, self.initial = executed, bound, initial
        numbers: dict[tuple[Invocation, Any], int] = {}
        self.number_of: list[int] = []
        for one in bound:
            process = one.recorded.process if one.name in executed.uses_caller else None
            invocation = Invocation(one.name, one.arguments, process)
            try:
                executed.prepared(invocation)
            except Misfit as problem:
                message = f"{problem} is not a possible argument of `{one.name}`"
                hint = "it is not of the argument's type in the object"
                raise wrong("E095", message, one.recorded.call.place, hint) from None
            key = invocation, one.result
            self.number_of.append(numbers.setdefault(key, len(numbers)))
        self._keys = list(numbers)
        self.is_read = [one.name in executed.reads for one, _ in self._keys]
        self._rows: list[dict[int, tuple[int, ...]]] = [{} for _ in self._keys]
        self.start = 0
        for first in initial:
            self.start = self._after_initial(first)

    def _after_initial(self, first: Initial) -> int:
        try:
            outcomes = self.executed.outcomes(
                self.start, Invocation(first.name, first.arguments, None)
            )
        except Misfit as problem:
            message = f"{problem} is not a possible argument of `{first.name}`"
            raise wrong("E095", message, first.place) from None
        states = {state for state, _ in outcomes}
        if len(states) != 1:
            raise wrong("E095", f"`{first.name}` leads to no single state", first.place)
        return states.pop()

    def after(self, state: int, number: int) -> tuple[int, ...]:
        """Returns the states to which the operation ``number`` may lead; none: it does not fit."""
        row = self._rows[number]
        found = row.get(state)
        if found is None:
            invocation, recorded = self._keys[number]
            outcomes = self.executed.outcomes(state, invocation)
            fits = self.executed.may_be
            found = row[state] = tuple(
                dict.fromkeys(
                    s for s, result in outcomes if fits(invocation.name, recorded, result)
                )
            )
        return found

    def results(self, state: int, number: int) -> tuple[Any, ...]:
        """Returns the results that the operation could have there."""
        outcomes = self.executed.outcomes(state, self._keys[number][0])
        return tuple(dict.fromkeys(result for _, result in outcomes))

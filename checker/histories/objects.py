"""Executes an object of the specification language on recorded operations.

Its operations are those of a transition system with one action for each, which reads arguments and
caller from variables: so an operation means here what it means in a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.histories.rows import MISSING, shown
from checker.instantiate.no_protocol import world_without_code
from checker.language.library import prelude
from checker.language.load import open_spec
from checker.language.syntax import ast_objects, typed
from checker.language.typecheck.objects import object_with
from checker.language.typecheck.scope import Home, suggestion
from checker.model import ir
from checker.model.interpreter import State, action_transitions, starts
from checker.model.ir import VariableKind
from checker.model.names import names_of
from checker.model.types import (
    AtomT,
    BagT,
    BoolT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    default,
    universe,
)
from checker.properties.consistency.calls import Call
from checker.properties.consistency.sequential_object import (
    GROWTHS,
    RESULT,
    TooSmall,
    held,
    run_error,
    shell_of,
    system_of,
    unbounded,
)

SELF = "@caller"
LONGEST = 4096
"""The largest guess for the length of a sequence before it has to grow."""

MOST_STATES = 100_000
"""The largest number of states of machines that are kept for what comes next."""


class Found(Struct, frozen=True):
    """The declaration of an object, and what its file declares around it; ``of``: the object, typed
    with one value for each free name."""

    name: str
    decl: ast_objects.Object
    around: Home
    of: typed.SequentialObject

    @property
    def operations(self) -> dict[str, ast_objects.Operation]:
        """Its operations by name."""
        items = (i for i in self.decl.items if isinstance(i, ast_objects.Operation))
        return {item.name.text: item for item in items}


def find_object(name: str) -> Found:
    """Returns the object ``Name`` of the library, or ``FILE::Name``.

    Raises :class:`SpecError`: E096 where there is none of the name, or what is wrong with the file.
    """
    file, _, own = name.rpartition("::")
    objects = open_spec(file).objects if file else prelude().objects
    if own not in objects:
        listed = ", ".join(f"`{each}`" for each in sorted(objects))
        hint = suggestion(own, objects)
        option = f"--as {name}"
        span = Span(option, 0, len(option) - len(own) + 1, 0, len(option) + 1)
        raise _refused("E096", f"no object `{own}`", span, listed, hint)
    decl, around = objects[own]
    types = {name.text: typed.Enum(name.text, (_some(name.text),)) for name in decl.types}
    return Found(own, decl, around, object_with(decl, types, around))


def operators_of(of: typed.SequentialObject) -> dict[str, typed.Operator]:
    """Returns the operations of an object, with their arguments, by name."""
    assert of.protocol.implements is not None
    return {operator.name: operator for operator in of.protocol.implements.requests}


def results_of(of: typed.SequentialObject) -> dict[str, typed.Type]:
    """Returns the types of the results of the operations that have one, by name."""
    assert of.protocol.implements is not None
    return {o.name: o.fields[0][1] for o in of.protocol.implements.indications if o.fields}


def _some(name: str) -> str:
    return f"some {name}"


def _refused(code: str, message: str, span: Any, expected: str, hint: str) -> SpecError:
    return SpecError((Diagnostic(code, message, span, expected, hint),))


class Misfit(ValueError):
    """A recorded value is not of the type that an argument has; its text says why."""


class Invocation(Struct, frozen=True):
    """An operation with its arguments, as recorded; ``process``: the caller."""

    name: str
    arguments: tuple[Any, ...]
    process: Any


class _Capacities(dict[str, int]):
    """Guessed capacities: of numbers and of lengths."""

    numbers = 3
    lengths = 8

    def get(self, name: str, guess: Any = None) -> Any:
        """Returns the capacity called ``name``."""
        long = name.endswith((".length", ".size"))
        return super().get(name, max(guess, self.lengths if long else self.numbers))


class Size(Struct, frozen=True):
    """How large a machine is: ``values``: how many each free name of the object stands for, such as
    the ``V`` of ``Register<V>``; ``processes``: how many call; ``numbers`` and ``length``: guesses
    of the largest number and of the length of a sequence."""

    values: tuple[tuple[str, int], ...]
    processes: int
    numbers: int
    length: int


class Machine:
    """The transition system of an object.  States are numbered as they are met, from 0 on."""

    def __init__(
        self, found: Found, size: Size, capacities: Mapping[str, int] | None = None
    ) -> None:
        self._found, self._size = found, size
        types = {
            name: typed.Enum(name, tuple(f"{name} {n}" for n in range(many)) or (_some(name),))
            for name, many in size.values
        }
        self.of = object_with(found.decl, types, found.around)
        self.operators, self.results = operators_of(self.of), results_of(self.of)
        self._capacities = _Capacities(capacities or {})
        self._capacities.numbers = size.numbers
        self._capacities.lengths = min(size.length + 8, LONGEST)
        self._build()
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._outcomes: dict[tuple[Any, ...], tuple[tuple[int, Value], ...]] = {}
        self._grown: dict[str, Machine] = {}
        self._start()

    def _build(self) -> None:
        processes = tuple(f"process {n}" for n in range(self._size.processes))
        world = world_without_code(processes, ("some message",), self._capacities)
        made, shell = shell_of(world, self.of, self._capacities)
        caller = ir.Variable(SELF, made.proc, 0, VariableKind.WORLD, SELF)
        inputs, calls = [caller], []
        self.slots: dict[str, list[int]] = {}
        for number, operator in enumerate(self.operators.values()):
            reads = []
            for name, type_ in operator.fields:
                own = f"@{operator.name}.{name}"
                held_type = made.type_of(type_, shell, f"{operator.name}.{name}")
                self.slots.setdefault(operator.name, []).append(len(inputs))
                inputs.append(
                    ir.Variable(own, held_type, default(held_type), VariableKind.WORLD, own)
                )
                reads.append(ir.Read(held_type, own))
            returns = int(operator.name in self.results)
            process = ir.Read(made.proc, SELF)
            calls.append(Call(process, number, operator.name, tuple(reads), operator.name, returns))
        self.system = system_of(made, shell, self.of.name, tuple(calls), tuple(inputs))
        self.inputs = tuple(inputs)
        self.result_types = {
            name: made.type_of(type_, shell, f"{name}.result")
            for name, type_ in self.results.items()
        }
        self._actions = {
            name: a for name, a in zip(self.operators, self.system.actions, strict=True)
        }
        names = {
            name: names_of((action.guard, action.body)) for name, action in self._actions.items()
        }
        self.uses_caller = {name for name, found in names.items() if SELF in found.reads}
        self.reads = {name for name, found in names.items() if not found.assigned - {RESULT}}
        self.width = len(self.system.variables) - len(self.inputs) - 1

    def _start(self) -> None:
        try:
            starting = [state for state, _ in starts(self.system)]
        except Exception as problem:
            fault = getattr(problem, "grows", None)
            if fault is None:
                raise
            raise TooSmall(fault) from None
        firsts = list(dict.fromkeys(state[: self.width] for state in starting))
        if len(firsts) > 1:
            raise _refused(
                "C210", f"`{self.of.name}` has several initial states", self.of.span, "",
                "a sequential object has one initial state",
            )  # fmt: skip
        self._number(firsts[0])

    def grown(self, name: str) -> Machine:
        """Returns a machine with more of a guessed capacity, the same one each time; raises
        :class:`SpecError` (C210) where that was done too often."""
        if name not in self._grown:
            larger = 2 * self._capacities.get(name, 4)
            if larger > LONGEST << GROWTHS:
                raise unbounded(self.of)
            self._grown[name] = Machine(self._found, self._size, {**self._capacities, name: larger})
        return self._grown[name]

    def has_capacity(self, numbers: int, length: int) -> bool:
        """Returns whether its guesses are at least these."""
        return self._size.numbers >= numbers and self._size.length >= length

    def has_same_steps(self, other: Machine) -> bool:
        """Returns whether the steps of ``other`` are the same, but for the process that calls."""
        ours, theirs = self.system, other.system
        same = ours.actions == theirs.actions and ours.init == theirs.init
        return same and ours.variables[: self.width] == theirs.variables[: other.width]

    def _number(self, state: State) -> int:
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self.states)
            self.states.append(state)
        return found

    def outcomes(
        self, state: int, name: str, inputs: tuple[Value, ...]
    ) -> tuple[tuple[int, Value], ...]:
        """Returns the states and results to which an operation may lead; none: it can't take
        effect.  Raises :class:`SpecError` (C210) for a run-time error, :class:`TooSmall` where a
        capacity has to grow."""
        key = (state, name, inputs)
        found = self._outcomes.get(key)
        if found is None:
            found = self._outcomes[key] = tuple(self._run(self.states[state], name, inputs))
        return found

    def _run(self, state: State, name: str, inputs: tuple[Value, ...]) -> dict[Any, None]:
        found: dict[tuple[int, Value], None] = {}
        for transition in action_transitions(
            self.system, self._actions[name], (*state, None, *inputs)
        ):
            if transition.fault is not None:
                raise run_error(self.of, transition.fault)
            after = transition.successor
            assert after is not None
            result = held(after[self.width]) if name in self.result_types else None
            found[self._number(after[: self.width]), result] = None
        return found


class Machines:
    """The machines of an object, one for each size: parts of histories share them."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self._made: dict[tuple[Any, ...], Machine] = {}

    @cached_property
    def _knows_processes(self) -> bool:
        """Whether it matters how many processes there are."""
        values = tuple((name.text, 1) for name in self.found.decl.types)
        one, two = (Machine(self.found, Size(values, many, 3, 8)) for many in (1, 2))
        return bool(one.uses_caller) or not one.has_same_steps(two)

    def of(self, size: Size) -> Machine:
        """Returns a machine with ``size``, or more capacity."""
        if sum(len(each.states) for each in self._made.values()) > MOST_STATES:
            self._made.clear()  # who uses one of them keeps it
        many = size.processes if self._knows_processes else 1
        key = size.values, many
        numbers, length = _rounded(size.numbers), _rounded(size.length)
        found = self._made.get(key)
        if found is None or not found.has_capacity(numbers, length):
            found = self._made[key] = Machine(self.found, Size(size.values, many, numbers, length))
        return found


def _rounded(number: int) -> int:
    """Returns the least power of two that is not smaller."""
    return 1 << (number - 1).bit_length()


class Executed:
    """An object that is executed on recorded values.

    ``values``: those that each free name of the object stands for; ``processes``: those that call.
    """

    def __init__(
        self,
        machines: Machines,
        values: Mapping[str, tuple[Any, ...]],
        processes: tuple[Any, ...],
        numbers: int,
        length: int,
    ) -> None:
        self.values, self.processes = values, processes or (0,)
        self._index = {name: {v: i for i, v in enumerate(of)} for name, of in values.items()}
        self._callers = {process: i for i, process in enumerate(self.processes)}
        many = tuple((name, len(of)) for name, of in values.items())
        self._use(machines.of(Size(many, len(self.processes), numbers, length)))

    def _use(self, machine: Machine) -> None:
        self._machine = machine
        self._blank = [variable.initial for variable in machine.inputs]
        self.uses_caller, self.reads = machine.uses_caller, machine.reads
        self._prepared: dict[Invocation, tuple[Value, ...]] = {}

    def grow(self, name: str) -> None:
        """Enlarges a guessed capacity: numbers of states are others then."""
        self._use(self._machine.grown(name))

    def outcomes(self, state: int, one: Invocation) -> list[tuple[int, Any]]:
        """Returns the states and results, as a recorder would have them, to which an operation may
        lead; see :meth:`Machine.outcomes`."""
        inputs = self._prepared.get(one)
        if inputs is None:
            inputs = self._prepared[one] = self.prepared(one)
        found = self._machine.outcomes(state, one.name, inputs)
        if one.name not in self._machine.result_types:
            return [(after, MISSING) for after, _ in found]
        type_ = self._machine.result_types[one.name]
        return [(after, self.plain(type_, result)) for after, result in found]

    def prepared(self, one: Invocation) -> tuple[Value, ...]:
        """Returns the values of the variables from which the operation reads its arguments; raises
        :class:`Misfit`, or :class:`TooSmall`."""
        values = list(self._blank)
        values[0] = self._callers.get(one.process, 0)
        for slot, argument in zip(
            self._machine.slots.get(one.name, ()), one.arguments, strict=True
        ):
            values[slot] = self._value(self._machine.inputs[slot].type, argument)
        return tuple(values)

    def _value(self, type_: Type, value: Any) -> Value:
        """Returns the value of ``type_`` that was recorded as ``value``."""
        match type_:
            case AtomT(name) if name in self._index:
                return self._index[name][value]
            case AtomT("Proc") if value in self._callers:
                return self._callers[value]
            case AtomT(_, labels) if value in labels:
                return labels.index(value) + type_.first
            case BoolT() if isinstance(value, bool):
                return value
            case IntT(lo, hi) if type(value) is int and value >= lo:
                if value > hi and type_.grows is not None:
                    raise TooSmall(type_.grows)
                if value <= hi:
                    return value
            case OptionT(item):
                return None if value is None else (self._value(item, value),)
            case SeqT(item) if isinstance(value, tuple):
                return tuple(self._value(item, each) for each in value)
            case SetT(item) if isinstance(value, (tuple, frozenset)):
                return frozenset(self._value(item, each) for each in value)
            case TupleT(items) if isinstance(value, tuple) and len(value) == len(items):
                return tuple(self._value(t, each) for t, each in zip(items, value, strict=True))
        raise Misfit(shown(value))

    def plain(self, type_: Type, value: Any) -> Any:
        """Returns ``value`` as a recorder would have written it."""
        match type_:
            case AtomT(name) if name in self._index:
                known = self.values[name]
                return known[value] if known else None
            case AtomT("Proc"):
                return self.processes[value]
            case AtomT(_, labels, first):
                return labels[value - first]
            case OptionT(item):
                return None if value is None else self.plain(item, value[0])
            case SeqT(item) | BagT(item):
                return tuple(self.plain(item, each) for each in value)
            case SetT(item):
                return frozenset(self.plain(item, each) for each in value)
            case TupleT(items):
                return tuple(self.plain(t, each) for t, each in zip(items, value, strict=True))
            case MapT(key, item):
                pairs = zip(universe(key), value, strict=True)
                return frozenset(
                    (self.plain(key, k), self.plain(item, v)) for k, v in pairs if v is not None
                )
            case _:
                return value

    def may_be(self, one: str, recorded: Any, result: Any) -> bool:
        """Returns whether the ``result`` of the operation ``one`` is what was ``recorded``.

        A sequence of strings may be recorded as one string, and a set as a vector.
        """
        if recorded is MISSING or result is MISSING:
            return True
        if recorded is None:
            return result is None or not isinstance(self._machine.result_types[one], OptionT)
        if isinstance(recorded, str) and isinstance(result, tuple):
            return all(isinstance(each, str) for each in result) and "".join(result) == recorded
        if isinstance(recorded, tuple) and isinstance(result, frozenset):
            return len(recorded) == len(result) and frozenset(recorded) == result
        return bool(recorded == result) and isinstance(recorded, bool) == isinstance(result, bool)

    def described(self, state: int) -> str:
        """Returns a state in words: ``value = 3``."""
        machine = self._machine
        variables = machine.system.variables[: machine.width]
        pairs = zip(variables, machine.states[state], strict=True)
        return ", ".join(f"{v.title} = {shown(self.plain(v.type, value))}" for v, value in pairs)


def free_values(type_: typed.Type, value: Any, into: dict[str, dict[Any, None]]) -> None:
    """Adds to ``into`` the values inside ``value``, of ``type_``, that free names stand for."""
    match type_:
        case typed.Enum(name, (label,)) if label == _some(name) and name in into:
            into[name][value] = None
        case typed.Option(item) if value is not None:
            free_values(item, value, into)
        case typed.Seq(item) | typed.Set(item) | typed.Bag(item) if isinstance(
            value, (tuple, frozenset)
        ):
            for each in value:
                free_values(item, each, into)
        case typed.Tuple(items) if isinstance(value, tuple) and len(value) == len(items):
            for item, each in zip(items, value, strict=True):
                free_values(item, each, into)

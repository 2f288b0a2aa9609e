"""Adds to a system what an automaton of calls and returns has seen, as a history variable."""

from __future__ import annotations

from itertools import product
from typing import cast
from weakref import WeakKeyDictionary

from msgspec import Struct

from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import CLIENT, Observed, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import entry, equal, integer
from checker.model.evaluate import misfit
from checker.model.ir import Block, Expr, VariableKind
from checker.model.reading import Specification
from checker.model.types import IntT, MapT, Value
from checker.properties.consistency.automaton import Automaton, Event, TooMany, automaton_of
from checker.properties.consistency.calls import Call, Result, calls_of
from checker.properties.consistency.monitors import monitor_of, reachable
from checker.properties.consistency.sequential_object import SequentialObject, TooSmall

LARGEST_TABLE = 1 << 20
"""The largest number of entries of the table of an automaton."""


def variable_of(asked: typed.Consistent) -> str:
    """Returns the name of the variable that observes ``asked``."""
    return f"@{asked.kind}.{asked.object.name}"


def reads(world: World, asked: typed.Consistent) -> Expr:
    """Returns whether all is correct up to now, or whether any operation has returned."""
    now = world.read(variable_of(asked))
    assert isinstance(now.type, IntT)
    if asked.asks == "returned":
        return build.negation(
            build.below(now, integer(world.observed[variable_of(asked)].first_returned))
        )
    return build.below(now, integer(now.type.hi))


class Observation(Struct, frozen=True):
    """What the automaton of ``asked`` has seen; ``columns``: the position of each event in a row of
    its table."""

    world: World
    asked: typed.Consistent
    calls: tuple[Call, ...]
    automaton: Automaton
    columns: dict[Event, int]
    of: Specification

    def declare(self) -> None:
        """Declares the variable."""
        kind, name = self.asked.kind.replace("_", " "), self.asked.object.name
        type_ = IntT(0, self.automaton.violated)
        variable, title = variable_of(self.asked), f"{kind} as {name}"
        self.world.add(variable, type_, 0, VariableKind.HISTORY, title)
        self.world.observed[variable] = Observed(self.automaton.first_returned, self.of)

    def at_request(self, op: str, process: Expr) -> Block:
        """Returns what a call of ``op`` changes."""
        if not any(call.op == op for call in self.calls):
            return ()
        return self._note(self._column("call", op, process, self._turn(process)), None)

    def at_return(self, indication: str, process: Expr, result: Expr | None) -> Block:
        """Returns what the return by ``indication`` with ``result`` changes."""
        found = [call for call in self.calls if call.returns == indication]
        if not found:
            return ()
        base = self._column("other", found[0].op, process, self._turn(process))
        return self._note(base, self._result(found[0].op, result))

    def _turn(self, process: Expr) -> Expr:
        return entry(self.world.read(CLIENT), process)

    def _column(self, kind: str, op: str, process: Expr, turn: Expr) -> Expr:
        """Returns the column of the event of ``kind`` for the request number ``turn``, which is of
        ``op``."""
        turns = turn.type
        assert isinstance(turns, IntT)
        columns = [[0] * (turns.hi + 1) for _ in self.world.sizes.processes]
        for number, call in enumerate(self.calls):
            if call.op == op:
                columns[call.process][call.turn] = self.columns[Event(kind, number)]
        row = MapT(turns, IntT(0, len(self.columns) - 1))
        table = ir.Const(MapT(self.world.proc, row), tuple(tuple(each) for each in columns))
        return ir.Index(row.value, ir.Index(row, table, process), turn)

    def _result(self, op: str, result: Expr | None) -> Expr:
        """Returns by how many columns ``result`` is behind that of any other."""
        values = results_of(self.columns, self.calls, op)
        if result is None:
            return integer(len(values))
        chosen: Expr = integer(0)
        for offset, value in reversed(list(enumerate(values, start=1))):
            if misfit(result.type, value, None) is None:
                same = equal(result, ir.Const(result.type, value))
                range_ = IntT(0, len(values))
                chosen = ir.Apply(range_, ir.Op.ITE, (same, integer(offset), chosen))
        return chosen

    def _note(self, column: Expr, more: Expr | None) -> Block:
        name = variable_of(self.asked)
        now, width = self.world.read(name), len(self.columns)
        flat = tuple(
            self.automaton.after(state, event)
            for state in range(self.automaton.violated + 1)
            for event in self.columns
        )
        keys = IntT(0, len(flat) - 1)
        row = ir.Apply(IntT(0, len(flat) - width), ir.Op.MUL, (now, integer(width)))
        at: Expr = ir.Apply(keys, ir.Op.ADD, (row, column))
        if more is not None:
            at = ir.Apply(keys, ir.Op.ADD, (at, more))
        table = ir.Const(MapT(keys, now.type), flat)
        return (build.assign(now, ir.Index(now.type, table, at)),)


def results_of(columns: dict[Event, int], calls: tuple[Call, ...], op: str) -> list[object]:
    """Returns the results of ``op`` that events name, in the order of their columns."""
    first = next(number for number, call in enumerate(calls) if call.op == op)
    return [e.result for e in columns if e.kind == "return" and e.operation == first]


_Made = tuple[Automaton, Specification]
_made: WeakKeyDictionary[typed.SequentialObject, dict[object, _Made]] = WeakKeyDictionary()
"""The automata of objects: a check is instantiated many times."""


def observation_of(world: World, asked: typed.Consistent) -> Observation:
    """Returns the observation for ``asked``; raises :class:`SpecError` (C211) where it is too
    large."""
    calls = calls_of(world)
    losses = world.crash_bound if world.recovers else 0
    known = _made.setdefault(asked.object, {})
    key = asked.kind, world.sizes.processes, calls, losses
    if key not in known:
        known[key] = _automaton(world, asked, calls, losses)
    automaton, of = known[key]
    columns = _columns(automaton, calls)
    if len(columns) * (automaton.violated + 1) > LARGEST_TABLE:
        raise _too_many(asked, calls)
    return Observation(world, asked, calls, automaton, columns, of)


def _automaton(
    world: World, asked: typed.Consistent, calls: tuple[Call, ...], losses: int
) -> _Made:
    of = SequentialObject(world, asked, calls)
    while True:
        try:
            made = automaton_of(monitor_of(asked.kind, of), calls, losses)
            return made, _specification(asked, of)
        except TooSmall as small:
            of.grow(small.name)
        except TooMany:
            raise _too_many(asked, calls) from None


def _specification(asked: typed.Consistent, of: SequentialObject) -> Specification:
    """Returns the object as far as the calls explore it, for what is said of a violation."""
    states = {at: number for number, at in enumerate(reachable(of))}
    outcomes = {}
    for at, call in product(states, range(len(of.calls))):
        found = of.known.get((at, call))
        if found is not None and all(after in states for after, _ in found):
            some = tuple((states[after], _parts(of.calls[call], r)) for after, r in found)
            outcomes[states[at], call] = some
    said = tuple(
        (c.process, c.op, tuple(cast(ir.Const, a).value for a in c.args)) for c in of.calls
    )
    return Specification(asked.kind, asked.object.name, said, outcomes)


def _parts(call: Call, result: Result) -> tuple[Value, ...]:
    """Returns the arguments of the indication that returns ``result``."""
    if call.results == 0:
        return ()
    return (result,) if call.results == 1 else cast("tuple[Value, ...]", result)


def _columns(automaton: Automaton, calls: tuple[Call, ...]) -> dict[Event, int]:
    """Returns the columns of the table: of each operation its call, its return with any other
    result, and its return with each result that some operation of the kind has."""
    seen: dict[str, dict[Result, None]] = {
        op: {} for op in dict.fromkeys(call.op for call in calls)
    }
    for edges in automaton.edges:
        for event in edges:
            if event.kind == "return":
                seen[calls[event.operation].op][event.result] = None
    events = []
    for number, call in enumerate(calls):
        events += [Event("call", number), Event("other", number)]
        events += [Event("return", number, result) for result in seen[call.op]]
    return {event: column for column, event in enumerate(events)}


def _too_many(asked: typed.Consistent, calls: tuple[Call, ...]) -> Exception:
    message = f"{len(calls)} operations have too many possible orders"
    hint = "reduce the number of calls, or of different arguments"
    return refuse("C211", message, asked.span, hint)

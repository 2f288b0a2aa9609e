"""Decides step by step which histories are linearizable, sequentially consistent, regular or safe.

A history is a sequence of calls and returns.  A monitor reads it and keeps what matters for its
continuations; it has no state after a history that is not correct.  Each is the definition itself,
with sets for what is not determined: the powerset construction on the automaton that guesses when
an operation takes effect (Bouajjani, Emmi, Enea, Hamza, *On Reducing Linearizability to State
Reachability*, ICALP 2015); for single histories the same search is in Wing and Gong, *Testing and
Verifying Concurrent Objects* (JPDC 1993), and Lowe, *Testing for Linearizability* (2017).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from checker.instantiate.protocol.sizes import refuse
from checker.model.interpreter import State
from checker.properties.consistency.calls import Result
from checker.properties.consistency.sequential_object import SequentialObject

Kept = TypeVar("Kept")
"""The part of a history that a monitor stores."""


class Monitor(Protocol[Kept]):
    """Operations are numbers.  ``lost``: the operation will never return."""

    def start(self) -> Kept: ...

    def call(self, state: Kept, operation: int) -> Kept: ...

    def lost(self, state: Kept, operation: int) -> Kept: ...

    def results(self, state: Kept, operation: int) -> Iterable[Result] | None:
        """Returns the results with which ``operation`` may return, in an order that the check
        alone determines; ``None``: with any."""
        ...

    def returned(self, state: Kept, operation: int, result: Result) -> Kept | None:
        """Returns the state after a return with one of those results; ``None``: not correct."""
        ...

    def weight(self, state: Kept) -> int:
        """Returns about how much work a state is."""
        ...


# ---- linearizability ---------------------------------------------------------------------------


class Pending(NamedTuple):
    """An operation that has not returned.  ``effect``: none yet, or the result that it will return;
    ``is_lost``: it will never return."""

    operation: int
    effect: tuple[Result] | None
    is_lost: bool


Configuration = tuple[State, frozenset[Pending]]
"""A state of the object, and the operations that have been called and have not returned."""


class Linearizability:
    """The state: all configurations that are possible after the history."""

    def __init__(self, of: SequentialObject) -> None:
        self.of = of
        self._all = _results(of)

    def start(self) -> frozenset[Configuration]:
        return frozenset({(self.of.initial(), frozenset[Pending]())})

    def call(self, state: frozenset[Configuration], operation: int) -> frozenset[Configuration]:
        new = Pending(operation, None, False)
        return self._with_effects((at, pending | {new}) for at, pending in state)

    def lost(self, state: frozenset[Configuration], operation: int) -> frozenset[Configuration]:
        return frozenset((at, frozenset(_without(pending, operation))) for at, pending in state)

    def results(self, state: frozenset[Configuration], operation: int) -> Iterable[Result]:
        effects = {_effect(pending, operation) for _, pending in state}
        return [result for result in self._all[operation] if (result,) in effects]

    def returned(
        self, state: frozenset[Configuration], operation: int, result: Result
    ) -> frozenset[Configuration] | None:
        done = Pending(operation, (result,), False)
        return frozenset((at, pending - {done}) for at, pending in state if done in pending) or None

    def weight(self, state: frozenset[Configuration]) -> int:
        return len(state)

    def _with_effects(self, found: Iterable[Configuration]) -> frozenset[Configuration]:
        """Returns ``found`` and all that follows when pending operations take effect."""
        closed = set(found)
        todo = list(closed)
        while todo:
            at, pending = todo.pop()
            for one in pending:
                if one.effect is None:
                    for after, result in self.of.outcomes(at, one.operation):
                        left = pending - {one}
                        if not one.is_lost:
                            left |= {one._replace(effect=(result,))}
                        if (after, left) not in closed:
                            closed.add((after, left))
                            todo.append((after, left))
        return frozenset(closed)


def _effect(pending: frozenset[Pending], operation: int) -> tuple[Result] | None:
    return next(one.effect for one in pending if one.operation == operation)


def _without(pending: frozenset[Pending], operation: int) -> Iterator[Pending]:
    """Yields ``pending`` where ``operation`` has become one that will never return."""
    for one in pending:
        if one.operation != operation:
            yield one
        elif one.effect is None:
            yield one._replace(is_lost=True)


# ---- sequential consistency --------------------------------------------------------------------


class Called(NamedTuple):
    """An operation and its result, once it has returned."""

    operation: int
    result: tuple[Result] | None


Program = tuple[Called, ...]
"""The operations of one process, in the order in which it has called them."""


class Beginning(NamedTuple):
    """The beginning of an order: how far it is in the program of each process, which operations
    before that have not returned and are not in it, and the state of the object ``at`` its end."""

    positions: tuple[int, ...]
    outstanding: frozenset[int]
    at: State


class SequentialConsistency:
    """The state: what each process has called, and seen returned.

    That a history is sequentially consistent does not mean that its beginnings are: a value may be
    read before it is written.  All histories of a system are to be, and each beginning of one is
    one of them.

    Whose process has crashed meanwhile goes on as a new client (decision 050): what has not
    returned comes behind what the process has called before, and need not come before what it calls
    later.  So whatever is linearizable is sequentially consistent.
    """

    def __init__(self, of: SequentialObject) -> None:
        self.of = of
        self._all = _results(of)

    def start(self) -> tuple[Program, ...]:
        return ((),) * (1 + max((call.process for call in self.of.calls), default=0))

    def call(self, state: tuple[Program, ...], operation: int) -> tuple[Program, ...]:
        process = self.of.calls[operation].process
        program = (*state[process], Called(operation, None))
        return (*state[:process], program, *state[process + 1 :])

    def lost(self, state: tuple[Program, ...], operation: int) -> tuple[Program, ...]:
        return state

    def results(self, state: tuple[Program, ...], operation: int) -> Iterable[Result]:
        return self._all[operation]

    def returned(
        self, state: tuple[Program, ...], operation: int, result: Result
    ) -> tuple[Program, ...] | None:
        process = self.of.calls[operation].process
        *before, _ = state[process]
        program = (*before, Called(operation, (result,)))
        after = (*state[:process], program, *state[process + 1 :])
        return after if self._has_order(after) else None

    def weight(self, state: tuple[Program, ...]) -> int:
        return sum(map(len, state))

    def _has_order(self, programs: tuple[Program, ...]) -> bool:
        """Tells whether the operations of ``programs`` have an order that gives their results."""
        begun = Beginning((0,) * len(programs), frozenset(), self.of.initial())
        seen, todo = {begun}, [begun]
        while todo:
            order = todo.pop()
            done = zip(programs, order.positions, strict=True)
            if all(_is_done(program, position) for program, position in done):
                return True
            new = set(self._longer(order, programs)) - seen
            seen |= new
            todo.extend(new)
        return False

    def _longer(self, order: Beginning, programs: tuple[Program, ...]) -> Iterator[Beginning]:
        """Yields ``order`` with one operation more in it, or among those that may come later."""
        for process, position in enumerate(order.positions):
            if position == len(programs[process]):
                continue
            operation, wanted = programs[process][position]
            further = (*order.positions[:process], position + 1, *order.positions[process + 1 :])
            if wanted is None:
                yield Beginning(further, order.outstanding | {operation}, order.at)
                continue
            for after, result in self.of.outcomes(order.at, operation):
                if wanted == (result,):
                    yield Beginning(further, order.outstanding, after)
        for operation in order.outstanding:
            for after, _ in self.of.outcomes(order.at, operation):
                yield order._replace(outstanding=order.outstanding - {operation}, at=after)


def _is_done(program: Program, position: int) -> bool:
    """Tells whether nothing is left of ``program`` that has returned."""
    return all(called.result is None for called in program[position:])


FEW = 64
"""The largest number of smaller sets with which a set of operations is compared."""


def reachable(of: SequentialObject) -> list[State]:
    """Returns the states that the operations lead to, each applied at most once, in any order; the
    first one first.

    A state is found with sets of applied operations, bits of a number.  A set with a subset that
    leads to the same state, too, is left out: with more operations left the subset leads wherever
    the set does, and earlier.  All sets before one that is not left out are not left out either,
    so the order in which states are found is that of a search through all sets.
    """
    start = of.initial()
    found: dict[State, list[int]] = {start: []}
    level = {(start, 0): None}
    while level:
        for at, applied in level:
            found[at].append(applied)
        following: dict[tuple[State, int], None] = {}
        for at, applied in level:
            for operation in range(len(of.calls)):
                if applied >> operation & 1:
                    continue
                longer = applied | 1 << operation
                for after, _ in of.outcomes(at, operation):
                    smaller = found.setdefault(after, [])
                    if after != at and all(one & longer != one for one in smaller[:FEW]):
                        following[after, longer] = None
        level = following
    return list(found)


def _results(of: SequentialObject) -> list[list[Result]]:
    """Returns for each operation all results that it has in any state."""
    states = reachable(of)
    everything = range(len(of.calls))
    return [
        list(dict.fromkeys(result for at in states for _, result in of.outcomes(at, operation)))
        for operation in everything
    ]


# ---- registers of one writer -------------------------------------------------------------------


class Reading(NamedTuple):
    """A read that has not returned, with what it may return; ``None``: anything."""

    operation: int
    may_return: frozenset[Result] | None


class Memory(NamedTuple):
    """What a register of one writer has: ``written``: the state after the last write that returned;
    ``overlapping``: those after writes that have not returned, of which some never will."""

    written: State
    overlapping: tuple[tuple[int, State], ...]
    reads: frozenset[Reading]


class OneWriter:
    """Regular registers and (``is_safe``) safe ones, of one writer (Lamport, *On Interprocess
    Communication*, Distributed Computing 1, 1986)."""

    def __init__(self, of: SequentialObject, is_safe: bool) -> None:
        self.of, self.is_safe = of, is_safe
        self.written = _writes(of, "safe" if is_safe else "regular")
        self._all = _results(of)

    def start(self) -> Memory:
        return Memory(self.of.initial(), (), frozenset())

    def call(self, state: Memory, operation: int) -> Memory:
        if operation in self.written:
            after = self.written[operation]
            reads = frozenset(self._with(read, (after,)) for read in state.reads)
            overlapping = (*state.overlapping, (operation, after))
            return state._replace(overlapping=overlapping, reads=reads)
        read = Reading(operation, frozenset({self._read(operation, state.written)}))
        read = self._with(read, tuple(at for _, at in state.overlapping))
        return state._replace(reads=state.reads | {read})

    def _with(self, read: Reading, writes: tuple[State, ...]) -> Reading:
        """Returns ``read`` where each of ``writes`` overlaps it."""
        if not writes or read.may_return is None:
            return read
        if self.is_safe:
            return read._replace(may_return=None)
        more = {self._read(read.operation, at) for at in writes}
        return read._replace(may_return=read.may_return | more)

    def _read(self, operation: int, at: State) -> Result:
        ((_, result),) = self.of.outcomes(at, operation)
        return result

    def lost(self, state: Memory, operation: int) -> Memory:
        kept = (read for read in state.reads if read.operation != operation)
        return state._replace(reads=frozenset(kept))

    def results(self, state: Memory, operation: int) -> Iterable[Result] | None:
        if operation in self.written:
            return (self._read(operation, state.written),)
        found = next(r.may_return for r in state.reads if r.operation == operation)
        return None if found is None else [r for r in self._all[operation] if r in found]

    def returned(self, state: Memory, operation: int, result: Result) -> Memory:
        if operation not in self.written:
            return self.lost(state, operation)
        overlapping = tuple(one for one in state.overlapping if one[0] != operation)
        return state._replace(written=self.written[operation], overlapping=overlapping)

    def weight(self, state: Memory) -> int:
        return 1


def _writes(of: SequentialObject, kind: str) -> dict[int, State]:
    """Returns the operations that write, with the state after each; raises :class:`SpecError`
    (C042) where the object is no register, or several processes write."""
    states = reachable(of)
    found: dict[int, State] = {}
    for number, call in enumerate(of.calls):
        outcomes = [of.outcomes(at, number) for at in states]
        if all(len(each) == 1 for each in outcomes):
            pairs = [each[0] for each in outcomes]
            if all(after == at for at, (after, _) in zip(states, pairs, strict=True)):
                continue
            if len(set(pairs)) == 1:
                found[number] = pairs[0][0]
                continue
        message = f"`{call.op}` neither reads nor writes, so `{of.of.name}` is not a register"
        hint = (
            f"use `linearizable`, which is defined for any object; `{kind}` is defined for"
            " registers"
        )
        raise refuse("C042", message, of.asked_at, hint)
    writers = {of.calls[number].process for number in found}
    if len(writers) > 1:
        names = " and ".join(f"`{of.world.sizes.processes[p]}`" for p in sorted(writers))
        message = f"{names} write, and `{kind}` is defined for registers with one writer"
        raise refuse(
            "C042",
            message,
            of.asked_at,
            "use `linearizable`, which is defined for any number of writers",
        )
    return found


def monitor_of(kind: str, of: SequentialObject) -> Monitor[Any]:
    """Returns the monitor of ``linearizable``, ``sequentially_consistent``, ``regular`` or
    ``safe``."""
    if kind == "linearizable":
        return Linearizability(of)
    if kind == "sequentially_consistent":
        return SequentialConsistency(of)
    return OneWriter(of, kind == "safe")

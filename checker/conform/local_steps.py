"""The steps of a local system: the interpreter on a state in which much is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from checker.conform.local_system import Cell, LocalAction, LocalSystem, local_system
from checker.conform.unknown import (
    OneMember,
    Surroundings,
    TooMany,
    Unknown,
    Unread,
    fresh,
    identity_of,
    is_known,
    key_of,
    settled,
    split,
)
from checker.model import interpreter, ir
from checker.model import types as t
from checker.model.evaluate import RunFault, Scope, evaluate, members
from checker.model.interpreter import Event
from checker.model.ir import Expr, Op, TransitionSystem

Locals = tuple[Any, ...]
"""The values of the cells of a local system."""


MOST_KEPT = 20_000
"""The largest number of local states and actions whose steps are kept."""


class Received(Struct, frozen=True, eq=False):
    """A message that arrives, perhaps with unknown parts."""

    sender: Any
    message: Any


class LocalStep(Struct, frozen=True, eq=False):
    """A step to ``locals``, with the events of the process; ``action``: what it is."""

    locals: Locals
    events: tuple[Event, ...]
    action: LocalAction


class _PartlyKnown(Scope):
    """A scope with values that are not known; comparing two of them reads none."""

    __slots__ = ()

    def valuation(self, names: Iterable[tuple[str, Any]]) -> object:
        return identity_of((tuple(self.state.items()), tuple(names)))


class LocalSteps:
    """Finds the steps of a local system, and keeps them."""

    def __init__(self, local: LocalSystem) -> None:
        self.local, self.system = local, local.system
        self.outgrown: RunFault | None = None
        self._known: dict[Any, list[LocalStep]] = {}
        self._names = [variable.name for variable in self.system.variables]
        self._surroundings = Surroundings(
            tuple([fresh(variable.type, free=True) for variable in self.system.variables])
        )

    def starts(self) -> list[Locals]:
        """Returns the local states in which the process may start; may raise ``RunFault``."""
        found = {self._of(dict(self._named(s))): None for s, _ in interpreter.starts(self.system)}
        return list(found)

    def _named(self, state: interpreter.State) -> Iterator[tuple[str, Any]]:
        yield from zip((v.name for v in self.system.variables), state, strict=True)

    def unknown(self) -> Locals:
        """Returns the local state of which nothing is known."""
        return tuple([fresh(cell.type) for cell in self.local.cells])

    def _of(self, state: dict[str, Any]) -> Locals:
        return tuple([self._held(cell, state) for cell in self.local.cells])

    def _held(self, cell: Cell, state: dict[str, Any]) -> Any:
        value = state[self.system.variables[cell.variable].name]
        if cell.place is not None:
            return value[cell.place]
        if isinstance(value, OneMember):
            return value.there
        return self.local.rank in value

    def steps(
        self, locals_: Locals, action: LocalAction, received: Received | None = None
    ) -> list[LocalStep]:
        """Returns the steps of ``action`` in a local state, when this message arrives (or any).

        Raises :class:`TooMany` where what is not known is read and has too many values, and for a
        step that needs more room than was guessed (``outgrown``).
        """
        arrives = None if received is None else (received.sender, received.message)
        key = (action.action.name, key_of((locals_, arrives)))
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            known = self._known[key] = list(self._found(locals_, action, received))
        return known

    def _found(
        self, locals_: Locals, action: LocalAction, received: Received | None
    ) -> Iterator[LocalStep]:
        names = {name: fresh(type_) for name, type_ in action.inputs.items()}
        if not _solve(action.subject, self.local.rank, names):
            return
        if received is not None and action.received is not None:
            sender, message = action.received
            _solve(sender, received.sender, names)
            _solve(message, received.message, names)
        keys = tuple(names)
        start = (locals_, tuple(names.values()), self._surroundings)

        def run(now: tuple[Any, ...]) -> list[tuple[Locals, tuple[Event, ...]]]:
            state = self._scope(now[0], now[2].values)
            given = dict(zip(keys, now[1], strict=True))
            found = []
            for scope in self._instances(action, _PartlyKnown(state, given), given):
                for outcome in interpreter.outcomes(action.body, scope):
                    if outcome.fault is not None and outcome.fault.grows is not None:
                        if is_known(now[0]):
                            self.outgrown = outcome.fault
                        raise TooMany
                    if outcome.scope is not None:
                        found.append((self._of(outcome.scope.state), outcome.events))
            return found

        seen: set[Any] = set()
        for _, outcomes in split(start, run):
            for after, events in outcomes:
                pairs = settled((after, tuple((event.mark, event.args) for event in events)))
                if (key := key_of(pairs)) not in seen:
                    seen.add(key)
                    marked = tuple(Event(mark, args) for mark, args in pairs[1])
                    yield LocalStep(pairs[0], marked, action)

    def instance(self, locals_: Locals, action: LocalAction) -> Scope | None:
        """Returns the scope of an instance of ``action``, enabled or not; ``None`` if it is no step
        of the process."""
        names = {name: fresh(type_) for name, type_ in action.inputs.items()}
        if not _solve(action.subject, self.local.rank, names):
            return None
        return _PartlyKnown(self._scope(locals_, self._surroundings.values), names)

    def _scope(self, locals_: Locals, free: tuple[Any, ...]) -> dict[str, Any]:
        state = dict(zip(self._names, free, strict=True))
        for cell, value in zip(self.local.cells, locals_, strict=True):
            name = self.system.variables[cell.variable].name
            others = state[name]
            if cell.place is not None:
                state[name] = (*others[: cell.place], value, *others[cell.place + 1 :])
            elif isinstance(value, bool) and isinstance(others, frozenset):
                alone = frozenset({self.local.rank})
                state[name] = others | alone if value else others - alone
            else:
                state[name] = OneMember(self.local.rank, value, others)
        return state

    def _instances(
        self, action: LocalAction, scope: Scope, given: dict[str, Any], depth: int = 0
    ) -> Iterator[Scope]:
        """Yields the instances of an action whose conditions may hold."""
        params = action.action.params
        if depth == len(params):
            if self._is_own(action.subject, scope) and _may_hold(action.action.guard, scope):
                yield scope
            return
        param = params[depth]
        if param.name in given:
            if not _may_be_in(given[param.name], param.domain, scope):
                return
            values: list[Any] = [given[param.name]]
        else:
            values = list(members(param.domain, scope))
        for value in values:
            inner = scope.bind(param.name, value)
            if _may_hold(param.where, inner):
                yield from self._instances(action, inner, given, depth + 1)

    def _is_own(self, subject: Expr, scope: Scope) -> bool:
        return bool(evaluate(subject, scope) == self.local.rank)


_kept: dict[int, LocalSteps] = {}
"""The steps of the processes of the system that was asked last, by rank."""


def local_steps(system: TransitionSystem, rank: int) -> LocalSteps:
    """Returns the steps of the local system of a process, those that are known already included.

    Raises :class:`checker.conform.local_system.NotLocal`.
    """
    if any(known.system is not system for known in _kept.values()):
        _kept.clear()
    if rank not in _kept:
        _kept[rank] = LocalSteps(local_system(system, rank))
    return _kept[rank]


def _may_hold(condition: Expr, scope: Scope) -> bool:
    """Returns whether a condition may hold: a part of it that depends on the surroundings may."""
    if isinstance(condition, ir.Apply) and condition.op is Op.AND:
        return all(_may_hold(part, scope) for part in condition.args)
    try:
        return bool(evaluate(condition, scope))
    except RunFault:
        return False
    except Unread as unread:
        if unread.what.free:
            return True
        raise


def _may_be_in(value: Any, domain: ir.Domain, scope: Scope) -> bool:
    if isinstance(domain, ir.Universe):
        return True
    try:
        within = evaluate(domain.of, scope)
        return bool(value in within if isinstance(domain, ir.Members) else value <= within)
    except RunFault:
        return False
    except Unread as unread:
        if unread.what.free:
            return True
        raise


def _solve(expr: Expr, value: Any, names: dict[str, Any]) -> bool:
    """Makes ``expr`` have ``value``, where it is a parameter, or a part of one; returns whether
    that is possible, as far as it can be seen."""
    match expr:
        case ir.Local(_, name):
            names[name] = value
        case ir.Item(_, ir.Local(t.TupleT(items), name), position):
            whole = names.get(name) or tuple([Unknown(item) for item in items])
            names[name] = (*whole[:position], value, *whole[position + 1 :])
        case ir.Const(_, fixed):
            return bool(fixed == value)
        case _:
            pass
    return True

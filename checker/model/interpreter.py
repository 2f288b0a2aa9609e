"""Interprets transition systems directly: the reference semantics that every engine must match.

Written to be obviously right, not fast: states are tuples of Python values, a body is executed
statement by statement with an explicit continuation, and every choice makes a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, assert_never

from msgspec import Struct

from checker.model import ir
from checker.model.evaluate import (
    RunFault,
    Scope,
    check_stored,
    evaluate,
    key_rank,
    members,
    no_entry,
)
from checker.model.ir import Action, Block, Stmt, TransitionSystem
from checker.model.tree import loop_carried
from checker.model.types import Value
from checker.polling import poll
from checker.records import replace

State = tuple[Value, ...]


class Event(Struct, frozen=True):
    """A mark that was passed, with its arguments' values."""

    mark: int
    args: tuple[Value, ...]


class Transition(Struct, frozen=True):
    """An outcome of an action; ``successor`` is ``None`` where ``fault`` is a runtime error.

    ``params`` are the values of the action's parameters, in order.
    """

    action: Action
    params: tuple[Value, ...]
    successor: State | None
    events: tuple[Event, ...] = ()
    fault: RunFault | None = None


class Constraint(Struct, frozen=True):
    """A fairness constraint: a group and the values of its key (:class:`ir.Fairness`)."""

    group: str
    key: tuple[Value, ...]


class Moves(Struct, frozen=True):
    """The outgoing steps of a state and the fairness constraints enabled there.

    ``steps``: the successors in canonical order, each with the constraints that the step takes; the
    state itself is among them where an instance subject to fairness leads from it to itself.
    ``enabled``: the enabled constraints, each with the fairness it comes from.  ``ways``: the
    number of ways in which an instance of an action leads to another state, plus the number of
    instances subject to fairness that lead back to the same one.
    """

    steps: dict[State, frozenset[Constraint]]
    enabled: dict[Constraint, ir.Fairness]
    ways: int


class _Rounds(Struct, frozen=True):
    """A ``For`` being executed: the members still to come."""

    loop: ir.For
    left: tuple[Value, ...]


_NOTHING = frozenset[str]()


class _Again(Struct, frozen=True):
    """A ``While`` being executed: the valuations with which its iterations so far began."""

    loop: ir.While
    begun: frozenset[object] = frozenset()
    handed_on: frozenset[str] = _NOTHING

    def now(self, scope: Scope) -> object:
        """Returns the valuation with which an iteration that starts in ``scope`` begins."""
        names: Iterable[tuple[str, Value]] = scope.names.items()
        if self.loop.grows is not None:
            names = ((n, v) for n, v in names if n in self.handed_on)
        return scope.valuation(names)

    def idles(self, scope: Scope) -> bool:
        """Tells whether an iteration would begin as an earlier one did, and that is no error."""
        return self.loop.grows is not None and self.now(scope) in self.begun


_Todo = tuple["Stmt | _Rounds | _Again", "_Todo | None"]


class Pick(Struct, frozen=True):
    """The ``number`` of what was chosen, its weight (``None``: the adversary's), and its place."""

    number: int
    weight: int | None
    place: ir.SourceLocation | None = None


_Path = tuple[Scope, "_Todo | None", tuple[Event, ...], tuple[Pick, ...]]
"""A partial execution of a block: scope, continuation, the marks passed, and its choices."""


class Outcome(Struct, frozen=True):
    """An execution of a block with the choices that lead to it: its ``scope`` at the end, or its
    runtime error, with the ``events`` before; neither where it was removed."""

    picks: tuple[Pick, ...]
    scope: Scope | None = None
    events: tuple[Event, ...] = ()
    fault: RunFault | None = None


def _queue(block: Block, then: _Todo | None) -> _Todo | None:
    for stmt in reversed(block):
        then = (stmt, then)
    return then


def _ways(block: Block, start: Scope) -> Iterator[tuple[Scope, tuple[Event, ...]] | RunFault]:
    """Yields every execution of ``block``: its final scope and marks, or its runtime error."""
    for outcome in outcomes(block, start):
        if outcome.fault is not None:
            yield outcome.fault
        elif outcome.scope is not None:
            yield outcome.scope, outcome.events


def outcomes(block: Block, start: Scope) -> Iterator[Outcome]:
    """Yields every execution of ``block``, also those that are removed, with its choices."""
    forks: list[Iterator[_Path]] = [iter([(start.copy(), _queue(block, None), (), ())])]
    picks: tuple[Pick, ...] = ()
    while forks:
        poll()
        events: tuple[Event, ...] = ()
        try:
            path = next(forks[-1], None)
            if path is None:
                forks.pop()
                continue
            scope, todo, events, picks = path
            while todo is not None:
                stmt, todo = todo
                if isinstance(stmt, ir.Choose):
                    paths = _fork(stmt, scope, (todo, events, picks))
                    first = next(paths, None)
                    if first is None:
                        yield Outcome(picks)
                    else:
                        forks.append(chain((first,), paths))
                    break
                if isinstance(stmt, ir.Assume):
                    if not evaluate(stmt.condition, scope):
                        yield Outcome(picks)
                        break
                elif isinstance(stmt, ir.Mark):
                    args = tuple(evaluate(a, scope) for a in stmt.args)
                    events = (*events, Event(stmt.mark, args))
                elif isinstance(stmt, _Again) and stmt.idles(scope):
                    yield Outcome(picks)
                    break
                else:
                    todo = _step(stmt, scope, todo)
            else:
                yield Outcome(picks, scope, events)
        except RunFault as fault:
            yield Outcome(picks, events=events, fault=fault)


def _fork(
    stmt: ir.Choose, scope: Scope, rest: tuple[_Todo | None, tuple[Event, ...], tuple[Pick, ...]]
) -> Iterator[_Path]:
    """Yields a path for each choice.  An error in the condition for any member removes all
    members."""
    todo, events, picks = rest
    chosen = _choices(stmt, scope)
    for number, inner in enumerate(chosen if stmt.where == ir.TRUE else list(chosen)):
        weight = None if stmt.weight is None else int(evaluate(stmt.weight, inner))
        yield inner, todo, events, (*picks, Pick(number, weight, stmt.place))


def _choices(stmt: ir.Choose, scope: Scope) -> Iterator[Scope]:
    for value in members(stmt.domain, scope):
        if evaluate(stmt.where, scope.bind(stmt.name, value)):
            chosen = scope.copy()
            chosen.names[stmt.name] = value
            yield chosen


def _step(stmt: Stmt | _Rounds | _Again, scope: Scope, todo: _Todo | None) -> _Todo | None:
    match stmt:
        case ir.Assign(target, value, place):
            new = check_stored(target.type, evaluate(value, scope), place, value.type)
            _assign(stmt, new, scope)
            return todo
        case ir.Declare(name, type_, value):
            scope.names[name] = check_stored(type_, evaluate(value, scope), None, value.type)
            return todo
        case ir.If(condition, then, otherwise):
            return _queue(then if evaluate(condition, scope) else otherwise, todo)
        case ir.For():
            return (_Rounds(stmt, tuple(members(stmt.domain, scope))), todo)
        case _Rounds(loop, left):
            if not left:
                return todo
            scope.names[loop.name] = left[0]
            return _queue(loop.body, (_Rounds(loop, left[1:]), todo))
        case ir.While():
            handed_on = _NOTHING if stmt.grows is None else loop_carried(stmt)
            return (_Again(stmt, handed_on=handed_on), todo)
        case _Again(loop, begun):
            poll()
            if not evaluate(loop.condition, scope):
                return todo
            now = stmt.now(scope)
            if now in begun:
                message = "this loop can run forever: the state is that of an earlier iteration"
                raise RunFault("R005", message, loop.place)
            if len(begun) >= loop.limit:
                message = f"this loop has not ended after {loop.limit} iterations"
                raise RunFault("R005", message, loop.place, loop.grows)
            return _queue(loop.body, (replace(stmt, begun=begun | {now}), todo))
        case ir.Fault(code, message, place, grows):
            raise RunFault(code, message, place, grows)
        case ir.Emit() | ir.Choose() | ir.Assume() | ir.Mark():
            raise AssertionError(f"{type(stmt).__name__} is not executed here")
        case _:
            assert_never(stmt)


def _assign(stmt: ir.Assign, value: Any, scope: Scope) -> None:
    target = stmt.target
    table = scope.state if target.is_state else scope.names
    table[target.name] = _update(table[target.name], stmt, 0, value, scope)


def _update(old: Any, stmt: ir.Assign, depth: int, value: Any, scope: Scope) -> Any:
    """Returns ``old`` with the part at ``stmt.target.path[depth:]`` replaced by ``value``."""
    path = stmt.target.path
    if depth == len(path):
        return value
    match path[depth]:
        case ir.Pos(position):
            found, key_type, rank = position, None, position
        case ir.Key(key, key_type):
            found = evaluate(key, scope)
            rank = found if key_type is None else key_rank(key_type, found)
        case other:
            assert_never(other)
    if not 0 <= rank < len(old):
        raise no_entry(key_type, found, len(old), stmt.place)
    inner = _update(old[rank], stmt, depth + 1, value, scope)
    return (*old[:rank], inner, *old[rank + 1 :])


def scope_of(system: TransitionSystem, state: State) -> Scope:
    """Returns ``state`` as a scope."""
    names = (v.name for v in system.variables)
    return Scope(dict(zip(names, state, strict=True)), {})


def state_of(system: TransitionSystem, scope: Scope) -> State:
    """Returns the state at the end of an execution."""
    return tuple(scope.state[v.name] for v in system.variables)


def initial_states(system: TransitionSystem) -> list[State]:
    """Returns all initial states, without repetition, in canonical order; may raise
    :class:`RunFault`."""
    return list(dict.fromkeys(state for state, _ in starts(system)))


def initial_events(system: TransitionSystem) -> list[tuple[State, tuple[Event, ...]]]:
    """Returns every execution of the initial block: an initial state and the marks passed.

    May raise :class:`RunFault`.
    """
    return list(starts(system))


def starts(system: TransitionSystem) -> Iterator[tuple[State, tuple[Event, ...]]]:
    """Yields the executions of the initial block lazily: there may be very many."""
    start = Scope({v.name: v.initial for v in system.variables}, {})
    for way in _ways(system.init + system.monitor, start):
        if isinstance(way, RunFault):
            raise way
        yield state_of(system, way[0]), way[1]


def instances(system: TransitionSystem, action: Action, state: State) -> Iterator[Scope]:
    """Yields every enabled instance of ``action`` in ``state``: a scope that binds its
    parameters."""
    yield from _bindings(action, 0, scope_of(system, state))


def _bindings(action: Action, depth: int, scope: Scope) -> Iterator[Scope]:
    if depth == len(action.params):
        if evaluate(action.guard, scope):
            yield scope
        return
    param = action.params[depth]
    for value in members(param.domain, scope):
        inner = scope.bind(param.name, value)
        if evaluate(param.where, inner):
            yield from _bindings(action, depth + 1, inner)


def successors(system: TransitionSystem, state: State) -> Iterator[Transition]:
    """Returns every transition of ``state`` in canonical order, runtime errors included."""
    for action in system.actions:
        yield from action_transitions(system, action, state)


def action_transitions(
    system: TransitionSystem, action: Action, state: State, only: tuple[Value, ...] | None = None
) -> Iterator[Transition]:
    """Returns the transitions of one action; ``only``: of the instance with these parameters."""
    try:
        for scope in instances(system, action, state):
            params = tuple(scope.names[p.name] for p in action.params)
            if only is not None and params != only:
                continue
            for way in _ways(action.body + system.monitor, scope):
                if isinstance(way, RunFault):
                    yield Transition(action, params, None, (), way)
                else:
                    yield Transition(action, params, state_of(system, way[0]), way[1])
    except RunFault as fault:
        yield Transition(action, (), None, (), fault)


def events_before(system: TransitionSystem, state: State, failed: Transition) -> tuple[Event, ...]:
    """Returns the events before the error of ``failed``, a transition of ``state``."""
    fault, body = failed.fault, failed.action.body + system.monitor
    assert fault is not None
    error = (fault.code, fault.message, fault.place)
    try:
        for scope in instances(system, failed.action, state):
            if tuple(scope.names[p.name] for p in failed.action.params) != failed.params:
                continue
            for way in outcomes(body, scope):
                if way.fault and (way.fault.code, way.fault.message, way.fault.place) == error:
                    return way.events
    except RunFault:
        pass
    return ()


def constraint(action: Action, scope: Scope) -> Constraint | None:
    """Returns the constraint of an instance, given by the scope that binds its parameters; ``None``
    where it is not subject to fairness."""
    if not evaluate(action.promised, scope):
        return None
    fairness = ir.fairness_of(action)
    return Constraint(fairness.group, tuple(evaluate(key, scope) for key in fairness.key))


def taken_constraint(
    system: TransitionSystem, state: State, transition: Transition
) -> Constraint | None:
    """Returns the constraint that ``transition``, one of ``state``, takes; may raise
    :class:`RunFault`."""
    scope = scope_of(system, state)
    pairs = zip(transition.action.params, transition.params, strict=True)
    scope.names.update({param.name: value for param, value in pairs})
    return constraint(transition.action, scope)


def moves(system: TransitionSystem, state: State) -> Moves:
    """Returns the steps of ``state`` and its enabled fairness constraints.

    May raise :class:`RunFault` where a guard, a domain or a ``promised`` has an error.
    """
    steps: dict[State, frozenset[Constraint]] = {}
    enabled: dict[Constraint, ir.Fairness] = {}
    ways = 0
    for action in system.actions:
        for scope in instances(system, action, state):
            requirement = constraint(action, scope)
            label = frozenset() if requirement is None else frozenset({requirement})
            stays = False
            for way in _ways(action.body + system.monitor, scope):
                successor = None if isinstance(way, RunFault) else state_of(system, way[0])
                if requirement is not None:
                    enabled.setdefault(requirement, ir.fairness_of(action))
                if successor == state:
                    stays = requirement is not None
                elif successor is not None:
                    steps[successor] = steps.get(successor, frozenset()) | label
                    ways += 1
            if stays:
                steps[state] = steps.get(state, frozenset()) | label
                ways += 1
    return Moves(steps, enabled, ways)


def is_admissible_end(system: TransitionSystem, state: State) -> bool:
    """Tells whether an execution may stay in ``state`` forever: see :mod:`checker.model.ir`.

    May raise :class:`RunFault` where a guard or domain has an error: that is no end either.
    """
    leaving: set[Constraint] = set()
    staying: set[Constraint] = set()
    for action in system.actions:
        for scope in instances(system, action, state):
            requirement = constraint(action, scope)
            if requirement is None:
                continue
            for way in _ways(action.body + system.monitor, scope):
                stays = not isinstance(way, RunFault) and state_of(system, way[0]) == state
                (staying if stays else leaving).add(requirement)
    if not leaving <= staying:
        return False
    return all(holds(system, justice.holds, state) for justice in system.justice)


def is_over(system: TransitionSystem, state: State) -> bool:
    """Tells whether ``state`` is an admissible end where every enabled instance subject to fairness
    leads back to it; may raise :class:`RunFault` as above."""
    for action in system.actions:
        for scope in instances(system, action, state):
            if evaluate(action.promised, scope):
                for way in _ways(action.body + system.monitor, scope):
                    if isinstance(way, RunFault) or state_of(system, way[0]) != state:
                        return False
    return all(holds(system, justice.holds, state) for justice in system.justice)


def assignments(params: tuple[ir.Param, ...]) -> list[tuple[Value, ...]]:
    """Returns every assignment of parameters whose domains and conditions read no state, in
    order."""
    found: list[dict[str, Value]] = [{}]
    for param in params:
        longer = []
        for names in found:
            for value in members(param.domain, Scope({}, names)):
                inner = {**names, param.name: value}
                if evaluate(param.where, Scope({}, inner)):
                    longer.append(inner)
        found = longer
    return [tuple(names[p.name] for p in params) for names in found]


def holds(
    system: TransitionSystem,
    expr: ir.Expr,
    state: State,
    names: Mapping[str, Value] | None = None,
) -> bool:
    """Returns the value of a Boolean expression in ``state``; ``names``: of its free local
    names."""
    scope = scope_of(system, state)
    scope.names.update(names or {})
    return bool(evaluate(expr, scope))


def surely_holds(system: TransitionSystem, expr: ir.Expr, state: State) -> bool:
    """Returns whether a Boolean expression holds in ``state``; false where it has no value."""
    try:
        return holds(system, expr, state)
    except RunFault:
        return False


def name_values(system: TransitionSystem, state: State) -> dict[str, Value]:
    """Returns the state as a mapping from variable names."""
    return {v.name: value for v, value in zip(system.variables, state, strict=True)}

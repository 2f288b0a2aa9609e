"""Matches a process of the finite system with the locations of an automaton.

A location has values by the names of the spec; the system keeps them in maps from processes.  Names
for which the system has no variable (histories that nothing reads) are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from checker.instantiate.variable_names import BYZANTINE
from checker.instantiate.world import CRASHED
from checker.model import ir
from checker.model.build import author_of, conj, equal, item
from checker.model.interpreter import State
from checker.model.ir import Block, Expr, TransitionSystem, domain_item
from checker.model.types import (
    AtomT,
    BoolT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    Value,
    VariantT,
    default,
    universe,
)
from checker.parametric.automaton.automaton import Location
from checker.records import replace


def same(type_: Type, value: Value, given: object) -> bool:
    """Returns whether ``value``, of ``type_``, is what a location calls ``given``: atoms may be
    called by their labels, sets listed in any order."""
    if value == given and not isinstance(given, str):
        return True
    match type_:
        case AtomT(labels=labels, first=first):
            return isinstance(value, int) and labels[value - first] == given
        case OptionT(inner):
            if value is None or given is None:
                return value is None and given is None
            assert isinstance(value, tuple)
            held = given[0] if isinstance(given, tuple) and len(given) == 1 else given
            return same(inner, value[0], held)
        case SetT(inner):
            if not isinstance(given, tuple | frozenset) or not isinstance(value, frozenset):
                return False
            return all(any(same(inner, v, g) for g in given) for v in value) and all(
                any(same(inner, v, g) for v in value) for g in given
            )
        case SeqT(inner):
            return _all_same((inner,) * len(_as_tuple(value)), value, given)
        case TupleT(items):
            return _all_same(items, value, given)
        case VariantT():
            return given == text_of(type_, value)
        case _:
            return False


def _as_tuple(value: object) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else ()


def _all_same(types: tuple[Type, ...], value: object, given: object) -> bool:
    values, wanted = _as_tuple(value), _as_tuple(given)
    if len(types) == 1 and len(values) == 1 and not isinstance(given, tuple):
        wanted = (given,)
    if len(values) != len(wanted):
        return False
    return all(same(t, v, g) for t, v, g in zip(types, values, wanted, strict=True))


def text_of(type_: Type, value: Value) -> str:
    """Returns ``value`` as text that distinguishes it from all others of its type."""
    match type_:
        case AtomT(labels=labels, first=first):
            assert isinstance(value, int)
            return labels[value - first]
        case VariantT(_, cases):
            number, *fields = _as_tuple(value)
            assert isinstance(number, int)
            case_ = cases[number]
            if not fields:
                return case_.name
            inner = zip(case_.fields, fields, strict=True)
            return f"{case_.name}({', '.join(text_of(t, f) for (_, t), f in inner)})"
        case TupleT(items):
            inside = (text_of(t, v) for t, v in zip(items, _as_tuple(value), strict=True))
            return f"({', '.join(inside)})"
        case OptionT(inner_type):
            return "none" if value is None else f"some({text_of(inner_type, _as_tuple(value)[0])})"
        case BoolT():
            return "true" if value else "false"
        case _:
            return str(value)


class Fitting(Struct, frozen=True):
    """Compares locations with the states of ``system``."""

    system: TransitionSystem
    positions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, variable in enumerate(self.system.variables):
            for name in (variable.name, variable.title, variable.name.rpartition(".")[2]):
                if name:
                    self.positions.setdefault(name, number)

    def fits(self, state: State, process: int, location: Location) -> bool:
        """Returns whether ``process`` is in ``location``; what a crash forgets may be anything."""
        down = self._number(CRASHED)
        crashed = down is not None and process in _members(state[down])
        if crashed != location.crashed:
            return False
        for name, given in location.values:
            found = self.entry(state, process, name)
            if found is None:
                continue
            type_, value = found
            if not same(type_, value, given) and not (crashed and value == default(type_)):
                return False
        return True

    def entry(self, state: State, process: int, name: str) -> tuple[Type, Value] | None:
        """Returns the value that ``process`` has of ``name``, with its type; ``None`` where the
        system has no such variable."""
        number = self._number(name)
        if number is None:
            return None
        type_ = self.system.variables[number].type
        if not isinstance(type_, MapT) or not isinstance(type_.key, AtomT):
            return None
        place = process - type_.key.first
        if not 0 <= place < len(type_.key.labels):
            return None
        return type_.value, _as_tuple(state[number])[place]

    def _number(self, name: str) -> int | None:
        return self.positions.get(name)


def _members(value: object) -> frozenset[Value]:
    return value if isinstance(value, frozenset) else frozenset()


# ---- restricted systems -----------------------------------------------------------------------


def restrict_start(
    system: TransitionSystem, places: Mapping[int, Location], byzantine: frozenset[int]
) -> TransitionSystem:
    """Returns ``system`` with fewer initial states: of what is chosen for a process and then
    stored, only what its location says.  What is stored elsewhere is chosen freely, as before."""
    fitting = Fitting(system)
    return replace(system, init=_narrow_choices(system.init, fitting, places, byzantine))


def _narrow_choices(
    block: Block, fitting: Fitting, places: Mapping[int, Location], byzantine: frozenset[int]
) -> Block:
    stored: dict[str, Expr] = {}
    for stmt in block:
        if isinstance(stmt, ir.Assign) and isinstance(stmt.value, ir.Local):
            wanted = _required_value(stmt.target, fitting, places, byzantine)
            if wanted is not None:
                stored[stmt.value.name] = wanted
    result: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, ir.If):
            then = _narrow_choices(stmt.then, fitting, places, byzantine)
            otherwise = _narrow_choices(stmt.otherwise, fitting, places, byzantine)
            stmt = replace(stmt, then=then, otherwise=otherwise)
        elif isinstance(stmt, ir.Choose) and stmt.name in stored:
            chosen = ir.Local(domain_item(stmt.domain), stmt.name)
            stmt = replace(stmt, where=conj(stmt.where, equal(chosen, stored[stmt.name])))
        result.append(stmt)
    return tuple(result)


def _required_value(
    target: ir.Target, fitting: Fitting, places: Mapping[int, Location], byzantine: frozenset[int]
) -> Expr | None:
    """Returns the only value that ``target`` may get at the start; ``None`` where it is not
    determined."""
    if target.name == BYZANTINE and not target.path:
        return ir.Const(target.type, byzantine)
    match target.path:
        case (ir.Key(ir.Const(_, int(process))),) if process in places:
            pass
        case _:
            return None
    for name, given in places[process].values:
        if fitting.positions.get(name) == fitting.positions.get(target.name):
            values = [v for v in universe(target.type) if same(target.type, v, given)]
            return ir.Const(target.type, values[0]) if len(values) == 1 else None
    return None


def restrict_to_process(system: TransitionSystem, process: int) -> TransitionSystem:
    """Returns ``system`` with those of its actions that may be ``process``'s, as far as their
    parameters show that: the first one of a step, the receiver of an envelope."""
    return replace(
        system, actions=tuple(_restrict_action(action, process) for action in system.actions)
    )


def _restrict_action(action: ir.Action, process: int) -> ir.Action:
    params = []
    for param in action.params:
        type_ = domain_item(param.domain)
        local: Expr = ir.Local(type_, param.name)
        named = author_of(param.name)
        if named == "envelope" and isinstance(type_, TupleT):
            local = item(local, 1)
        elif named not in ("self", "to", "victim"):
            params.append(param)
            continue
        mine = equal(local, ir.Const(local.type, process))
        params.append(replace(param, where=conj(mine, param.where)))
    return replace(action, params=tuple(params))

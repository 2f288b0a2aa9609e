"""What clients request, and the inputs that are chosen when a run starts.

A request ``p1 proposes any of {0, 1}`` has a variable, which holds for each process what was chosen
for it: the initial states differ in it, and no step changes it.  So the states of the system are
those of all systems in which one of the values is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from checker.instantiate.protocol.expressions import Env, lower
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import World, mark
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.build import fresh, member
from checker.model.evaluate import RunFault, Scope, evaluate, misfit
from checker.model.ir import TRUE, Const, Expr, MarkKind, VariableKind
from checker.model.types import MapT, SetT, TupleT, Type, Value, default, sort_key

INPUT = "@input"
"""Prefix of the names of the variables of inputs."""

Request = tuple[int, int, typed.Client]
"""A process, the number of its request (from 0), and the request."""


def arguments(
    world: World, op: str, requests: Sequence[Request], which: ir.Local, types: Sequence[Type]
) -> list[Expr]:
    """Returns the arguments of the request number ``which`` of ``requests`` of ``op``, in the
    process's own words or as chosen; declares what is chosen."""
    env = Env(world, world.instances[0], None)
    given = [
        [written(client, index, type_, env) for _, _, client in requests]
        for index, type_ in enumerate(types)
    ]
    found = [column(which, type_, values) for type_, values in zip(types, given, strict=True)]
    turns = dict.fromkeys(turn for _, turn, client in requests if client.is_choice)
    for turn in turns:
        chosen = [r for r in requests if r[1] == turn and r[2].is_choice]
        numbers = frozenset(requests.index(request) for request in chosen)
        of_these = member(which, Const(SetT(which.type), numbers))
        self = column(which, world.proc, [Const(world.proc, p) for p, _, _ in requests])
        value = build.entry(_choose(world, op, chosen, types, env), self)
        parts = [value] if len(types) == 1 else [build.item(value, i) for i in range(len(types))]
        if len(chosen) == len(requests):
            return parts
        pairs = zip(types, parts, found, strict=True)
        found = [ir.Apply(t, ir.Op.ITE, (of_these, part, other)) for t, part, other in pairs]
    return found


def column(which: ir.Local, type_: Type, values: Sequence[Const]) -> Expr:
    """Returns one column of the table of requests, indexed by ``which``."""
    if isinstance(type_, MapT) and not isinstance(values[0].type, MapT):
        type_ = type_.value
    if len({v.value for v in values}) == 1:
        return Const(type_, values[0].value)
    table = Const(MapT(which.type, type_), tuple(v.value for v in values))
    return ir.Index(type_, table, which)


def written(client: typed.Client, index: int, type_: Type, env: Env) -> Const:
    """Returns an argument that is written out; anything for one that is chosen."""
    if client.is_choice:
        return Const(type_, default(type_))
    return _constant(client, client.args[index], type_, env)


def _constant(client: typed.Client, expr: typed.Expr, type_: Type, env: Env) -> Const:
    value = build.coerce(lower(expr, env, type_), type_)
    if not isinstance(value, Const):
        raise refuse("C204", "a client's argument must be a constant", client.span)
    return _fitting(client, value.value, type_)


def _fitting(client: typed.Client, value: Value, type_: Type) -> Const:
    wrong = misfit(type_, value, None)
    if wrong is not None:
        raise refuse("C204", wrong.message, client.span)
    return Const(type_, value)


# ---- what is chosen ---------------------------------------------------------------------------


def _choose(
    world: World, op: str, chosen: Sequence[Request], types: Sequence[Type], env: Env
) -> Expr:
    """Declares the variable of the inputs ``chosen``, which are requests of one number, and drafts
    the choice of each."""
    item = types[0] if len(types) == 1 else TupleT(tuple(types))
    turn = chosen[0][1]
    name, title = f"{INPUT}.{op}.{turn}", f"input {turn + 1}" if turn else "input"
    inputs = world.add(name, MapT(world.proc, item), default(MapT(world.proc, item)),
                       VariableKind.WORLD, title)  # fmt: skip
    for process, _, client in chosen:
        self, place = Const(world.proc, process), world.place(client.span)
        values = Const(SetT(item), frozenset(_alternatives(client, types, item, env)))
        local = ir.Local(item, fresh("input"))
        world.init += [
            ir.Choose(local.name, ir.Members(values, item), TRUE),
            ir.Assign(ir.Target(item, name, True, (ir.Key(self, world.proc),)), local),
            mark(world, MarkKind.CHOICE, title, ("self", "value"), self, local, place=place),
        ]
    return inputs


def _alternatives(client: typed.Client, types: Sequence[Type], item: Type, env: Env) -> list[Value]:
    """Returns the values that ``client`` chooses from."""
    if client.domain is None:
        found = [
            tuple(_constant(client, e, t, env).value for e, t in zip(args, types, strict=True))
            for args in client.alternatives
        ]
        return [args[0] if len(types) == 1 else args for args in found]
    try:
        members = evaluate(lower(client.domain, env, SetT(item)), Scope({}, {}))
    except RunFault as fault:
        raise refuse("C204", fault.message, client.domain.span) from None
    if not members:
        raise refuse("C204", "this set is empty", client.domain.span)
    return [_fitting(client, value, item).value for value in sorted(members, key=sort_key)]

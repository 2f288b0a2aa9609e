"""Declares the records that ``received(M(…))`` reads: senders, and only the fields that patterns
use."""

from __future__ import annotations

from checker.instantiate.faults import stable_storage
from checker.instantiate.protocol.walk import expressions_of
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.ir import Expr, VariableKind
from checker.model.types import MapT, TupleT, Type, default


def find(world: World, extra: tuple[typed.Expr, ...] = ()) -> None:
    """Records every message that some ``received`` reads, with the fields that it compares."""
    for instance in world.instances:
        wanted: dict[str, set[int]] = {}
        roots = expressions_of(instance.protocol)
        for expr in (*roots, *(extra if instance is world.instances[0] else ())):
            if isinstance(expr, typed.Received):
                fields = wanted.setdefault(expr.message, set())
                for position, pattern in enumerate(expr.patterns):
                    if not isinstance(pattern, typed.Ignore):
                        fields.add(position)
        for message, fields in wanted.items():
            kept = tuple(sorted(fields))
            world.received[instance.path, message] = kept
            _declare(world, instance, message, kept)


def _declare(world: World, instance: Instance, message: str, kept: tuple[int, ...]) -> None:
    assert instance.messages is not None
    case = next(c for c in instance.messages.cases if c.name == message)
    columns = tuple(case.fields[position][1] for position in kept)
    item = TupleT((world.proc, *columns)) if kept else world.proc
    name = f"{instance.path}@received.{message}"
    type_ = MapT(world.proc, world.set_of(item, f"{name}.size"))
    world.add(name, type_, default(type_), VariableKind.LOCAL, f"received {message}")


def type_of_key(world: World, instance: Instance, handler: typed.Handler) -> Type | None:
    """Returns the type of the keys of the timer that ``handler`` waits for, if it has any."""
    assert isinstance(handler.event, typed.OnTimeout)
    if handler.event.key is None:
        return None
    label = f"{instance.path}timer {handler.event.timer}"
    return world.type_of(handler.event.key[1], instance, label, handler.span)


def type_of_free(instance: Instance, condition: typed.Expr, name: str) -> Type | None:
    """Returns the type of what a ``received`` in ``condition`` binds ``name`` to: its field's type,
    so that it holds every value that may arrive."""
    found: Type | None = None
    for expr in expressions_of(condition):
        if isinstance(expr, typed.Received) and instance.messages is not None:
            case = next(c for c in instance.messages.cases if c.name == expr.message)
            for pattern, (_, type_) in zip(expr.patterns, case.fields, strict=True):
                if isinstance(pattern, typed.Equals):
                    for part in _places(pattern.value, type_, name):
                        found = part if found is None else build.hull(found, part)
    return found


def _places(value: typed.Expr, type_: Type, name: str) -> list[Type]:
    """Returns the types of the positions in a value of ``type_`` where ``name`` occurs in
    ``value``."""
    if isinstance(value, typed.Local):
        return [type_] if value.name == name else []
    if isinstance(value, typed.Display) and isinstance(type_, TupleT):
        pairs = zip(value.items, type_.items, strict=True)
        return [t for part, inner in pairs for t in _places(part, inner, name)]
    return []


def record_of(world: World, instance: Instance, message: str) -> tuple[Expr, tuple[int, ...]]:
    """Returns the record of ``message`` (by process) and which fields it holds behind the
    sender."""
    kept = world.received[instance.path, message]
    return world.read(f"{instance.path}@received.{message}"), kept


def record(world: World, instance: Instance, self: Expr, sender: Expr, value: Expr) -> ir.Block:
    """Returns statements that record the reception of the message ``value`` of this instance."""
    result: list[ir.Stmt] = []
    messages = instance.messages
    if messages is None:
        return ()
    for index, case in enumerate(messages.cases):
        if (instance.path, case.name) not in world.received:
            continue
        whole, kept = record_of(world, instance, case.name)
        parts = tuple(
            ir.CaseField(case.fields[position][1], value, index, position) for position in kept
        )
        mine = build.entry(whole, self)
        item: Expr = sender
        if kept:
            item = ir.Apply(build.element(mine.type), ir.Op.TUPLE, (sender, *parts))
        assert isinstance(whole.type, MapT) and isinstance(whole, ir.Read)
        store = build.assign(mine, build.with_item(mine, item))
        noted = (store, *stable_storage.emit_assignment(world, whole.variable, self))
        tag = ir.TRUE if len(messages.cases) == 1 else ir.IsCase(value, index)
        result.extend(noted if tag == ir.TRUE else (ir.If(tag, noted),))
    return tuple(result)

"""Lists the operations that the clients of a check call."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checker.instantiate.protocol import calls, returns
from checker.instantiate.protocol.actions import requests_of
from checker.instantiate.protocol.expressions import Env
from checker.instantiate.protocol.inputs import written
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.world import World
from checker.model import ir
from checker.model.types import Value


class Call(Struct, frozen=True):
    """An operation that the client of ``process`` calls as its request number ``turn``, from 1 on.

    ``process`` is its number, or an expression where it varies.  ``op`` and ``args`` are those of
    the request; ``returns`` the indication by which it returns, and ``results`` the
    number of its arguments.
    """

    process: Any
    turn: int
    op: str
    args: tuple[ir.Expr, ...]
    returns: str
    results: int


def calls_of(world: World) -> tuple[Call, ...]:
    """Returns the operations of all clients, by process and in the order in which it calls them;
    raises :class:`SpecError` (C042) where an argument is chosen when the run starts."""
    names = {request.name: request.returns for request in returns.returning(world)}
    env = Env(world, world.instances[0], None)
    found = []
    for process, before, client in requests_of(world):
        answer = names.get(client.op)
        if answer is not None and client.is_choice:
            message = "the calls are chosen when the run starts, but must be fixed before it"
            raise refuse("C042", message, client.span, "write a check for each input")
        if answer is not None:
            fields = calls.fields_of(world, ("", "request", client.op))
            args = tuple(written(client, i, type_, env) for i, (_, type_) in enumerate(fields))
            results = len(calls.fields_of(world, ("", "indication", answer)))
            found.append(Call(process, before + 1, client.op, args, answer, results))
    return tuple(sorted(found, key=lambda call: (call.process, call.turn)))


Result = Value
"""The result of an operation; ``None`` also if it returns nothing."""

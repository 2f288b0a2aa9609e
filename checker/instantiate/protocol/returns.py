"""Makes requests return: a client waits for the return of a request before it makes the next.

An operation of an interface is a request with the indication by which it returns.  A process has at
most one operation that has been called and has not returned.  One that is outstanding when its
process crashes never returns; a client whose process has recovered makes its next request.
"""

from __future__ import annotations

from checker.instantiate.world import PENDING, REQUEST, World
from checker.language.syntax import typed
from checker.model import build, ir
from checker.model.ir import FALSE, TRUE, Block, Expr, VariableKind
from checker.model.types import BOOL, IntT, MapT, default

OUTSTANDING = "@outstanding"
"""For each process the number of the request that has not returned yet; 0: there is none."""


def returning(world: World) -> tuple[typed.Operator, ...]:
    """Returns the requests of the top interface that return."""
    interface = world.check.protocol.implements
    requests = () if interface is None else interface.requests
    return tuple(request for request in requests if request.returns is not None)


def returned_by(world: World, op: str) -> str:
    """Returns the indication by which the request ``op`` returns; empty where it does not."""
    return next((r.returns for r in returning(world) if r.name == op and r.returns), "")


def declare(world: World) -> None:
    """Declares which operations are outstanding, where there are any."""
    requests = returning(world)
    if requests:
        type_ = MapT(world.proc, IntT(0, len(requests)))
        world.add(OUTSTANDING, type_, default(type_), VariableKind.WORLD, "operation outstanding")


def waits_for_none(world: World, process: Expr) -> Expr:
    """Returns whether no operation of ``process`` is outstanding."""
    if OUTSTANDING not in world.variables:
        return TRUE
    none = build.equal(_outstanding(world, process), build.integer(0))
    return build.conj(none, build.negation(_is_about_to_call(world, process)))


def _is_about_to_call(world: World, process: Expr) -> Expr:
    """Returns whether a request is among the pending effects of ``process``, where effects are
    steps: a busy process may make its next request as if all of them had happened (see
    :mod:`checker.instantiate.effects.unhindered`)."""
    if not world.fine or PENDING not in world.variables:
        return FALSE
    queue = build.entry(world.read(PENDING), process)
    effect = ir.Local(build.element(queue.type), build.fresh("_effect"))
    names = enumerate(world.effects)
    calls = (ir.IsCase(effect, i) for i, name in names if name.startswith(REQUEST))
    domain = ir.Members(queue, effect.type)
    return ir.Quant(ir.Quantifier.EXISTS, effect.name, domain, build.disj(*calls), BOOL)


def at_request(world: World, op: str, process: Expr) -> Block:
    """Returns what the request ``op`` at ``process`` changes."""
    for number, request in enumerate(returning(world), start=1):
        if request.name == op:
            return (build.assign(_outstanding(world, process), build.integer(number)),)
    return ()


def at_return(world: World, indication: str, process: Expr) -> Block:
    """Returns what ``indication`` at ``process`` changes; where it is the return of an operation
    that is not outstanding, a run-time error."""
    for number, request in enumerate(returning(world), start=1):
        if request.returns == indication:
            mine = _outstanding(world, process)
            ended = ", or a crash has ended it" if world.recovers else ""
            message = f"`{indication}` returns a `{request.name}` that is not outstanding at this"
            message = f"{message} process: none was called, or it has returned already{ended}"
            somewhere = world.place(world.check.protocol.span)  # the statement's takes its place
            wrong = ir.Fault("R007", message, somewhere)
            unasked = build.negation(build.equal(mine, build.integer(number)))
            return (ir.If(unasked, (wrong,)), build.assign(mine, build.integer(0)))
    return ()


def forget(world: World, victim: Expr) -> Block:
    """Returns what a crash of ``victim`` changes: what was outstanding never returns."""
    if OUTSTANDING not in world.variables:
        return ()
    return (build.assign(_outstanding(world, victim), build.integer(0)),)


def _outstanding(world: World, process: Expr) -> Expr:
    return build.entry(world.read(OUTSTANDING), process)

"""Models layers that are oracles: the most general automaton that an interface's properties allow.

An oracle records the requests and indications that its properties mention.  At any time it may make
any indication after which all its ``always`` properties hold.  The obligations of its ``~>``
properties are met eventually: that is an :class:`ir.Justice` of the system.  Like a layer that
delivers messages to itself it may also make indications within a request, as many as have an
effect; and within the handling of an indication where another request is made.

A guarantee that is independent of requests (``correct(p) ~> …``: all decide) becomes an obligation
with the first request: before it there is nothing that could be indicated.  Of the future an oracle
knows only who will crash (:mod:`.crash_prophecy`): a property that a later request, or a process
that is down later, could make false is refused.
"""

from __future__ import annotations

from checker.instantiate.capacities import WORDS
from checker.instantiate.oracles import crash_prophecy
from checker.instantiate.oracles.contracts import Contract, contract_of
from checker.instantiate.protocol import calls, yields
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.statements import CallKey, Root, pick, run_call
from checker.instantiate.protocol.type_sizes import enumerable, is_bounded
from checker.instantiate.world import ORACLE, Draft, World, mark
from checker.model import ir
from checker.model.build import conj, disj, equal, fresh, negation
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    EffectDef,
    EffectKind,
    Expr,
    Justice,
    MarkKind,
    Param,
)
from checker.model.types import BOOL, cardinality

LARGEST = 65_536
"""The largest number of values among which an oracle may choose."""


ASKING = "oracle."
"""Prefix of the names of the effects that are requests to oracles."""

SPEAKS = "_speaks"
"""Prefix of the choices whether, and what, an oracle indicates immediately; 0: nothing."""


def _contracts(world: World) -> list[Contract]:
    return [contract_of(world, i) for i in world.instances if i.oracle == ORACLE]


def declare(world: World) -> None:
    """Declares the histories of oracles, and the effects of requests to them."""
    for contract in _contracts(world):
        contract.declare()
        interface = contract.instance.protocol.implements
        assert interface is not None
        for operator in interface.requests:
            target = (contract.instance.path, "request", operator.name)
            self = ir.Local(world.proc, "_self")
            args = tuple(ir.Local(t, f"_{n}") for n, t in calls.fields_of(world, target))
            body = contract.note_event("request", operator.name, self, args)
            if body:
                params = (("_self", world.proc), *((a.name, a.type) for a in args))
                name = _effect(target)
                body = (_asks(world, contract, operator.name, (self, *args)), *body)
                world.effects[name] = EffectDef(name, EffectKind.VISIBLE, params, body)


def _asks(world: World, contract: Contract, op: str, args: tuple[ir.Local, ...]) -> ir.Mark:
    """Returns the mark by which a trace shows a request."""
    return mark(world, MarkKind.ASK, f"{contract.title}.{op}", tuple(a.name for a in args), *args)


def _effect(target: CallKey) -> str:
    path, _, op = target
    return f"{ASKING}{path}{op}"


def request(
    world: World, target: CallKey, args: tuple[Expr, ...], root: Root, place: ir.SourceLocation
) -> Block:
    """Returns the effect of a request to an oracle: it is recorded, where that ever matters; and
    the oracle may make indications, repeatedly, before the statement behind the request is
    executed."""
    asked: Block = ()
    if _effect(target) in world.effects:
        asked = (ir.Emit(_effect(target), (root.self, *args), place),)
    instance = calls.instance_at(world, target[0])
    if not root.follows or instance.oracle != ORACLE:
        return asked
    interface = instance.protocol.implements
    assert interface is not None
    going_on = ir.Local(BOOL, fresh("_going_on"))
    silence = ir.Assign(ir.Target(BOOL, going_on.name, False), FALSE)
    begin, at_yield = _until_yield(world, root.self, silence)
    ways: list[tuple[Expr, Block]] = [(TRUE, (silence,))]
    contract = contract_of(world, instance)
    for operator in interface.indications:
        chosen, body = _indication(world, contract, operator.name, root)
        choices = tuple(ir.Choose(p.name, p.domain, p.where) for p in chosen)
        ways.append((TRUE, (*choices, *body, *at_yield)))
    rounds = world.capacity(WORDS, 1) + 1  # the last choice is to indicate nothing
    again = ir.While(going_on, pick(tuple(ways), SPEAKS), rounds, place, WORDS)
    return (*asked, *begin, ir.Declare(going_on.name, BOOL, TRUE), again)


def _until_yield(world: World, self: Expr, silence: ir.Stmt) -> tuple[Block, Block]:
    """Returns what precedes the first indication, and what follows each: after an indication with
    which more handlers wait to continue than before, the oracle pauses until they have
    continued."""
    depth = yields.depth(world, self)
    if depth is None:
        return (), ()
    before = ir.Local(depth.type, fresh("_begun"))
    noted = ir.Declare(before.name, before.type, depth)
    return (noted,), (ir.If(negation(equal(depth, before)), (silence,)),)


def draft(world: World) -> None:
    """Drafts the indications of the oracles, and the crash prophecies."""
    crash_prophecy.draft(world)
    for contract in _contracts(world):
        interface = contract.instance.protocol.implements
        assert interface is not None
        for operator in interface.indications:
            _draft_indication(world, contract, operator.name)


def _draft_indication(world: World, contract: Contract, op: str) -> None:
    self = ir.Local(world.proc, fresh("self"))
    chosen, body = _indication(world, contract, op, Root(world, self))
    ready = disj(world.is_settled(self), yields.behind_asking(world, self, contract.instance.path))
    free = conj(world.alive(self), world.honest(self), world.idle(self), ready)
    params = (Param(self.name, ir.Universe(world.proc), free), *chosen)
    name = f"{contract.instance.path}{op}"
    action = Action(name, ActionKind.DETECT, params, TRUE, body, FALSE)
    world.drafts.append(Draft(action, self))


def _indication(world: World, contract: Contract, op: str, root: Root) -> tuple[list[Param], Block]:
    """Returns the choices of the arguments with which the oracle may indicate ``op`` to the process
    of ``root``, and the statements of that step."""
    instance, self = contract.instance, root.self
    target = (instance.path, "indication", op)
    fields = calls.fields_of(world, target)
    locals_ = tuple(ir.Local(t, fresh(n)) for n, t in fields)
    chosen, args = _arguments(world, contract, op, self, locals_)
    text = f"{instance.path}{op}"
    pairs = zip(locals_, args, strict=True)
    body = (
        *(ir.Declare(x.name, x.type, a) for x, a in pairs if x != a),
        mark(world, MarkKind.DETECT, text, ("self", *(n for n, _ in fields)), self, *locals_),
        *contract.note_event("indication", op, self, locals_),
        *(ir.Assume(negation(bad)) for bad in contract.violations()),
        *run_call(target, locals_, root),
    )
    return chosen, body


def _arguments(
    world: World, contract: Contract, op: str, self: Expr, locals_: tuple[ir.Local, ...]
) -> tuple[list[Param], list[Expr]]:
    """Returns parameters for the arguments, and the arguments: requested values where nothing else
    can be indicated, otherwise any value."""
    params: list[Param] = []
    later: list[Param] = []
    args: list[Expr] = list(locals_)
    size = 1
    for position, arg in enumerate(locals_):
        asked = contract.requested_argument(op, position, self, args)
        if asked is not None:
            later += asked[0]
            args[position] = asked[1]
            continue
        size *= _number(world, contract, op, arg)
        params.append(Param(arg.name, ir.Universe(arg.type), TRUE))
    if size > LARGEST:
        _too_many(world, contract, op, f"{size:,}", locals_[0])
    return params + later, args


def _number(world: World, contract: Contract, op: str, arg: ir.Local) -> int:
    if not enumerable(arg.type) or not is_bounded(arg.type):
        _too_many(world, contract, op, "too many or an unknown number of", arg)
    return cardinality(arg.type)


def _too_many(world: World, contract: Contract, op: str, size: str, arg: ir.Local) -> None:
    interface = contract.instance.protocol.implements
    assert interface is not None
    name = arg.name.split(".")[0]
    message = f"the oracle `{contract.title}` could indicate {size} values: `{name}` of `{op}`"
    hint = (
        "give the type of this field a small bound, or the interface a property by which "
        "only requested values are indicated"
    )
    raise refuse("C202", message, world.check.span, hint)


def justice(world: World) -> tuple[Justice, ...]:
    """Returns the justice constraints of the oracles' obligations."""
    found = crash_prophecy.justice(world)
    for contract in _contracts(world):
        for clause, obligation in contract.obligations():
            text = f"the oracle `{contract.title}` eventually keeps `{clause.name}`"
            found.append(Justice(negation(obligation), text))
    return tuple(found)

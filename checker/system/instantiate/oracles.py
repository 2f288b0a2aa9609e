"""Layers that are oracles: the most general automaton that the properties of an interface allow.

An oracle remembers what it was asked and what it has indicated, as far as its properties speak of
it.  At any time it may make any indication after which all its ``always`` properties hold.  What
it owes by its ``~>`` properties it does in the end: that is a :class:`ir.Justice` of the system.
Like a layer that hands messages to itself it may also speak within a request, as often as that
leads anywhere; so it does within what is done about a word, where another request is made.

What a property promises whatever is requested (``correct(p) ~> …``: everybody decides) is owed from
the first request on: before it there is nothing that could be indicated.  Of the
future it knows only who will crash (:mod:`.crash_prophecy`): a property that a later request, or
somebody's being down later, could make false is refused.
"""

from __future__ import annotations

from checker.system import ir
from checker.system.build import conj, disj, equal, fresh, negation
from checker.system.instantiate import calls, crash_prophecy, yields
from checker.system.instantiate.contracts import Contract, contract_of
from checker.system.instantiate.sizes import refuse
from checker.system.instantiate.statements import CallKey, Root, pick, run_call
from checker.system.instantiate.type_sizes import enumerable, is_bounded
from checker.system.instantiate.world import (
    ORACLE,
    Draft,
    World,
    mark,
)
from checker.system.ir import (
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
from checker.system.types import BOOL, cardinality

LARGEST = 65_536
"""Values at most that an oracle may choose among."""


SPEAKS = "_speaks"
"""Begins the names of the choices whether, and what, an oracle says on the spot; 0 is nothing."""

WORDS = "words within a request"
"""The capacity that says how often an oracle may speak on the spot."""

MOST_WORDS = 7
"""That capacity is not enlarged beyond this: there are too many orders of so many words."""


def _contracts(world: World) -> list[Contract]:
    return [contract_of(world, i) for i in world.instances if i.oracle == ORACLE]


def declare(world: World) -> None:
    """Declares what oracles remember, and the effects by which they are asked."""
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
    """What a trace shows of a request."""
    places = ", ".join(f"{{{i}}}" for i in range(1, len(args)))
    said = f"{{0}} asks the oracle `{contract.title}`: {op}({places})"
    return mark(world, MarkKind.WORLD, said, tuple(a.name for a in args), *args)


def _effect(target: CallKey) -> str:
    path, _, op = target
    return f"oracle.{path}{op}"


def request(
    world: World, target: CallKey, args: tuple[Expr, ...], root: Root, place: ir.SourceLocation
) -> Block:
    """The effect of a request to an oracle: it is remembered, if it ever matters; and the oracle
    may speak on the spot, again and again, before the statement behind the request is run."""
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
        chosen, body = _word(world, contract, operator.name, root)
        choices = tuple(ir.Choose(p.name, p.domain, p.where) for p in chosen)
        ways.append((TRUE, (*choices, *body, *at_yield)))
    rounds = world.capacity(WORDS, 1) + 1  # the last word is that there is none
    again = ir.While(going_on, pick(tuple(ways), SPEAKS), rounds, place, WORDS)
    return (*asked, *begin, ir.Declare(going_on.name, BOOL, TRUE), again)


def _until_yield(world: World, self: Expr, silence: ir.Stmt) -> tuple[Block, Block]:
    """What stands before the first word, and behind each: one after which more handlers are to go
    on than before is the last for now, and the oracle goes on when they have."""
    depth = yields.depth(world, self)
    if depth is None:
        return (), ()
    before = ir.Local(depth.type, fresh("_begun"))
    noted = ir.Declare(before.name, before.type, depth)
    return (noted,), (ir.If(negation(equal(depth, before)), (silence,)),)


def draft(world: World) -> None:
    """Drafts the indications of the oracles, and what they foresee."""
    crash_prophecy.draft(world)
    for contract in _contracts(world):
        interface = contract.instance.protocol.implements
        assert interface is not None
        for operator in interface.indications:
            _indication(world, contract, operator.name)


def _indication(world: World, contract: Contract, op: str) -> None:
    self = ir.Local(world.proc, fresh("self"))
    chosen, body = _word(world, contract, op, Root(world, self))
    ready = disj(world.is_settled(self), yields.behind_asking(world, self, contract.instance.path))
    free = conj(world.alive(self), world.honest(self), world.idle(self), ready)
    params = (Param(self.name, ir.Universe(world.proc), free), *chosen)
    name = f"{contract.instance.path}{op}"
    action = Action(name, ActionKind.DETECT, params, TRUE, body, FALSE)
    world.drafts.append(Draft(action, self))


def _word(world: World, contract: Contract, op: str, root: Root) -> tuple[list[Param], Block]:
    """What the oracle may indicate to the process of ``root``, and what that does."""
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
    """Parameters for the arguments, and the arguments: what was asked for where nothing else can
    be indicated, otherwise any value."""
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
        "give the type of this field a small bound, or the interface a property that says that "
        "only what was requested is indicated"
    )
    raise refuse("C202", message, world.check.span, hint)


def justice(world: World) -> tuple[Justice, ...]:
    """What the oracles do in the end."""
    found = crash_prophecy.justice(world)
    for contract in _contracts(world):
        for clause, owed in contract.obligations():
            text = f"the oracle `{contract.title}` keeps `{clause.name}` in the end"
            found.append(Justice(negation(owed), text))
    return tuple(found)

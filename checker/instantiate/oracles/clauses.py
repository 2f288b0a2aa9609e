"""Splits an interface's properties into safety and liveness clauses that an oracle can satisfy."""

from __future__ import annotations

from msgspec import Struct

from checker.diagnostics import Span
from checker.instantiate.faults import byzantine_requests
from checker.instantiate.protocol.sizes import refuse
from checker.instantiate.protocol.walk import nodes
from checker.instantiate.world import Instance, World
from checker.language.syntax import typed
from checker.records import replace


class Clause(Struct, frozen=True):
    """One property: ``forall binders: premise -> goal``, always or (``later``) eventually."""

    definition: typed.PropertyDef
    binders: tuple[typed.Binder, ...]
    later: bool
    premise: typed.Expr | None
    goal: typed.Expr

    @property
    def name(self) -> str:
        return self.definition.name


def clause_of(world: World, instance: Instance, definition: typed.PropertyDef) -> Clause:
    """Returns the clause of one property; raises :class:`SpecError` where no oracle can satisfy it:
    C016, or C022 where the reason is that processes are Byzantine."""
    _about_liars(world, instance, definition)
    binders: list[typed.Binder] = []
    formula = definition.formula
    premise: typed.Expr | None = None
    later = False
    while True:
        match formula:
            case typed.Quantified(_, "forall", inner, body, _):
                binders.extend(inner)
                formula = body
            case typed.Temporal(_, "always", (body,), _):
                formula = body
            case typed.Temporal(_, "eventually", (body,), _):
                later, goal = True, body
                break
            case typed.Temporal(_, "~>", (left, body), _):
                later, premise, goal = True, left, body
                break
            case typed.Operation(_, "=>", (left, typed.Temporal(_, "eventually", (body,), _)), _):
                later, premise, goal = True, left, body
                break
            case typed.Operation(_, "=>", (left, body), _):
                premise, goal = left, body
                break
            case _:
                goal = formula
                break
    temporal = (typed.Temporal, typed.Causes, typed.Acts, typed.RepeatedAct)
    for node in nodes((premise, goal)):
        if isinstance(node, temporal):
            _refuse(world, instance, definition, "is beyond what an oracle can guarantee")
    if not later:
        for part in (*(() if _in_order(premise) else binders), *_some(premise)):
            _steady(world, instance, definition, part, False)
        _steady(world, instance, definition, goal, True)
    found = _narrow_binders(tuple(binders), premise)
    return Clause(definition, found, later, premise, goal)


def _some(premise: typed.Expr | None) -> tuple[typed.Expr, ...]:
    return () if premise is None else (premise,)


def _in_order(premise: typed.Expr | None) -> bool:
    """Tells whether the premise is about requests in their order: a new request is last, so it does
    not affect earlier indications."""
    parts: tuple[typed.Expr, ...] = _some(premise)
    if isinstance(premise, typed.Operation) and premise.op == "and":
        parts = premise.args
    return any(isinstance(p, typed.HistoryOrder) and p.kind == "request" for p in parts)


def _refuse(world: World, instance: Instance, definition: typed.PropertyDef, why: str) -> None:
    layer = instance.name_above
    message = f"`{layer}` can't be an oracle: {_property_text(instance, definition)} {why}"
    hint = f"`given {layer} as …` with a protocol"
    raise refuse("C016", message, _given_span(world, instance), hint)


def _property_text(instance: Instance, definition: typed.PropertyDef) -> str:
    interface = instance.protocol.implements
    assert interface is not None
    return f"`{definition.name}` of `{interface.name}`"


def _given_span(world: World, instance: Instance) -> Span:
    """Returns where the check declares that the layer is an oracle."""
    interface = instance.protocol.implements
    assert interface is not None
    for given in sorted(world.check.given, key=lambda g: g.layer != instance.name_above):
        if given.layer in (instance.name_above, interface.name):
            return given.span
    return world.check.span


def _about_liars(world: World, instance: Instance, definition: typed.PropertyDef) -> None:
    """Refuses (C022) a property by which an oracle would keep Byzantine processes from lying."""
    if not world.bound(world.check.byzantine):
        return
    if byzantine_requests.committed_requests(definition.formula) is None:
        return
    layer = instance.name_above
    message = (
        f"`{layer}` can't be an oracle with Byzantine processes: "
        f"{_property_text(instance, definition)} restricts them to their own requests"
    )
    interface = instance.protocol.implements
    assert interface is not None
    hint = f"{_for_liars(interface)}, or `given {layer} as …` with a protocol"
    raise refuse("C022", message, _given_span(world, instance), hint)


def _for_liars(interface: typed.Interface) -> str:
    """Suggests replacements for a layer of this kind where processes are Byzantine."""
    kind = {o.name for o in (*interface.requests, *interface.indications)}
    own = "declare an interface whose properties constrain only correct requesters"
    if kind == {"broadcast", "deliver"}:
        shipped = "`ByzantineConsistentBroadcast`, `ByzantineReliableBroadcast`"
        return f"use a layer with an interface for Byzantine faults ({shipped})"
    if interface.name.endswith("Consensus"):
        return f"{own} (`StrongConsensus`, for Byzantine faults, can be given only a protocol)"
    return f"{own}, as in `ByzantineReliableBroadcast` (the library has none for this layer)"


def _steady(
    world: World,
    instance: Instance,
    definition: typed.PropertyDef,
    node: object,
    positive: bool,
) -> None:
    """Refuses what a later request or crash could make false."""
    why = "can become false later, which an oracle can't predict"

    def visit(inner: object, same: bool = True) -> None:
        _steady(world, instance, definition, inner, positive if same else not positive)

    match node:
        case typed.Binder(_, domain, where):
            visit(domain)
            if where is not None:
                visit(where)
        case typed.Operation(_, "not", (arg,), _):
            visit(arg, False)
        case typed.Operation(_, "=>", (left, right), _):
            visit(left, False)
            visit(right)
        case typed.Operation(_, "in" | "and" | "or", args, _):
            for arg in args:
                visit(arg)
        case typed.Quantified(_, kind, binders, body, _):
            for binder in binders:
                visit(binder, kind == "exists")
            visit(body)
        case typed.History(_, "request"):
            if not positive:
                _refuse(world, instance, definition, why)
        case typed.Correct(_, kind, _, _):
            if positive == (kind == "correct"):
                _refuse(world, instance, definition, why)
        case typed.HistoryOrder():
            pass  # the order of two past events is fixed
        case _:
            if any(isinstance(n, typed.History) and n.kind == "request" for n in nodes(node)):
                _refuse(world, instance, definition, why)


def _narrow_binders(
    binders: tuple[typed.Binder, ...], premise: typed.Expr | None
) -> tuple[typed.Binder, ...]:
    """Restricts payload binders to the history in a premise `m in broadcast(p)`: all of ``Msg`` is
    too large a domain."""
    result = []
    for binder in binders:
        pattern, domain = binder.pattern, binder.domain
        if isinstance(pattern, typed.Bind) and isinstance(domain, typed.All):
            if isinstance(domain.item, typed.Msg) and premise is not None:
                binder = _from_history(binder, pattern.name, premise) or binder
        result.append(binder)
    return tuple(result)


def _from_history(binder: typed.Binder, name: str, premise: typed.Expr) -> typed.Binder | None:
    """Restricts ``binder`` to the history that ``premise`` wants ``name`` to be in: the binder must
    bind the entry's last component, and all others must be bound before."""
    parts = premise.args if isinstance(premise, typed.Operation) and premise.op == "and" else ()
    for part in parts or (premise,):
        if not (isinstance(part, typed.Operation) and part.op == "in"):
            continue
        item, of = part.args
        if not isinstance(of, typed.History):
            continue
        if isinstance(item, typed.Local) and item.name == name:
            return replace(binder, domain=of)
        if isinstance(item, typed.Display) and isinstance(item.type, typed.Tuple):
            patterns: list[typed.Pattern] = []
            for inner in item.items:
                mine = isinstance(inner, typed.Local) and inner.name == name
                patterns.append(binder.pattern if mine else typed.Equals(inner.type, inner))
            if binder.pattern in patterns:
                return replace(binder, pattern=typed.Parts(item.type, tuple(patterns)), domain=of)
    return None


def bound_by(binder: typed.Binder, op: str, count: int) -> tuple[str | None, ...] | None:
    """Returns the names bound by ``v in decided(p)``: the process and the arguments."""
    of = binder.domain
    if not isinstance(of, typed.History) or (of.kind, of.op) != ("indication", op):
        return None
    owner = of.owner.name if isinstance(of.owner, typed.Local) else None
    patterns = (
        binder.pattern.items if isinstance(binder.pattern, typed.Parts) else (binder.pattern,)
    )
    if len(patterns) != count:
        return None
    return (owner, *(p.name if isinstance(p, typed.Bind) else None for p in patterns))


def request_of(goal: typed.Expr, name: str) -> tuple[typed.Expr, typed.History] | None:
    """Returns the entry with ``name`` and the history of requests that contains it wherever
    ``goal`` holds."""
    match goal:
        case typed.Operation(_, "in", (item, typed.History(_, "request") as history), _):
            parts = item.items if isinstance(item, typed.Display) else (item,)
            if any(isinstance(p, typed.Local) and p.name == name for p in parts):
                return item, history
        case typed.Operation(_, "and", args, _):
            return next((f for f in (request_of(a, name) for a in args) if f is not None), None)
        case typed.Quantified(_, "exists", _, body, _):
            return request_of(body, name)
        case _:
            pass
    return None

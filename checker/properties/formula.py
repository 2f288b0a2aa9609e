"""A property's formula becomes a predicate ``bad`` on states, and says when it is vacuous.

``always`` formulas are invariants.  ``a ~> b`` (and ``eventually b``) are judged at admissible
ends.  Where both sides can only turn true (histories grow, and who is correct is fixed by the
run), the end is bad when ``a`` holds there and ``b`` does not.  Otherwise a monitor variable keeps
the obligations that are still open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.lang import typed
from checker.properties.histories import Histories
from checker.properties.reader import Reader
from checker.system import build, ir
from checker.system.build import conj, fresh, member, negation
from checker.system.instantiate.expressions import Env, as_domain, bind_domain, lower
from checker.system.instantiate.patterns import matched
from checker.system.instantiate.sizes import refuse
from checker.system.instantiate.walk import nodes
from checker.system.instantiate.world import World
from checker.system.ir import TRUE, Expr, Property, PropertyKind, Quantifier, VariableKind
from checker.system.types import BOOL, TupleT, Type, default


@dataclass(frozen=True, slots=True)
class Shape:
    """``forall binders: premise -> goal``; ``temporal`` is ``always``, ``~>`` or ``eventually``."""

    binders: tuple[typed.Binder, ...]
    temporal: str
    premise: typed.Expr | None
    goal: typed.Expr


def ask(world: World, definitions: tuple[typed.PropertyDef, ...]) -> tuple[Property, ...]:
    """Compiles ``definitions``; declares histories, effects of the interface and monitors."""
    histories = Histories(world)
    for definition in definitions:
        histories.need(definition.formula)
    histories.declare()
    return tuple(_compile(world, definition) for definition in definitions)


def shape(formula: typed.Expr) -> Shape:
    """The parts of a formula; see :class:`Shape`."""
    binders: list[typed.Binder] = []
    temporal = "always"
    while True:
        match formula:
            case typed.Quantified(_, "forall", inner, body, _):
                binders.extend(inner)
                formula = body
            case typed.Temporal(_, "always", (body,), _):
                formula = body
            case typed.Temporal(_, "eventually", (goal,), _):
                return Shape(tuple(binders), "eventually", None, goal)
            case typed.Temporal(_, "~>", (premise, goal), _):
                return Shape(tuple(binders), "~>", premise, goal)
            case typed.Operation(
                _, "=>", (premise, typed.Temporal(_, "eventually", (goal,), _)), _
            ):
                return Shape(tuple(binders), "~>", premise, goal)
            case typed.Operation(_, "=>", (premise, goal), _):
                return Shape(tuple(binders), temporal, premise, goal)
            case _:
                return Shape(tuple(binders), temporal, None, formula)


def _compile(world: World, definition: typed.PropertyDef) -> Property:
    parts = shape(definition.formula)
    reader = Reader(world, world.reliable if world.recovers else world.correct)
    env = Env(world, world.instances[0], None, {}, reader.read)
    if parts.temporal == "always":
        _check_polarity(world, definition.formula, True)
        bad, premise = _state_predicates(parts, env)
        kind = PropertyKind.INVARIANT
    else:
        kind = PropertyKind.AT_END
        if parts.temporal == "~>" and _stable(parts):
            bad, premise = _state_predicates(parts, env)
        else:
            bad, premise = _monitored(world, definition.name, parts, env)
    return Property(
        name=definition.name,
        kind=kind,
        bad=bad,
        premise=premise,
        definition=definition.document or definition.text,
        assumptions=assumptions(world) if kind is PropertyKind.AT_END else (),
        place=world.place(definition.span),
    )


def _state_predicates(parts: Shape, env: Env) -> tuple[Expr, Expr]:
    """``bad`` and the premise as nested existential quantifiers over the binders."""
    frames = []
    for binder in parts.binders:
        name, domain, where, env = bind_domain(binder.pattern, binder.domain, binder.where, env)
        frames.append((name, domain, where))
    premise = TRUE if parts.premise is None else lower(parts.premise, env)
    bad = conj(premise, negation(lower(parts.goal, env)))
    for name, domain, where in reversed(frames):
        bad = ir.Quant(Quantifier.EXISTS, name, domain, conj(where, bad), BOOL)
        premise = ir.Quant(Quantifier.EXISTS, name, domain, conj(where, premise), BOOL)
    return bad, premise


# ---- what can only turn true ------------------------------------------------------------------


def _stable(parts: Shape) -> bool:
    domains = all(_grows(b.domain) and (b.where is None or _grows(b.where)) for b in parts.binders)
    return domains and parts.premise is not None and _grows(parts.premise) and _grows(parts.goal)


def _grows(expr: typed.Expr) -> bool:
    """Whether ``expr``, once true in a run, stays true (sets: only gain members)."""
    match expr:
        case typed.Operation(_, "and" | "or", args, _):
            return all(_grows(a) for a in args)
        case typed.Operation(_, "in", (item, of), _):
            return _fixed(item) and _grows(of)
        case typed.Operation(_, ">" | ">=", (left, right), _):
            if isinstance(left, typed.Operation) and left.op == "size":
                return _grows(left.args[0]) and _fixed(right)
            return _fixed(expr)
        case typed.Quantified(_, kind, binders, body, _):
            ranges = _fixed if kind == "forall" else _grows
            parts = [p for b in binders for p in (b.domain, b.where) if p is not None]
            return all(ranges(p) for p in parts) and _grows(body)
        case typed.History():
            return _fixed(expr.owner)
        case typed.HistoryOrder() | typed.Repeated() | typed.Causes():
            return True
        case _:
            return _fixed(expr)


def _fixed(expr: typed.Expr) -> bool:
    """Whether ``expr`` means the same in every state of a run."""
    varying = (
        typed.StateRef
        | typed.Received
        | typed.History
        | typed.HistoryOrder
        | typed.Repeated
        | typed.Causes
    )
    for node in nodes(expr):
        if isinstance(node, varying):
            return False
        if isinstance(node, typed.Correct) and node.kind == "crashed":
            return False
    return True


def _mentions_correct(expr: typed.Expr) -> bool:
    return any(isinstance(n, typed.Correct) and n.kind == "correct" for n in nodes(expr))


def _check_polarity(world: World, expr: typed.Expr, positive: bool) -> None:
    """In an invariant ``correct`` may only stand in a premise: elsewhere a state can't tell."""
    if world.crash_bound == 0 or not _mentions_correct(expr):
        return
    match expr:
        case typed.Correct(span=span):
            if positive:
                message = "`correct` in an `always` formula may only stand in a premise"
                raise refuse("N212", message, span, "use `~>`, or `crashed(p)`")
        case typed.Operation(_, "not", (arg,), _):
            _check_polarity(world, arg, not positive)
        case typed.Operation(_, "=>", (left, right), _):
            _check_polarity(world, left, not positive)
            _check_polarity(world, right, positive)
        case typed.Operation(_, "and" | "or", args, _):
            for arg in args:
                _check_polarity(world, arg, positive)
        case typed.Quantified(_, kind, binders, body, _):
            for binder in binders:
                if binder.where is not None:
                    _check_polarity(world, binder.where, positive == (kind == "exists"))
            _check_polarity(world, body, positive)
        case typed.Temporal(_, _, args, _):
            for arg in args:
                _check_polarity(world, arg, positive)
        case _:
            message = "`correct` can't be used in this position of an `always` formula"
            raise refuse("N212", message, expr.span, "move it to the premise of `=>`")


# ---- monitors ---------------------------------------------------------------------------------


def _monitored(world: World, name: str, parts: Shape, env: Env) -> tuple[Expr, Expr]:
    """Obligations kept in a variable: those still open (``~>``), or those met (``eventually``)."""
    premise = parts.premise
    lasting: list[typed.Expr] = []
    if premise is not None:
        lasting, premise = _split(premise)
    for part in (parts.goal, *((premise,) if premise is not None else ())):
        if world.crash_bound and _mentions_correct(part):
            message = "`correct` may only be a conjunct of the premise here"
            raise refuse("N212", message, part.span)
    locals_, inner, inside = _open(parts.binders, env)
    key_type: Type = TupleT(tuple(x.type for x in locals_))
    key = ir.Apply(key_type, ir.Op.TUPLE, tuple(locals_))
    variable = f"@open.{name}"
    type_ = world.set_of(key_type, f"{variable}.size")
    kept = world.add(variable, type_, default(type_), VariableKind.HISTORY, f"open in {name}")
    target = ir.Target(type_, variable, True)
    raise_ = ir.Assign(target, build.with_item(kept, key))
    drop = ir.Assign(target, build.without_item(kept, key))
    goal = lower(parts.goal, inner)
    open_ = conj(inside, TRUE if premise is None else lower(premise, inner))
    body: ir.Stmt
    if parts.temporal == "eventually":
        body = ir.If(goal, (raise_,))
        owed = conj(inside, negation(member(key, kept)))
    else:
        body = ir.If(goal, (drop,), (ir.If(open_, (raise_,)),))
        owed = member(key, kept)
    if inside != TRUE:  # the formula need not make sense for any other value
        body = ir.If(inside, (body,))
    for local in reversed(locals_):
        body = ir.For(local.name, ir.Universe(local.type), (body,))
    world.monitor.append(body)
    bad = conj(owed, *(lower(c, inner) for c in lasting))
    return _exists(locals_, bad), _exists(locals_, open_)


def _split(premise: typed.Expr) -> tuple[list[typed.Expr], typed.Expr | None]:
    """The conjuncts of a premise: those about who is correct, and the others."""
    if isinstance(premise, typed.Operation) and premise.op == "and":
        lasting = [a for a in premise.args if isinstance(a, typed.Correct)]
        others = tuple(a for a in premise.args if not isinstance(a, typed.Correct))
        nested: list[typed.Expr] = []
        rest: list[typed.Expr] = []
        for other in others:
            more, left = _split(other)
            nested.extend(more)
            if left is not None:
                rest.append(left)
        if not rest:
            return lasting + nested, None
        return lasting + nested, rest[0] if len(rest) == 1 else replace(premise, args=tuple(rest))
    if isinstance(premise, typed.Correct) and premise.kind == "correct":
        return [premise], None
    return [], premise


def _open(binders: tuple[typed.Binder, ...], env: Env) -> tuple[list[ir.Local], Env, Expr]:
    """Binders over their whole types, and the condition that a value is in its domain."""
    locals_: list[ir.Local] = []
    inside: list[Expr] = []
    for binder in binders:
        domain = as_domain(binder.domain, env)
        shown = binder.pattern.name if isinstance(binder.pattern, typed.Bind) else "_x"
        local = ir.Local(ir.domain_item(domain), fresh(shown))
        match domain:
            case ir.Members(of):
                inside.append(member(local, of))
            case ir.Subsets(of):
                inside.append(ir.Apply(BOOL, ir.Op.SUBSET, (local, of)))
            case ir.Universe():
                pass
        condition, names = matched(binder.pattern, local, env)
        env = env.bind_all(names)
        inside.append(condition)
        if binder.where is not None:
            inside.append(lower(binder.where, env))
        locals_.append(local)
    return locals_, env, conj(*inside)


def _exists(locals_: list[ir.Local], body: Expr) -> Expr:
    for local in reversed(locals_):
        body = ir.Quant(Quantifier.EXISTS, local.name, ir.Universe(local.type), body, BOOL)
    return body


def assumptions(world: World) -> tuple[str, ...]:
    """What the derived fairness promises, in words."""
    result = ["a correct process that can take a step takes one"]
    if world.network is not None:
        if "lossy" in world.check.links:
            result.append("links may lose any message: no delivery is promised")
        else:
            result.append("a message between correct processes is delivered")
    if world.crash_bound:
        result.append("nothing is promised for a process that crashes, or for messages from it")
    return tuple(result)

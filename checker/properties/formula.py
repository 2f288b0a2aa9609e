"""A property's formula becomes a predicate ``bad`` on states, and says when it is vacuous.

``always`` formulas are invariants.  ``a ~> b`` (and ``eventually b``) are judged at admissible
ends.  Where both sides can only turn true (histories grow, and who is correct is fixed by the
run), the end is bad when ``a`` holds there and ``b`` does not.  Otherwise a monitor variable keeps
the obligations that are still open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.lang import typed
from checker.properties.growth import grows
from checker.properties.histories import Histories
from checker.properties.liveness import is_temporal, question
from checker.properties.polarity import check as check_polarity
from checker.properties.polarity import may_be_correct, mentions_correct
from checker.properties.reader import Reader
from checker.system import build, ir
from checker.system.build import conj, disj, fresh, member, negation
from checker.system.instantiate.expressions import Env, as_domain, bind_domain, lower
from checker.system.instantiate.patterns import matched
from checker.system.instantiate.sizes import refuse
from checker.system.instantiate.world import World
from checker.system.ir import FALSE, TRUE, Expr, Property, PropertyKind, Quantifier, VariableKind
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


def invariants(
    formula: typed.Expr, binders: tuple[typed.Binder, ...] = (), within: bool = False
) -> tuple[Shape, ...] | None:
    """The parts of a formula that speaks of single states only; ``None`` for any other.

    `always` says the same of a conjunction, or for all values, as of each part; ``within``: one
    stands around ``formula`` already.
    """
    match formula:
        case typed.Temporal(_, "always", (body,), _):
            return invariants(body, binders, True)
        case typed.Quantified(_, "forall", inner, body, _):
            return invariants(body, binders + inner, within)
        case typed.Operation(_, "and", parts, _) if is_temporal(formula):
            found = [invariants(part, binders, within) for part in parts]
            known = [shapes for shapes in found if shapes is not None]
            return tuple(s for ss in known for s in ss) if len(known) == len(found) else None
        case _ if is_temporal(formula) or not within:
            return None
        case typed.Operation(_, "=>", (premise, goal), _):
            return (Shape(binders, "always", premise, goal),)
        case _:
            return (Shape(binders, "always", None, formula),)


DECIDED = False
"""Whether liveness is decided on cycles, too, and not only at the ends of runs."""


def _compile(world: World, definition: typed.PropertyDef) -> Property:
    safe = invariants(definition.formula)
    if safe is not None:
        return _invariant(world, definition, safe)
    if DECIDED:
        return _in_the_end(world, definition)
    parts = shape(definition.formula)
    env = Env(world, world.instances[0], None, {}, Reader(world, may_be_correct(world)).read)
    if parts.temporal == "~>" and _stable(parts):
        bad, premise = _state_predicates(parts, env)
    else:
        bad, premise = _monitored(world, definition.name, parts, env)
    return Property(
        name=definition.name,
        kind=PropertyKind.AT_END,
        bad=bad,
        premise=premise,
        definition=definition.document or definition.text,
        assumptions=assumptions(world),
        place=world.place(definition.span),
    )


def _invariant(world: World, definition: typed.PropertyDef, parts: tuple[Shape, ...]) -> Property:
    check_polarity(world, definition.formula, True)
    env = Env(world, world.instances[0], None, {}, Reader(world, may_be_correct(world)).read)
    found = [_state_predicates(part, env) for part in parts]
    return Property(
        name=definition.name,
        kind=PropertyKind.INVARIANT,
        bad=disj(*(bad for bad, _ in found)),
        premise=disj(*(premise for _, premise in found)),
        definition=definition.document or definition.text,
        place=world.place(definition.span),
    )


def _in_the_end(world: World, definition: typed.PropertyDef) -> Property:
    asked = question(world, definition.formula)
    return Property(
        name=definition.name,
        kind=PropertyKind.LIVENESS,
        bad=FALSE,
        premise=asked.premise,
        definition=definition.document or definition.text,
        place=world.place(definition.span),
        params=asked.params,
        propositions=asked.propositions,
        formula=asked.formula,
        automaton=asked.automaton,
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


def _stable(parts: Shape) -> bool:
    domains = all(grows(b.domain) and (b.where is None or grows(b.where)) for b in parts.binders)
    return domains and parts.premise is not None and grows(parts.premise) and grows(parts.goal)


# ---- monitors ---------------------------------------------------------------------------------


def _monitored(world: World, name: str, parts: Shape, env: Env) -> tuple[Expr, Expr]:
    """Obligations kept in a variable: those still open (``~>``), or those met (``eventually``)."""
    premise = parts.premise
    lasting: list[typed.Expr] = []
    if premise is not None:
        lasting, premise = _split(premise)
    for part in (parts.goal, *((premise,) if premise is not None else ())):
        if world.crash_bound and mentions_correct(part):
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

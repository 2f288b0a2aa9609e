"""Restricts properties, where effects are steps, to what they observe when handlers are one step.

A process is *open* while its handler still has a visible effect to come: one that changes more than
the messages in flight, or one whose loss in a crash can be observed later.  It is *closed* as soon
as only sends are left.

* While some process is open, properties do not observe the state.  A closed process shows what it
  shows after its handler, and the copies that it still has to send may as well have left at once:
  earlier in flight enables more and disables nothing, and a copy that a crash suppresses is like
  one that was sent and is never received.  So every observed state is also observable where a
  handler is one step.
* Where a process acts while another one is open, the execution is *interrupted*: an observer may
  miss what is done and undone meanwhile, and the acts of several processes may come in an order
  that handlers of one step can't produce.  Of such an execution no property about whole executions,
  or about that order, is checked.  Nothing is lost by that: each execution of one-step handlers is
  also one without interruptions, in which effects follow one another at once, and its fairness
  constraints are the same.  Interruptions remain possible all the same, as an open process must not
  disable the fairness constraints of others.

A state that is reached by an interruption is as reachable as any other, so properties of single
states are still checked there.
"""

from __future__ import annotations

from collections.abc import Iterable

from checker.instantiate.world import INTERRUPTED, PENDING, REQUEST, Draft, World
from checker.model import build, ir
from checker.model.build import conj, entry, fresh, negation
from checker.model.ir import (
    TRUE,
    ActionKind,
    Expr,
    Property,
    PropertyKind,
    Quantifier,
    VariableKind,
)
from checker.model.transforms.blind import restrict_observations
from checker.model.tree import nodes
from checker.model.types import BOOL, SeqT
from checker.records import replace


def properties_between_handlers(
    world: World, properties: tuple[Property, ...]
) -> tuple[Property, ...]:
    """Returns ``properties`` so restricted; declares the variable that records interruptions."""
    if PENDING not in world.variables or not _visible_effects(world):
        return properties
    process = ir.Local(world.proc, fresh("_p"))
    closed = negation(_open(world, process))
    everybody = ir.Universe(world.proc)
    looking = ir.Quant(Quantifier.FORALL, process.name, everybody, closed, BOOL)
    strict = [p.kind is PropertyKind.LIVENESS or _asks_for_order(world, p) for p in properties]
    if world.monitor:
        world.monitor = [ir.If(looking, tuple(world.monitor))]
    spoilt = None
    if any(strict):
        spoilt = world.add(INTERRUPTED, BOOL, False, VariableKind.WORLD, "interrupted")
    pairs = zip(properties, strict, strict=True)
    return tuple(restrict_observations(p, looking, spoilt if whole else None) for p, whole in pairs)


def noting(world: World, drafts: Iterable[Draft]) -> list[Draft]:
    """Returns ``drafts``, none of which continues a handler, so that they record interruptions."""
    if INTERRUPTED not in world.variables:
        return list(drafts)
    return [replace(d, action=_noting(world, d.action)) for d in drafts]


def _noting(world: World, action: ir.Action) -> ir.Action:
    process = ir.Local(world.proc, fresh("_p"))
    domain = ir.Universe(world.proc)
    somebody: Expr = ir.Quant(Quantifier.EXISTS, process.name, domain, _open(world, process), BOOL)
    # a crash interrupts no process if the victim is inside a handler
    if action.kind is ActionKind.CRASH:
        victim = ir.Local(world.proc, action.params[0].name)
        somebody = conj(negation(_open(world, victim)), somebody)
    note = ir.Assign(ir.Target(BOOL, INTERRUPTED, True), TRUE)
    return replace(action, body=(ir.If(somebody, (note,)), *action.body))


def _open(world: World, process: Expr) -> Expr:
    """Returns whether a visible effect of the handler of ``process`` is still to come."""
    queue = entry(world.read(PENDING), process)
    assert isinstance(queue.type, SeqT)
    effect = ir.Local(queue.type.item, fresh("_effect"))
    seen = build.disj(*(ir.IsCase(effect, index) for index in _visible_effects(world)))
    domain = ir.Members(queue, effect.type)
    return ir.Quant(Quantifier.EXISTS, effect.name, domain, seen, BOOL)


def _visible_effects(world: World) -> list[int]:
    """Returns the numbers of the visible effects."""
    return [i for i, effect in enumerate(world.effects.values()) if _is_seen(world, effect)]


def _is_seen(world: World, effect: ir.EffectDef) -> bool:
    """Tells whether ``effect`` changes more than the messages in flight; a request that a crash
    cuts off was not made."""
    if effect.name.startswith(REQUEST) and world.crash_bound:
        return True
    targets = (n.target for n in nodes(effect.body) if isinstance(n, ir.Assign))
    changed = (world.variables[t.name] for t in targets if t.is_state)
    return any(variable.kind is not VariableKind.LINK for variable in changed)


def _asks_for_order(world: World, prop: Property) -> bool:
    """Tells whether ``prop`` reads the order of states or of the acts of all processes, as an
    observation of their operations does, or may: a ghost is written by all of them, or by one from
    another that is."""
    read = {n.variable for n in nodes((prop.bad, prop.premise)) if isinstance(n, ir.Read)}
    if not read.isdisjoint(world.observed) or not read.isdisjoint(world.followed):
        return True
    logs = [world.variables[name] for name in read]
    if any(v.kind is VariableKind.GHOST for v in logs) and _has_ghosts_of_all(world):
        return True
    return any(v.kind is VariableKind.HISTORY and isinstance(v.type, SeqT) for v in logs)


def _has_ghosts_of_all(world: World) -> bool:
    return any(decl.ghost for i in world.instances for decl in i.protocol.shared)

"""What properties see where effects are steps of their own: handlers, as where each is one step.

Say a process is *open* while something is still to come of its handler that can be seen: an effect
that changes more than what is in flight, or one whose loss in a crash can be told later.  It is
*closed* as soon as all that is left to do is sending.

* While somebody is open, properties do not look.  A process that is closed shows what it shows
  after its handler, and the copies that it still has to send may as well have left at once: sooner
  under way enables more and forbids nothing, and a copy that a crash keeps back is like one that
  was sent and is never received.  So whatever is looked at can also be seen where a handler is one
  step.
* Where somebody acts while another process is open, the run is *interrupted*: who does not look
  may miss what is done and undone meanwhile, and what several processes have performed may come in
  an order that handlers of one step can't bring about.  Of such a run nothing is asked that is
  about whole runs, or about that order.  Nothing gets lost by that: each run of handlers that are
  one step is also one without interruptions, in which effects follow one another at once, and what
  is promised in the one is promised in the other.  Interruptions stay possible all the same, as a
  process that is open must not excuse others from what they owe.

A state that is reached by an interruption is as reachable as any other, so properties of single
states go on being asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from checker.system import build, ir
from checker.system.build import conj, entry, fresh, negation
from checker.system.instantiate.world import INTERRUPTED, PENDING, REQUEST, Draft, World
from checker.system.ir import (
    TRUE,
    ActionKind,
    Expr,
    Property,
    PropertyKind,
    Quantifier,
    VariableKind,
)
from checker.system.passes.blind import restrict_observations
from checker.system.tree import nodes
from checker.system.types import BOOL, SeqT


def properties_between_handlers(
    world: World, properties: tuple[Property, ...]
) -> tuple[Property, ...]:
    """``properties`` as they are to be asked; declares whether the run has been interrupted."""
    if PENDING not in world.variables or not _visible_effects(world):
        return properties
    process = ir.Local(world.proc, fresh("_p"))
    closed = negation(_open(world, process))
    everybody = ir.Universe(world.proc)
    looking = ir.Quant(Quantifier.FORALL, process.name, everybody, closed, BOOL)
    strict = [p.kind is PropertyKind.LIVENESS or _asks_for_order(world, p) for p in properties]
    spoilt = None
    if any(strict):
        spoilt = world.add(INTERRUPTED, BOOL, False, VariableKind.WORLD, "interrupted")
    pairs = zip(properties, strict, strict=True)
    return tuple(restrict_observations(p, looking, spoilt if whole else None) for p, whole in pairs)


def noting(world: World, drafts: Iterable[Draft]) -> list[Draft]:
    """``drafts``, none of which goes on with a handler, so that they note whom they interrupt."""
    if INTERRUPTED not in world.variables:
        return list(drafts)
    return [replace(d, action=_noting(world, d.action)) for d in drafts]


def _noting(world: World, action: ir.Action) -> ir.Action:
    process = ir.Local(world.proc, fresh("_p"))
    domain = ir.Universe(world.proc)
    somebody: Expr = ir.Quant(Quantifier.EXISTS, process.name, domain, _open(world, process), BOOL)
    if action.kind is ActionKind.CRASH:  # who crashes in a handler of its own interrupts nobody
        victim = ir.Local(world.proc, action.params[0].name)
        somebody = conj(negation(_open(world, victim)), somebody)
    note = ir.Assign(ir.Target(BOOL, INTERRUPTED, True), TRUE)
    return replace(action, body=(ir.If(somebody, (note,)), *action.body))


def _open(world: World, process: Expr) -> Expr:
    """Whether something that can be seen is still to come of the handler of ``process``."""
    queue = entry(world.read(PENDING), process)
    assert isinstance(queue.type, SeqT)
    effect = ir.Local(queue.type.item, fresh("_effect"))
    seen = build.disj(*(ir.IsCase(effect, index) for index in _visible_effects(world)))
    domain = ir.Members(queue, effect.type)
    return ir.Quant(Quantifier.EXISTS, effect.name, domain, seen, BOOL)


def _visible_effects(world: World) -> list[int]:
    """The numbers of the effects that can be seen."""
    return [i for i, effect in enumerate(world.effects.values()) if _is_seen(world, effect)]


def _is_seen(world: World, effect: ir.EffectDef) -> bool:
    """Whether ``effect`` changes more than what is in flight; a request that a crash cuts off is
    made again where processes come back."""
    if effect.name.startswith(REQUEST) and world.recovers:
        return True
    targets = (n.target for n in nodes(effect.body) if isinstance(n, ir.Assign))
    changed = (world.variables[t.name] for t in targets if t.is_state)
    return any(variable.kind is not VariableKind.LINK for variable in changed)


def _asks_for_order(world: World, prop: Property) -> bool:
    """Whether ``prop`` reads what all processes together have done in order."""
    read = {n.variable for n in nodes((prop.bad, prop.premise)) if isinstance(n, ir.Read)}
    logs = (world.variables[name] for name in read)
    return any(v.kind is VariableKind.HISTORY and isinstance(v.type, SeqT) for v in logs)

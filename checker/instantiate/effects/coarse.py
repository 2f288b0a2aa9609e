"""Lowers all effects of a handler into its transition, in program order."""

from __future__ import annotations

from checker.instantiate.faults.disks import FAIL, SYNC
from checker.instantiate.protocol.handler_budgets import BUDGET
from checker.instantiate.world import World, mark
from checker.model import build, ir
from checker.model.ir import Block, EffectKind, Expr, MarkKind, SourceLocation
from checker.model.transforms.rewrite import Lowered, replace_emits
from checker.model.transforms.substitute import at_place, substitute


def lower_effects(world: World) -> Lowered:
    """Returns the drafts' actions and the initial block with every effect executed in place."""

    def by(emit: ir.Emit) -> Block:
        return carry_out(world, emit)

    actions = tuple(d.lowered(replace_emits(d.action.body, by)) for d in world.drafts)
    return Lowered(replace_emits(tuple(world.init), by), actions)


def carry_out(world: World, emit: ir.Emit) -> Block:
    """Returns the statements of one effect, behind the mark that shows it."""
    effect = world.effects[emit.effect]
    if effect.kind is EffectKind.ASSIGN and not effect.body:
        return ()
    held: list[ir.Stmt] = []
    meaning: dict[str, Expr] = {}
    for (name, type_), arg in zip(effect.params, emit.args, strict=True):
        fits = build.is_within(arg.type, type_)
        if fits and isinstance(arg, ir.Const | ir.Local):
            meaning[name] = arg
            continue
        if fits:
            local = meaning[name] = ir.Local(type_, build.fresh(name))
            held.append(ir.Declare(local.name, type_, arg))
        else:
            checked, meaning[name] = build.stored(name, type_, arg, emit.place)
            held.extend(checked)
    values = tuple(meaning[name] for name, _ in effect.params)
    body = at_place(substitute(effect.body, meaning), emit.place)
    return (*held, *effect_mark(world, effect, values, emit.place), *body)


def effect_mark(
    world: World,
    effect: ir.EffectDef,
    values: tuple[Expr, ...],
    place: SourceLocation | None = None,
) -> Block:
    """Returns the mark by which a trace shows an effect with these arguments, the process first."""
    kind, _, op = effect.name.partition(".")
    told: tuple[MarkKind, str, tuple[str, ...]]
    if effect.kind is EffectKind.SEND:
        told = (MarkKind.SEND, "send", ("from", "to", "message"))
    elif effect.kind is EffectKind.STORE and op.startswith(BUDGET):
        return ()
    elif effect.kind is EffectKind.STORE:
        told, values = (MarkKind.STORE, world.variables[op].title, ("self", "value")), values[:2]
    elif effect.name.startswith((SYNC, FAIL)):
        titles = ", ".join(world.variables[name].title for name in op.split(", "))
        does = MarkKind.SYNC if effect.name.startswith(SYNC) else MarkKind.FAIL_SYNC
        told, values = (does, titles, ("self",)), values[:1]
    elif effect.name in ("perform", "perform idempotent"):
        told = (MarkKind.PERFORM, effect.name, ("self", "act"))
    elif kind == "indicate":
        names = ("self", *(n.split(".")[0] for n, _ in effect.params[1:]))
        told = (MarkKind.INDICATION, op, names)
    else:
        return ()
    return (mark(world, *told, *values, place=place),)

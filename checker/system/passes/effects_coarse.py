"""All effects of a handler happen in its transition, in program order."""

from __future__ import annotations

from dataclasses import replace

from checker.system import build, ir
from checker.system.instantiate.world import World, mark
from checker.system.ir import Block, EffectKind, Expr, MarkKind
from checker.system.passes.rewrite import Lowered, replace_emits
from checker.system.passes.substitute import substitute


def lowered(world: World) -> Lowered:
    """The drafts' actions and the initial block with every effect carried out on the spot."""

    def by(emit: ir.Emit) -> Block:
        return carried_out(world, emit)

    actions = tuple(replace(d.action, body=replace_emits(d.action.body, by)) for d in world.drafts)
    return Lowered(replace_emits(tuple(world.init), by), actions)


def carried_out(world: World, emit: ir.Emit) -> Block:
    """The statements of one effect, behind the mark that shows it."""
    effect = world.effects[emit.effect]
    held: list[ir.Stmt] = []
    meaning: dict[str, Expr] = {}
    for (name, type_), arg in zip(effect.params, emit.args, strict=True):
        if isinstance(arg, ir.Const | ir.Local):
            meaning[name] = arg
        else:
            local = ir.Local(type_, build.fresh(name))
            held.append(ir.Declare(local.name, type_, arg))
            meaning[name] = local
    values = tuple(meaning[name] for name, _ in effect.params)
    shown: tuple[ir.Stmt, ...]
    if effect.kind is EffectKind.SEND:
        shown = (mark(world, MarkKind.SEND, "send", ("from", "to", "message"), *values),)
    else:
        shown = _shown(world, emit.effect, effect, values)
    return (*held, *shown, *substitute(effect.body, meaning))


def _shown(
    world: World, name: str, effect: ir.EffectDef, values: tuple[Expr, ...]
) -> tuple[ir.Stmt, ...]:
    kind, _, op = name.partition(".")
    if kind != "indicate":
        return ()
    names = ("self", *(n.split(".")[0] for n, _ in effect.params[1:]))
    return (mark(world, MarkKind.INDICATION, op, names, *values),)

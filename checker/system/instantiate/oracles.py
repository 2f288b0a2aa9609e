"""Layers that are oracles."""

from __future__ import annotations

from checker.system import ir
from checker.system.instantiate.statements import CallKey
from checker.system.instantiate.world import World
from checker.system.ir import Block, Expr


def request(
    world: World, target: CallKey, self: Expr, args: tuple[Expr, ...], place: ir.Place
) -> Block:
    """The effect of a request to an oracle."""
    path, _, op = target
    effect = f"oracle.{path}{op}"
    if effect not in world.effects:
        return ()
    return (ir.Emit(effect, (self, *args), place),)

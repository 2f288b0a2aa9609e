"""Models a network that partitions into two sides, and heals.

Any partition is possible, as often as the check allows: up to its bound, or any number of times.
While the network is partitioned no message is delivered from one side to the other: messages wait.
Healing is not a fairness assumption.
"""

from __future__ import annotations

from checker.instantiate.world import SPLIT, SPLITS, Draft, World, mark
from checker.model import build, ir
from checker.model.build import conj, equal, fresh, negation
from checker.model.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    Block,
    Expr,
    MarkKind,
    Param,
    VariableKind,
)
from checker.model.types import IntT, SetT


def declare(world: World) -> None:
    """Declares the side of the network that is cut off (empty: none), and the count of partitions.

    The first process is never on that side, so that each partition has one representation.
    """
    bound = world.check.partitions
    if world.may_split and len(world.sizes.processes) > 1:
        world.add(SPLIT, SetT(world.proc), frozenset(), VariableKind.WORLD, "cut off")
        if bound is not None:
            most = IntT(0, world.bound(bound))
            world.add(SPLITS, most, 0, VariableKind.WORLD, "partitions")


def splits(world: World) -> None:
    """Drafts the partition of the network and its healing."""
    if SPLIT not in world.variables:
        return
    side = world.read(SPLIT)
    nobody = ir.Const(side.type, frozenset())
    everybody = range(len(world.sizes.processes))
    others = ir.Const(side.type, frozenset(everybody[1:]))
    cut = ir.Local(side.type, fresh("side"))
    whole = equal(side, nobody)
    once_more, counted = _count(world)
    where = conj(whole, once_more, negation(equal(cut, nobody)))
    body = (
        build.assign(side, cut),
        *counted,
        mark(world, MarkKind.PARTITION, "", ("side",), cut),
    )
    params = (Param(cut.name, ir.Subsets(others, side.type), where),)
    split = Action("partition", ActionKind.WORLD, params, TRUE, body, FALSE)
    heal = Action(
        "heal",
        ActionKind.WORLD,
        (),
        negation(whole),
        (build.assign(side, nobody), mark(world, MarkKind.HEAL, "", ())),
        FALSE,
    )
    world.drafts += [Draft(split, None), Draft(heal, None)]


def _count(world: World) -> tuple[Expr, Block]:
    """Returns whether the network may partition once more, and the statement that counts it."""
    if SPLITS not in world.variables:
        return TRUE, ()
    count, bound = world.read(SPLITS), world.bound(world.check.partitions)
    return build.below(count, build.integer(bound)), (build.one_more(count),)

"""A network that splits into two sides, and comes together again.

Any split is possible, at most as often as the check says.  While the network is split nothing
passes from one side to the other: messages wait.  That it heals is not promised.
"""

from __future__ import annotations

from checker.system import build, ir
from checker.system.build import conj, equal, fresh, negation
from checker.system.instantiate.world import SPLIT, SPLITS, Draft, World, mark
from checker.system.ir import (
    FALSE,
    TRUE,
    Action,
    ActionKind,
    MarkKind,
    Param,
    VariableKind,
)
from checker.system.types import IntT, SetT


def declare(world: World) -> None:
    """Declares the side of the network that is cut off (empty: none), and the count of splits.

    The first process is never on that side, so that each split has one name.
    """
    bound = world.bound(world.check.partitions)
    if bound and len(world.sizes.processes) > 1:
        world.add(SPLIT, SetT(world.proc), frozenset(), VariableKind.WORLD, "cut off")
        world.add(SPLITS, IntT(0, bound), 0, VariableKind.WORLD, "partitions")


def splits(world: World) -> None:
    """Drafts the split of the network and its end."""
    if SPLIT not in world.variables:
        return
    side, count = world.read(SPLIT), world.read(SPLITS)
    bound = world.bound(world.check.partitions)
    target = ir.Target(side.type, SPLIT, True)
    nobody = ir.Const(side.type, frozenset())
    everybody = range(len(world.sizes.processes))
    others = ir.Const(side.type, frozenset(everybody[1:]))
    cut = ir.Local(side.type, fresh("side"))
    whole = equal(side, nobody)
    where = conj(whole, build.below(count, build.integer(bound)), negation(equal(cut, nobody)))
    one = ir.Apply(IntT(1, bound + 1), ir.Op.ADD, (count, build.integer(1)))
    body = (
        ir.Assign(target, cut),
        ir.Assign(ir.Target(count.type, SPLITS, True), one),
        mark(world, MarkKind.WORLD, "the network splits: {0} cut off", ("side",), cut),
    )
    params = (Param(cut.name, ir.Subsets(others, side.type), where),)
    split = Action("partition", ActionKind.WORLD, params, TRUE, body, FALSE)
    heal = Action(
        "heal",
        ActionKind.WORLD,
        (),
        negation(whole),
        (ir.Assign(target, nobody), mark(world, MarkKind.WORLD, "the network heals", ())),
        FALSE,
    )
    world.drafts += [Draft(split, None), Draft(heal, None)]

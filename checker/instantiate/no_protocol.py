"""A world without code: processes and payloads with names, for formulas and objects alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from checker.instantiate.sizes import Sizes
from checker.instantiate.world import Instance, World
from checker.language.load import Spec
from checker.language.syntax import typed
from checker.model.types import AtomT
from checker.records import replace

_NOBODY = "protocol Nobody { upon init { skip } }\ncheck nobody of Nobody { n = 1 }"


def world_without_code(
    processes: tuple[str, ...],
    payloads: tuple[str, ...],
    capacities: Mapping[str, int],
    interface: typed.Interface | None = None,
) -> World:
    """Returns a world of these processes, in which ``Msg`` is ``payloads``, and which does nothing.

    ``interface``: whose requests and indications its histories are of.
    """
    check = _nobody()
    if interface is not None:
        check = replace(check, protocol=replace(check.protocol, implements=interface))
    sizes = Sizes({"n": len(processes), "f": 0}, (), processes)
    world = World(check, sizes, capacities, False, AtomT("Proc", processes))
    world.instances.append(Instance("", check.protocol, None, "", AtomT("Msg", payloads), None))
    return world


@cache
def _nobody() -> typed.Check:
    (check,) = Spec(_NOBODY, "nobody.bcast").module.checks
    return check

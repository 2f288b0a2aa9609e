"""Statistics on the savings of a plan's reductions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

from checker.engines.native.codegen.jit import Kernel
from checker.engines.native.search.explored import Explored
from checker.engines.native.search.memory import address_of
from checker.engines.native.search.store import Store
from checker.reductions.modes import traits
from checker.results.answer import Reduced

SAMPLE = 1 << 16
"""The number of states in a sample of orbit sizes, about; of fewer states all are in it."""


def reduction_stats(search: Explored, part: int = 0) -> Reduced:
    """The reductions used, those not used and why, and an estimate of the states without them;
    ``part``: the number of states in which cycles were unfolded.
    """
    plan = search.kernel.image.reductions
    known = traits()
    used = [known[name] for name in plan.used]
    without, exact = estimate_unreduced(search)
    only_orbits = not plan.resets and not plan.ample_actions
    return Reduced(
        used=plan.used,
        unused=tuple((unused.kind, unused.why) for unused in plan.unused),
        text=(
            *(each.text for each in plan.parts if each.text),
            *([f"cycles unfolded: {part:,} more states"] if part else []),
        ),
        without=without,
        exact=exact and only_orbits and search.exhaustive,
        at_least=not only_orbits,
        keeps_lengths=all(reduction.keeps_lengths for reduction in used),
        shows_all=all(reduction.shows_all for reduction in used),
        titles=tuple((name, each.title) for name, each in known.items()),
    )


def estimate_unreduced(search: Explored) -> tuple[int | None, bool]:
    """The number of states that the found ones represent, and whether that is exact.

    The sizes of orbits are added up.  Which states are in a sample is decided by their
    fingerprints, so that it does not depend on which worker or shard holds them.  ``None`` where
    there is no symmetry, or where the states are not at hand.
    """
    if search.kernel.weigh is None or not search.states:
        return None, False
    count, total = search.orbits() if search.orbits is not None else orbits_in(search.load())
    if not count:
        return None, False
    return round(total * search.states / count), not _bits(search.states)


def orbits_in(store: Store) -> tuple[int, int]:
    """Returns the result of :func:`weigh` for all states of a store."""
    return add_samples(
        weigh(store.kernel, address_of(rows), rows.nbytes // store.width, store.states)
        for depth in range(len(store.workers[0].starts))
        for rows in store.blocks(depth)
    )


def weigh(kernel: Kernel, rows: int, count: int, states: int) -> tuple[int, int]:
    """The sampled ones of ``count`` rows at an address, which are among ``states``: how many they
    are, and the sum of the sizes of their orbits; (0, 0) where there is no symmetry.
    """
    sums = (ctypes.c_uint64 * 2)()
    if kernel.weigh is not None:
        kernel.weigh(rows, count, (1 << _bits(states)) - 1, ctypes.addressof(sums))
    return sums[0], sums[1]


def add_samples(some: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sums of what :func:`weigh` returns."""
    pairs = list(some)
    return sum(count for count, _ in pairs), sum(total for _, total in pairs)


def _bits(states: int) -> int:
    """The bits of a fingerprint that are 0 where the state is in the sample."""
    return max(0, (states // SAMPLE).bit_length() - 1)

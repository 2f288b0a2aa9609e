"""Continues a search whose guessed capacity was too small with a larger one.

Complete levels are levels of the larger system, too, where only the bounds of types differ
(:mod:`checker.model.bound_equivalence`) and no less is explored: their rows are rewritten in its
layout, and the search continues from the last of them.
"""

from __future__ import annotations

import ctypes

from msgspec import Struct

from checker.engines.native.codegen.fields import Mode
from checker.engines.native.codegen.jit import compile_move
from checker.engines.native.search.findings import Best, Findings
from checker.engines.native.search.lift_trace import Normalizer
from checker.engines.native.search.search import Search
from checker.engines.native.search.store import OutOfMemory, Store
from checker.model.bound_equivalence import same_up_to_bounds
from checker.model.ir import TransitionSystem
from checker.reductions.reduction_plan import ReductionPlan
from checker.results.answer import Unsupported


class Levels(Struct):
    """The levels that a search has explored: ``found`` says how far those in ``store`` are
    complete, and what goes with them; ``seconds``: what it took.
    """

    system: TransitionSystem
    store: Store
    found: Findings
    seconds: float

    @property
    def states(self) -> int:
        """The states of the complete levels."""
        return sum(self.store.level_size(depth) for depth in range(self.found.depth + 1))

    def fits(self, system: TransitionSystem, plan: ReductionPlan) -> bool:
        """Whether a search of ``system`` under ``plan`` has the same complete levels."""
        return _same_plan(self.store.kernel.image.reductions, plan) and same_up_to_bounds(
            self.system, system
        )


class Carry:
    """What a search leaves to the next one of the same check, which has larger capacities.

    ``went_on``: whether the last search continued from what was left to it.
    """

    def __init__(self) -> None:
        self._left: Levels | None = None
        self.went_on = False

    def leave(self, search: Search) -> None:
        """Keeps the complete levels of a search that met a runtime error behind them.

        Initial states alone are not kept, as they are quickly recomputed.
        """
        if not search.kernel.image.compact and search.complete.depth > 0:
            self._left = Levels(search.system, search.store, search.complete, search.seconds)

    def plan_of(self, system: TransitionSystem, plan: ReductionPlan) -> ReductionPlan:
        """``plan``, or another one in place of it if the kept levels were explored with that."""
        left = self._left
        if left is None:
            return plan
        return next((other for other in plan.plans() if left.fits(system, other)), plan)

    def into(self, search: Search) -> bool:
        """Gives ``search`` the kept levels, and says whether it could take them; where it could not
        the search is unchanged.
        """
        left, self._left, self.went_on = self._left, None, False
        if left is None or not left.fits(search.system, search.kernel.image.reductions):
            return False
        try:
            _restore(left, search)
        except (OutOfMemory, MemoryError, Unsupported):
            search.begin_again()
            return False
        search.earlier = left.seconds
        self.went_on = True
        return True


def _same_plan(one: ReductionPlan, other: ReductionPlan) -> bool:
    """Whether both plans leave out the same.  Under symmetry one state represents several, and
    which one depends on the layout; so, then, does what an eager step is chosen from.
    """
    if one.symmetry is not None and one.ample_actions:
        return False
    return same_up_to_bounds((one.parts, one.acyclic), (other.parts, other.acyclic))


def _restore(left: Levels, search: Search) -> None:
    """Restores the kept levels; raises :class:`OutOfMemory`, and :class:`Unsupported` where rows
    can't be rewritten.
    """
    old, store, found = left.store, search.store, left.found.copy()
    anew = _Anew(old, store)
    old.give_up_table()
    if store.memory is not None:
        old.spill()
        if old.used_bytes + left.states * (8 + store.width) > store.memory:
            raise OutOfMemory("there is not enough memory for both searches")
    store.reserve(left.states)
    for depth in range(found.depth + 1):
        if depth:
            store.open_level(depth)
        for rows in old.blocks(depth):
            store.take(anew.rows(rows))
    found.violating = {n: (at, anew.best(best)) for n, (at, best) in found.violating.items()}
    _judge_again(search, found)
    search.go_on(found)


class _Anew:
    """Rewrites rows of one store as rows of another, in normal form."""

    def __init__(self, old: Store, new: Store) -> None:
        self._old, self._new = old.shape.words, new.shape.words
        self._move = compile_move(old.kernel.image.layout, new.kernel.image.layout)
        symmetric = new.kernel.image.reductions.symmetry is not None
        self._normal = Normalizer(new.kernel) if symmetric else None

    def rows(self, rows: memoryview) -> memoryview:
        """The rewritten rows of a block of whole rows."""
        count = rows.nbytes // (8 * self._old)
        anew = (ctypes.c_uint64 * (count * self._new))()
        address = ctypes.addressof(anew)
        self._move(ctypes.addressof(ctypes.c_char.from_buffer(rows)), count, address)
        if self._normal is not None:
            for i in range(count):
                self._normal.in_place(address + 8 * self._new * i)
        return memoryview(anew).cast("B")

    def best(self, best: Best) -> Best:
        """A noted state; its fingerprint is not known."""
        row = memoryview((ctypes.c_uint64 * self._old)(*best[1])).cast("B")
        return 0, tuple(self.rows(row).cast("Q"))


def _judge_again(search: Search, found: Findings) -> None:
    """Selects the smallest violating state of a level anew: it depends on the layout."""
    props = search.system.properties
    for level in sorted({level for level, _ in found.violating.values()}):
        there = {name for name, (at, _) in found.violating.items() if at == level}
        others = [i for i, prop in enumerate(props) if prop.name not in there]
        search.store.know(range(len(props)), others)
        search.sweep(level, Mode.NEWCOMERS)
        for prop, worst in zip(props, search.store.report().worst, strict=True):
            if prop.name in there and worst is not None:
                found.violating[prop.name] = level, worst

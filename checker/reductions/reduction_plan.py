"""The reductions of an exploration, as engines see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import factorial, prod

from msgspec import Struct

from checker.model.ir import Block, Expr
from checker.model.types import AtomT

Permutation = tuple[tuple[int, ...], ...]
"""A renaming of atoms: for each sort the atom that replaces each, counted from 0."""

Atom = tuple[int, int]
"""The number of a sort, and of an atom in it."""


class Sorts(Struct, frozen=True):
    """The finite types without arithmetic of a system, by their labels; processes come first.

    A type whose labels are consecutive labels of processes is of the first sort, too.
    """

    labels: tuple[tuple[str, ...], ...]

    def of(self, type_: AtomT) -> int | None:
        """The number of the sort of a type; ``None`` where its atoms are never renamed."""
        processes, last = self.labels[0], type_.first + len(type_.labels)
        if type_.labels and processes[type_.first : last] == type_.labels:
            return 0
        if type_.first or type_.labels not in self.labels:
            return None
        return self.labels.index(type_.labels)

    @property
    def identity(self) -> Permutation:
        """The identity renaming."""
        return tuple(tuple(range(len(labels))) for labels in self.labels)


class Class(Struct, frozen=True):
    """Blocks of atoms that are interchangeable, in any order.

    All blocks have as many atoms, of the same sorts in the same order: where two blocks change
    places, so do their first atoms, their second ones, and so on.
    """

    blocks: tuple[tuple[Atom, ...], ...]


class Symmetry(Struct, frozen=True):
    """A group of renamings that are automorphisms of the system: all that permute the blocks of
    each of ``classes``.  No atom is in two blocks.  ``text``: in words what may be interchanged.
    """

    sorts: Sorts
    classes: tuple[Class, ...]
    text: str

    @property
    def order(self) -> int:
        """The number of renamings, the identity included."""
        return prod(factorial(len(c.blocks)) for c in self.classes)

    def moving(self, number: int, order: Sequence[int]) -> Permutation:
        """The renaming that moves block ``i`` of a class into the place of ``order[i]``."""
        images = [list(images) for images in self.sorts.identity]
        blocks = self.classes[number].blocks
        for block, there in zip(blocks, order, strict=True):
            for (sort, atom), (_, image) in zip(block, blocks[there], strict=True):
                images[sort][atom] = image
        return tuple(tuple(image) for image in images)

    def swap(self, number: int, i: int, j: int) -> Permutation:
        """The renaming that swaps blocks ``i`` and ``j`` of a class."""
        order = list(range(len(self.classes[number].blocks)))
        order[i], order[j] = j, i
        return self.moving(number, order)

    def elements(self) -> Iterator[Permutation]:
        """All renamings, the identity first."""
        found = [permutations(range(len(c.blocks))) for c in self.classes]
        for orders in product(*found):
            total = self.sorts.identity
            for number, order in enumerate(orders):
                total = after(self.moving(number, order), total)
            yield total


def after(second: Permutation, first: Permutation) -> Permutation:
    """The composition of renamings: ``first``, then ``second``."""
    return tuple(tuple(s[x] for x in f) for s, f in zip(second, first, strict=True))


class AmpleAction(Struct, frozen=True):
    """Instances of action number ``action`` that may precede all other steps.

    ``when``: over the action's parameters and the state before the step; an enabled instance for
    which it holds, with all outcomes of its choices, is an ample set.  ``adds``: where it names
    variables, a single outcome is one, of those that change no others.
    """

    action: int
    when: Expr
    adds: tuple[str, ...] = ()


class Unused(Struct, frozen=True):
    """A reduction, by its name, that is not used, or not fully, and why, in words."""

    kind: str
    why: str


class PlanPart(Struct, frozen=True):
    """What one reduction does to an exploration, in any of the three ways that engines know.

    ``reduction``: its name.  ``symmetry``: one state of each orbit is explored.  ``resets``:
    statements without choices and runtime errors that put a state into its normal form; they are
    run on every state, are idempotent, and treat atoms alike that may be renamed.
    ``ample_actions``: steps that may precede all others.  ``text``: in words what it does here.
    """

    reduction: str
    symmetry: Symmetry | None = None
    resets: Block = ()
    ample_actions: tuple[AmpleAction, ...] = ()
    text: str = ""


class ReductionPlan(Struct, frozen=True):
    """The reductions of an exploration; at most one of them is a symmetry.

    ``parts``: what is done, in this order.  ``acyclic``: something in it is proven only for systems
    without cycles; an engine that finds a step that does not lead to the next level raises
    :class:`checker.engines.search_engine.Cyclic`, or unfolds the cycles if nothing but symmetry is
    not proven for them.  ``fallback``: the plan that replaces it if the engine gives up; it may
    have a fallback, too.  ``larger``: the plan that may replace it if there are many states and no
    cycle so far (:class:`checker.engines.search_engine.Outgrown`): it pays only then.
    """

    parts: tuple[PlanPart, ...] = ()
    acyclic: bool = False
    fallback: ReductionPlan | None = None
    unused: tuple[Unused, ...] = ()
    larger: ReductionPlan | None = None

    def plans(self) -> Iterator[ReductionPlan]:
        """The plan, and all that may replace it."""
        yield self
        for other in (self.larger, self.fallback):
            if other is not None:
                yield from other.plans()

    @property
    def used(self) -> tuple[str, ...]:
        """The names of the reductions in use."""
        return tuple(part.reduction for part in self.parts)

    @property
    def careful(self) -> ReductionPlan:
        """The last of the fallback plans, which is proven for systems with cycles, too."""
        return self if self.fallback is None else self.fallback.careful

    @property
    def symmetry(self) -> Symmetry | None:
        """The group of renamings by which states are identified."""
        return next((part.symmetry for part in self.parts if part.symmetry is not None), None)

    @property
    def resets(self) -> Block:
        """The statements that put a state into its normal form."""
        return tuple(stmt for part in self.parts for stmt in part.resets)

    @property
    def ample_actions(self) -> tuple[AmpleAction, ...]:
        """The actions of which an instance may be explored alone."""
        return tuple(action for part in self.parts for action in part.ample_actions)


NOTHING = ReductionPlan()
"""The plan without reductions."""

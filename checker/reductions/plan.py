"""What is done about states that need not be told apart, and about steps that need not wait."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from checker.system.ir import Block, Expr


class Kind(StrEnum):
    """A way to explore less."""

    SYMMETRY = "symmetry"
    DEAD = "dead"
    ORDER = "por"


@dataclass(frozen=True, slots=True)
class Permutation:
    """A renaming of atoms: for each sort the image of every rank.

    ``images``: pairs of the name of a sort and, for each rank counted from 0, the rank of what
    takes its place.  What a sort is, and which types are of it, is said by :class:`Symmetry`.
    """

    images: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A group of renamings that the system does not notice.

    ``elements``: all of them, the identity first; ``text``: in words what may be interchanged.
    """

    elements: tuple[Permutation, ...]
    text: str

    @property
    def order(self) -> int:
        """How many renamings there are, the identity included."""
        return len(self.elements)


@dataclass(frozen=True, slots=True)
class Eager:
    """Instances of action number ``action`` that may go before everything else.

    ``when``: over the action's parameters and the state before the step; an enabled instance for
    which it holds, with all ways in which its choices can go, is an ample set.
    """

    action: int
    when: Expr


@dataclass(frozen=True, slots=True)
class Unused:
    """A reduction that is not used, or less than it could be, and why, in words."""

    kind: Kind
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What an exploration leaves out.

    ``dead``: statements that give whatever nobody will look at again its value of rest (no choices,
    no faults); they are run on every state, and running them twice changes nothing more.
    ``acyclic``: something in it is proven only where no run goes round; an engine that finds a step
    that does not lead on raises :class:`checker.exploration.explored.Cyclic`.
    ``cautious``: the plan that takes its place then.
    """

    symmetry: Symmetry | None = None
    dead: Block = ()
    eager: tuple[Eager, ...] = ()
    acyclic: bool = False
    cautious: Plan | None = None
    unused: tuple[Unused, ...] = ()

    @property
    def used(self) -> tuple[Kind, ...]:
        """The reductions that it makes use of."""
        parts = (
            (Kind.SYMMETRY, self.symmetry is not None),
            (Kind.DEAD, bool(self.dead)),
            (Kind.ORDER, bool(self.eager)),
        )
        return tuple(kind for kind, there in parts if there)


NOTHING = Plan()
"""Everything is explored as it is."""

"""Finds the atoms that have to move along when two atoms are swapped.

Constants are decomposed into rows; the atoms get colours by how they occur in rows, repeatedly,
until no more atoms are distinguished (colour refinement; Weisfeiler and Leman 1968, as in McKay,
*Practical Graph Isomorphism*, Congressus Numerantium 30, 1981).  The result is a guess, which the
caller has to check.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from checker.reductions.reduction_plan import Atom, Permutation, Sorts
from checker.reductions.symmetry.conditions import Fixed
from checker.reductions.symmetry.renaming import facts

Row = tuple[object, ...]
Colours = dict[Atom, int]


class Matching:
    """Guesses renamings that preserve constants.  ``still``: atoms that have to stay."""

    def __init__(self, sorts: Sorts, fixed: Iterable[Fixed], still: frozenset[Atom]) -> None:
        self.sorts, self.still = sorts, still
        self.atoms = [
            (sort, atom) for sort, labels in enumerate(sorts.labels) for atom in range(len(labels))
        ]
        self.occurs: dict[Atom, list[tuple[int, int, Row]]] = defaultdict(list)
        for number, one in enumerate(fixed):
            for row in facts(sorts, one.type, one.value):
                atoms = [x[1:] if isinstance(x, tuple) else None for x in row]
                for position, atom in enumerate(atoms):
                    if atom is not None:
                        assert len(atom) == 2
                        self.occurs[atom].append((number, position, row))

    def swapping(self, a: Atom, b: Atom) -> Permutation | None:
        """A renaming that swaps ``a`` and ``b``, and what belongs to them."""
        before, after = self._refine_colours(a, b), self._refine_colours(b, a)
        images = [list(range(len(labels))) for labels in self.sorts.labels]
        leaving: dict[tuple[int, int], list[int]] = defaultdict(list)
        coming: dict[tuple[int, int], list[int]] = defaultdict(list)
        for sort, atom in self.atoms:
            old, new = before[sort, atom], after[sort, atom]
            if old != new:
                leaving[sort, old].append(atom)
                coming[sort, new].append(atom)
        for key, atoms in leaving.items():
            if len(coming[key]) != len(atoms):
                return None
            for atom, image in zip(atoms, coming[key], strict=True):
                images[key[0]][atom] = image
        return tuple(tuple(image) for image in images)

    def _refine_colours(self, first: Atom, second: Atom) -> Colours:
        colours: Colours = {}
        for atom in self.atoms:
            own = (atom[0], atom if atom in self.still else None, atom == first, atom == second)
            colours[atom] = hash(own)
        count = len(set(colours.values()))
        for _ in self.atoms:
            colours = {atom: self._next(atom, colours) for atom in self.atoms}
            more = len(set(colours.values()))
            if more == count:
                break
            count = more
        return colours

    def _next(self, atom: Atom, colours: Colours) -> int:
        seen = sorted(
            hash((number, position, tuple(self._colour(x, colours) for x in row)))
            for number, position, row in self.occurs[atom]
        )
        return hash((colours[atom], tuple(seen)))

    def _colour(self, entry: object, colours: Colours) -> object:
        if isinstance(entry, tuple):
            _, sort, atom = entry
            return ("atom", colours[sort, atom])
        return entry

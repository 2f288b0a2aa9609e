"""Symmetry: the renamings of processes and payloads that are automorphisms of a system.

A renaming is an automorphism if it respects the system's text
(:mod:`checker.reductions.symmetry.conditions`) and maps the set of initial states, which the
interpreter computes, onto itself.  Such renamings are a group.  The search is for *classes* of
interchangeable blocks: first single atoms, then atoms that move along with others, as where ``p1``
broadcasts ``a`` and ``p2`` broadcasts ``b``.  Being swappable is an equivalence: where blocks 1 and
2, and blocks 2 and 3 can be swapped, so can 1 and 3 (swap 1 and 2, then 2 and 3, then 1 and 2).
All renamings of a class are products of such swaps, each of which is checked.

Single atoms can be swapped in all systems that come from texts which treat their processes alike;
rings, whose processes can only be rotated together, are not reduced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from checker.diagnostics.english import listing
from checker.model import ir
from checker.model import types as t
from checker.model.evaluate import RunFault
from checker.model.interpreter import State, starts
from checker.model.ir import TransitionSystem
from checker.model.memo import an_analysis
from checker.model.tree import nodes
from checker.reductions.reduction_plan import (
    Atom,
    Class,
    Permutation,
    Sorts,
    Symmetry,
)
from checker.reductions.symmetry.conditions import Conditions, Fixed, Still
from checker.reductions.symmetry.matching import Matching
from checker.reductions.symmetry.renaming import Renaming, mentioned_atoms

INITIAL = 4096
"""The maximum number of initial states for which renamings are searched."""

REASONS = 3
"""The maximum number of reasons given for processes, and for payloads, that are not
interchangeable.
"""

PAYLOADS = "Msg"


@an_analysis()
def find_symmetry(system: TransitionSystem) -> tuple[Symmetry | None, tuple[str, ...]]:
    """The group, or ``None`` where there is none but the identity; and why it is not larger."""
    conditions = conditions_of(system)
    sorts = conditions.sorts
    initial: dict[State, None] = {}
    try:
        for state, _ in starts(system):
            initial[state] = None
            if len(initial) > INITIAL:
                why = f"there are more than {INITIAL:,} initial states"
                return None, (why,)
    except RunFault:
        return None, ("the initial state is a run-time error",)
    group = _Group(system, conditions, list(initial))
    classes = group.classes()
    unused = tuple(group.reasons(classes))
    if not classes:
        return None, unused
    return Symmetry(sorts, classes, text_of(sorts, classes)), unused


def conditions_of(system: TransitionSystem) -> Conditions:
    """The conditions on renamings of the sorts of a system: those of the types of its variables and
    of what its actions range over."""
    sorts = _sorts_of(system, _types_in(system))
    found = Conditions(system, sorts)
    more = _sorts_of(system, found.types)
    return found if more == sorts else Conditions(system, more)


def _types_in(system: TransitionSystem) -> Iterable[t.Type]:
    """The types in a system, most likely in the order in which its conditions are noted."""
    types = {variable.type: None for variable in system.variables}
    seen = {id(type_) for type_ in types}
    code = ((a.params, a.guard, a.promised, a.body, system.monitor) for a in system.actions)
    asked = ((p.bad, p.premise, p.params, p.propositions) for p in system.properties)
    for node in nodes((*code, *(one.holds for one in system.justice), *asked), (ir.Mark,)):
        kind = type(node)
        if kind in _ITEMS:
            type_ = node.item
        else:
            type_ = getattr(node, "key_type" if kind is ir.Key else "type", None)
        if type_ is not None and id(type_) not in seen:
            seen.add(id(type_))
            types[type_] = None
    return types


_ITEMS = (ir.Universe, ir.Members, ir.Subsets)


def _sorts_of(system: TransitionSystem, types: Iterable[t.Type]) -> Sorts:
    """The processes, and the other atoms in ``types``, in this order."""
    labels, processes = {system.processes: None}, Sorts((system.processes,))
    for type_ in types:
        for part in t.parts_of(type_):
            if isinstance(part, t.AtomT) and part.labels and not part.first:
                if processes.of(part) is None:
                    labels[part.labels] = None
    return Sorts(tuple(labels))


class _Group:
    """Checks renamings of a system, and puts them together."""

    def __init__(self, system: TransitionSystem, found: Conditions, initial: list[State]) -> None:
        sorts = found.sorts
        self.sorts, self.initial, self._states = sorts, initial, set(initial)
        self._hindered: dict[Permutation, str | None] = {}
        self.types = [v.type for v in system.variables]
        self.fixed, self.still = list(found.fixed.values()), list(found.still.values())
        self.ranges = sorted(found.ranges)
        self.payloads = {
            sorts.of(part)
            for type_ in found.types
            for part in t.parts_of(type_)
            if isinstance(part, t.AtomT) and part.name == PAYLOADS
        }
        still = frozenset(atom for one in self.still for atom in one.atoms)
        self.matching = Matching(sorts, self.fixed, still)

    # -- checks ---------------------------------------------------------------------------------

    def hinders(self, images: Permutation) -> str | None:
        """The reason why a renaming is no automorphism; ``None`` where it is one, ``""`` for its
        types.
        """
        if images not in self._hindered:
            self._hindered[images] = self._find_hindrance(images)
        return self._hindered[images]

    def _find_hindrance(self, images: Permutation) -> str | None:
        for sort, first, end in self.ranges:
            if not all(first <= images[sort][x] < end for x in range(first, end)):
                return ""
        for one in self.still:
            if any(images[sort][atom] != atom for sort, atom in one.atoms):
                return self._why(one, images)
        renaming = Renaming(self.sorts, images)
        for const in self.fixed:
            if renaming.value(const.type, const.value) != const.value:
                return self._why(const, images)
        if any(renaming.state(self.types, state) not in self._states for state in self.initial):
            return "their initial states differ"
        return None

    def _why(self, one: Fixed | Still, images: Permutation) -> str:
        if isinstance(one, Fixed):
            return one.why
        moved = [(s, a) for s, a in sorted(one.atoms) if images[s][a] != a]
        kind = "processes" if moved[0][0] == 0 else "values"
        return f"{kind}: {one.why}"

    # -- classes --------------------------------------------------------------------------------

    def classes(self) -> tuple[Class, ...]:
        """The interchangeable blocks."""
        found = list(self._alone())
        taken = {atom for one in found for block in one.blocks for atom in block}
        found += self._together(taken)
        return tuple(found)

    def _alone(self) -> Iterator[Class]:
        """Classes of single atoms."""
        for sort, labels in enumerate(self.sorts.labels):
            groups: list[list[Atom]] = []
            for atom in range(len(labels)):
                for group in groups:
                    images = _swap(self.sorts, [(group[0], (sort, atom))])
                    if self.hinders(images) is None:
                        group.append((sort, atom))
                        break
                else:
                    groups.append([(sort, atom)])
            yield from (Class(tuple((a,) for a in group)) for group in groups if len(group) > 1)

    def _together(self, taken: set[Atom]) -> Iterator[Class]:
        """Classes of blocks of several atoms, none of them in ``taken``."""
        for sort, labels in enumerate(self.sorts.labels):
            for atom in range(len(labels)):
                one = self._class_of((sort, atom), taken)
                if one is not None:
                    taken |= {a for block in one.blocks for a in block}
                    yield one

    def _class_of(self, seed: Atom, taken: set[Atom]) -> Class | None:
        if seed in taken:
            return None
        swaps: dict[Atom, Permutation] = {}
        for other in range(seed[1] + 1, len(self.sorts.labels[seed[0]])):
            there = (seed[0], other)
            images = None if there in taken else self.matching.swapping(seed, there)
            if images is not None and _is_swap(images, seed, there):
                if not _support(images) & taken and self.hinders(images) is None:
                    swaps[there] = images
        if not swaps:
            return None
        block = self._block(seed, list(swaps.values()))
        blocks = [block]
        for images in swaps.values():
            image = tuple((sort, images[sort][atom]) for sort, atom in block)
            if not any(set(image) & set(b) for b in blocks):
                blocks.append(image)
        sound = [blocks[0]]
        for other_block in blocks[1:]:
            pairs = list(zip(block, other_block, strict=True))
            if self.hinders(_swap(self.sorts, pairs)) is None:
                sound.append(other_block)
        return Class(tuple(sound)) if len(sound) > 1 else None

    def _block(self, seed: Atom, swaps: list[Permutation]) -> tuple[Atom, ...]:
        """The atoms that move along with ``seed``, itself first."""
        moved = [_support(images) for images in swaps]
        if len(moved) > 1:
            own = frozenset.intersection(*moved)
        else:
            images = swaps[0]
            own = frozenset((s, a) for s, a in moved[0] if a < images[s][a])
        return (seed, *sorted(own - {seed}))

    # -- what is lost ---------------------------------------------------------------------------

    def reasons(self, classes: tuple[Class, ...]) -> list[str]:
        """The reasons why processes, and payloads, are not interchangeable."""
        found: dict[str, None] = {}
        number = {a: i for i, c in enumerate(classes) for block in c.blocks for a in block}
        alike = {one.why for one in self.fixed if self._is_of_one_class(one, number)}
        for sort in sorted({0} | {s for s in self.payloads if s is not None}):
            why: dict[str, None] = {}
            for a, b in combinations(range(len(self.sorts.labels[sort])), 2):
                pair = (sort, a), (sort, b)
                if number.get(pair[0], -1) != number.get(pair[1], -2):
                    text = self.hinders(_swap(self.sorts, [pair]))
                    why |= {text: None} if text and text not in alike else {}
            found |= dict.fromkeys(list(why)[:REASONS])
        return list(found)

    def _is_of_one_class(self, one: Fixed, number: Mapping[Atom, int]) -> bool:
        """Whether what ``one`` names is interchangeable, such as the members of a role."""
        named = mentioned_atoms(self.sorts, one.type, one.value)
        return len(named) > 1 and len({number.get(atom, -1 - atom[1]) for atom in named}) == 1


def _swap(sorts: Sorts, pairs: list[tuple[Atom, Atom]]) -> Permutation:
    images = [list(image) for image in sorts.identity]
    for (sort, a), (_, b) in pairs:
        images[sort][a], images[sort][b] = b, a
    return tuple(tuple(image) for image in images)


def _support(images: Permutation) -> frozenset[Atom]:
    return frozenset(
        (sort, atom)
        for sort, image in enumerate(images)
        for atom, x in enumerate(image)
        if x != atom
    )


def _is_swap(images: Permutation, a: Atom, b: Atom) -> bool:
    """Whether ``images`` is a permutation, its own inverse, and maps ``a`` to ``b``."""
    proper = all(image[image[x]] == x for image in images for x in range(len(image)))
    return proper and images[a[0]][a[1]] == b[1]


def text_of(sorts: Sorts, classes: tuple[Class, ...]) -> str:
    """Tells in words which blocks are interchangeable."""
    parts = []
    for one in classes:
        names = [" with ".join(sorts.labels[s][a] for s, a in block) for block in one.blocks]
        parts.append(listing(names))
    return "interchangeable: " + "; ".join(parts)

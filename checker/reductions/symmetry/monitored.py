"""Symmetry for formulas that are monitored from the initial states: what stays in place.

An automaton reads the propositions of one assignment of a formula's parameters along a run, so no
renaming may change the assignment.  A block of interchangeable atoms stays in place for each
parameter that may name it.  Each assignment can then be renamed to one whose atoms stay
(Emerson and Sistla 1997, for the formula's own symmetries).
"""

from __future__ import annotations

from operator import itemgetter

from checker.diagnostics.english import listing
from checker.model import interpreter
from checker.model.evaluate import RunFault
from checker.model.ir import Property, TransitionSystem, domain_item
from checker.model.types import AtomT
from checker.properties.persistence import monitored
from checker.reductions.contract import MONITORED
from checker.reductions.reduction_plan import Class, Symmetry
from checker.reductions.symmetry.automorphisms import text_of
from checker.reductions.symmetry.renaming import atoms_of

KEPT = "for each parameter an interchangeable name stays in place"
"""The condition on a formula's parameters."""


def unmoved(system: TransitionSystem, group: Symmetry) -> tuple[Symmetry | None, tuple[str, ...]]:
    """The part of ``group`` that leaves atoms in place for the parameters of monitored formulas, or
    ``None`` where that is the identity; and why it is not all."""
    asked = monitored(system)
    classes, reasons = list[Class](), list[str]()
    for one in group.classes:
        needed = [(_named(prop, group, one), prop.asked) for prop in asked]
        most, name = max(needed, key=itemgetter(0), default=(0, ""))
        if most:
            atoms = [group.sorts.labels[s][a] for block in one.blocks[:most] for s, a in block]
            named = listing([f"`{atom}`" for atom in atoms])
            stays = "stays" if len(atoms) == 1 else "stay"
            reasons.append(f"{MONITORED.format(name=name)}, so {named} {stays} in place")
        if len(one.blocks) - most > 1:
            classes.append(Class(one.blocks[most:]))
    if not reasons:
        return group, ()
    found = tuple(classes)
    smaller = Symmetry(group.sorts, found, text_of(group.sorts, found)) if found else None
    return smaller, tuple(dict.fromkeys(reasons))


def _named(prop: Property, group: Symmetry, one: Class) -> int:
    """The largest number of blocks of a class that an assignment of the parameters can name, or
    more."""
    atoms, every, found = {atom for block in one.blocks for atom in block}, len(one.blocks), 0
    try:
        assignments = interpreter.assignments(prop.params)
    except RunFault:
        return every
    for number, param in enumerate(prop.params):
        type_ = domain_item(param.domain)
        if not isinstance(type_, AtomT):
            found += every if atoms & atoms_of(group.sorts, type_) else 0
        else:
            sort = group.sorts.of(type_)
            found += any((sort, values[number]) in atoms for values in assignments)
    return min(found, every)

"""Declares what each kind of node does with names, and derives what a piece of code reads, writes
and binds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import or_
from typing import Any, NamedTuple

from checker.model import ir
from checker.model.memo import in_an_analysis
from checker.model.tree import branches, parts

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class NameRoles:
    """The fields of a kind of node that hold names, each empty where there is none.

    ``reads``: of a state variable; ``refers``: of a local.  ``writes``: of what is given a value.
    ``binds``: of a local that is visible in the fields ``within``, and in what follows in the same
    tuple where ``after``.
    """

    reads: str = ""
    refers: str = ""
    writes: str = ""
    binds: str = ""
    within: tuple[str, ...] = ()
    after: bool = False


_NONE = NameRoles()
_NOTHING: Names = frozenset()

EXPRESSIONS: dict[type, NameRoles] = {
    ir.Const: _NONE,
    ir.Local: NameRoles(refers="name"),
    ir.Read: NameRoles(reads="variable"),
    ir.Index: _NONE,
    ir.Item: _NONE,
    ir.Apply: _NONE,
    ir.Make: _NONE,
    ir.IsCase: _NONE,
    ir.CaseField: _NONE,
    ir.Let: NameRoles(binds="name", within=("body",)),
    ir.Quant: NameRoles(binds="name", within=("body",)),
    ir.Comprehension: NameRoles(binds="name", within=("where", "item")),
    ir.MapOf: NameRoles(binds="name", within=("body",)),
    ir.Universe: _NONE,
    ir.Members: _NONE,
    ir.Subsets: _NONE,
}
"""Expressions and domains."""

STATEMENTS: dict[type, NameRoles] = {
    ir.Key: _NONE,
    ir.Pos: _NONE,
    ir.Target: NameRoles(writes="name"),
    ir.Assign: _NONE,
    ir.Declare: NameRoles(writes="name", binds="name", after=True),
    ir.If: _NONE,
    ir.For: NameRoles(binds="name", within=("body",)),
    ir.While: _NONE,
    ir.Choose: NameRoles(binds="name", within=("where", "weight"), after=True),
    ir.Assume: _NONE,
    ir.Fault: _NONE,
    ir.Emit: _NONE,
    ir.Mark: _NONE,
    ir.Param: NameRoles(binds="name", within=("where",), after=True),
}
"""Statements, what they are made of, and parameters."""

ROLES = EXPRESSIONS | STATEMENTS
"""What each kind of node does with names."""

BINDERS: tuple[Any, ...] = tuple(kind for kind, roles in ROLES.items() if roles.binds)
"""The kinds of nodes that bind a name."""


class NamesOf(NamedTuple):
    """The names in a node and everything below it.

    ``locals``: that occur; ``reads``: state variables that are read; ``assigned``: that are
    assigned; ``stored``: locals that are declared or assigned; ``bound``: that expressions bind;
    ``introduced``: that statements bind.
    """

    locals: Names = frozenset()
    reads: Names = frozenset()
    assigned: Names = frozenset()
    stored: Names = frozenset()
    bound: Names = frozenset()
    introduced: Names = frozenset()


_NO_NAMES = NamesOf()


def _own_names(node: Any) -> NamesOf:
    """Returns the names that a node itself mentions."""
    kind = type(node)
    roles = ROLES.get(kind, _NONE)
    if roles is _NONE:
        return _NO_NAMES

    def named(field: str) -> Names:
        return frozenset((getattr(node, field),)) if field else _NOTHING

    written, bound = named(roles.writes), named(roles.binds)
    of_state, is_expression = getattr(node, "is_state", False), kind in EXPRESSIONS
    return NamesOf(
        named(roles.refers),
        named(roles.reads),
        written if of_state else _NOTHING,
        _NOTHING if of_state else written,
        bound if is_expression else _NOTHING,
        _NOTHING if is_expression else bound,
    )


def names_of(node: Any) -> NamesOf:
    """Returns the names in a node, or in a tuple; each node computes them once."""
    kept: NamesOf | None = getattr(node, "kept_names", None)
    if kept is not None:
        return kept
    found = _own_names(node)
    for part in parts(node):
        more = names_of(part)
        if found is _NO_NAMES:
            found = more
        elif more is not _NO_NAMES and more is not found:
            found = NamesOf(*map(or_, found, more))
    if isinstance(node, ir.Node):
        object.__setattr__(node, "kept_names", found)
    return found


def locals_in(node: Any) -> Names:
    """Gives the names of the locals that occur in a node, or in a tuple."""
    return names_of(node).locals


def reads_in(node: Any) -> Names:
    """Gives the state variables that a node reads."""
    return names_of(node).reads


def assigned_in(node: Any) -> Names:
    """Gives the state variables that a node assigns."""
    return names_of(node).assigned


def stored_in(node: Any) -> Names:
    """Gives the locals that a node declares or assigns."""
    return names_of(node).stored


def bound_in(node: Any) -> Names:
    """Gives the names that the expressions in a node bind."""
    return names_of(node).bound


def introduced_in(node: Any) -> Names:
    """Gives the names that the statements in a node bind."""
    return names_of(node).introduced


def scoped_parts(node: Any) -> Iterator[tuple[Any, str | None]]:
    """Yields the parts of a node, each with the name that the node binds in it."""
    roles = ROLES.get(type(node), _NONE)
    for field in branches(type(node)) or ():
        bound = getattr(node, roles.binds) if field in roles.within else None
        for part in parts((getattr(node, field),)):
            yield part, bound


def free_in(node: Any) -> Names:
    """Gives the names of the locals that occur in a node, and that nothing in it binds there."""
    names = names_of(node)
    return _free_in(node) if names.bound or names.introduced else names.locals


@in_an_analysis
def _free_in(node: Any) -> Names:
    kind = type(node)
    found = _NOTHING
    if kind is tuple:
        for part in reversed(parts(node)):
            roles = ROLES.get(type(part), _NONE)
            found = free_in(part) | (found - {getattr(part, roles.binds)} if roles.after else found)
        return found
    roles = ROLES.get(kind, _NONE)
    for field in branches(kind) or ():
        inside = free_in(getattr(node, field))
        found |= inside - {getattr(node, roles.binds)} if field in roles.within else inside
    return found

"""Declares what each kind of node does with names, and derives what a piece of code reads, writes
and binds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import or_
from typing import Any, NamedTuple

from msgspec import Struct

from checker.model import ir
from checker.model.memo import in_an_analysis
from checker.model.node import Node
from checker.model.tree import branches, nodes, parts, values_below

Names = frozenset[str]


class NameRoles(Struct, frozen=True):
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

_FIELD = {
    kind: roles.refers or roles.reads or roles.writes or roles.binds
    for kind, roles in ROLES.items()
    if roles != _NONE
}
"""The field that holds the name; no kind has two of them."""

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


@lru_cache(maxsize=4096)
def _own_names(roles: NameRoles, in_expression: bool, name: str, of_state: bool) -> NamesOf:
    """Returns the names of a node that mentions ``name`` in these roles."""
    named = frozenset((name,))
    return NamesOf(
        named if roles.refers else _NOTHING,
        named if roles.reads else _NOTHING,
        named if roles.writes and of_state else _NOTHING,
        named if roles.writes and not of_state else _NOTHING,
        named if roles.binds and in_expression else _NOTHING,
        named if roles.binds and not in_expression else _NOTHING,
    )


@lru_cache(maxsize=1 << 14)
def _joined(one: NamesOf, other: NamesOf) -> NamesOf:
    """Returns the names of both."""
    return NamesOf(*map(or_, one, other))


def names_of(node: Any) -> NamesOf:
    """Returns the names in a node, or in a tuple; each node computes them once."""
    kept: NamesOf | None = getattr(node, "kept_names", None)
    return _names_of(node) if kept is None else kept


def _names_of(node: Any) -> NamesOf:
    kind = type(node)
    found = _NO_NAMES
    field = _FIELD.get(kind)
    if field is not None:
        of_state = getattr(node, "is_state", False)
        found = _own_names(ROLES[kind], kind in EXPRESSIONS, getattr(node, field), of_state)
    for part in node if kind is tuple else values_below(node):
        if isinstance(part, Node):
            more = getattr(part, "kept_names", None) or _names_of(part)
        else:
            more = _names_of(part)
        if found is _NO_NAMES:
            found = more
        elif more is not _NO_NAMES and more is not found:
            found = _joined(found, more)
    if isinstance(node, Node):
        node.kept_names = found
    return found


def _asked(which: str) -> Callable[[Any], Names]:
    """Returns the function that gives one component of :func:`names_of`."""
    number = NamesOf._fields.index(which)

    def names(node: Any) -> Names:
        found: tuple[Names, ...] = getattr(node, "kept_names", None) or _names_of(node)
        return found[number]

    return names


locals_in = _asked("locals")
"""Gives the names of the locals that occur in a node, or in a tuple."""
reads_in = _asked("reads")
"""Gives the state variables that a node reads."""
assigned_in = _asked("assigned")
"""Gives the state variables that a node assigns."""
stored_in = _asked("stored")
"""Gives the locals that a node declares or assigns."""
bound_in = _asked("bound")
"""Gives the names that the expressions in a node bind."""
introduced_in = _asked("introduced")
"""Gives the names that the statements in a node bind."""


def reads_of(node: Any, variable: str) -> int:
    """Returns how often a node reads a state variable."""
    if variable not in reads_in(node):
        return 0
    return sum(isinstance(part, ir.Read) and part.variable == variable for part in nodes(node))


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

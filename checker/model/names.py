"""Declares what each kind of node does with names, and derives what a piece of code reads, writes
and binds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from checker.model import ir
from checker.model.memo import in_an_analysis
from checker.model.tree import branches, fold, parts

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
    ir.SetOf: NameRoles(binds="name", within=("where", "item")),
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
    ir.Choose: NameRoles(binds="name", within=("where",), after=True),
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


_NOTHING: Names = frozenset()


def _names(
    fields: Mapping[type, str], wanted: Callable[[Any], bool] = lambda node: True
) -> Callable[[object], Names]:
    """Returns the function that gives the names in these fields of the nodes in a node or tuple."""

    def join(node: Any, below: list[Names]) -> Names:
        name = fields.get(type(node))
        found = frozenset((getattr(node, name),)) if name and wanted(node) else _NOTHING
        for more in below:
            found = found | more if found else more
        return found

    return fold(join)


def _is_of_state(node: Any) -> bool:
    return bool(getattr(node, "is_state", False))


_WRITING = {kind: roles.writes for kind, roles in ROLES.items() if roles.writes}

locals_in = _names({kind: roles.refers for kind, roles in ROLES.items() if roles.refers})
"""Gives the names of the locals that occur in a node."""

reads_in = _names({kind: roles.reads for kind, roles in ROLES.items() if roles.reads})
"""Gives the state variables that a node reads."""

assigned_in = _names(_WRITING, _is_of_state)
"""Gives the state variables that a node assigns."""

stored_in = _names(_WRITING, lambda node: not _is_of_state(node))
"""Gives the locals that a node declares or assigns."""

bound_in = _names({kind: roles.binds for kind, roles in EXPRESSIONS.items() if roles.binds})
"""Gives the names that the expressions in a node bind."""

introduced_in = _names({kind: roles.binds for kind, roles in STATEMENTS.items() if roles.binds})
"""Gives the names that the statements in a node bind."""


def scoped_parts(node: Any) -> Iterator[tuple[Any, str | None]]:
    """Yields the parts of a node, each with the name that the node binds in it."""
    roles = ROLES.get(type(node), _NONE)
    for field in branches(type(node)) or ():
        bound = getattr(node, roles.binds) if field in roles.within else None
        for part in parts((getattr(node, field),)):
            yield part, bound


@in_an_analysis
def free_in(node: Any) -> Names:
    """Gives the names of the locals that occur in a node, and that nothing in it binds there."""
    kind = type(node)
    found = _NOTHING
    if kind is tuple:
        for part in reversed(parts(node)):
            roles = ROLES.get(type(part), _NONE)
            found = free_in(part) | (found - {getattr(part, roles.binds)} if roles.after else found)
        return found
    roles = ROLES.get(kind, _NONE)
    if roles.refers:
        return locals_in(node)
    for field in branches(kind) or ():
        inside = free_in(getattr(node, field))
        found |= inside - {getattr(node, roles.binds)} if field in roles.within else inside
    return found

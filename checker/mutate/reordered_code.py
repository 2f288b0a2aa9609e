"""Decides whether two systems are the same code, but for the order of independent statements.

Two neighbours are independent where neither writes what the other one reads or writes, unless both
only add to the same set or bag, or take from it, or store the same constant; and where neither can
be removed while the other one can meet a run-time error.  In either order they lead to the same
states.  Sequences that differ by such exchanges alone are one trace in the sense of Mazurkiewicz
(*Concurrent Program Schemes and their Interpretations*, 1977), which is decided one statement after
the other: the first of one sequence has an equal in the other that everything before it is
independent of.

This needs no states, so it also tells of systems that are too large to explore twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from checker.model import ir
from checker.model.names import (
    ROLES,
    NameRoles,
    assigned_in,
    introduced_in,
    locals_in,
    reads_in,
    stored_in,
)
from checker.model.run_errors import block_can_fault
from checker.model.transforms.commuting_loops import commutes
from checker.model.tree import nodes
from checker.model.types import BOOL
from checker.polling import poll
from checker.records import fields, is_record

_STATEMENTS = (
    *(ir.Assign, ir.Declare, ir.If, ir.For, ir.While, ir.Choose, ir.Assume, ir.Fault, ir.Emit),
    ir.Mark,
)
TRIES = 1_000
"""The largest number of exchanges that are tried in vain: statements may be equal except for
the names that they bind."""
_WORDS = frozenset({"text", "definition", "assumptions", "place", "names", "families"})
"""The fields that are for readers, and change no step."""


class _Names(Struct, frozen=True):
    """Which local of one system is which of the other; each one is the counterpart of its own."""

    there: dict[str, str] = field(default_factory=dict)
    back: dict[str, str] = field(default_factory=dict)

    def paired(self, one: str, other: str) -> _Names:
        return _Names({**self.there, one: other}, {**self.back, other: one})

    def are(self, one: str, other: str) -> bool:
        """Returns whether the locals are the same."""
        return self.there.get(one) == other and self.back.get(other) == one


def same_but_for_order(one: ir.TransitionSystem, other: ir.TransitionSystem) -> bool:
    """Returns whether the systems have the same steps since they are the same code, but for the
    order of independent statements, places and names of locals.  ``False``: that is not known."""
    whole = (one.processes, one.variables, len(one.actions))
    if whole != (other.processes, other.variables, len(other.actions)):
        return False
    matching = _Matching(one.marks, other.marks)
    pairs = [
        *zip(one.actions, other.actions, strict=True),
        *((getattr(one, n), getattr(other, n)) for n in ("init", "monitor", "properties")),
        *((getattr(one, n), getattr(other, n)) for n in ("justice", "view")),
    ]
    return all(matching.alike(a, b, _Names()) is not None for a, b in pairs)


class _Matching:
    """Compares parts of two systems; ``one`` and ``other`` are their marks."""

    def __init__(self, one: Sequence[ir.MarkInfo], other: Sequence[ir.MarkInfo]) -> None:
        self._one, self._other = one, other
        self._tries = 0

    def alike(self, one: Any, other: Any, names: _Names) -> _Names | None:
        """Returns the names after two parts that are alike; ``None`` where they may differ."""
        if type(one) is not type(other):
            return None
        if isinstance(one, tuple):
            if any(isinstance(each, _STATEMENTS) for each in (*one, *other)):
                return self._blocks(one, other, names)
            return self._sequences(one, other, names)
        if is_record(one):
            return self._records(one, other, names)
        return names if one == other else None

    def _sequences(self, one: Any, other: Any, names: _Names) -> _Names | None:
        if len(one) != len(other):
            return None
        for a, b in zip(one, other, strict=True):
            after = self.alike(a, b, names)
            if after is None:
                return None
            names = after
        return names

    def _blocks(self, one: ir.Block, other: ir.Block, names: _Names) -> _Names | None:
        """Exchanges independent neighbours of ``one`` until it is ``other``."""
        poll()
        if len(one) != len(other):
            return None
        if not other:
            return names
        for at, stmt in enumerate(one):
            after = self.alike(stmt, other[0], names)
            if after is None or not all(independent(stmt, each) for each in one[:at]):
                continue
            found = self._blocks((*one[:at], *one[at + 1 :]), other[1:], after)
            self._tries += 1
            if found is not None or self._tries > TRIES:
                return found
        return None

    def _records(self, one: Any, other: Any, names: _Names) -> _Names | None:
        """Compares what is in two records of a kind, each part where the names that it sees are
        paired."""
        roles = ROLES.get(type(one), NameRoles())
        skipped = set(_WORDS)
        if isinstance(one, ir.Mark):
            if not self._same_mark(one.mark, other.mark):
                return None
            skipped.add("mark")
        if isinstance(one, ir.Local) or (isinstance(one, ir.Target) and not one.is_state):
            if not names.are(one.name, other.name) or one.type != other.type:
                return None
            skipped |= {"name", "type"}
        within = names
        if roles.binds:
            within = names.paired(getattr(one, roles.binds), getattr(other, roles.binds))
            skipped.add(roles.binds)
        elif hasattr(one, "params"):
            found = self.alike(one.params, other.params, names)
            if found is None:
                return None
            names = found
            skipped.add("params")
        for each in fields(one):
            if each.compare and each.name not in skipped:
                scope = within if each.name in roles.within else names
                if self.alike(getattr(one, each.name), getattr(other, each.name), scope) is None:
                    return None
        return within if roles.after else names

    def _same_mark(self, one: int, other: int) -> bool:
        a, b = self._one[one], self._other[other]
        return (a.kind, a.text, a.required, a.returns) == (b.kind, b.text, b.required, b.returns)


def independent(one: ir.Stmt, other: ir.Stmt) -> bool:
    """Returns whether two statements lead to the same states in either order."""
    if isinstance(one, ir.Emit) or isinstance(other, ir.Emit):
        return False
    if (_removes(one) and _fails(other)) or (_removes(other) and _fails(one)):
        return False
    if _stored(one) & (_stored(other) | locals_in(other)) or _stored(other) & locals_in(one):
        return False
    written, more = assigned_in(one), assigned_in(other)
    if written & (more | reads_in(other)) or more & reads_in(one):
        return commutes(ir.For("@order", ir.Universe(BOOL), (one, other)))
    return True


def _stored(stmt: ir.Stmt) -> frozenset[str]:
    return stored_in(stmt) | introduced_in(stmt)


def _removes(stmt: ir.Stmt) -> bool:
    """Returns whether an execution may end at the statement without an error."""
    return any(isinstance(node, ir.Assume | ir.Choose | ir.While) for node in nodes(stmt))


def _fails(stmt: ir.Stmt) -> bool:
    return block_can_fault((stmt,), growing=False)

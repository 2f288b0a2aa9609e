"""Puts the body of a definition in the place of a call of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from checker.diagnostics import Span
from checker.language.syntax import typed
from checker.language.syntax.walk import mapped, nodes_of
from checker.records import replace


def inline(
    body: typed.Expr,
    args: Mapping[str, typed.Expr],
    owner: typed.Expr | None,
    call: Span,
    known: Collection[str],
) -> typed.Expr:
    """Returns ``body`` with ``args`` in the place of its parameters, called at ``call``, where the
    names ``known`` are bound.

    ``owner``: the process whose state it reads in a property; ``None``: as written.  Names that the
    body binds are renamed where an argument mentions names like them, and where they are known at
    the call: no body binds a name again, so that none of its parameters is bound inside of it.
    """
    taken = {*known, *(name for arg in (*args.values(), owner) for name in _locals(arg))}
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(_bound(body)):
        assert name not in args
        new = name
        while new in taken:
            new += "'"
        renamed[name] = new
        taken.add(new)
    made: typed.Expr = _Inlined(args, owner, renamed, call).rebuild(body)
    return made


class _Inlined:
    """One call: see :func:`inline`."""

    def __init__(
        self,
        args: Mapping[str, typed.Expr],
        owner: typed.Expr | None,
        renamed: Mapping[str, str],
        call: Span,
    ) -> None:
        self.args, self.owner, self.renamed, self.call = args, owner, renamed, call

    def rebuild(self, node: Any) -> Any:
        match node:
            case Span():
                return node.called_at(self.call)
            case typed.Local(_, name, _) if name in self.args:
                return self.args[name]
            case typed.Self() if self.owner is not None:
                return self.owner
            case typed.Local() | typed.Bind():
                return self._parts(replace(node, name=self.renamed.get(node.name, node.name)))
            case typed.MapDisplay():
                return self._parts(replace(node, key=self.renamed.get(node.key, node.key)))
            case (
                typed.StateRef(role=str(), owner=None)
                | typed.Received(owner=None)
                | typed.Again(owner=None)
            ):
                return self._parts(replace(node, owner=self.owner))
            case _ if isinstance(node, typed.Type):
                return node
            case _:
                return self._parts(node)

    def _parts(self, node: Any) -> Any:
        """Returns ``node`` with its parts rebuilt; an owner that was put in is left as it is."""
        return mapped(node, lambda part: part if part is self.owner else self.rebuild(part))


def called(body: typed.Block, call: Span) -> typed.Block:
    """Returns the statements of a procedure as they are called at ``call``."""
    made: typed.Block = _Inlined({}, None, {}, call).rebuild(body)
    return made


def _locals(node: Any) -> Iterator[str]:
    return (part.name for part in nodes_of(node, typed.TYPES) if isinstance(part, typed.Local))


def _bound(node: Any) -> Iterator[str]:
    """Yields the names that are bound in an expression."""
    for part in nodes_of(node, typed.TYPES):
        if isinstance(part, typed.Bind):
            yield part.name
        elif isinstance(part, typed.MapDisplay):
            yield part.key


def size(expr: typed.Expr) -> int:
    """Returns the number of nodes of an expression."""
    return sum(1 for _ in nodes_of(expr, typed.TYPES))

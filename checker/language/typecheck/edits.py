"""Changes single statements and expressions in the items of a protocol, as a variant says: each is
found by how it is written, and must stand in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Span
from checker.language.syntax import ast_items, typed
from checker.language.syntax.walk import nodes_of, relocate
from checker.language.typecheck.scope import suggestion
from checker.records import fields, is_record, replace

_NAMED = ast_items.Handler | ast_items.Procedure | ast_items.Definition
Edits = ast_items.Edit | ast_items.EditsIn
Find = Callable[[ast_items.HandlerHead, Sequence[Any]], list[int]]
"""Returns the numbers of the handlers among items that have the event of a head."""
Lines = Callable[[Span], list[str]]
"""Returns the text at a place."""
SHOWN = 3
"""The largest number of places that a diagnostic names."""


class Editing(Struct):
    """The changes ``edits`` to the items of ``where`` (a protocol or a role, in words).

    ``find``: the handlers that a head means; ``fail``: reports a code, a message, a place and a
    hint; ``lines_at``: the text at a place; ``changes``: what was changed, in turn.
    """

    where: str
    find: Find
    fail: Callable[[str, str, Span, str], None]
    lines_at: Lines
    changes: list[typed.Change] = field(default_factory=list)
    _new: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """What takes the place of a node, by the identity of the node."""
    _made: set[int] = field(default_factory=set)

    def edited(self, items: list[Any], edits: Iterable[Edits]) -> list[Any]:
        """Returns ``items`` with the changes made."""
        asked: dict[int, ast_items.Edit] = {}
        for edit, within, where in self._each(items, edits):
            found = [*_places(edit, within)]
            if isinstance(edit, ast_items.Replacement) and _same(edit.old, edit.new):
                self.fail("N040", f"`{edit.text}` is replaced with itself", edit.span, "")
            elif not found:
                self._missing(edit, within, where)
            elif len(found) > 1:
                self._several(edit, found, where)
            elif id(found[0]) in asked:
                self.fail("N042", "another change is of the same place", edit.span, "")
            else:
                asked[id(found[0])] = edit
                self._note(edit, found[0])
        if not asked:
            return items
        made = [part for item in items for part in self._rebuilt(item)]
        for node in asked.keys() - self._made:
            message = "another change replaces all that is around this place"
            self.fail("N042", message, asked[node].span, "")
        return made

    def _each(
        self, items: Sequence[Any], edits: Iterable[Edits]
    ) -> Iterator[tuple[ast_items.Edit, Sequence[Any], str]]:
        """Yields each single change with the items in which it is looked for, and their name."""
        for edit in edits:
            if not isinstance(edit, ast_items.EditsIn):
                yield edit, items, self.where
                continue
            every = [*_flat(items)]
            if isinstance(edit.where, ast_items.HandlerHead):
                found = [every[number] for number in self.find(edit.where, every)]
                name = edit.where.label
            else:
                name = edit.where.text
                found = [
                    i for i in every if isinstance(i, _NAMED) and i.name and i.name.text == name
                ]
            if len(found) == 1:
                yield from ((each, found, f"`{name}` of {self.where}") for each in edit.edits)
            elif found:
                lines = ", ".join(str(item.span.line) for item in found[:SHOWN])
                message = f"several items of {self.where} match: lines {lines}"
                hint = "write its arguments, `at` and `when` as they are declared there"
                self.fail("N042", message, edit.where.span, hint)
            else:
                known = [_called(item) for item in every if isinstance(item, _NAMED)]
                hint = suggestion(name, known) or _listing(known)
                self.fail("N041", f"{self.where} has no `{name}`", edit.where.span, hint)

    # ---- what is changed ----------------------------------------------------------------------

    def _note(self, edit: ast_items.Edit, found: Any) -> None:
        if isinstance(edit, ast_items.WithoutStatement):
            self._new[id(found)] = ()
            change = typed.Change("removes", f"`{edit.text}`", found.span, None)
        else:
            self._new[id(found)] = (edit.new,)
            what = f"`{edit.text}` with `{edit.new_text}`"
            change = typed.Change("replaces", what, found.span, edit.new.span)
        self.changes.append(change)

    def _rebuilt(self, node: Any) -> tuple[Any, ...]:
        """Returns what stands in the place of ``node``: itself, if nothing in it is changed."""
        if id(node) in self._new:
            self._made.add(id(node))
            return self._new[id(node)]
        if isinstance(node, tuple):
            parts = tuple(new for part in node for new in self._rebuilt(part))
            same = len(parts) == len(node) and all(map(lambda a, b: a is b, parts, node))
            return (node,) if same else (parts,)
        if not is_record(node) or isinstance(node, Span):
            return (node,)
        new = {f.name: self._rebuilt(getattr(node, f.name))[0] for f in fields(node)}
        new = {name: part for name, part in new.items() if part is not getattr(node, name)}
        return (replace(node, **new),) if new else (node,)

    # ---- what is said -------------------------------------------------------------------------

    def _missing(self, edit: ast_items.Edit, within: Sequence[Any], where: str) -> None:
        what = "statement" if isinstance(edit, ast_items.WithoutStatement) else "expression"
        known = [*dict.fromkeys(self._text(node) for node in _alike(edit, within))]
        hint = suggestion(edit.text, known) or _listing(known)
        self.fail("N041", f"{where} has no {what} `{edit.text}`", edit.span, hint)

    def _text(self, node: Any) -> str:
        lines = self.lines_at(node.span)
        return " ".join(" ".join(line.split("//")[0] for line in lines).split())

    def _several(self, edit: ast_items.Edit, found: list[Any], where: str) -> None:
        lines = ", ".join(str(node.span.line) for node in found[:SHOWN])
        more = ", …" if len(found) > SHOWN else ""
        message = f"`{edit.text}` stands in {len(found)} places of {where}: lines {lines}{more}"
        hint = (
            "say in which: `inside upon … { … }`, `inside NAME { … }`, or write what is around it"
        )
        self.fail("N042", message, edit.span, hint)


def _places(edit: ast_items.Edit, items: Sequence[Any]) -> Iterator[Any]:
    """Yields what is written as ``edit`` says."""
    wanted = edit.statement if isinstance(edit, ast_items.WithoutStatement) else edit.old
    return (node for node in _alike(edit, items) if _same(node, wanted))


def _same(one: Any, other: Any) -> bool:
    """Tells whether two trees are written alike."""
    return bool(relocate(one) == relocate(other))


def _alike(edit: ast_items.Edit, items: Sequence[Any]) -> Iterator[Any]:
    """Yields what may have been meant: statements or expressions of the same kind."""
    wanted = edit.statement if isinstance(edit, ast_items.WithoutStatement) else edit.old
    return (node for node in nodes_of(_code(items)) if type(node) is type(wanted))


def _flat(items: Iterable[Any]) -> Iterator[Any]:
    """Yields ``items``, and for roles those inside."""
    for item in items:
        if isinstance(item, ast_items.Role):
            yield from item.items
        else:
            yield item


def _code(items: Iterable[Any]) -> tuple[Any, ...]:
    """Returns what the processes do, of ``items``: no properties, no declarations of types."""
    found: list[Any] = []
    for item in _flat(items):
        match item:
            case ast_items.Handler(event=ast_items.OnCondition(condition)):
                found += [condition, item.at, item.when, item.body]
            case ast_items.Handler():
                found += [item.at, item.when, item.body]
            case ast_items.Procedure(body=code) | ast_items.State(initial=code):
                found.append(code)
            case ast_items.Definition(value=code) | ast_items.Constant(value=code):
                found.append(code)
            case ast_items.InitChoice():
                found += [getattr(item, f.name) for f in fields(item) if f.name != "name"]
    return tuple(found)


def _called(item: _NAMED) -> str:
    if isinstance(item, ast_items.Handler):
        return item.label if item.name is None else item.name.text
    return item.name.text


def _listing(known: Sequence[str]) -> str:
    """Returns a hint that names what there is."""
    shown = ", ".join(f"`{each}`" for each in known[:SHOWN] if each)
    more = ", …" if len(known) > SHOWN else ""
    return f"it has {shown}{more}" if shown else ""

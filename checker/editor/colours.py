"""Semantic tokens: what each name is, so that an editor colours state apart from history."""

from __future__ import annotations

from collections.abc import Iterator

from checker.editor.document import Document

TYPES = (
    "namespace", "type", "class", "enumMember", "interface", "parameter", "variable", "property",
    "function", "method", "event", "keyword",
)  # fmt: skip
MODIFIERS = ("declaration", "readonly", "static", "stable", "ghost", "shared", "history", "world")
"""The last five are of this language; the others are those that every editor knows."""

_TYPE_OF = {
    kind: type_
    for type_, kinds in {
        "interface": "interface object",
        "class": "protocol variant role",
        "event": "message check",
        "type": "type",
        "function": "definition procedure handler alternative",
        "parameter": "parameter local",
        "namespace": "layer",
        "method": "operation request indication",
        "property": "property invariant",
        "enumMember": "label",
        "variable": "state timer constant",
    }.items()
    for kind in kinds.split()
}
"""The token type of each kind of declaration."""


def coloured(document: Document) -> Iterator[tuple[int, int, int, str, tuple[str, ...]]]:
    """Yields line, column (from 0), length, type and modifiers of each name, in the order of the
    text; no two overlap."""
    end = (0, 0)
    for each in document.occurrences:
        span = each.span
        line, column = span.line - 1, span.column - 1
        if span.line != span.end_line or (line, column) < end:
            continue
        end = line, span.end_column - 1
        kind = each.of.kind.split()[-1]
        modifiers = [word for word in each.of.kind.split()[:-1] if word in MODIFIERS]
        if each.is_declaration:
            modifiers.insert(0, "declaration")
        if kind in ("constant", "parameter", "label"):
            modifiers.append("readonly")
        if not each.renames:
            modifiers.append("history")
        if kind == "parameter" and not each.is_declaration and _in_check(document, line + 1):
            modifiers.append("world")
        yield line, column, end[1] - column, _TYPE_OF.get(kind, "variable"), tuple(modifiers)


def _in_check(document: Document, line: int) -> bool:
    return any(check.span.line <= line <= check.span.end_line for check in document.checks())

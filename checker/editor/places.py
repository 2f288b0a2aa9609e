"""Places of the tool (lines and columns from 1, in characters) and of the Language Server Protocol
(from 0, in UTF-16 units)."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp
from pygls import uris

from checker.diagnostics import Span
from checker.editor.document import Position


def units(text: str) -> int:
    """Returns the length of ``text`` in UTF-16 units."""
    return len(text) + sum(ord(character) > 0xFFFF for character in text)


def position_of(lines: list[str], place: lsp.Position) -> Position:
    """Returns the place in a text of these lines; one that is outside is moved to its end."""
    line = min(max(place.line, 0), max(len(lines) - 1, 0))
    text = lines[line] if lines else ""
    left, column = place.character, 0
    while column < len(text) and left > 0:
        left -= units(text[column])
        column += 1
    return Position(line + 1, column + 1)


def range_of(lines: list[str], span: Span) -> lsp.Range:
    """Returns the range of ``span`` in a text of these lines."""
    return lsp.Range(
        _position(lines, span.line, span.column), _position(lines, span.end_line, span.end_column)
    )


def _position(lines: list[str], line: int, column: int) -> lsp.Position:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return lsp.Position(max(line - 1, 0), units(text[: max(column - 1, 0)]))


def path_of(uri: str) -> Path:
    """Returns the file of a URI; one that is not on disk has a name of its own."""
    found = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return Path(found) if found else Path(uri.replace(":", "/").lstrip("/"))


def uri_of(path: Path | str) -> str:
    """Returns the URI of a file."""
    return Path(path).absolute().as_uri()

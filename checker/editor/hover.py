"""What is told of a name or word: its declaration, its type, what it means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checker.diagnostics import Span, SpecError
from checker.editor.declarations import Declaration
from checker.editor.document import Document, Position
from checker.editor.reference import meanings
from checker.language.link_kinds import LINK_KINDS
from checker.language.reading import read
from checker.language.syntax import typed
from checker.language.syntax.walk import field_names, parts
from checker.language.typecheck.types import show

_SHOWN = 12
"""The largest number of lines of a declaration that are shown."""
_BODIES = ("interface", "protocol", "variant", "object", "check", "role", "handler", "procedure")
"""The kinds of declarations of which the first line is shown."""


def hover(document: Document, place: Position) -> tuple[str, Span | None]:
    """Returns Markdown about what is at ``place``, and the range that it is about; empty where
    nothing is known."""
    found = document.at(place)
    if found is not None:
        return of_declaration(found.of, document, place), found.span
    word = document.word_at(place)
    if not word:
        return "", None
    type_ = type_at(document, place)
    said = f"```bivalence\n{word} : {type_}\n```" if type_ else ""
    kind = LINK_KINDS.get(word)
    meaning = f"`{word}`\n\n{kind.meaning}" if kind is not None else meanings().get(word, "")
    return "\n\n".join(part for part in (said, meaning) if part), None


def of_declaration(declared: Declaration, document: Document, place: Position | None = None) -> str:
    """Returns Markdown about a declaration: its text, type, sentence and comment."""
    lines = _lines_of(declared.span.file, document)
    type_ = type_at(document, place) if place is not None else ""
    code = _code(declared, lines)
    if declared.kind == "local":
        code = f"{declared.name} : {type_}" if type_ else declared.name
    elif type_ and declared.kind.endswith("state") and " : " not in code.split("=")[0]:
        code = f"{code}\n// {declared.name} : {type_}"
    where = Path(declared.span.file).name
    sentence = "" if f'"{declared.document}"' in code else declared.document
    parts = [f"```bivalence\n{code}\n```", sentence, _comment(declared, lines)]
    if declared.span.file != str(document.path):
        parts.append(f"*{declared.kind}, in {where}*")
    elif declared.kind not in code.split():
        parts.append(f"*{declared.kind}*")
    return "\n\n".join(part for part in parts if part)


def _lines_of(file: str, document: Document) -> list[str]:
    if file == str(document.path):
        return document.lines
    try:
        return read(Path(file)).replace("\r\n", " \n").split("\n")
    except SpecError:
        return []


def _code(declared: Declaration, lines: list[str]) -> str:
    """Returns the text of a declaration, of what has a body the first line."""
    whole = declared.whole
    text = lines[whole.line - 1 : whole.end_line]
    if not text:
        return declared.name
    if whole.line == whole.end_line:
        text = [text[0][: whole.end_column - 1]]
    text[0] = text[0][whole.column - 1 :]
    if declared.kind in _BODIES:
        return text[0].split("//")[0].rstrip().removesuffix("{").rstrip()
    indent = whole.column - 1
    shown = [text[0], *(line[indent:] if line[:indent].isspace() else line for line in text[1:])]
    return "\n".join(line.rstrip() for line in shown[:_SHOWN])


def _comment(declared: Declaration, lines: list[str]) -> str:
    """Returns the comment behind a declaration, or those on the lines right above it."""
    if not 0 < declared.whole.line <= len(lines):
        return ""
    _, slashes, behind = lines[declared.whole.line - 1].partition("//")
    if slashes:
        return behind.strip()
    above: list[str] = []
    for line in reversed(lines[: declared.whole.line - 1]):
        if not line.strip().startswith("//"):
            break
        above.insert(0, line.strip().removeprefix("//").strip())
    return "\n".join(above)


def type_at(document: Document, place: Position | None) -> str:
    """Returns the type of the smallest typed expression at ``place``; empty where there is none."""
    module = document.analysis.module
    if module is None or place is None:
        return ""
    best: tuple[int, str] | None = None
    for owners in (module.protocols, module.interfaces, module.checks):
        for owner in owners:
            for type_, span in _typed_in(owner, str(document.path)):
                size = (span.end_line - span.line) * 1000 + span.end_column - span.column
                if place.is_in(span) and (best is None or size < best[0]):
                    best = size, show(type_)
    return best[1] if best is not None else ""


def _typed_in(node: object, file: str) -> Iterator[tuple[typed.Type, Span]]:
    """Yields the types of all expressions and states in a typed node, with their places."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple):
            waiting.extend(each)
        elif field_names(type(each)) and not isinstance(each, Span) and id(each) not in seen:
            seen.add(id(each))
            span, type_ = getattr(each, "span", None), getattr(each, "type", None)
            if isinstance(span, Span) and span.file == file and isinstance(type_, typed.Type):
                yield type_, span
            waiting.extend(parts(each))

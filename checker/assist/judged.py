"""Copies a spec so that the library's properties are asked in place of the author's.

Declarations that use a name of the library are renamed; the rest of the file is unchanged.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from checker import resources
from checker.diagnostics import SpecError
from checker.language.library import prelude
from checker.language.mutation.source_text import Edit, Source
from checker.language.syntax.ast_items import Check, PropertyDecl
from checker.language.syntax.walk import nodes_of

OTHER = "_of_the_author"
"""The end of the new names."""
FOLDER = "judged"


def judged_copy(
    folder: Path, path: str, check: str, document: dict[str, Any], interface: str | None
) -> tuple[list[str], str] | None:
    """Writes the copy; returns the properties to ask of ``check``, and the path of the copy.

    ``document``: what the file declares (:mod:`checker.assist.look`).  ``None``: the library has no
    ``interface``.
    """
    known = prelude().interfaces
    if interface is not None and interface not in known:
        return None
    found = next(c for c in document["checks"] if c["check"] == check)
    names = list(found["hides"])
    if interface is not None:
        names += [p.name for p in known[interface].properties if p.name not in names]
    target = folder / FOLDER
    shutil.rmtree(target, ignore_errors=True)
    own = [p for p in folder.rglob("*.bcast") if FOLDER not in p.relative_to(folder).parts]
    first = resources.spec_path(path)
    for each in own:
        asked = [n for n in names if n not in found["properties"]] if each == folder / path else []
        copy = target / each.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(_judged(each, names, check, asked))
    return names, str(first) if first.is_absolute() else os.path.join(FOLDER, path)


def _judged(path: Path, names: list[str], check: str, asked: list[str]) -> bytes:
    """Returns the text of a spec in which the declared properties ``names`` are renamed, and
    ``check`` also asks the properties ``asked``; unchanged if it can't be parsed, since the check
    does not import it then."""
    try:
        source = Source(path)
    except (SpecError, UnicodeDecodeError):
        return path.read_bytes()
    edits = []
    for node in nodes_of(source.spec):
        match node:
            case PropertyDecl(name=name) if name.text in names:
                edits.append(source.instead(name.span, f"{name.text}{OTHER}"))
            case Check(name=name) if asked and name.text == check:
                end = source.bounds(node.span)[1] - len("}")
                edits.append(Edit(end, end, f"\n  prove {', '.join(asked)}\n"))
    return source.edited(edits).encode()

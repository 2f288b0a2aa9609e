"""Copies a spec so that the library's properties are asked in place of the author's.

Declarations that use a name of the library are renamed; the rest of the file is unchanged.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

from checker import resources
from checker.language.library import prelude

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
        text = _renamed(each.read_text(encoding="utf-8", errors="replace"), names)
        if each == folder / path:
            text = _asking(text, check, [n for n in names if n not in found["properties"]])
        copy = target / each.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    return names, str(first) if first.is_absolute() else os.path.join(FOLDER, path)


def _renamed(text: str, names: list[str]) -> str:
    """Returns the text with the declared properties ``names`` renamed."""
    some = "|".join(map(re.escape, names))
    return re.sub(rf"\b((?:property|invariant)\s+)({some})\b", rf"\1\2{OTHER}", text)


def _asking(text: str, check: str, names: list[str]) -> str:
    """Returns the text in which ``check`` also asks the properties ``names``."""
    if not names:
        return text
    clause = f"  prove {', '.join(names)}\n"
    begin = rf"(^[ \t]*check\s+{re.escape(check)}\s+of\b[^{{]*\{{)"
    return re.sub(begin, rf"\1 {clause}", text, count=1, flags=re.MULTILINE)

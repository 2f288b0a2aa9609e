"""Renames what a spec declares, in all files that see it."""

from __future__ import annotations

import re
from pathlib import Path

from checker import resources
from checker.editor.declarations import Declaration
from checker.editor.document import Desk, Document, Position
from checker.editor.fixes import Fix, applied
from checker.editor.index import Occurrence

NAME = re.compile(r"[A-Za-z_]\w*'*")


class Refused(Exception):
    """A name can't be changed; the message says why."""


def references(
    declared: Declaration, document: Document, desk: Desk
) -> dict[Path, list[Occurrence]]:
    """Returns where a name is that is declared so, in ``document`` and all files that see it."""
    found = {}
    for other in desk.sharing(declared, document):
        here = [each for each in other.occurrences if _is_same(each.of, declared)]
        if here:
            found[other.path] = here
    return found


def _is_same(one: Declaration, other: Declaration) -> bool:
    return one.span == other.span and one.name == other.name


def renamable(document: Document, place: Position) -> Occurrence:
    """Returns the name at ``place``; raises :class:`Refused` where it can't be changed."""
    found = document.at(place)
    if found is None:
        raise Refused("no declared name here")
    if Path(found.of.span.file).is_relative_to(resources.interfaces()):
        if not document.path.is_relative_to(resources.interfaces()):
            raise Refused(f"`{found.of.name}` is declared by the tool")
    if not found.renames:
        raise Refused(f"this is derived from `{found.of.name}`: rename its declaration")
    return found


def rename(document: Document, place: Position, name: str, desk: Desk) -> dict[Path, list[Fix]]:
    """Returns the changes that give what is at ``place`` another name, by file.

    Raises :class:`Refused` where the name is none, where it means something already at a place
    where it would be written, and where what is derived from it (``broadcasts`` of a request) is
    used.
    """
    declared = renamable(document, place).of
    if not NAME.fullmatch(name):
        raise Refused(f"`{name}` is not a name")
    if name == declared.name:
        return {}
    found = references(declared, document, desk)
    if any(not each.renames for occurrences in found.values() for each in occurrences):
        forms = "its histories and the verbs of clients"
        raise Refused(f"`{declared.name}` is also used in other forms ({forms})")
    title = f"rename `{declared.name}` to `{name}`"
    changes = {
        path: [Fix(title, each.span, name) for each in occurrences]
        for path, occurrences in found.items()
    }
    for path, here in changes.items():
        _require_same_meaning(desk.document(path), here, declared, name, desk)
    return changes


def _require_same_meaning(
    before: Document, changes: list[Fix], declared: Declaration, name: str, desk: Desk
) -> None:
    """Raises :class:`Refused` where some name would mean something else with ``changes``."""
    after = desk.changed(before.path, applied(before, changes))
    if len(after.analysis.diagnostics) > len(before.analysis.diagnostics):
        new = [d for d in after.analysis.diagnostics if d.severity == "error"]
        why = new[0].message if new else "it would not fit"
        if declared.span.file == str(before.path):
            raise Refused(f"`{name}` can't be its name: {why}")
    if declared.span.file != str(before.path):
        return  # its declaration still has the old name in the other file
    old = [(o.of.name == declared.name and _is_same(o.of, declared)) for o in before.occurrences]
    new_names = [o.of.name == name for o in after.occurrences]
    if len(old) != len(new_names) or any(
        was and not now for was, now in zip(old, new_names, strict=True)
    ):
        raise Refused(f"`{name}` already has another meaning in this scope")

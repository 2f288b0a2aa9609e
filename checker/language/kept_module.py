"""Keeps typed files on disk (:mod:`checker.kept`), each with the texts that determine it: its own
and those of its imports.

A file without errors need then be neither parsed nor typed; the library's files are among the
sources of the tool, by which everything is kept.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from checker import kept
from checker.diagnostics import SpecError
from checker.language.reading import digest_of, identity_of, read
from checker.language.syntax import typed

if TYPE_CHECKING:
    from checker.language.library import Source


class Imported(Struct, frozen=True):
    """A file that an import names: its path, what identifies it, and the digest of its text."""

    path: str
    identity: str
    digest: bytes


class KeptModule(Struct, frozen=True):
    """What a file declares; ``digests``: by the name of a check, of all that determines it;
    ``imports``: all files that the file and its imports import."""

    module: typed.Module
    digests: dict[str, bytes]
    imports: tuple[Imported, ...]


def load(text: str, path: str) -> KeptModule | None:
    """Returns what is kept of the file ``path`` with this text; ``None`` where nothing is, or where
    an import is not what it was."""
    file = _file(text, path)
    found: KeptModule | None = None if file is None else kept.load(file)
    return found if found is not None and all(map(_is_as_it_was, found.imports)) else None


def keep(text: str, source: Source, path: str, module: typed.Module) -> KeptModule | None:
    """Keeps ``module``, which is without errors, of ``source``, the file ``path``; returns it as it
    is kept, and ``None`` where it can't be."""
    from checker.language.library import imports_of

    file = _file(text, path)
    if file is None:
        return None
    imports = tuple(
        Imported(str(target), identity_of(target), imported.digest)
        for target, imported in imports_of(source)
    )
    try:
        module = pickle.loads(pickle.dumps(module))
        digests = {c.name: hashlib.sha256(pickle.dumps(c)).digest() for c in module.checks}
    except kept.UNUSABLE:
        return None
    return kept.store(file, KeptModule(module, digests, imports))


def _file(text: str, path: str) -> Path | None:
    where = f"{path}\0{identity_of(Path(path))}".encode("utf-8", "surrogatepass")
    return kept.path_of(kept.key(b"module", where, digest_of(text))) if kept.is_used() else None


def _is_as_it_was(imported: Imported) -> bool:
    path = Path(imported.path)
    try:
        text = read(path)
    except SpecError:
        return False
    return (identity_of(path), digest_of(text)) == (imported.identity, imported.digest)

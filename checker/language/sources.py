"""Computes digests of the sources of a check."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from msgspec import Struct

from checker.language.library import open_source
from checker.language.reading import data_of, read
from checker.resources import interfaces

SHIPPED = "what comes with the tool"


class SourceText(Struct, frozen=True):
    """A file as it was read; ``shipped``: it is part of the tool's library."""

    file: str
    data: bytes
    shipped: bool = False

    @property
    def digest(self) -> str:
        """Returns the SHA-256 in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def own_texts(path: Path | str) -> tuple[SourceText, ...]:
    """Returns the file at ``path`` and its imports; raises :class:`SpecError` where they can't be
    read."""
    where = Path(path)
    files = (source.spec.file for source in open_source(read(where), where).all())
    return tuple(SourceText(file, data_of(Path(file))) for file in files)


def shipped_texts() -> tuple[SourceText, ...]:
    """Returns all files of the tool's library."""
    files = sorted(interfaces().rglob("*.bcast"))
    return tuple(SourceText(str(file), file.read_bytes(), True) for file in files)


def digests(path: Path | str) -> dict[str, str]:
    """Returns a SHA-256 in hexadecimal for the file at ``path``, each file that it imports, and the
    interfaces and protocols that every file sees; by path, relative to the folder of ``path``.

    Raises :class:`SpecError` where they can't be read.
    """
    where = Path(path)
    found: dict[str, str] = {}
    shipped = hashlib.sha256()
    for source in (*own_texts(where), *shipped_texts()):
        if source.shipped:
            shipped.update(source.data)
        else:
            name = os.path.relpath(source.file, where.parent).replace(os.sep, "/")
            found[name] = source.digest
    return {**found, SHIPPED: shipped.hexdigest()}

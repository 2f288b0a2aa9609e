"""What a check is made from, in as few bytes as tell it from another text."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from checker.lang.library import open_source, read
from checker.resources import interfaces

SHIPPED = "what comes with the tool"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file as it was read; ``shipped``: it comes with the tool."""

    file: str
    data: bytes
    shipped: bool = False

    @property
    def digest(self) -> str:
        """The SHA-256 in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()


def texts(path: Path | str) -> tuple[SourceText, ...]:
    """The file at ``path``, what it imports, and all that comes with the tool.

    Raises :class:`SpecError` where they can't be read.
    """
    where = Path(path)
    own = [source.spec.file for source in open_source(read(where), where).all()]
    shipped = sorted(str(file) for file in interfaces().rglob("*.bcast"))
    own_texts = [SourceText(file, Path(file).read_bytes()) for file in own]
    return (*own_texts, *(SourceText(file, Path(file).read_bytes(), True) for file in shipped))


def digests(path: Path | str) -> dict[str, str]:
    """A SHA-256 in hexadecimal for the file at ``path``, each file that it imports, and the
    interfaces and protocols that every file sees; by path, relative to the folder of ``path``.

    Raises :class:`SpecError` where they can't be read.
    """
    where = Path(path)
    found: dict[str, str] = {}
    shipped = hashlib.sha256()
    for source in texts(where):
        if source.shipped:
            shipped.update(source.data)
        else:
            name = os.path.relpath(source.file, where.parent).replace(os.sep, "/")
            found[name] = source.digest
    return {**found, SHIPPED: shipped.hexdigest()}

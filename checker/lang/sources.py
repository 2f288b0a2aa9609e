"""What a check is made from, in as few bytes as tell it from another text."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from checker.lang.library import open_source, read
from checker.resources import interfaces

SHIPPED = "what comes with the tool"


def digests(path: Path | str) -> dict[str, str]:
    """A SHA-256 in hexadecimal for the file at ``path``, each file that it imports, and the
    interfaces and protocols that every file sees; by path, relative to the folder of ``path``.

    Raises :class:`SpecError` where they can't be read.
    """
    where = Path(path)
    found: dict[str, str] = {}
    for source in open_source(read(where), where).all():
        file = source.spec.file
        name = os.path.relpath(file, where.parent).replace(os.sep, "/")
        found[name] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    shipped = hashlib.sha256()
    for each in sorted(interfaces().rglob("*.bcast")):
        shipped.update(each.read_bytes())
    return {**found, SHIPPED: shipped.hexdigest()}

"""Finds the file that declares a module which a spec mentions and does not import."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from checker import resources

LARGEST = 1_000_000
"""The largest size of a file that is searched, in bytes."""


def import_hint(name: str, file: str) -> str:
    """Returns the hint to import what declares the protocol or interface ``name``, for the spec
    ``file``; empty where neither its folder nor the library has it."""
    declares = re.compile(
        rf"^[ \t]*(protocol|variant|interface)[ \t]+{re.escape(name)}\b", re.MULTILINE
    )
    for path in _candidates(Path(file).parent):
        if path.resolve() != Path(file).resolve() and declares.search(_text(path)):
            return f'another file declares it: add `import "{_shown(path, Path(file).parent)}"`'
    return ""


def _candidates(folder: Path) -> Iterator[Path]:
    """Yields the specs beside a spec of ``folder``, then those of the library."""
    yield from sorted(folder.glob("*.bcast"))
    try:
        yield from sorted(resources.specs().rglob("*.bcast"))
    except FileNotFoundError:
        return


def _text(path: Path) -> str:
    try:
        return resources.regular(path, LARGEST).decode("utf-8", "replace")
    except (OSError, resources.Unreadable):
        return ""


def _shown(path: Path, folder: Path) -> str:
    """Returns ``path`` as an import in a spec of ``folder`` names it."""
    whole = path.resolve()
    near = os.path.relpath(whole, folder.resolve())
    return min(near, str(whole), key=len).replace(os.sep, "/")

"""Keeps the typed library of the tool on disk: every command needs it, and typing it takes thirty
times as long as reading it.

It is kept under a digest of the library's files and of all sources that determine how they are
typed, as a pickle: in the user's own cache folder, where machine code is kept, too, and a file that
was damaged is not used (:mod:`checker.resources`).
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from checker import diagnostics, records, resources

T = TypeVar("T")

KEPT = 20
"""The largest number of libraries that are kept: one for each version of the tool."""


def kept(files: Sequence[Path], make: Callable[[], T]) -> T:
    """Returns what ``make`` returns for the library's ``files``, or what it has returned before;
    raises what ``make`` does."""
    path = _path(files)
    data = None if path is None else resources.load_cached(path)
    if data is not None:
        try:
            found: T = pickle.loads(data)
            return found
        except Exception:  # whatever it is, it is made again
            pass
    made = make()
    if path is not None:
        resources.store_cached(path, pickle.dumps(made, pickle.HIGHEST_PROTOCOL), KEPT)
    return made


def sources() -> list[Path]:
    """Returns the sources that determine how a file is typed."""
    around = [Path(str(module.__file__)) for module in (diagnostics, records, resources)]
    return [resources.grammar(), *around, *sorted(Path(__file__).parent.rglob("*.py"))]


def _path(files: Sequence[Path]) -> Path | None:
    folder = resources.cache_folder("typed")
    if folder is None:
        return None
    digest = hashlib.sha256(f"{sys.version} {msgspec.__version__}".encode())
    for file in (*sources(), *files):
        data = file.read_bytes()
        digest.update(f" {file} {len(data)} ".encode("utf-8", "surrogatepass") + data)
    return folder / f"{digest.hexdigest()}.pickle"

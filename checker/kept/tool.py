"""Computes a digest of all of the tool that determines what is kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from checker import resources

SOURCES = (
    "diagnostics", "engines/native", "instantiate", "language", "model", "properties",
    "reductions", "results", "session",
)  # fmt: skip
"""The packages, beside the modules that are in none, whose code computes what is kept: those that
the functions given to :func:`result` import."""

SETTLED = 2.0
"""Seconds after which a file that is written has another time of change than before."""


@cache
def tool_digest() -> bytes:
    """Returns a digest of the tool: of its sources, of Python, and of the library whose records
    are pickled (machine code has its own cache)."""
    about = (sys.version, sys.flags.optimize, msgspec.__version__)
    return hashlib.sha256(repr(about).encode() + source_digest()).digest()


def source_digest() -> bytes:
    """Returns a digest of :data:`SOURCES`, the grammar and the library: their paths and contents.

    The contents are read again where a file has another size, inode, or time of change than when
    they were last read.  That of a file that was changed just now is not trusted: another change
    might not show in it.
    """
    files, latest = hashlib.sha256(repr(resources.__file__).encode()), 0
    for path, status in _files():
        of_file = (path, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        files.update(repr(of_file).encode("utf-8", "surrogatepass"))
        latest = max(latest, status.st_ctime_ns, status.st_mtime_ns)
    folder = resources.cache_folder("sources")
    known = None if folder is None else folder / f"{files.hexdigest()}.sha256"
    found = None if known is None else resources.load_cached(known)
    if found is None:
        found = content_digest()
        if known is not None and latest < (time.time() - SETTLED) * 1e9:
            resources.store_cached(known, found, 20)
    return found


def content_digest() -> bytes:
    """Returns the same, of which every file is read."""
    digest = hashlib.sha256()
    for path, _ in _files():
        data = Path(path).read_bytes()
        digest.update(f"{path} {len(data)} ".encode("utf-8", "surrogatepass") + data)
    return digest.digest()


def _files() -> Iterator[tuple[str, os.stat_result]]:
    """Yields the files of the tool that determine its answers, in a fixed order."""
    grammar = str(resources.grammar())
    yield grammar, os.stat(grammar)
    yield from _inside(str(resources.interfaces()), ".bcast")
    package = Path(resources.__file__).parent
    yield from _inside(str(package), ".py", deep=False)
    for name in SOURCES:
        yield from _inside(str(package / name), ".py")


def _inside(folder: str, suffix: str, deep: bool = True) -> Iterator[tuple[str, os.stat_result]]:
    """Yields the files with such a ``suffix`` in a folder, and in those in it if ``deep``."""
    with contextlib.closing(os.scandir(folder)) as entries:
        here = sorted(entries, key=lambda entry: entry.name)
    for entry in here:
        if entry.name.endswith(suffix):
            yield entry.path, entry.stat()
        elif deep and entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
            yield from _inside(entry.path, suffix)

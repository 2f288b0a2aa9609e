"""Keeps on disk what was computed from a spec, so that a later command need not compute it again.

A result is kept under a digest of all that determines it: the inputs that its caller names, and the
contents of the tool's sources that can have computed it (:data:`SOURCES`).  So no other version
answers, and neither does this one where it was edited.  What is kept are pickles in the user's own
cache folder, where machine code is kept, too; a file that was damaged is not used
(:mod:`checker.resources`).

Only commands keep results (:func:`use`): in a program that imports the tool, functions may have
been replaced, which no digest of sources shows.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from checker import resources

T = TypeVar("T")

SOURCES = (
    "diagnostics", "engines/native", "instantiate", "language", "model", "properties",
    "reductions", "results", "session",
)  # fmt: skip
"""The packages, beside the modules that are in none, whose code computes what is kept: those that
the functions given to :func:`result` import."""

FOLDER = "results"
KEPT = 3_000
"""The largest number of results that are kept; the oldest are removed first."""
LARGEST = 8_000_000
"""The largest size of a result that is kept, in bytes before it is compressed."""
UNUSABLE = (pickle.PicklingError, TypeError, AttributeError, RecursionError)
"""What is raised where something can't be pickled."""
SETTLED = 2.0
"""Seconds after which a file that is written has another time of change than before."""

_state = {"in use": False}
_names: dict[int, tuple[object, bytes]] = {}


def use(yes: bool = True) -> None:
    """Lets this process keep results, and use those that are kept, or no longer."""
    _state["in use"] = yes


def is_used() -> bool:
    """Returns whether this process keeps results."""
    return _state["in use"]


def result(make: Callable[[], T], *determined_by: object, of: str = "") -> T:
    """Returns what ``make`` returns, or what it has returned before, which ``determined_by`` and
    the sources of the tool determine; raises what ``make`` does, of which nothing is kept.

    ``of``: the attribute of the result that what is made of it depends on; empty: all of it.  What
    is made now and what was kept are alike: both have been pickled.
    """
    if not is_used():
        return make()
    try:
        digest = key(*map(name_of, determined_by))
    except UNUSABLE:
        return make()
    path = path_of(digest)
    found: tuple[T] | None = None if path is None else load(path)
    if path is not None and found is None:
        made = make()
        found = store(path, (made,)) or (made,)
    if found is None:
        return make()
    name(getattr(found[0], of) if of else found[0], digest)
    return found[0]


def path_of(digest: bytes) -> Path | None:
    """Returns the file of a result; ``None`` where none is kept."""
    folder = resources.cache_folder(FOLDER) if is_used() else None
    return None if folder is None else folder / f"{digest.hex()}.pickle"


def key(*parts: bytes) -> bytes:
    """Returns the digest of ``parts`` and of the tool."""
    digest = hashlib.sha256(tool_digest())
    for part in parts:
        digest.update(b"%d " % len(part) + part)
    return digest.digest()


def load(path: Path) -> Any:
    """Returns what is kept in the file ``path``; ``None`` where there is nothing."""
    data = resources.load_cached(path)
    if data is None:
        return None
    try:
        return pickle.loads(zlib.decompress(data))
    except Exception:  # whatever it is, it is made again
        return None


def store(path: Path, value: T) -> T | None:
    """Keeps ``value`` in the file ``path``, and returns a copy that is as if it had been kept
    before; ``None`` where it can't be kept."""
    try:
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        if len(data) > LARGEST:
            return None
        again: T = pickle.loads(data)
    except UNUSABLE:
        return None
    resources.store_cached(path, zlib.compress(data, 1), KEPT)
    return again


# ---- names of values ----------------------------------------------------------------------------


def name(value: object, digest: bytes) -> None:
    """Declares that ``digest`` determines ``value``, until :func:`forget`."""
    _names[id(value)] = (value, digest)


def name_of(value: object) -> bytes:
    """Returns a digest that determines ``value``: the one that it was given, or that of its pickle,
    which may be different in another process.  Raises one of :data:`UNUSABLE`."""
    known = _names.get(id(value))
    return hashlib.sha256(pickle.dumps(value)).digest() if known is None else known[1]


def forget() -> None:
    """Forgets the names of all values."""
    _names.clear()


# ---- the tool -----------------------------------------------------------------------------------


@cache
def tool_digest() -> bytes:
    """Returns a digest of the tool: of its sources, of Python, and of the library whose records
    are pickled (machine code has a cache of its own)."""
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

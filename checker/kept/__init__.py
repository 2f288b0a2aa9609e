"""Keeps on disk what was computed from a spec, so that a later command need not compute it again.

A result is kept under a digest of all that determines it: the inputs that its caller names, and the
contents of the tool's sources that can have computed it (:mod:`checker.kept.tool`).  So no other
version answers, and neither does this one where it was edited.  What is kept are pickles in the
user's own cache folder, where machine code is kept, too; a file that was damaged is not used
(:mod:`checker.resources`).

Only commands keep results (:func:`use`): in a program that imports the tool, functions may have
been replaced, which no digest of sources shows.
"""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from checker import resources
from checker.kept.tool import tool_digest

T = TypeVar("T")

FOLDER = "results"
KEPT = 6_000
"""About the largest number of results that are kept; the oldest are removed first."""
LOOK = "0"
"""How the name of a result begins that is stored with a look for too many of them."""
LARGEST = 8_000_000
"""The largest size of a result that is kept, in bytes before it is compressed."""
UNUSABLE = (pickle.PicklingError, TypeError, AttributeError, RecursionError)
"""What is raised where something can't be pickled."""
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
    most = KEPT if path.name.startswith(LOOK) else None
    resources.store_cached(path, zlib.compress(data, 1), most)
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

"""Where files are: those that travel with the tool, and what it keeps for the user."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

_PACKAGE = Path(__file__).resolve().parent


@cache
def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    if installed.is_dir():
        return installed
    checkout = _PACKAGE.parent / name
    if checkout.is_dir():
        return checkout
    raise FileNotFoundError(f"the folder `{name}` of this installation is missing")


def grammar() -> Path:
    """The lark grammar of the language; raises ``FileNotFoundError`` where it is missing."""
    return _folder("grammar") / "bivalence.lark"


def specs() -> Path:
    """The folder of the protocol library; raises ``FileNotFoundError`` where it is missing."""
    return _folder("specs")


def interfaces() -> Path:
    """The folder of the interfaces and default protocols that every spec sees."""
    return specs() / "interfaces"


def called(file: str) -> str:
    """How ``file`` is called in documents that are read elsewhere: those that travel with the tool
    by their place in it, all others as they are."""
    shipped = interfaces()
    path = Path(file)
    return f"{shipped.name}/{path.relative_to(shipped)}" if path.is_relative_to(shipped) else file


def pages() -> Path:
    """The folder of the pages that explain the diagnostics, one ``CODE.md`` each."""
    return _PACKAGE / "diagnostics" / "pages"


def page() -> Path:
    """The folder of the templates, the style sheet and the script of HTML pages."""
    return _PACKAGE / "views" / "page"


def cache_folder(name: str = "") -> Path | None:
    """The user's cache folder for this tool, or one in it; ``None`` where it can't be made."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
        folder = root / "bivalence" / name
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return folder


class Unreadable(ValueError):
    """What is no regular file of a size that is read, in words."""


def regular(path: str | os.PathLike[str], most: int) -> bytes:
    """What is in the regular file ``path``, of at most ``most`` bytes.

    Raises :class:`Unreadable` where it is something else, such as a pipe or a device, at which one
    could wait or read for ever; and ``OSError``, or ``ValueError`` for a name that no file has.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise Unreadable(f"it is {kind}")
    with open(path, "rb") as file:
        return at_most(file, most)


def at_most(file: IO[bytes], most: int) -> bytes:
    """All that ``file`` has; raises :class:`Unreadable` where that is more than ``most`` bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise Unreadable(f"it is larger than {most:,} bytes")
    return data


def keep(path: Path, data: bytes, most: int) -> None:
    """Writes ``data`` to a file of a cache folder, whole or not at all, and silently.

    The oldest half of the folder goes when it holds more than ``most`` files of that kind.
    """
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        kept = sorted(path.parent.glob(f"*{path.suffix}"), key=lambda p: p.stat().st_mtime)
        if len(kept) > most:
            for old in kept[: len(kept) // 2]:
                old.unlink(missing_ok=True)

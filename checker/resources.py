"""Locates files: those that are shipped with the tool, and those that it keeps for the user.

Also says which versions are installed, of the tool and of what it needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

_PACKAGE = Path(__file__).resolve().parent
CONFINED = "BIVALENCE_ROOT"
"""The environment variable that names the folder outside of which no spec is read, but for those of
the library."""
DIGEST = hashlib.sha256().digest_size


@cache
def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    if installed.is_dir():
        return installed
    checkout = _PACKAGE.parent / name
    if checkout.is_dir():
        return checkout
    raise FileNotFoundError(f"the folder `{name}` of this installation is missing")


def installed_version(package: str) -> str | None:
    """Returns the version of the distribution ``package``; ``None`` where it is not installed."""
    found = _listed_version(package)
    if found is not None:
        return found
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _listed_version(package: str) -> str | None:
    """Returns the version that the only folder of metadata of ``package`` names: the standard
    library imports much to find the same.  ``None``: it has to search."""
    begin, end = f"{package.replace('-', '_').lower()}-", ".dist-info"
    found = [
        Path(folder) / name
        for folder in dict.fromkeys(sys.path)
        if os.path.isdir(folder or ".")
        for name in os.listdir(folder or ".")
        if name.lower().startswith(begin) and name.endswith(end)
    ]
    try:
        lines = (found[0] / "METADATA").read_text(encoding="utf-8").splitlines()
    except (IndexError, OSError, ValueError):
        return None
    versions = [line.partition(": ")[2] for line in lines if line.startswith("Version: ")]
    return versions[0].strip() if versions and len(found) == 1 else None


@cache
def version() -> str:
    """Returns the version of the tool; ``0`` where it is not installed as a distribution."""
    return installed_version("bivalence") or "0"


def grammar() -> Path:
    """Returns the lark grammar of the language; raises ``FileNotFoundError`` where it is
    missing."""
    return _folder("grammar") / "bivalence.lark"


def language_reference() -> list[Path]:
    """Returns the pages of the reference of the language, in Markdown, in reading order; raises
    ``FileNotFoundError`` if they are missing."""
    folder = _folder("docs") / "language"
    pages = ("protocols", "statements", "properties", "checks", "advanced", "semantics")
    return [folder / f"{page}.md" for page in pages]


def specs() -> Path:
    """Returns the folder of the protocol library; raises ``FileNotFoundError`` where it is
    missing."""
    return _folder("specs")


def spec_path(name: str | Path) -> Path:
    """Returns the file of the library that is called ``name``: ``broadcast/eager_reliable``, say.

    Any other name is a path, and is returned as one.
    """
    if re.fullmatch(r"[a-z0-9_]+(/[a-z0-9_]+)+", str(name), re.ASCII) is None:
        return Path(name)
    found = specs() / f"{name}.bcast"
    return found if found.is_file() else Path(name)


def spec_names() -> list[str]:
    """Returns the names of all files of the library, sorted: those that :func:`spec_path` finds."""
    folder = specs()
    return sorted(str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.bcast"))


def documents() -> Path:
    """Returns the folder of the documents in Markdown, the skill for assistants among them; raises
    ``FileNotFoundError`` if it is missing."""
    return _folder("docs")


def editor_extension() -> Path:
    """Returns the folder of the extension for Visual Studio Code, as source."""
    return _folder("editors") / "vscode"


def install_command(extra: str) -> str:
    """Returns the command that installs what the extra ``extra`` needs: its packages, by name, as
    this project itself is on no index."""
    from importlib.metadata import PackageNotFoundError, requires

    with contextlib.suppress(PackageNotFoundError):
        needed = [
            each.partition(";")[0].strip()
            for each in requires("bivalence") or ()
            if re.search(rf"extra == ['\"]{extra}['\"]", each)
        ]
        if needed:
            return "pip install " + " ".join(f"'{each}'" for each in needed)
    return f"pip install '.[{extra}]'"


def interfaces() -> Path:
    """Returns the folder of the interfaces and default protocols that every spec sees."""
    return specs() / "interfaces"


def display_name(file: str) -> str:
    """Returns the name of ``file`` in documents that are read elsewhere: for shipped files their
    path within the tool, for all others ``file`` itself."""
    shipped = interfaces()
    path = Path(file)
    return f"{shipped.name}/{path.relative_to(shipped)}" if path.is_relative_to(shipped) else file


def pages() -> Path:
    """Returns the folder of the pages that explain the diagnostics, one ``CODE.md`` each."""
    return _PACKAGE / "diagnostics" / "pages"


def page() -> Path:
    """Returns the folder of the templates, the style sheet and the script of HTML pages."""
    return _PACKAGE / "render" / "html"


_refused: dict[Path, str] = {}


def take_refused_folders() -> dict[Path, str]:
    """Returns the folders that were refused since the last call, each with the reason."""
    found = dict(_refused)
    _refused.clear()
    return found


def cache_folder(name: str = "") -> Path | None:
    """Returns the user's cache folder for this tool, or one in it; ``None`` where there is none
    that only this user can write to (see :func:`own_folder`)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
        os.makedirs(root, 0o700, exist_ok=True)
    except (OSError, RuntimeError, ValueError):
        return None
    folder = own_folder(root / "bivalence")
    return folder if folder is None or not name else own_folder(folder / name)


def cache_folders() -> list[Path]:
    """Returns the user's cache folder and those in it."""
    root = cache_folder()
    return [] if root is None else [root, *(each for each in root.iterdir() if each.is_dir())]


def temporary_prefix(prefix: str) -> str:
    """Returns how the names of temporary files begin: with the mark of this command, by which they
    are found where it is killed (:mod:`checker.cli.supervisor`)."""
    mark = os.environ.get("BIVALENCE_RUN")
    return f"{prefix}{mark}-" if mark else prefix


def own_folder(folder: Path) -> Path | None:
    """Returns ``folder``, created where it is missing; ``None`` where it can't be created.

    Also ``None``, reported by :func:`take_refused_folders`, where it belongs to another user or
    others may write there: what is kept in it decides verdicts, and some of it is executed as
    machine code.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        why = _stranger(folder.lstat(), folder.stat())
    except (OSError, ValueError):
        return None
    if why:
        _refused[folder] = why
    return None if why else folder


def _stranger(link: os.stat_result, found: os.stat_result) -> str:
    """Returns who else could have put there what is found; ``link``: the name, which may be a link
    to it.

    Empty where no other user could, and where the system has no owners of files.
    """
    if os.name != "posix":
        return ""
    if {link.st_uid, found.st_uid} != {os.geteuid()}:
        return "it belongs to another user"
    return "others may write there" if found.st_mode & 0o022 else ""


class Unreadable(ValueError):
    """What was to be read is no regular file of a size that is read; the message says so."""


def regular(path: str | os.PathLike[str], most: int) -> bytes:
    """Returns the content of the regular file ``path``, of at most ``most`` bytes.

    Raises :class:`Unreadable` where it is something else, such as a pipe or a device, from which
    reading may block or never end; and ``OSError``, or ``ValueError`` for an invalid name.
    """
    require_inside(path)
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise Unreadable(f"it is {kind}")
    with open(path, "rb") as file:
        return at_most(file, most)


def require_inside(path: str | os.PathLike[str]) -> None:
    """Raises :class:`Unreadable` where only one folder may be read (:data:`CONFINED`), and
    ``path``, its links followed, is neither there nor one of the files that come with the tool."""
    root = os.environ.get(CONFINED)
    if root is None:
        return
    real, folders = Path(os.path.realpath(path)), (os.path.realpath(root), specs(), _PACKAGE)
    if not any(real.is_relative_to(folder) for folder in folders):
        raise Unreadable("it is outside of the folder that may be read")


def at_most(file: IO[bytes], most: int) -> bytes:
    """Returns all that ``file`` has; raises :class:`Unreadable` where that is more than ``most``
    bytes."""
    data = file.read(most + 1)
    if len(data) > most:
        raise Unreadable(f"it is larger than {most:,} bytes")
    return data


def store_cached(path: Path, data: bytes, most: int | None) -> None:
    """Writes ``data`` to a file of a cache folder, atomically, and ignores failures.

    The oldest half of the folder is deleted when it holds more than ``most`` files of that kind
    (``None``: however many there are).
    """
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(prefix=temporary_prefix("tmp"), dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(path, data) + data)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
        if most is None:
            return
        kept = [name for name in os.listdir(path.parent) if name.endswith(path.suffix)]
        if len(kept) > most:
            old = sorted((path.parent / name for name in kept), key=lambda p: p.stat().st_mtime)
            for each in old[: len(old) // 2]:
                each.unlink(missing_ok=True)


def load_cached(path: Path) -> bytes | None:
    """Returns what :func:`store_cached` has written to ``path``; ``None`` where there is nothing,
    where it is damaged, and where another user could have written it."""
    try:
        with open(path, "rb", opener=_itself) as file:
            status = os.fstat(file.fileno())
            found = b"" if _stranger(status, status) else file.read()
    except OSError:
        return None
    head, data = found[:DIGEST], found[DIGEST:]
    return data if head == _digest(path, data) else None


def _itself(path: str, flags: int) -> int:
    """Opens a file, and not one that ``path`` is a link to."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


def _digest(path: Path, data: bytes) -> bytes:
    """Returns the digest of a file's content together with its name."""
    return hashlib.sha256(path.name.encode() + b"\0" + data).digest()

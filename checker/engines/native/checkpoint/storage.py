"""Storage of a folder: on this machine, on a shared disk, or in an object store.

A name is a path in the folder, with ``/``.  Every failure is an ``OSError`` of one line.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

WHOLE_OBJECTS = {"s3", "gcs", "abfs"}
"""The filesystems in which a file appears when all of it is written, and renaming is copying."""
UNFINISHED = ".part"
"""The suffix of the names of files that are being written."""


class Storage:
    """The folder ``location``, a path or a URI; can be pickled, opens files lazily."""

    def __init__(self, location: str) -> None:
        if location.startswith("file://"):
            from urllib.parse import unquote, urlparse

            location = unquote(urlparse(location).path)
        self.local = "://" not in location
        self.location = os.path.abspath(location) if self.local else location.rstrip("/")
        self._remote: tuple[Any, str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_remote": None}

    def path(self, name: str) -> str:
        """The whole path of ``name``, or its URI."""
        return f"{self.location}/{name}" if name else self.location

    def files(self) -> dict[str, int]:
        """The names of all files in the folder and below, with their sizes in bytes."""
        if self.local:
            with self._failing(""):
                return dict(_below(self.location))
        from pyarrow import fs

        with self._failing(""):
            system, base = self._system()
            chosen = fs.FileSelector(base, allow_not_found=True, recursive=True)
            found = [one for one in system.get_file_info(chosen) if one.type == fs.FileType.File]
        return {one.path[len(base) :].lstrip("/"): one.size for one in found}

    def exists(self) -> bool:
        """Whether the folder is there."""
        if self.local:
            return os.path.isdir(self.location)
        from pyarrow import fs

        with self._failing(""):
            system, base = self._system()
            return bool(system.get_file_info(base).type == fs.FileType.Directory)

    def entries(self) -> set[str]:
        """The names of the files and folders in the folder itself, which need not exist."""
        with self._failing(""):
            if self.local:
                return set(os.listdir(self.location)) if self.exists() else set()
            from pyarrow import fs

            system, base = self._system()
            chosen = fs.FileSelector(base, allow_not_found=True)
            return {one.base_name for one in system.get_file_info(chosen)}

    def read(self, name: str) -> bytes | None:
        """The contents of a file; ``None`` where there is no such file."""
        try:
            with self._failing(name):
                if self.local:
                    return Path(self.path(name)).read_bytes()
                system, base = self._system()
                with system.open_input_file(f"{base}/{name}") as file:
                    return bytes(file.read())
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Writes a file, or replaces it: completely, and flushed to the disk, or not at all."""
        with self.beside(name) as stream:
            stream.write(data)
        self.flush([name])

    @contextlib.contextmanager
    def beside(self, name: str) -> Iterator[Any]:
        """An Arrow stream, used as a context, that becomes the file ``name`` when it is closed.

        Where an exception is raised meanwhile there is no such file.
        """
        with self._failing(name):
            system, path = self._prepare(name)
            direct = system is not None and system.type_name in WHOLE_OBJECTS
            beside = path if direct else f"{path}.{secrets.token_hex(4)}{UNFINISHED}"
            try:
                if system is None:
                    with _arrow().OSFile(os.fsencode(beside), "wb") as stream:
                        yield stream
                    os.replace(beside, path)
                else:
                    with system.open_output_stream(beside) as stream:
                        yield stream
                    if not direct:
                        _move(system, beside, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(beside) if system is None else system.delete_file(beside)
                raise

    def flush(self, names: Iterable[str]) -> None:
        """Makes these files, and their names, survive a loss of power."""
        if not self.local:
            return
        paths = [self.path(name) for name in names]
        with self._failing(""):
            for path in [*paths, *sorted({os.path.dirname(path) for path in paths})]:
                _flush(path)

    def reader(self, name: str) -> Any:
        """A file for Arrow to read; mapped into memory where it is on this machine."""
        with self._failing(name):
            if self.local:
                return _arrow().memory_map(os.fsencode(self.path(name)), "r")
            system, base = self._system()
            return system.open_input_file(f"{base}/{name}")

    def delete(self, name: str) -> None:
        """Deletes a file, if there is one."""
        with contextlib.suppress(FileNotFoundError), self._failing(name):
            if self.local:
                os.unlink(self.path(name))
            else:
                system, base = self._system()
                system.delete_file(f"{base}/{name}")

    def delete_folder(self, name: str = "") -> None:
        """Deletes a folder with all that is in it, if there is one."""
        import shutil

        with contextlib.suppress(FileNotFoundError), self._failing(name):
            if self.local:
                shutil.rmtree(self.path(name))
            else:
                system, base = self._system()
                system.delete_dir(f"{base}/{name}".rstrip("/"))

    def create(self) -> None:
        """Makes the folder, and its parents, where they are missing."""
        with self._failing(""):
            self._prepare("x")

    def _prepare(self, name: str) -> tuple[Any, str]:
        """The filesystem (``None``: of this machine) and the path of a file whose folder exists."""
        if self.local:
            path = self.path(name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            return None, path
        system, base = self._system()
        path = f"{base}/{name}"
        if system.type_name not in WHOLE_OBJECTS:
            system.create_dir(path.rpartition("/")[0], recursive=True)
        return system, path

    def _system(self) -> tuple[Any, str]:
        if self._remote is None:
            from pyarrow import fs

            try:
                self._remote = fs.FileSystem.from_uri(self.location)
            except ValueError as error:
                raise OSError(errno.EINVAL, _line(error), self.location) from error
        return self._remote

    @contextlib.contextmanager
    def _failing(self, name: str) -> Iterator[None]:
        """Turns errors of the filesystem into an ``OSError`` with its file, on one line."""
        try:
            yield
        except OSError as error:
            if error.filename is not None:
                raise
            number = error.errno or errno.EIO
            said = os.strerror(number) if error.errno else _line(error)
            raise OSError(number, said, self.path(name)) from error


def _arrow() -> Any:
    import pyarrow

    return pyarrow


def _line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _below(folder: str) -> Iterator[tuple[str, int]]:
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            with contextlib.suppress(FileNotFoundError):
                yield os.path.relpath(path, folder).replace(os.sep, "/"), os.path.getsize(path)


def _flush(path: str) -> None:
    """Flushes a file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _move(system: Any, source: str, target: str) -> None:
    try:
        system.move(source, target)
    except OSError:  # a filesystem that does not replace
        system.delete_file(target)
        system.move(source, target)

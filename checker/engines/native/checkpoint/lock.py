"""The lock of a folder, which admits one run at a time.

On this machine, and on disks that it mounts, the lock is the system's and ends with the process.
Elsewhere a *lease* is renewed regularly, and expires when it has not been for a while.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import socket
import threading
import time
from typing import Any

from checker.engines.native.checkpoint.storage import Storage

LOCK, LEASE = "lock", "lease.json"
RENEW, EXPIRES = 10.0, 60.0
"""Seconds after which a lease is renewed, and after which it expires."""


NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""The errors of a disk that does not support locks."""


class FolderLocked(Exception):
    """Another process works in the folder; the message says which."""


class FolderLock:
    """Holds the folder ``place`` for this process until :meth:`leave`.

    Raises :class:`FolderLocked` where another process holds it, and ``OSError``.
    """

    def __init__(self, place: Storage) -> None:
        self.place = place
        self._handle: int | None = None
        self._over = threading.Event()
        self._token = secrets.token_hex(8)
        self._renewal: threading.Thread | None = None
        place.create()
        if place.local and os.name == "posix":
            self._lock()
        else:
            self._lease()

    def leave(self) -> None:
        """Releases the folder."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.place.path(LOCK))
            os.close(self._handle)
            self._handle = None
        if self._renewal is not None:
            self._over.set()
            self._renewal.join()
            self._renewal = None
            with contextlib.suppress(OSError):
                self.place.delete(LEASE)

    def _me(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "token": self._token,
            "at": time.time(),
        }

    # -- a lock of the system -------------------------------------------------------------------

    def _lock(self) -> None:
        import fcntl

        path = self.place.path(LOCK)
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                said = os.pread(handle, 4096, 0)
                os.close(handle)
                raise FolderLocked(_who(said)) from None
            except OSError as error:
                os.close(handle)
                if error.errno not in NO_LOCKS:
                    raise
                return self._lease()
            if _same_file(handle, path):
                break
            os.close(handle)  # the last holder has left, and removed the file
        os.truncate(handle, 0)
        os.pwrite(handle, json.dumps(self._me()).encode(), 0)
        self._handle = handle

    # -- a lease --------------------------------------------------------------------------------

    def _lease(self) -> None:
        said = self.place.read(LEASE)
        if said is not None and _age(said) < EXPIRES:
            raise FolderLocked(_who(said))
        self._renew()
        mine = self.place.read(LEASE) or b""
        if _read(mine).get("token") != self._token:
            raise FolderLocked(_who(mine))
        self._renewal = threading.Thread(target=self._renew_often, daemon=True)
        self._renewal.start()

    def _renew(self) -> None:
        self.place.write(LEASE, json.dumps(self._me()).encode())

    def _renew_often(self) -> None:
        while not self._over.wait(RENEW):
            with contextlib.suppress(OSError):
                self._renew()


def _read(said: bytes) -> dict[str, Any]:
    try:
        document = json.loads(said)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _who(said: bytes) -> str:
    found = _read(said)
    if "pid" not in found:
        return "another process"
    return f"process {found['pid']} on {found.get('host', 'another machine')}"


def _age(said: bytes) -> float:
    """Seconds since a lease was last renewed."""
    at = _read(said).get("at", 0.0)
    return time.time() - at if isinstance(at, float) else EXPIRES


def _same_file(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False

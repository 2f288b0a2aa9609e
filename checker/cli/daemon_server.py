"""The daemon: a process that has imported the tool, and forks for each command.

    python -m checker.cli.daemon_server

It has no threads and only forks, so that no command leaves anything behind in it.  A forked process
takes the place of the one that the client would have forked: it gets the client's streams, folder,
arguments, environment and limits, and the client supervises it.  If a file of the tool, or of a
library that it has imported, was changed, the daemon ends, and commands run without it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import marshal
import os
import random
import resource
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checker import kept, resources
from checker.cli import daemon_client
from checker.cli.errors import say_problem
from checker.cli.main import UNKNOWN, work
from checker.cli.supervisor import Due, end_of_fork

IDLE = 8 * 3600.0
"""Seconds without a command after which the daemon ends."""
LOOK = 60.0
"""Seconds between two checks whether the socket is still its own."""
TRIAL = ("broadcast", "eager_reliable.bcast")
"""A spec of the library whose checks import what most checks need."""
GIVEN = 7
"""The number of descriptors of a request."""


class Request(Struct):
    """A command that is to be run: how its client differs from this process, and its
    descriptors."""

    client: dict[str, Any]
    descriptors: list[int]


class Server:
    """Accepts requests at the socket ``path``."""

    def __init__(self, path: str) -> None:
        self._path, self._kind = path, daemon_client.kind(os.environb)
        self._known, self._served = state(), 0
        self._running: dict[int, socket.socket] = {}
        self._wake, self._woken = os.pipe()
        for end in (self._wake, self._woken):
            os.set_blocking(end, False)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        own = f"{path}.{os.getpid()}"
        self._listener.bind(own)
        os.chmod(own, 0o600)
        self._listener.listen(64)
        self._inode = os.lstat(own).st_ino
        os.replace(own, path)  # a daemon that was there ends when it looks
        self._open, self._last = True, time.monotonic()

    def run(self) -> Request | None:
        """Serves until it is to end, and returns ``None``; in each forked process it returns the
        request."""
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, self._hear)
        while self._open or self._running:
            ends: list[Any] = [self._wake, *([self._listener] if self._open else [])]
            ready = select.select(ends, [], [], LOOK)[0]
            if self._wake in ready:
                os.read(self._wake, 512)
            self._reap()
            if self._listener in ready and self._open:
                request = self._accept()
                if request is not None:
                    return request
            if self._open and not (self._is_found() and time.monotonic() < self._last + IDLE):
                self._close()
        return None

    def _hear(self, number: int, frame: Any) -> None:
        if number == signal.SIGTERM:
            self._close()

    def _close(self) -> None:
        """Accepts no more; what runs goes on."""
        if self._open and self._is_found():
            os.unlink(self._path)
        self._open = False
        self._listener.close()

    def _is_found(self) -> bool:
        try:
            return os.lstat(self._path).st_ino == self._inode
        except OSError:
            return False

    def _reap(self) -> None:
        """Sends their clients the status of processes that have ended."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not process:
                return
            if (connection := self._running.pop(process, None)) is not None:
                with connection, contextlib.suppress(OSError):
                    connection.sendall(status.to_bytes(4, "little"))

    # ---- requests ---------------------------------------------------------------------------

    def _accept(self) -> Request | None:
        connection, _ = self._listener.accept()
        connection.settimeout(daemon_client.ANSWER)
        descriptors: list[int] = []
        process = 0
        try:
            if daemon_client.peer(connection)[1] != os.geteuid():
                return None
            data, descriptors, _, _ = socket.recv_fds(connection, 4, GIVEN)
            client = marshal.loads(_exactly(connection, int.from_bytes(data, "little")))
            if client is not None and self._can_do(client):
                process = os.fork()
                if not process:
                    return self._forked(connection, client, descriptors)
                self._served, self._last = self._served + 1, time.monotonic()
            told = process.to_bytes(4, "little") + self._served.to_bytes(4, "little")
            connection.sendall(told)
        except (OSError, ValueError, EOFError, TypeError):  # a client that goes, or is none
            pass
        finally:
            for each in descriptors:
                os.close(each)
            if process:
                self._running[process] = connection
            else:
                connection.close()
        return None

    def _can_do(self, client: dict[str, Any]) -> bool:
        """Returns whether a fork of this process would do the same as one of the client."""
        if client["kind"] != self._kind:
            return False
        if state() != self._known:
            self._close()
            return False
        return True

    def _forked(
        self, connection: socket.socket, client: dict[str, Any], descriptors: list[int]
    ) -> Request:
        """Waits for the client to have heard of this process; ends if it does not."""
        signal.set_wakeup_fd(-1)
        if self._open:
            self._listener.close()
        for other in self._running.values():
            other.close()
        os.close(self._wake)
        os.close(self._woken)
        connection.settimeout(None)
        with contextlib.suppress(OSError):
            if _exactly(connection, 1) == b"\1":
                return Request(client, [os.dup(each) for each in descriptors])
        os._exit(UNKNOWN)


def _exactly(connection: socket.socket, length: int) -> bytes:
    """Receives ``size`` bytes; fewer if the other end is closed."""
    found = b""
    while len(found) < length and (more := connection.recv(length - len(found))):
        found += more
    return found


# ---- in the forked process ----------------------------------------------------------------------


def run_as(request: Request) -> int:
    """Runs the command of a client as its own child would; returns the exit code."""
    client, given = request.client, request.descriptors
    for number in range(3):
        os.dup2(given[number], number)
        os.close(given[number])
    os.fchdir(given[3])
    os.close(given[3])
    os.environb.clear()
    os.environb.update(client["environment"])
    time.tzset()
    os.umask(client["umask"])
    for which, soft, hard in client["limits"]:
        with contextlib.suppress(OSError, ValueError):  # a limit that can't be raised
            resource.setrlimit(which, (soft, hard))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, client["priority"])
    sys.argv = [os.fsdecode(each) for each in client["arguments"]]
    sys.path[:] = [os.fsdecode(each) for each in client["path"]]
    random.seed()
    for number in range(1, 32):
        if signal.getsignal(number) is signal.SIG_IGN or number in client["ignored"]:
            with contextlib.suppress(OSError):
                ignored = number in client["ignored"]
                signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in enumerate(daemon_client.STREAMS):
        encoding, errors, lines = client["streams"][number]
        stream = open(  # noqa: SIM115 - it stays open
            number, "w" if number else "r", encoding=encoding, errors=errors, closefd=False,
            buffering=1 if lines and number else -1,
        )  # fmt: skip
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    writer, watched, due = given[4:]
    return end_of_fork(work, writer, watched, Due(due))


# ---- before the first request -------------------------------------------------------------------


def warm_up() -> None:
    """Imports what most commands need, and types the library."""
    for name in _imported_by_a_check():
        importlib.import_module(name)
    from checker.language.library import prelude
    from checker.language.parser.parse import parser

    kept.use()
    parser()
    prelude()
    gc.collect()
    gc.freeze()


def _imported_by_a_check() -> Iterator[str]:
    """Yields the modules that a check imports for which nothing is kept: another process runs
    one."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _try(writer)
    os.close(writer)
    with open(reader, encoding="utf-8") as said:
        names = said.read().split()
    os.waitpid(child, 0)
    yield from names


def _try(writer: int) -> None:
    """Runs a check, and writes the names of the modules of the tool that are imported then."""
    try:
        with tempfile.TemporaryDirectory(prefix=resources.temporary_prefix("daemon")) as empty:
            os.environ["XDG_CACHE_HOME"] = empty
            sys.argv = ["bivalence", "check", str(resources.specs().joinpath(*TRIAL))]
            work()
        names = [name for name in sys.modules if name.startswith("checker.")]
        os.write(writer, "\n".join(name for name in names if name != __name__).encode())
    finally:
        os._exit(0)


def state() -> dict[str, tuple[int, int, int]]:
    """Returns of each file that this process consists of, and of the library that it has typed,
    what changes with its contents."""
    modules = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    files = {file for file in modules if file}
    files |= {str(resources.grammar()), *map(str, resources.interfaces().rglob("*"))}
    found = {}
    for file in files:
        try:
            status = os.stat(file)
            found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            found[file] = (0, 0, 0)
    return found


def main() -> int:
    """Runs the daemon, and in each forked process a command; returns the exit code."""
    warm_up()
    path = daemon_client.place()
    request = Server(path).run()
    if request is None:
        return 0
    try:
        return run_as(request)
    except Exception as problem:
        return say_problem(problem)


if __name__ == "__main__":
    sys.exit(main())

"""Has the work of a command done by a process that was forked from a daemon, which has imported the
tool already (:mod:`checker.cli.daemon_server`).  This module imports next to nothing.

The client connects to a socket in the user's cache folder.  It sends a *request*: its standard
streams, current folder and the descriptors of its supervisor (SCM_RIGHTS), and its arguments,
environment, limits and so on.  It receives an *answer*, two numbers of four bytes: the process that
does the work, or 0 if the daemon can't do it, and how many commands it has served.  It sends
a byte, without which nothing is begun, and receives the status of the process (as of ``waitpid``)
when that has ended.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from socket import socket

ANSWER = 5.0
"""Seconds in which the daemon has to answer."""
NOT_FOR_DAEMONS = frozenset({"daemon", "lsp", "mcp", "watch"})
"""Commands that run for a long time, or are about the daemon itself."""
LONGEST = 100
"""The largest length of the path of a socket, in bytes."""
STREAMS = ("stdin", "stdout", "stderr")


def place() -> str:
    """Returns the path of the socket of this installation, user and cache folder."""
    import zlib

    base = os.environ.get("XDG_CACHE_HOME", "")
    root = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    about = os.fsencode(f"{__file__} {sys.prefix} {sys.version}")
    return os.path.join(root, "bivalence", f"daemon-{zlib.crc32(about):08x}")


def connect() -> socket | None:
    """Returns a connection to the daemon of this user; ``None`` if there is none."""
    path = place()
    try:
        found = os.lstat(path)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
            return None
    except OSError:
        return None
    import socket

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER)
        connection.connect(path)
        if peer(connection)[1] == os.geteuid():
            return connection
    except OSError:
        pass
    connection.close()
    return None


def peer(connection: socket) -> tuple[int, int]:
    """Returns the process and the user at the other end."""
    import socket
    import struct

    size = struct.calcsize("3i")
    said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    process, user, _ = struct.unpack("3i", said)
    return process, user


def answer(connection: socket, request: Any, descriptors: Sequence[int]) -> tuple[int, int]:
    """Sends a request; returns the answer.  Raises ``OSError`` if there is none in time."""
    import marshal
    import socket

    data = marshal.dumps(request)
    socket.send_fds(connection, [len(data).to_bytes(4, "little")], descriptors)
    connection.sendall(data)
    found = connection.recv(8, socket.MSG_WAITALL)
    if len(found) < 8:
        raise OSError("the daemon ended")
    return int.from_bytes(found[:4], "little"), int.from_bytes(found[4:], "little")


def hand_over(*descriptors: int) -> tuple[int, socket] | None:
    """Lets a daemon run this command; returns the id of the process that runs it, and the
    connection that receives its exit status.  ``None``: no daemon can run it.

    ``descriptors``: file descriptors of the supervisor, which the process inherits.
    """
    if not hasattr(os, "memfd_create") or NOT_FOR_DAEMONS.intersection(sys.argv[1:2]):
        return None
    connection = connect()
    if connection is None:
        return None
    try:
        here = os.open(".", os.O_PATH)
        try:
            process, _ = answer(connection, _request(), (0, 1, 2, here, *descriptors))
        finally:
            os.close(here)
        if process:
            connection.sendall(b"\1")
            return process, connection
    except OSError:
        pass
    connection.close()
    return None


def _request() -> dict[str, Any]:
    """Returns what the process has to have as this one has it."""
    import resource
    import signal

    umask = os.umask(0)
    os.umask(umask)
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    limits = {getattr(resource, name) for name in names}
    return {
        "kind": kind(os.environb),
        "arguments": [os.fsencode(each) for each in sys.argv],
        "path": [os.fsencode(each) for each in sys.path],
        "environment": dict(os.environb),
        "umask": umask,
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "limits": [(each, *resource.getrlimit(each)) for each in limits],
        "streams": [_settings(getattr(sys, name)) for name in STREAMS],
        "ignored": [n for n in range(1, 32) if signal.getsignal(n) is signal.SIG_IGN],
    }


def kind(environment: Any) -> list[Any]:
    """Returns what a running interpreter can't change: a daemon does the work of commands that have
    the same."""
    told = [(k, v) for k, v in environment.items() if k.startswith((b"PYTHON", b"LD_", b"MALLOC"))]
    flags = sys.flags
    options = [flags.optimize, flags.utf8_mode, flags.dev_mode, sys.getfilesystemencoding()]
    return [[*pair] for pair in sorted(told)] + [options, [*sys.warnoptions]]


def _settings(stream: Any) -> list[Any]:
    """Returns how a standard stream is written."""
    with contextlib.suppress(AttributeError):
        return [stream.encoding, stream.errors, stream.line_buffering]
    return ["utf-8", "backslashreplace", False]

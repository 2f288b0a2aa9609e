"""Sends to the supervisor of this process what is to be reported if it has to be killed.

Without a supervisor (:mod:`checker.cli.supervisor`) nothing is sent.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any

from checker import polling
from checker.cli import supervisor as kinds

_pipe: list[int] = []
_lock = threading.Lock()


def open_pipe(writer: int, due: kinds.Due) -> None:
    """Sends messages to the descriptor ``writer`` from now on, and writes to ``due`` by when this
    process has to end at a limit."""
    supervised = os.getpid()

    def write(until: float, why: str) -> None:
        if os.getpid() == supervised:  # not in a process that was forked from it
            due.write(until, why)

    _pipe[:] = [writer]
    polling.due[:] = [write]


def send(kind: int, data: bytes) -> None:
    """Sends a message, if there is a supervisor."""
    message = bytes([kind]) + len(data).to_bytes(4, "little") + data
    with _lock, contextlib.suppress(OSError):
        while _pipe and message:
            message = message[os.write(_pipe[0], message) :]


def done(code: int) -> None:
    """Reports the exit code: everything is printed and written."""
    send(kinds.CODE, bytes([code]))


def leave(call: Callable[..., int], *given: Any) -> None:
    """Has ``call(*given, known, now, why)`` called if this process is killed; it reports what is
    known, and returns the exit code.

    ``known``: what :func:`add` has been given since; ``now``: what :func:`replace` was given last,
    after that; ``why``: why the process was killed, in words.
    """
    _send_object(kinds.WORDS, (call, given))


def add(known: object) -> None:
    """Adds to what is known."""
    _send_object(kinds.KNOWN, known)


def replace(now: object) -> None:
    """Replaces what is known of the work that is under way."""
    _send_object(kinds.NOW, now)


def answered() -> None:
    """Reports that a signal had its effect, and that this process goes on."""
    send(kinds.ANSWERED, b"")


def end_within(seconds: float) -> None:
    """Grants this process ``seconds`` to end after a signal, in place of the usual ones."""
    send(kinds.LONGER, str(seconds).encode())


def may_write_in(folder: str) -> None:
    """Reports that there may be temporary files in ``folder``."""
    send(kinds.FOLDER, os.fsencode(os.path.abspath(folder)))


def _send_object(kind: int, value: object) -> None:
    if _pipe:
        import pickle

        send(kind, pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))

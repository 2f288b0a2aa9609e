"""Writes the log of one process: a line of JSON for each event, numbered, appended to one file."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from checker.record.calls import Call
from checker.record.kinds import GAP, KINDS

BLOCK = 1 << 16
"""Bytes that are read at a time when the end of a file is looked for."""

MODES = (None, "a", "w", "x")

ANEW = (
    "mode='w' replaces it, run='NAME' appends a new run, and mode='a' continues"
    " it, as a recovering process does"
)
"""What can be done where a file has a log."""


class Recorder:
    """The log of one process.

    >>> log = Recorder("p1.ndjson", "p1")
    >>> log.broadcast("a")
    >>> log.deliver("a", sender="p1")
    >>> log.close()

    Each call appends one line, whole, in one write to the operating system, and returns its
    position in the process's log; so a line that was written survives a ``kill -9`` of the process
    (with ``sync`` also a machine that goes down).  With ``buffered`` lines wait until there are so
    many of them, or for :meth:`flush`, and those that wait die with the process.

    The file of a process that was killed is gone on with: positions continue, what the kill has
    left of a last line becomes a line of kind ``gap``, and ``recover`` is recorded, as ``start`` is
    in a new file.  A log that has ended in an orderly way is most often that of an earlier run, so
    it is refused unless ``mode`` says what it is, or ``run`` is another one: the log of that begins
    behind it, with ``start`` at position 1.  Any number of threads may record; a second recorder of
    the same file, in this or in another process, is refused.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        process: str,
        *,
        run: str = "",
        mode: str | None = None,
        buffered: int = 0,
        sync: bool = False,
        clock: Callable[[], float] | None = time.time,
    ) -> None:
        """Opens ``path`` for the log of ``process`` in the run ``run``.

        ``mode``: ``"a"`` goes on with what is there, also behind ``end``; ``"w"`` begins a new log,
        and what is there is lost; ``"x"`` wants a file that is not there or empty; ``None``: see
        above.
        ``clock``: the seconds that are noted as ``ts``, for display only; ``None``: none are.
        Raises ``OSError`` where the file can't be written, ``BlockingIOError`` where another
        recorder has it open, ``FileExistsError`` where it is refused because of what is there, and
        ``ValueError`` where it is not a log of this process.
        """
        if mode not in MODES:
            raise ValueError(
                f"unknown mode of a recorder: {mode!r} (known: None, 'a', 'w' and 'x')"
            )
        self.path, self.process, self.run = Path(path), process, run
        self._buffered, self._sync, self._clock = buffered, sync, clock
        self._lock, self._owner = threading.Lock(), os.getpid()
        self._waiting: list[bytes] = []
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if mode == "w":
                os.ftruncate(self._file, 0)
            last, half = self._end_of_file(mode)
        except BaseException:
            os.close(self._file)
            raise
        self._close = weakref.finalize(self, os.close, self._file)
        self._next = last + 1
        if half is not None:
            self.record(GAP, lost=half)
        self.record("recover" if last or half is not None else "start")
        self.flush()

    def _end_of_file(self, mode: str | None) -> tuple[int, str | None]:
        """Returns the last position in the file (0: it has none, or a line of another run), and the
        text of what a kill has left of a line, which it cuts off (``None``: the file ends with a
        whole one).  Behind lines of another run that has not ended it becomes a gap of that one."""
        last, half = _last_lines(self._file)
        if mode == "x" and os.fstat(self._file).st_size:
            raise FileExistsError(f"{self.path} already exists: {ANEW}")
        if not last:
            self._cut_off(half)
            return 0, _text(half)
        try:
            row = json.loads(last)
            position, process, kind = int(row["pos"]), row["process"], row["kind"]
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{self.path} is not a log: its last line is {last[:80]!r}") from None
        if process != self.process:
            raise ValueError(f"{self.path} is the log of {process}, not of {self.process}")
        run = row.get("run", "")
        is_other = run != self.run
        if kind == "end" and mode is None and not is_other:
            raise FileExistsError(f"{self.path} is a log that has ended: {ANEW}")
        self._cut_off(half)
        if not is_other:
            return position, _text(half)
        if half and kind != "end":
            self._waiting.append(self._line(run, position + 1, GAP, {"lost": _text(half)}))
        return 0, None

    def _cut_off(self, half: bytes) -> None:
        if half:
            os.ftruncate(self._file, os.fstat(self._file).st_size - len(half))

    # ---- any line -------------------------------------------------------------------------

    def record(self, kind: str, **fields: Any) -> int:
        """Appends a line of ``kind`` with those of ``fields`` that are not ``None``; returns its
        position.

        Raises ``ValueError`` for a kind that there is none of and after :meth:`close`, and
        ``TypeError`` for what is no JSON; then nothing is written.
        """
        if kind not in KINDS:
            raise ValueError(f"unknown kind of line: {kind!r} (known: {', '.join(KINDS)})")
        given = {name: _plain(value) for name, value in fields.items() if value is not None}
        with self._lock:
            return self._append(kind, given)

    def _append(self, kind: str, given: Mapping[str, Any]) -> int:
        """Appends a line while no other thread does, and returns its position."""
        self._require_open()
        self._waiting.append(self._line(self.run, self._next, kind, given))
        self._next += 1
        if len(self._waiting) > self._buffered:
            self._write()
        return self._next - 1

    def _line(self, run: Any, position: int, kind: str, given: Mapping[str, Any]) -> bytes:
        row: dict[str, Any] = {"run": run} if run else {}
        row |= {"process": self.process, "pos": position, "kind": kind, **given}
        if self._clock is not None:
            row["ts"] = round(self._clock(), 6)
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode() + b"\n"

    def _require_open(self) -> None:
        if self._file < 0:
            raise ValueError(f"{self.path} is closed")
        if os.getpid() != self._owner:
            raise ValueError(f"{self.path} was opened before a fork: each process has its own log")

    def _write(self) -> None:
        left = memoryview(b"".join(self._waiting))
        self._waiting.clear()
        while left:
            left = left[os.write(self._file, left) :]
        if self._sync:
            os.fsync(self._file)

    def flush(self) -> None:
        """Hands the lines that wait to the operating system."""
        with self._lock:
            self._require_open()
            self._write()

    def close(self) -> None:
        """Records ``end``, and closes the file; closing again does nothing."""
        if self._file < 0:
            return
        self.record("end")
        self.flush()
        with self._lock:
            self._close()
            self._file = -1

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- the kinds that are used most -------------------------------------------------------

    def broadcast(self, msg: Any, **more: Any) -> int:
        """A client asks for the broadcast of ``msg``."""
        return self.record("broadcast", msg=msg, **more)

    def deliver(self, msg: Any, sender: str | None = None, **more: Any) -> int:
        """``msg`` of ``sender`` is delivered; ``more``: such as ``seq``, ``partition``,
        ``offset``, ``payload_hash``."""
        return self.record("deliver", msg=msg, sender=sender, **more)

    def request(self, name: str, *arguments: Any, state: Mapping[str, Any] | None = None) -> int:
        """A client asks ``name(arguments)``."""
        return self.record("request", name=name, arguments=arguments or None, state=state)

    def indicate(self, name: str, *arguments: Any, state: Mapping[str, Any] | None = None) -> int:
        """The client is told ``name(arguments)``."""
        return self.record("indicate", name=name, arguments=arguments or None, state=state)

    def call(self, name: str, arguments: Any = (), **more: Any) -> Call:
        """A client calls ``name``; the result records its answer, from any thread.

        ``arguments``: a list, an object by name, or a single one that is neither.  Many calls may
        be outstanding at a time: ``bivalence judge`` knows which answer is whose.
        """
        if isinstance(arguments, str | bytes) or not isinstance(arguments, Sequence | Mapping):
            arguments = [arguments]
        given = {"name": name, "arguments": _plain(arguments), **more}
        given = {key: _plain(value) for key, value in given.items() if value is not None}
        with self._lock:
            number = self._next
            self._append("request", {**given, "call": number})
        return Call(name, lambda fields: self.record("indicate", call=number, **fields))

    def perform(self, name: Any, **more: Any) -> int:
        """The environment is acted on."""
        return self.record("perform", name=name, **more)

    def send(
        self,
        message: str,
        to: str | Sequence[str] | None = None,
        fields: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> int:
        """``message`` with ``fields`` is sent to the processes ``to``."""
        who = [to] if isinstance(to, str) else to
        return self.record("send", message=message, receivers=who, fields=fields, state=state)

    def receive(
        self,
        message: str,
        sender: str | None = None,
        fields: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        chosen: Mapping[str, Any] | None = None,
    ) -> int:
        """``message`` with ``fields`` is received from ``sender``, and handled: ``state`` are the
        values of some variables after that, ``chosen`` what the handler chose."""
        given = {"from": sender, "fields": fields, "state": state, "chosen": chosen}
        return self.record("receive", message=message, **given)

    def handler(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        chosen: Mapping[str, Any] | None = None,
    ) -> int:
        """The handler ``name`` is taken, and has ``chosen`` these values."""
        return self.record("handler", name=name, arguments=arguments, state=state, chosen=chosen)


def _plain(value: Any) -> Any:
    """Returns ``value`` as JSON has it: bytes in hexadecimal, sets as sorted lists."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(item) for item in value), key=lambda item: json.dumps(item))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _text(half: bytes) -> str | None:
    return half.decode(errors="replace") if half else None


def _last_lines(file: int) -> tuple[bytes, bytes]:
    """Returns the last whole line of an open file that is not blank, without its end, and what
    stands behind all whole lines."""
    at = os.fstat(file).st_size
    tail = b""
    while True:
        whole, _, half = tail.rpartition(b"\n")
        _, newline, line = whole.rstrip().rpartition(b"\n")
        if newline or at == 0:
            return line, half
        size = min(BLOCK, at)
        at -= size
        tail = os.pread(file, size, at) + tail

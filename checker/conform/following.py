"""A monitor, its sources, and the file from which it continues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from checker.conform.conform_log import Asked
from checker.conform.monitor import Monitor
from checker.conform.read_log import Row, RowsOfLines, half, numbering, unreadable
from checker.diagnostics import Diagnostic, SpecError
from checker.logs.content import STDIN, Unreadable, is_stream
from checker.logs.entries import LONGEST
from checker.logs.followed import (
    HOST,
    FileSource,
    Listener,
    Piece,
    StreamSource,
    ready,
    standard_input,
)
from checker.logs.objects import Cut
from checker.results.monitoring import Noticed, Summary

KIND, FORMAT = "bivalence monitor state", 1


class Following:
    """Reads lines from files, standard input and connections, and passes them to a monitor.

    ``state``: the file that it continues from, if there is one.  Raises :class:`SpecError`: what
    :class:`Monitor` does, and E110 where the file is not one of this check, mapping and options.
    """

    def __init__(
        self, asked: Asked, noticed: Callable[[Noticed], None], lag: float, state: str | None = None
    ) -> None:
        self.asked, self.state = asked, state
        self.monitor = Monitor(asked, noticed, lag=lag)
        self._numbers = numbering(asked.mapping)
        self._positions: dict[str, tuple[int, int, int]] = {}
        self._sources: list[StreamSource | FileSource | Listener] = []
        self._readers: dict[str, RowsOfLines] = {}
        self._last: dict[str, Row] = {}
        self._of: dict[str, set[str]] = {}
        self.names: list[str] = []
        if state is not None and Path(state).exists():
            self._restore(state)

    # ---- what is read ---------------------------------------------------------------------

    def follow(self, name: str, *, once: bool) -> None:
        """Reads the file ``name``, or standard input; ``once``: only to its end.

        Raises :class:`SpecError` (E111).
        """
        try:
            if name == STDIN:
                source: StreamSource | FileSource = standard_input()
            elif is_stream(name):
                source = FileSource(name, follows=False)
            else:
                source = FileSource(name, not once, self._positions.get(name))
        except (OSError, ValueError) as problem:
            raise _unusable(f"{name} can't be read", problem) from None
        self._sources.append(source)
        self.names.append("standard input" if name == STDIN else name)

    def listen(self, port: int) -> None:
        """Accepts connections; raises :class:`SpecError` (E111)."""
        try:
            listener = Listener(port)
        except OSError as problem:
            raise _unusable(f"port {port} of {HOST} can't be listened on", problem) from None
        self._sources.append(listener)
        self.names.append(f"{HOST}:{listener.port}")

    def step(self, seconds: float) -> bool:
        """Reads what there is, or waits for at most ``seconds``; returns whether more may follow.

        Raises :class:`SpecError` for what is wrong with a line.
        """
        if not self._sources:
            return False
        found = self._read(0.0)
        if not found:
            found = self._read(seconds)
        if not found:
            self.monitor.tick()
        over = [source for source in self._sources if source.is_over]
        for source in over:
            if isinstance(source, FileSource):
                self._positions[source.name] = source.position
            source.close()
        self._sources = [source for source in self._sources if not source.is_over]
        return True

    def _read(self, seconds: float) -> bool:
        """Reads once from each source that has data; returns whether any had."""
        found = False
        for source in ready(self._sources, seconds):
            if isinstance(source, Listener):
                self._sources.append(source.accept())
                found = True
                continue
            try:
                piece = source.read()
            except OSError as problem:
                raise _unusable(f"{source.name} can't be read", problem) from None
            if piece is not None:
                found = True
                self._take(piece)
        return found

    def _take(self, piece: Piece) -> None:
        if piece.shorter:
            for process in sorted(self._of.get(piece.name, ())):
                self.monitor.lose(process, f"{piece.name} has become shorter")
        rows: list[Row] = []
        try:
            for number, text in piece.texts():
                rows += self._rows(piece.name, number, text)
            if piece.rest is not None:
                rows += self._rest(piece.name, *piece.rest)
        except Unreadable as problem:
            raise unreadable(piece.name, problem) from None
        finally:
            if rows:
                self._last[piece.name] = rows[-1]
                self._of.setdefault(piece.name, set()).update(row.process for row in rows)
                self.monitor.feed(rows)

    def _rows(self, name: str, number: int, text: str) -> list[Row]:
        reader = self._readers.get(name)
        if reader is None:
            reader = RowsOfLines(name, self.asked.mapping, self._numbers)
            self._readers[name] = reader
        pattern = self.asked.mapping.lines
        if pattern is None:
            return reader.of(number, text)
        if len(text) > LONGEST:
            raise Unreadable(f"this line is longer than {LONGEST:,} characters", number)
        found = pattern.search(text.rstrip("\r"))
        if found is None:
            return []
        groups = {key: value for key, value in found.groupdict().items() if value is not None}
        return [reader.of_groups(number, groups)]

    def _rest(self, name: str, number: int, data: bytes) -> list[Row]:
        """Returns the rows of a last line without an end: a gap, if it is cut short."""
        text = data.decode("utf-8", "replace")
        try:
            if self.asked.mapping.lines is None:
                return self._rows(name, number, text)
        except Cut:
            pass
        return [half(name, number, text, self._last.get(name))]

    # ---- the end, and the state -----------------------------------------------------------

    def end(self, stopped: str | None) -> Summary:
        """Returns the summary, once nothing is left to read."""
        return self.monitor.end(stopped)

    def summary(self, stopped: str | None = None) -> Summary:
        """Returns what has been noticed so far."""
        return self.monitor.summary(stopped)

    def close(self) -> None:
        """Closes what is read, and ends what is still being compiled."""
        for source in self._sources:
            source.close()
        self.monitor.close()

    def to_text(self) -> bytes:
        """Returns the state as JSON."""
        files = [source for source in self._sources if isinstance(source, FileSource)]
        self._positions |= {source.name: source.position for source in files}
        data = {
            "kind": KIND,
            "format": FORMAT,
            "positions": self._positions,
            "numbers": self._numbers,
            "of": {name: sorted(processes) for name, processes in self._of.items()},
            "monitor": self.monitor.to_data(),
        }
        return msgspec.json.encode(data)

    def _restore(self, file: str) -> None:
        """Restores the state in ``file``; raises :class:`SpecError` (E110)."""
        hint = "delete it, and the logs are read from the beginning; or name another file"
        try:
            data = msgspec.json.decode(Path(file).read_bytes())
        except (OSError, ValueError) as problem:
            raise _wrong("E110", f"{file} is not the state of a monitor: {problem}", hint) from None
        if not isinstance(data, dict) or (data.get("kind"), data.get("format")) != (KIND, FORMAT):
            raise _wrong("E110", f"{file} is not the state of a monitor", hint)
        try:
            same = self.monitor.restore(data["monitor"])
            self._restore_sources(data)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, AssertionError):
            raise _wrong("E110", f"{file} is damaged", hint) from None
        if not same:
            message = f"{file} is of another spec, mapping, options or version of the tool"
            raise _wrong("E110", message, hint)

    def _restore_sources(self, data: dict[str, Any]) -> None:
        self._positions = {name: (one, two, n) for name, (one, two, n) in data["positions"].items()}
        self._of = {name: set(processes) for name, processes in data["of"].items()}
        if self._numbers is not None:
            self._numbers.update(data["numbers"])


def _unusable(message: str, problem: Exception) -> SpecError:
    return _wrong("E111", f"{message}: {getattr(problem, 'strerror', None) or problem}")


def _wrong(code: str, message: str, hint: str = "") -> SpecError:
    return SpecError((Diagnostic(code, message, hint=hint),))

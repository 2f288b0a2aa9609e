"""Finds the files of a log, and what each is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from checker.audit.kafka_dump import BEGINNING
from checker.diagnostics import Diagnostic, Span, SpecError
from checker.logs.content import Content, Unreadable, beginning, is_stream, read
from checker.logs.entries import stem_of

FORMATS = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
    ".csv": "csv",
    ".parquet": "parquet",
}
TEXT, DUMP = "text", "dump"
"""The format of lines that a mapping describes, and that of dumps of Kafka's logs."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")
WANTED = (
    "JSON objects, CSV with a header, a dump of Kafka's, or Parquet; all but it may be compressed"
)
PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of a log: its ``path`` and its ``format``.

    ``stream``: the content of standard input or of a pipe, which was read once.  ``lines``: the
    line of each row, where that is not its number; filled by the reader.
    """

    path: str
    format: str
    stream: bytes | None = field(default=None, compare=False, repr=False)
    lines: list[int] = field(default_factory=list, compare=False, repr=False)

    @property
    def stem(self) -> str:
        """The name of the file without folders and suffixes."""
        return stem_of(self.path)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return os.path.getsize(self.path) if self.stream is None else len(self.stream)

    def content(self) -> Content:
        """Returns the bytes, decompressed; raises :class:`SpecError` (E080)."""
        if self.stream is not None:
            return self.stream
        try:
            return read(self.path)
        except Unreadable as problem:
            raise SpecError((self.unreadable(problem),)) from None

    def line(self, row: int) -> int:
        """Returns the number of the line in which the row ``row``, from 1 on, begins."""
        if row <= len(self.lines):
            return self.lines[row - 1]
        return row + (self.format == "csv")

    def place(self, row: int) -> Span | None:
        """Returns where the row ``row``, from 1 on, is, if the file has lines."""
        return None if self.format == "parquet" else self.at_line(self.line(row))

    def at_line(self, line: int) -> Span:
        """Returns the place of a line."""
        return Span(self.path, line, 1, line, 1 << 20)

    def unreadable(self, problem: Unreadable) -> Diagnostic:
        """Returns the diagnostic (E080) of what can't be read."""
        if problem.line:
            place = self.at_line(problem.line)
            return Diagnostic("E080", problem.why, place, hint=problem.hint)
        message = f"{self.path or 'a log'} can't be read: {problem.why}"
        return Diagnostic("E080", message, None, WANTED, problem.hint)

    def problem(
        self,
        code: str,
        row: int | None,
        message: str,
        expected: str = "",
        hint: str = "",
        severity: str = "error",
    ) -> Diagnostic:
        """Returns a diagnostic about a row of the file, or about all of it (``None``)."""
        span = None if row is None else self.place(row)
        where = self.path if row is None else f"{self.path}, row {row:,}"
        said = message if span is not None else f"{where}: {message}"
        return Diagnostic(code, said, span, expected, hint, severity)


def find_files(
    given: tuple[str, ...], others: tuple[str, ...] = (), *, is_text: bool = False
) -> list[LogFile]:
    """Returns the files that are named, and those in folders that are named, in the order of their
    names.

    ``others``: files that are read otherwise, such as a mapping, and may be in the folders;
    ``is_text``: files are lines that a mapping describes.
    Raises :class:`SpecError`: E080 where there is no such file, or one of no known format, E083
    where a file is given twice.
    """
    found: list[LogFile] = []
    elsewhere = {os.path.realpath(name) for name in others}
    for name in given:
        if name and os.path.isdir(name):
            found += _in_folder(name, elsewhere, is_text)
        else:
            found.append(log_file(name, is_text))
    _require_once(found)
    return found


def _in_folder(name: str, elsewhere: set[str], is_text: bool) -> list[LogFile]:
    """Returns the logs in a folder; raises :class:`SpecError` (E080) for a file that is not one."""
    folder = Path(name)
    inside = sorted(path for path in folder.rglob("*") if not path.is_dir())
    inside = [path for path in inside if os.path.realpath(path) not in elsewhere]
    logs = [path for path in inside if not _hidden(path, folder)]
    for path in inside:
        if path not in logs and _format_by_name(str(path)) is not None:
            hint = "name the file itself, or move it"
            message = f"{path} is hidden: files whose names begin with `.` or `_` are not read"
            raise SpecError((Diagnostic("E080", message, None, "", hint),))
    if not logs:
        raise SpecError((Diagnostic("E080", f"{name} contains no log", None, WANTED),))
    return [log_file(str(path), is_text) for path in logs]


def _require_once(files: list[LogFile]) -> None:
    """Raises :class:`SpecError` (E083) where two of ``files`` are the same one."""
    known: dict[str, str] = {}
    for file in files:
        real = os.path.realpath(file.path)
        other = known.get(real)
        known[real] = file.path
        if other is not None:
            also = "" if other == file.path else f", also as {other}"
            message = f"duplicate log {file.path}{also}"
            hint = "pass either a folder or its files: a folder includes all logs in it"
            raise SpecError((Diagnostic("E083", message, None, "each file once", hint),))


def _hidden(path: Path, folder: Path) -> bool:
    """Returns whether a part of the name is hidden, or written by Spark beside its files."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _format_by_name(name: str) -> str | None:
    """Returns the format of a file by its suffixes; ``None`` if they say none."""
    path = Path(name)
    is_compressed = path.suffix in COMPRESSED
    kind = FORMATS.get(Path(path.stem).suffix if is_compressed else path.suffix)
    return None if is_compressed and kind == "parquet" else kind


def _format_by_content(content: Content) -> str | None:
    """Returns the format of a file by its first bytes; ``None`` if it is no known one."""
    begin = beginning(content)
    head = bytes(content[begin : begin + (1 << 16)]).lstrip()
    if head.startswith(PARQUET):
        return "parquet"
    if not head or head[:1] in (b"{", b"["):
        return "ndjson"
    if BEGINNING.match(head):
        return DUMP
    return "csv" if b"," in head.split(b"\n")[0] else None


def log_file(name: str, is_text: bool = False) -> LogFile:
    """Returns the file ``name``, whose format is that of its suffixes, or else of its content, or
    text where a mapping describes its lines.

    Raises :class:`SpecError` (E080) where it can't be read, or has no known format.
    """
    kind = TEXT if is_text else _format_by_name(name)
    file = LogFile(name, kind or "")
    if kind is not None and os.path.isfile(name):
        return file
    content = file.content()
    kind = kind or _format_by_content(content)
    if kind is None:
        raise SpecError((Diagnostic("E080", f"{name} is not a log", None, WANTED),))
    return LogFile(name, kind, bytes(content) if is_stream(name) else None)

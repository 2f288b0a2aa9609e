"""Finds the files of a log, and what each is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from checker.diagnostics import Diagnostic, Span, SpecError

FORMATS = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
    ".csv": "csv",
    ".parquet": "parquet",
}
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
WANTED = (
    "Parquet (.parquet), NDJSON (.ndjson, .jsonl) or CSV (.csv), the latter two also compressed"
)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of a log: its ``path``, its ``format``, and whether it is ``compressed``."""

    path: str
    format: str
    compressed: bool = False

    @property
    def stem(self) -> str:
        """The name of the file without folders and suffixes."""
        return Path(self.path).name.partition(".")[0]

    def place(self, row: int) -> Span | None:
        """Returns where the row ``row``, from 1 on, stands, if the file has lines."""
        if self.format == "parquet" or self.compressed:
            return None
        line = row + (self.format == "csv")
        return Span(self.path, line, 1, line, 1 << 20)

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


def find_files(given: tuple[str, ...]) -> tuple[list[LogFile], list[str]]:
    """Returns the files that are named, and those in folders that are named, in the order of their
    names; and the files in folders that are no logs.

    Raises :class:`SpecError`: E080 where there is no such file, or one of no known format, E083
    where a file is given twice.
    """
    found: list[LogFile] = []
    passed: list[str] = []
    for name in given:
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and _visible(p, path))
            logs = [(p, log_file(str(p))) for p in inside]
            found += [file for _, file in logs if file is not None]
            passed += [str(p) for p, file in logs if file is None]
            if not any(file for _, file in logs):
                raise SpecError((Diagnostic("E080", f"{name} has no log in it", None, WANTED),))
            continue
        file = log_file(name)
        if not path.is_file():
            raise SpecError((Diagnostic("E080", f"{name} does not exist, or is no file"),))
        if file is None:
            message = f"{name} is no log, by its name"
            raise SpecError((Diagnostic("E080", message, None, WANTED),))
        found.append(file)
    _require_once(found)
    return found, passed


def _require_once(files: list[LogFile]) -> None:
    """Raises :class:`SpecError` (E083) where two of ``files`` are the same one."""
    known: dict[str, str] = {}
    for file in files:
        real = os.path.realpath(file.path)
        other = known.get(real)
        known[real] = file.path
        if other is not None:
            also = "" if other == file.path else f", also as {other}"
            message = f"{file.path} is given twice{also}"
            hint = "a folder stands for all logs in it"
            raise SpecError((Diagnostic("E083", message, None, "each file once", hint),))


def _visible(path: Path, folder: Path) -> bool:
    """Returns whether no part of the name is hidden, or written by Spark beside its files."""
    return not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def log_file(name: str) -> LogFile | None:
    """Returns what the file ``name`` is by its suffixes; ``None`` for no log."""
    path = Path(name)
    compressed = path.suffix in COMPRESSED
    suffix = Path(path.stem).suffix if compressed else path.suffix
    kind = FORMATS.get(suffix)
    if kind is None or (compressed and kind == "parquet"):
        return None
    return LogFile(name, kind, compressed)

"""Folders of threshold automata, and the published verdicts on them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.parametric.threshold.reader import SUFFIXES, text_of

TABLE = "expected.tsv"
"""The file in a folder that has the published verdicts."""

VERDICTS = ("safe", "unsafe", "-")
_COLUMNS = ("file", "verdict", "best_published_seconds")


class Published(Struct, frozen=True):
    """A published ``verdict``, and the ``seconds`` of the fastest tool; ``None``: not published."""

    verdict: str
    seconds: float | None


def files_in(folder: Path) -> dict[str, Path]:
    """Returns the threshold automata in ``folder`` and below, by their names relative to it.

    Raises :class:`SpecError` (E124) where there are none.
    """
    found = sorted(path for suffix in SUFFIXES for path in folder.rglob(f"*{suffix}"))
    if not found:
        what = "has no threshold automata (.ta, .eta)" if folder.is_dir() else "is not a folder"
        raise SpecError((Diagnostic("E124", f"`{folder}` {what}"),))
    return {str(path.relative_to(folder)): path for path in found}


def read_published(folder: Path, names: Iterable[str]) -> dict[str, Published]:
    """Returns the published verdicts in ``folder``, by file; empty where it has no table.

    Raises :class:`SpecError` (E124) where the table can't be read, or names other files.
    """
    path = folder / TABLE
    if not path.exists():
        return {}
    known = frozenset(names)
    head, *rows = text_of(path).split("\n")
    columns = head.split("\t")
    for column in _COLUMNS:
        if column not in columns:
            raise _error(path, 1, head, f"the table has no column `{column}`")
    found: dict[str, Published] = {}
    for number, row in enumerate(rows, start=2):
        if not row.strip():
            continue
        cells = row.split("\t")
        if len(cells) != len(columns):
            raise _error(path, number, row, f"{len(cells)} cells in {len(columns)} columns")
        name, verdict, seconds = (cells[columns.index(column)] for column in _COLUMNS)
        if name not in known:
            raise _error(path, number, row, f"there is no file `{name}` in the folder")
        if verdict not in VERDICTS:
            message = f"`{verdict}` is not a verdict: {', '.join(VERDICTS)}"
            raise _error(path, number, row, message)
        found[name] = Published(verdict, _seconds(path, number, row, seconds))
    return found


def _seconds(path: Path, number: int, row: str, text: str) -> float | None:
    try:
        return None if text == "-" else float(text)
    except ValueError:
        raise _error(path, number, row, f"`{text}` is not a number of seconds") from None


def _error(path: Path, number: int, row: str, message: str) -> SpecError:
    span = Span(str(path), number, 1, number, len(row) + 1)
    return SpecError((Diagnostic("E124", message, span),))

"""Folders of threshold automata, and the published verdicts on them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError
from checker.parametric.threshold.reader import SUFFIXES
from checker.session.published import NOTHING, Cells, lines_of

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
    found: dict[str, Published] = {}
    for line in lines_of(path, _COLUMNS):
        name, verdict, seconds = (line.cells[column] for column in _COLUMNS)
        if name not in known:
            raise line.error(f"there is no file `{name}` in the folder")
        if verdict not in VERDICTS:
            raise line.error(f"`{verdict}` is not a verdict: {', '.join(VERDICTS)}")
        found[name] = Published(verdict, _seconds(line, seconds))
    return found


def _seconds(line: Cells, text: str) -> float | None:
    try:
        return None if text == NOTHING else float(text)
    except ValueError:
        raise line.error(f"`{text}` is not a number of seconds") from None

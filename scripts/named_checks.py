"""The checks that the words of a command line name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from checker.session.load import checks_in


def named_checks(paths: list[str]) -> Iterator[tuple[str, str]]:
    """Yields each file with the name of a check.

    ``paths``: checks (``FILE::CHECK``), or files and folders, which stand for all their checks.
    """
    for path in paths:
        file, _, check = path.partition("::")
        if check:
            yield file, check
            continue
        files = sorted(Path(file).rglob("*.bcast")) if Path(file).is_dir() else [Path(file)]
        yield from ((str(each), name) for each in files for name in checks_in(str(each)))

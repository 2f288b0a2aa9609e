"""``bivalence watch``: runs the checks of a file again whenever it changes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from checker.cli import console
from checker.cli.settings import SET, TIMEOUT
from checker.polling import waiting

PAUSE = 0.2
"""Seconds between two looks at the files."""
ENDING = 0.6
"""Seconds that a check has to end, before it is killed."""
Stamp = tuple[tuple[str, int, int], ...]
"""The name, the time of change (nanoseconds) and the size of each file."""


@click.command()
@click.argument("name", metavar="FILE[::CHECK]")
@SET
@TIMEOUT
def watch(name: str, settings: tuple[str, ...], timeout: float | None) -> int:
    """Run checks again whenever FILE or an import is saved.

    Results of unchanged checks come from the cache. Saving stops a running check; Ctrl-C stops
    `watch`. Exits like the last `check`, or with 3 if that was not finished.
    """
    from checker.cli.console import unreadable

    path = Path(name.partition("::")[0])
    if not path.is_file():
        raise unreadable(str(path), "there is no such file")
    words = ["check", name, "--cache", *(word for pair in settings for word in ("--set", pair))]
    if timeout is not None:
        words += ["--timeout", str(timeout)]
    from checker.cli.errors import UNKNOWN
    from checker.engines import budgets

    code = UNKNOWN
    try:
        with budgets.raising_when_exhausted():
            for stamp in _changes(path):
                code = UNKNOWN
                code = _pass(words, path, stamp)
    except KeyboardInterrupt:
        console.print_note("interrupted" if code == UNKNOWN else "")
    return code


def _changes(path: Path) -> Iterator[Stamp]:
    """Yields the stamp of the files at first, and whenever it has changed."""
    last: Stamp | None = None
    while True:
        stamp = _stamp(path)
        if stamp != last:
            if last is not None:
                console.print_line(f"\n── {_changed(last, stamp)} ──\n")
            last = stamp
            yield stamp
        with waiting():
            time.sleep(PAUSE)


def _pass(words: list[str], path: Path, stamp: Stamp) -> int:
    """Runs the checks once; ends them, and returns ``UNKNOWN``, where a file changes meanwhile."""
    from checker.cli.errors import UNKNOWN
    from checker.engines.python_children import command

    sys.stdout.flush()
    with subprocess.Popen(command(*words)) as running:
        try:
            while True:
                try:
                    with waiting():
                        return running.wait(PAUSE)
                except subprocess.TimeoutExpired:
                    if _stamp(path) != stamp:
                        running.terminate()
                        running.wait()
                        return UNKNOWN
        except BaseException:
            _end(running)
            raise


def _end(running: subprocess.Popen[bytes]) -> None:
    """Lets a check end with its report, and kills it where that takes long."""
    for _ in range(2):  # the second signal is obeyed at once
        running.terminate()
        try:
            running.wait(ENDING)
            return
        except subprocess.TimeoutExpired:
            continue
    running.kill()


def _stamp(path: Path) -> Stamp:
    """Returns the stamp of the file and of all that it imports, as far as they can be read."""
    from checker.language.analysis import imports_of

    found = []
    for file in (path, *imports_of(path)):
        try:
            status = file.stat()
        except OSError:
            found.append((str(file), 0, 0))
        else:
            found.append((str(file), status.st_mtime_ns, status.st_size))
    return tuple(found)


def _changed(last: Stamp, stamp: Stamp) -> str:
    names = [each[0] for each in stamp if each not in last] or [each[0] for each in last]
    return f"{names[0]} has changed"

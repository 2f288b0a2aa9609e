"""Asks the command line in this process, and returns the text of its answer without what differs
from one time to the next."""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from checker import resources
from checker.cli.main import main
from checker.engines.options import Options
from checker.language.load import Spec
from checker.proving import dispatch_check
from checker.results.answer import Listener
from checker.results.verdict import Report

MASKS = (
    (re.compile(r"\b\d+ bytes/state"), "# bytes/state"),
    (re.compile(r'("bytes_per_(?:state|edge)": )[\d.e-]+'), r"\1#"),
    (re.compile(r'("[a-z_]*seconds": )[\d.e-]+'), r"\1#"),
    (re.compile(r"\b\d+\.\d+ s\b"), "# s"),
    (re.compile(r'("(?:version|tool)": )"[^"]*"'), r'\1"#"'),
    (re.compile(rf"(?<=[^\w.]){re.escape(resources.version())}(?![\w.])"), "#"),
)
"""The memory and the time that a search took, and the version of the tool."""

FIXED = re.compile(r"(<(?:style|script)>)(.{2000,}?)(</(?:style|script)>)", re.DOTALL)
"""A part of a page that is the same on many pages."""


class Folder:
    """What is asked about one subject, in a folder of its own, and the files with the answers in
    ``out``; ``names`` are those files' names."""

    def __init__(self, out: Path, parts: Path) -> None:
        """``parts``: the folder for what is the same on many pages."""
        self.out, self.parts = out, parts
        self.names: list[str] = []

    def ask(self, *words: str, columns: int = 80, lines: str = "") -> str:
        """Returns what the command prints, on stdout and stderr, and its exit code; ``lines`` is
        its input."""
        said = io.StringIO()
        with (
            mock.patch.dict(os.environ, {"COLUMNS": str(columns)}),
            mock.patch.object(sys, "stdin", io.StringIO(lines)),
            redirect_stdout(said),
            redirect_stderr(said),
        ):
            code = main(list(words))
        return f"{said.getvalue()}exit code {code}\n"

    def put(self, name: str, text: str) -> None:
        """Writes the file ``name`` with ``text``."""
        for pattern, instead in MASKS:
            text = pattern.sub(instead, text)
        target = self.out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(FIXED.sub(self._apart, text), encoding="utf-8", newline="")
        self.names.append(name)

    def keep(self, name: str, *words: str, columns: int = 80, lines: str = "") -> None:
        """Writes the file ``name`` with the answer to the command ``words``."""
        self.put(name, self.ask(*words, columns=columns, lines=lines))

    def take(self, name: str, made: str) -> None:
        """Writes the file ``name`` with the text of the file ``made``, if there is one."""
        if Path(made).exists():
            self.put(name, Path(made).read_text(encoding="utf-8"))

    def _apart(self, found: re.Match[str]) -> str:
        """Writes a fixed part of a page into a file, and returns the name of the file."""
        name = hashlib.sha256(found[2].encode()).hexdigest()[:16]
        self.parts.mkdir(parents=True, exist_ok=True)
        (self.parts / name).write_text(found[2], encoding="utf-8", newline="")
        return f"{found[1]}{name}{found[3]}"


@contextmanager
def answering_once() -> Iterator[None]:
    """Each check is run once: later commands about it show the first report."""
    known: dict[tuple[str, str, int], Report] = {}
    answer = dispatch_check.answer_check

    def once(spec: Spec, name: str, options: Options, listener: Listener | None = None) -> Report:
        asked = (str(spec), name, options.kinds)
        if asked not in known:
            known[asked] = answer(spec, name, options, listener)
        return known[asked]

    with mock.patch.object(dispatch_check, "answer_check", once):
        yield


@contextmanager
def workplace() -> Iterator[None]:
    """A new folder is the current one, with the library as ``specs``."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("specs").symlink_to(resources.specs())
        yield

"""Faults, seeded one at a time in a copy of the tree, and the tests that must find them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.selection import EVERY_CASE

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
TESTS_FAILED = 1
"""The exit code of pytest where tests were run, and some of them failed."""


@dataclass(frozen=True)
class Fault:
    """A fault: ``seeded`` in place of ``text`` in ``file``; ``found_by`` are the tests that must
    find it."""

    name: str
    file: str
    text: str
    seeded: str
    found_by: tuple[str, ...]

    @property
    def occurrences(self) -> int:
        """How often the text to replace occurs in the file."""
        path = ROOT / self.file
        return path.read_text(encoding="utf-8").count(self.text) if path.is_file() else 0


def faults() -> list[Fault]:
    """Returns all faults of the list."""
    found = tomllib.loads((Path(__file__).parent / "faults.toml").read_text(encoding="utf-8"))
    return [
        Fault(name, row["file"], row["text"], row["seeded"], tuple(row["found_by"]))
        for name, row in found.items()
    ]


@dataclass(frozen=True)
class Copy:
    """A copy of the tree at ``root``, whose tests run with the caches below ``caches``."""

    root: Path
    caches: Path

    @classmethod
    def make(cls, folder: Path) -> Copy:
        """Copies the tree into ``folder``, without what is generated."""
        copy = cls(folder / "tree", folder / "caches")
        shutil.copytree(ROOT, copy.root, ignore=LEFT_OUT, symlinks=True)
        return copy

    @contextmanager
    def seeding(self, fault: Fault) -> Iterator[None]:
        """Within the block, the copy has the fault."""
        path = self.root / fault.file
        right = path.read_text(encoding="utf-8")
        path.write_text(right.replace(fault.text, fault.seeded), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(right, encoding="utf-8")

    def run(self, tests: Sequence[str], cache: str) -> subprocess.CompletedProcess[str]:
        """Runs those of ``tests`` that are in the default run, until one fails.

        ``cache``: the name of the cache folder of the tool; what one fault leaves there is of no
        use to another.
        """
        surroundings = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            EVERY_CASE: "1",
            "XDG_CACHE_HOME": str(self.caches / cache),
        }
        words = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *tests]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *words],
            cwd=self.root, env=surroundings, capture_output=True, text=True, check=False,
        )  # fmt: skip

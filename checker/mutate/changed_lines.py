"""The lines of a file that have changed since a revision of its git repository.

Git is asked as a program.  A file that git does not track has changed in all lines; where lines are
only gone, none has.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from checker.diagnostics import Diagnostic, SpecError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.M)
_OF_CALLERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What git sets for its hooks, relative to another folder."""


def changed_lines(path: Path, revision: str) -> frozenset[int]:
    """Returns the numbers of the lines of the file at ``path``, as it is, that differ from the file
    at ``revision``.

    Raises :class:`SpecError`: E157 if there is no repository or no git, E158 if it has no such
    revision.
    """
    file = path.resolve()
    found = _git(file, "rev-parse", "--git-dir")
    if found.returncode != 0:
        raise _wrong("E157", f"{path} is in no git repository", found.stderr)
    commit = f"{revision}^{{commit}}"
    if _git(file, "rev-parse", "--verify", "--end-of-options", commit).returncode != 0:
        hint = "a commit, a tag or a branch, such as `HEAD` or `main`; `git log` lists commits"
        raise _wrong("E158", f"`{revision}` is no revision of the repository", hint)
    every = frozenset(range(1, len(file.read_bytes().splitlines()) + 1))
    if _git(file, "ls-files", "--error-unmatch", "--", file.name).returncode != 0:
        return every
    words = ("diff", "--unified=0", "--text", "--no-ext-diff", "--no-textconv", "--no-color")
    found = _git(file, *words, "--end-of-options", revision, "--", file.name)
    if found.returncode != 0:
        raise _wrong("E157", f"git can't compare {path} with `{revision}`", found.stderr)
    lines: set[int] = set()
    for first, count in _HUNK.findall(found.stdout):
        lines |= {*range(int(first), int(first) + int(count or 1))}
    return every & lines


def _git(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: to for name, to in os.environ.items() if name not in _OF_CALLERS}
    environment["LC_ALL"] = "C"
    try:
        return subprocess.run(
            ["git", *words], cwd=file.parent, env=environment, capture_output=True,
            text=True, errors="replace", check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise _wrong("E157", "the program `git` is not installed", "") from None


def _wrong(code: str, message: str, said: str) -> SpecError:
    hint = next(iter(said.strip().splitlines()), "")
    if not hint or "not a git repository" in hint:
        hint = "`--since` compares the file with a revision of its git repository"
    return SpecError((Diagnostic(code, message, hint=hint),))

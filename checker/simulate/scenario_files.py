"""Reads and writes scenario files: the check that they belong to, and the clause.

    of ../specs/broadcast/eager_reliable.bcast::crash_one
    set n = 4
    fine steps

    scenario the_sender_dies {
      p1 broadcasts a
      p1 crashes
      then it ends
    }

``of`` names the spec, relative to the file's folder (or to the working directory), and the check.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, Span, SpecError
from checker.language.syntax import typed
from checker.language.typecheck.scenarios import scenario_in

SUFFIX = ".scenario"
"""The suffix of scenario files."""

FINE = "fine steps"
_OF = re.compile(r"of\s+(?P<path>.+?)::(?P<check>\w+)\s*")
_SET = re.compile(r"set\s+(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\S.*?)\s*")


class Saved(Struct, frozen=True):
    """A parsed file: ``path`` and ``check``: what it belongs to; ``clause``: the rest of ``file``,
    at its lines.
    """

    file: str
    path: str
    check: str
    settings: Mapping[str, str] = field(default_factory=dict)
    fine: bool = False
    clause: str = ""

    def scenario(self, check: typed.Check) -> typed.Scenario:
        """Returns the scenario, typed as one of ``check``; raises :class:`SpecError`."""
        found = scenario_in(self.clause, self.file, {p.name for p in check.prove})
        if found is None:
            raise _wrong(self.file, 1, "this file must have exactly one scenario")
        return found


def read_saved(text: str, file: str) -> Saved:
    """Parses ``text``, the content of ``file``; raises :class:`SpecError` (E040)."""
    path = check = ""
    settings: dict[str, str] = {}
    fine = False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        bare = line.partition("//")[0].strip()
        if bare.startswith("scenario"):
            if not path:
                break
            clause = "\n" * number + "\n".join(lines[number:]) + "\n"
            return Saved(file, _resolve(path, file), check, settings, fine, clause)
        if of := _OF.fullmatch(bare):
            path, check = of["path"], of["check"]
        elif setting := _SET.fullmatch(bare):
            settings[setting["name"]] = setting["value"]
        elif bare == FINE:
            fine = True
        elif bare:
            raise _wrong(file, number + 1, f"unexpected `{bare[:40]}` in a scenario file")
    missing = "a scenario" if path else "the line `of FILE::CHECK`"
    raise _wrong(file, len(lines), f"this file lacks {missing}")


def _wrong(file: str, line: int, message: str) -> SpecError:
    hint = "write `of FILE::CHECK`, then `set NAME = VALUE`, `fine steps` and a scenario"
    return SpecError((Diagnostic("E040", message, Span(file, line, 1, line, 2), "", hint),))


def _resolve(path: str, file: str) -> str:
    """Resolves ``path`` relative to the folder of ``file``, or to the working directory where there
    is no such file.
    """
    beside = Path(file).parent / path
    return os.path.normpath(beside) if beside.exists() else path


def scenario_text(
    path: str, check: str, settings: Iterable[tuple[str, str]], fine: bool, clause: str, file: str
) -> str:
    """Returns the text of such a file, to be written to ``file``."""
    folder = Path(file).resolve().parent
    seen = Path(path)
    if seen.exists():
        path = Path(os.path.relpath(seen.resolve(), folder)).as_posix()
    head = [f"of {path}::{check}", *(f"set {name} = {value}" for name, value in settings)]
    if fine:
        head.append(FINE)
    return "\n".join([*head, "", clause])

"""Reads what a user says of the processes of a log: where it is complete, who crashed (TOML)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from checker.diagnostics import Diagnostic, SpecError


class Told(Struct, frozen=True):
    """What a manifest says of a process, or of all.

    ``first``, ``last``: the positions between which its log is complete; ``complete``: whether it
    is at all; ``sampled``: rows were left out at random; ``crashed``, ``byzantine``: it is faulty;
    ``delivers``: it is one of those that a message is for.
    """

    first: int | None = None
    last: int | None = None
    complete: bool = True
    sampled: bool = False
    crashed: bool | None = None
    byzantine: bool = False
    delivers: bool = True


class Manifest(Struct, frozen=True):
    """What is known of the processes beside their logs.

    ``processes``: by name, or by a pattern of names; ``every``: of those that are not named;
    ``file``: where it is written.
    """

    processes: Mapping[str, Told] = field(default_factory=dict)
    every: Told = field(default_factory=Told)
    file: str = ""

    def of(self, process: str) -> Told:
        """Returns what is said of ``process``, by its name or by a pattern that it fits."""
        if process in self.processes:
            return self.processes[process]
        patterns = (told for key, told in self.processes.items() if fnmatchcase(process, key))
        return next(patterns, self.every)


_TOLD = {
    "from": ("first", int),
    "to": ("last", int),
    "complete": ("complete", bool),
    "sampled": ("sampled", bool),
    "crashed": ("crashed", bool),
    "byzantine": ("byzantine", bool),
    "delivers": ("delivers", bool),
}


def read_manifest(file: str | None) -> Manifest:
    """Returns the manifest in ``file``; raises :class:`SpecError` (E086)."""
    if file is None:
        return Manifest()
    document = _toml(file)
    _require_keys(file, document, ("processes", "every"), "a manifest")
    processes = document.get("processes", {})
    if not isinstance(processes, dict):
        raise _wrong(file, "`processes` must be a table with a table for each process")
    told = {name: _told(file, name, given) for name, given in processes.items()}
    return Manifest(told, _told(file, "every", document.get("every", {})), file)


def _told(file: str, name: str, given: object) -> Told:
    if not isinstance(given, dict):
        raise _wrong(
            file, f"`{name}` must be a table, such as {{ from = 0, to = 99, crashed = true }}"
        )
    _require_keys(file, given, tuple(_TOLD), f"the table of `{name}`")
    found: dict[str, Any] = {}
    for key, value in given.items():
        attribute, kind = _TOLD[key]
        if type(value) is not kind:
            raise _wrong(file, f"`{key}` of `{name}` is {value!r}", [f"{kind.__name__}"])
        found[attribute] = value
    return Told(**found)


def _toml(file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as problem:
        raise _wrong(file, f"the manifest can't be read: {problem.strerror or problem}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise _wrong(file, f"the manifest is not TOML: {problem}") from None


def _require_keys(file: str, given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise _wrong(file, f"{where} has no `{key}`", known)


def _wrong(file: str, message: str, expected: tuple[str, ...] | list[str] = ()) -> SpecError:
    listed = ", ".join(f"`{name}`" for name in expected)
    return SpecError((Diagnostic("E086", f"{file}: {message}", None, listed),))

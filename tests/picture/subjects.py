"""What is frozen: the subjects, and the files of each."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker import resources
from tests.picture.asking import Folder, TooLong, answering_once, limited, still_clock, workplace
from tests.picture.logs import INTERFACES, name_of, show_audit, show_conformance
from tests.picture.questions import CHANCE, SWEEPS, VALENCE, show_chance, show_sweep, show_valence
from tests.picture.views import show_check, show_walk
from tests.picture.worlds import show_world

SLOW = ("a minute", "longer")
UNEXPLAINED: tuple[str, ...] = ()
"""Checks of the library whose runs take minutes to explain."""
LOGS, AUDITS = 120, 6
"""How many logs are asked whether they conform, and how many of each interface are audited."""


@dataclass(frozen=True)
class Subject:
    """What is asked about: its kind, and its name or number, which are the names of its folder."""

    kind: str
    name: str

    @property
    def path(self) -> str:
        return f"{self.kind}/{self.name.replace('.bcast::', '/')}"


def checks(*, slow: bool = False) -> list[str]:
    """Returns the checks of the library that are violated, those that are slow or the others."""
    manifest = json.loads((resources.specs() / "manifest.json").read_text(encoding="utf-8"))
    return [
        f"{file}::{check}"
        for file, about in manifest["files"].items()
        for check, found in about["checks"].items()
        if not {"violated", "vacuous", "unknown"}.isdisjoint(found["verdicts"].values())
        and (found["seconds"] in SLOW) is slow
    ]


def subjects(worlds: int) -> Iterator[Subject]:
    """Yields all subjects, with so many random worlds."""
    for kind, names in (("chance", CHANCE), ("valence", VALENCE), ("sweep", SWEEPS)):
        yield from (Subject(kind, name) for name in names)
    yield from (Subject("library", name) for name in checks())
    for interface in INTERFACES:
        yield from (Subject("audit", f"{interface}/{name_of(n)}") for n in range(AUDITS))
    yield from (Subject("conform", name_of(number)) for number in range(LOGS))
    yield from (Subject("world", name_of(number)) for number in range(worlds))


def show(subject: Subject, folder: Folder) -> None:
    """Writes all views of ``subject``."""
    name = subject.name
    if subject.kind == "library":
        named = f"specs/{name}"
        show_check(folder, named, *(("--no-explain",) if name in UNEXPLAINED else ()))
        show_walk(folder, named)
    elif subject.kind == "world":
        show_world(folder, int(name))
    elif subject.kind == "conform":
        show_conformance(folder, int(name))
    elif subject.kind == "audit":
        interface, _, number = name.partition("/")
        show_audit(folder, interface, int(number))
    elif subject.kind == "valence":
        show_valence(folder, f"specs/{name}")
    else:
        show_chance(folder, f"specs/{name}")


def freeze(task: tuple[Subject, str]) -> tuple[Subject, list[str], float]:
    """Writes the files of a subject below the folder; returns their names, none where it took too
    long, and the seconds."""
    subject, out = task
    folder = Folder(Path(out) / subject.path, Path(out) / "parts")
    began = time.monotonic()
    try:
        if subject.kind == "sweep":  # its processes wait by the clock
            with workplace(), limited():
                show_sweep(folder, f"specs/{subject.name}")
        else:
            with workplace(), limited(), still_clock(), answering_once():
                show(subject, folder)
    except TooLong:
        shutil.rmtree(folder.out, ignore_errors=True)
        folder.names = ["left out"]
    return subject, folder.names, time.monotonic() - began

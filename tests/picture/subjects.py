"""What is frozen: the subjects, and the files of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker import resources
from tests.picture.asking import Folder, answering_once, workplace
from tests.picture.clock import still_clock
from tests.picture.logs import INTERFACES, name_of, show_audit, show_conformance
from tests.picture.questions import CHANCE, SWEEPS, VALENCE, show_chance, show_sweep, show_valence
from tests.picture.views import show_check, show_walk
from tests.picture.worlds import show_world

EXPLAINED, SHOWN, SLOW = ("instant",), ("seconds", "ten seconds"), ("a minute", "longer")
"""The classes of the manifest whose checks are shown with explanations, without, and not at all:
without a clock there is no limit to how long an explanation is looked for."""
LOGS, AUDITS = 120, 6
"""How many logs are asked whether they conform, and how many of each interface are audited."""


@dataclass(frozen=True)
class Subject:
    """What is asked about: its kind, and its name or number, which are the names of its folder;
    ``explained``: the runs of a check of the library are shown with explanations."""

    kind: str
    name: str
    explained: bool = True

    @property
    def path(self) -> str:
        return f"{self.kind}/{self.name.replace('.bcast::', '/')}"


def checks(classes: tuple[str, ...]) -> list[Subject]:
    """Returns the checks of the library that are violated, of these classes of the manifest."""
    manifest = json.loads((resources.specs() / "manifest.json").read_text(encoding="utf-8"))
    return [
        Subject("library", f"{file}::{check}", classes == EXPLAINED)
        for file, about in manifest["files"].items()
        for check, found in about["checks"].items()
        if not {"violated", "vacuous", "unknown"}.isdisjoint(found["verdicts"].values())
        and found["seconds"] in classes
    ]


def subjects(worlds: int) -> Iterator[Subject]:
    """Yields all subjects, with ``worlds`` random worlds."""
    for kind, names in (("chance", CHANCE), ("valence", VALENCE), ("sweep", SWEEPS)):
        yield from (Subject(kind, name) for name in names)
    yield from (*checks(EXPLAINED), *checks(SHOWN))
    for interface in INTERFACES:
        yield from (Subject("audit", f"{interface}/{name_of(n)}") for n in range(AUDITS))
    yield from (Subject("conform", name_of(number)) for number in range(LOGS))
    yield from (Subject("world", name_of(number)) for number in range(worlds))


def show(subject: Subject, folder: Folder) -> None:
    """Writes all views of ``subject``."""
    name = subject.name
    if subject.kind == "library":
        named = f"specs/{name}"
        show_check(folder, named, *(() if subject.explained else ("--no-explain",)))
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


def freeze(subject: Subject, out: Path) -> None:
    """Writes the files of a subject below the folder ``out``."""
    folder = Folder(out / subject.path, out / "parts")
    with workplace():
        if subject.kind == "sweep":  # its processes wait by the clock
            show_sweep(folder, f"specs/{subject.name}")
            return
        with still_clock(), answering_once():
            show(subject, folder)

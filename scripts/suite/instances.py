"""The instances of the suite, from the tables that the project has: nothing is written twice."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

from checker import resources
from checker.cli.bench import TABLES
from checker.results.verdict import Word
from checker.session.published import SURELY, PublishedNumber, read_numbers

STATES, VALUE, SURE, VERDICT = "number of states", "exact value", "almost surely", "verdict"
COLUMNS = ("name", "kind", "question", "world", "settings", "answer", "provenance")
_SOURCES = {"tla": "TLA+ examples", "qvbs": "QVBS"}


class Instance(Struct, frozen=True):
    """A question about a world, with the ``answer`` that is known and where that comes from.

    ``world``: `FILE::CHECK` of the library, with ``settings``.  ``published``: the row of a table,
    where others have published the answer.
    """

    name: str
    kind: str
    question: str
    world: str
    settings: dict[str, str]
    answer: str
    provenance: str
    published: PublishedNumber | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The instance as a line of the manifest, in the order of ``COLUMNS``."""
        settings = " ".join(f"{name}={value}" for name, value in self.settings.items())
        return (
            self.name, self.kind, self.question, self.world, settings, self.answer, self.provenance
        )  # fmt: skip


def instances() -> list[Instance]:
    """Returns all of them: published numbers that a check says, then verdicts of the library."""
    return [*_published(), *_verdicts()]


def _published() -> Iterator[Instance]:
    for table, source in _SOURCES.items():
        for row in read_numbers(resources.specs() / TABLES[table]):
            if not row.check:
                continue
            kind = STATES if not row.value else SURE if row.value == SURELY else VALUE
            question = row.question or STATES
            if row.reduce != "none":
                question += f", counted with {row.reduce}"
            yield Instance(
                f"{source}: {row.model} {row.about}".rstrip(), kind, question, row.check,
                row.settings, row.published, f"{source}: {row.model}", row,
            )  # fmt: skip


def _verdicts() -> Iterator[Instance]:
    """Yields what the library's checks find of properties, with what their specs name as source."""
    manifest = json.loads((resources.specs() / "manifest.json").read_text(encoding="utf-8"))
    for file, entry in manifest["files"].items():
        for check, found in entry["checks"].items():
            for asked, word in found["verdicts"].items():
                if word in (Word.HOLDS, Word.VIOLATED) and " " not in asked:
                    yield Instance(
                        f"{file}::{check}: {asked}", VERDICT, asked, f"{file}::{check}", {}, word,
                        entry.get("source", "the library"),
                    )  # fmt: skip

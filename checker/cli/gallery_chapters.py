"""The chapters of the gallery, as ``specs/gallery.toml`` has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec
from msgspec import Struct

from checker import resources


class ValenceChapter(Struct, frozen=True, forbid_unknown_fields=True):
    """A chapter on valence: the check that it shows, and the part of its page to begin with."""

    title: str
    file: str
    check: str
    part: str
    said: str


class ChanceChapter(Struct, frozen=True, forbid_unknown_fields=True):
    """A chapter on chance: the checks of ``file`` whose values its ``page`` shows."""

    title: str
    file: str
    checks: tuple[str, ...]
    page: str
    said: str


class Rung(Struct, frozen=True):
    """A check of a variant, in a ``file`` of the library, and the ``rule`` that it lacks."""

    file: str
    check: str
    rule: str


class Ladder(Struct, frozen=True, forbid_unknown_fields=True):
    """The variants of one protocol that lack one rule each: by file, the rule that each check
    lacks."""

    title: str
    said: str
    lacking: Mapping[str, Mapping[str, str]]

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The checks, in order."""
        files = self.lacking.items()
        return tuple(Rung(file, *each) for file, rules in files for each in rules.items())


class Chapters(Struct, frozen=True, forbid_unknown_fields=True):
    """All chapters, in order."""

    valence: tuple[ValenceChapter, ...]
    chance: tuple[ChanceChapter, ...]
    ladders: tuple[Ladder, ...]


@cache
def gallery_chapters() -> Chapters:
    """Returns the chapters; raises ``FileNotFoundError`` where the library is missing."""
    return msgspec.toml.decode((resources.specs() / "gallery.toml").read_bytes(), type=Chapters)

"""Lines of a log in a report, and why no step explains one."""

from __future__ import annotations

from msgspec import Struct

from checker.results.domains import Natural, Positive
from checker.results.events import At, Passage


class LoggedLine(Struct, frozen=True):
    """A line of a log: ``number`` counts from 1 in ``file``; ``text``: what it says, in words, and
    ``said``: as JSON, without its time."""

    file: str
    number: Positive
    process: str
    text: str
    said: str = ""


class Candidate(Struct, frozen=True):
    """A reason, ``text``, why no step explains a line; where it is about one that could be it: that
    ``step`` in words (empty where the line says it), and ``why`` it does not.

    ``false``: the conditions in the handler at ``at`` that are false, as the spec has them, and
    ``passages``: where it has them.
    """

    text: str
    step: str = ""
    why: str = ""
    false: tuple[str, ...] = ()
    at: At | None = None
    passages: tuple[Passage, ...] = ()


class Obstacle(Struct, frozen=True):
    """A line that is next where the longest explained prefix ends, and for each step that could be
    it, why it can't be taken (``candidates``; ``reasons``: their texts); ``steps``: numbers of the
    steps that these cite."""

    line: LoggedLine
    candidates: tuple[Candidate, ...]
    steps: tuple[Natural, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each step that could be the line can't be taken."""
        return tuple(candidate.text for candidate in self.candidates)

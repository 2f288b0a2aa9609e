"""A report on conformance: whether the log of an implementation is a run of a check."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from checker.resources import version
from checker.results.answer import INTERRUPTED
from checker.results.domains import Amount, Natural, Positive
from checker.results.events import At
from checker.results.trace import Trace
from checker.results.verdict import Word, exit_code_of

FORMAT = 1
"""Version of the document."""


class LoggedLine(Struct, frozen=True):
    """A line of a log: ``number`` counts from 1 in ``file``; ``text``: what it says, in words, and
    ``said``: as JSON, without its time."""

    file: str
    number: Positive
    process: str
    text: str
    said: str = ""


class LogOfProcess(Struct, frozen=True):
    """The log of one process: ``explained`` of its ``lines`` that record an event."""

    process: str
    lines: Natural
    explained: Natural


class Candidate(Struct, frozen=True):
    """A reason, ``text``, why no step explains a line; where it is about one that could be it: that
    ``step`` in words (empty where the line says it), and ``why`` it does not.

    ``false``: the conditions in the handler at ``at`` that are false, as the spec has them.
    """

    text: str
    step: str = ""
    why: str = ""
    false: tuple[str, ...] = ()
    at: At | None = None


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


class Conformance(Struct, frozen=True):
    """Whether a log is a log of a run of the check.

    ``word``: ``holds``, ``violated``, ``vacuous`` or ``unknown``; ``sentence``: that in words.
    ``logs``: the files; ``run``: which of the runs in them, where the lines name it; ``read``: its
    lines; ``ignored``: those that a mapping passes over;
    ``gaps``: where lines are missing, in words; ``processes``: those that have a log.
    ``logged``: the kinds of events that are logged, and ``silent``: those of the check that are
    not.  ``obstacles``: where it is not explained, for the next line of each process.
    ``trace``: the run that explains the log, or its longest explained prefix, without the first
    ``omitted`` steps, which were not replayed by the interpreter; ``explaining``: how
    many states explain that prefix (as far as was searched).  ``nodes`` and ``steps``: of the
    search; ``stopped``: why it was not completed.
    """

    file: str
    check: str
    parameters: Mapping[str, str | int]
    engine: str
    word: Word
    sentence: str
    logs: tuple[str, ...]
    read: Natural
    processes: tuple[LogOfProcess, ...]
    logged: tuple[str, ...]
    silent: tuple[str, ...]
    run: str = ""
    gaps: tuple[str, ...] = ()
    ignored: Natural = 0
    obstacles: tuple[Obstacle, ...] = ()
    explaining: Natural = 0
    nodes: Natural = 0
    steps: Natural = 0
    seconds: Amount = 0.0
    stopped: str | None = None
    world: str = ""
    notes: tuple[str, ...] = ()
    omitted: Natural = 0
    trace: Trace | None = None
    version: str = field(default_factory=version)

    @property
    def lines(self) -> int:
        """The lines that record an event."""
        return sum(one.lines for one in self.processes)

    @property
    def explained(self) -> int:
        """The lines that are explained."""
        return sum(one.explained for one in self.processes)

    @property
    def exit_code(self) -> int:
        """The exit code of its verdict."""
        return exit_code_of(self.word)

    @property
    def was_interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.stopped == INTERRUPTED

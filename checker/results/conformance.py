"""A report on conformance: whether the log of an implementation is a run of a check."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from checker.resources import version
from checker.results.answer import INTERRUPTED
from checker.results.conformance_lines import Candidate as Candidate
from checker.results.conformance_lines import LoggedLine as LoggedLine
from checker.results.conformance_lines import Obstacle as Obstacle
from checker.results.domains import Amount, Natural
from checker.results.step_proposals import StepProposal
from checker.results.trace import Trace
from checker.results.verdict import Word, exit_code_of, worst
from checker.results.windows import WindowScore

FORMAT = 1
"""Version of the document."""


class LogOfProcess(Struct, frozen=True):
    """The log of one process: ``explained`` of its ``lines`` that record an event."""

    process: str
    lines: Natural
    explained: Natural


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
    search; ``stopped``: why it was not completed.  ``windows``: the score by windows, if asked for.
    ``proposals``: what to write in the mapping if lines are one step.  ``next_steps``: what would
    decide it where it is *unknown*.
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
    windows: WindowScore | None = None
    proposals: tuple[StepProposal, ...] = ()
    next_steps: tuple[str, ...] = ()
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
        """The exit code of its verdict, or, if the log was scored by windows, the worse of both."""
        code = exit_code_of(self.word)
        return code if self.windows is None else worst((code, self.windows.exit_code))

    @property
    def was_interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.stopped == INTERRUPTED

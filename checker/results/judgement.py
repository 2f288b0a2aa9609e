"""A report on a recorded history: whether its operations, or transactions, have a right order."""

from __future__ import annotations

from msgspec import Struct, field

from checker.resources import version
from checker.results.answer import INTERRUPTED
from checker.results.domains import Amount, Natural, Positive
from checker.results.problems import Problem
from checker.results.verdict import Word, exit_code_of

FORMAT = 1
"""Version of the document."""


class Recorded(Struct, frozen=True):
    """An operation or a transaction of a history: its ``text``, and the lines of its call and its
    return (0: it did not return).  ``begin`` and ``end``: the positions of these rows in the
    history, counted from 0; ``end`` is that of the last row where it did not return."""

    process: str
    text: str
    called: Positive
    returned: Natural
    begin: Natural
    end: Natural


class Refutation(Struct, frozen=True):
    """Operations that have no order that explains their results: ``operations``, in the order of
    their calls, of which ``refuted`` is the number, from 0 on, of the one whose return fits none.

    ``reasons``: the states of the object that are possible then, and why it does not fit.
    ``prefix``: how many operations were called up to there; ``left_out``: those among them that are
    not needed.  ``key``: the part of the history; empty where there is only one.
    """

    operations: tuple[Recorded, ...]
    refuted: Natural
    sentence: str
    reasons: tuple[str, ...]
    prefix: Natural
    left_out: Natural
    key: str = ""


class Dependency(Struct, frozen=True):
    """Why the transaction number ``before`` of a cycle precedes the number ``after``: ``kind`` is
    ``ww``, ``wr``, ``rw`` or ``realtime``, ``text`` the evidence."""

    before: Natural
    after: Natural
    kind: str
    text: str


class Anomaly(Struct, frozen=True):
    """What transactions must not do: its ``name`` in the literature, such as ``G-single``, the
    ``transactions`` that show it, and their ``dependencies``, where it is a cycle.  ``times``: how
    many such anomalies were found."""

    name: str
    sentence: str
    transactions: tuple[Recorded, ...]
    dependencies: tuple[Dependency, ...] = ()
    times: Positive = 1


class Judgement(Struct, frozen=True):
    """Whether the history in ``file`` is one of ``object``, in the sense of ``model``.

    ``word``: ``holds``, ``violated``, ``vacuous`` or ``unknown``; ``sentence``: that in words.
    ``rows``: of the file, of which ``ignored`` are not those of clients; ``operations``: those that
    took effect or may have, of which ``indeterminate`` have no known outcome; ``failed``: those
    that are left out since they did not.  ``parts``: how many parts were judged alone, by key, and
    ``undecided``: what is unknown, and why.  ``anomalies``: those that ``model`` forbids;
    ``allowed``: the names of those that were found, too.  ``work``: configurations that were
    extended; ``stopped``: why it was not completed.
    """

    file: str
    object: str
    model: str
    word: Word
    sentence: str
    format: str = ""
    rows: Natural = 0
    ignored: Natural = 0
    operations: Natural = 0
    indeterminate: Natural = 0
    failed: Natural = 0
    parts: Natural = 0
    refutation: Refutation | None = None
    anomalies: tuple[Anomaly, ...] = ()
    allowed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    work: Natural = 0
    seconds: Amount = 0.0
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    version: str = field(default_factory=version)

    @property
    def exit_code(self) -> int:
        """The exit code of its verdict."""
        return exit_code_of(self.word)

    @property
    def was_interrupted(self) -> bool:
        """Whether the user ended it."""
        return self.stopped == INTERRUPTED

"""What a monitor notices of a system while that runs."""

from __future__ import annotations

from msgspec import Struct

from checker.results.conformance_lines import LoggedLine
from checker.results.domains import Amount, Natural
from checker.results.verdict import Word, exit_code_of, worst


class Wrong(Struct, frozen=True, tag_field="event", tag="wrong"):
    """The line ``line`` is the first one with which the log is none of a run.

    ``alone``: whether its process alone shows it, whatever the others do; ``reasons``: why not;
    ``allowed``: the kinds of lines that its process could have written there.
    """

    line: LoggedLine
    alone: bool
    reasons: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class Overdue(Struct, frozen=True, tag_field="event", tag="overdue"):
    """The message that ``line`` receives has not been sent by a line of ``sender``, ``seconds``
    later."""

    line: LoggedLine
    sender: str
    seconds: Amount


class Lost(Struct, frozen=True, tag_field="event", tag="lost track"):
    """What ``process`` does is not known any more, or (empty) whether there is one run of all of
    them; ``why``."""

    process: str
    why: str


class Resumed(Struct, frozen=True, tag_field="event", tag="resumed"):
    """The process of ``line`` is followed again, from that line on."""

    line: LoggedLine


class Summary(Struct, frozen=True, tag_field="event", tag="summary"):
    """What was noticed until the end.

    ``word``: ``holds``, ``violated``, ``unknown`` or ``vacuous``; ``sentence``: that in words.
    ``lines``: those that record an event; ``known``: those that had been read before; ``waiting``:
    lines of messages received that no line sends yet; ``wrong``, ``overdue`` and ``lost``: how
    often each was noticed.  ``stopped``: why it was ended, if it was.
    """

    word: Word
    sentence: str
    lines: Natural
    known: Natural = 0
    waiting: Natural = 0
    wrong: Natural = 0
    overdue: Natural = 0
    lost: Natural = 0
    stopped: str | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of its verdict; 3 at least if it was ended."""
        code = exit_code_of(self.word)
        return code if self.stopped is None else worst((code, exit_code_of(Word.UNKNOWN)))


Noticed = Wrong | Overdue | Lost | Resumed | Summary

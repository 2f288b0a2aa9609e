"""The messages that lines have sent, and the lines that receive one which none has sent yet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, assert_never

from checker.conform.explain_events import BY_MESSAGE, Observation
from checker.conform.kept_values import to_data
from checker.conform.lines import Line, Logged
from checker.conform.patterns import Anything, Exactly, OneCase, Parts, Pattern, Present, is_exact
from checker.model.ir import MarkKind

Sent = tuple[int, int, str]
"""A message: the ranks of its sender and its receiver, and a digest of its content."""

MOST_SENT = 100_000
"""The largest number of different sent messages that are remembered."""


class SentMessages:
    """The messages that were sent, according to the lines; the oldest are forgotten.

    ``may_be_forged``: whether a message may be received that nobody has sent.
    """

    def __init__(
        self, observation: Observation, may_be_forged: bool, most: int = MOST_SENT
    ) -> None:
        self.observation, self.most = observation, most
        system = observation.system
        types = {info.types[2] for info in system.marks if info.kind in BY_MESSAGE}
        self._comparable = len(types) == 1 and not may_be_forged
        self._excepted = any(each.kind is MarkKind.SEND for each in observation.unlogged)
        self._sent: dict[Sent, None] = {}
        self._forgot = False
        self._unsure: set[int] = set()
        self._digests: dict[int, tuple[Line, tuple[Sent, ...]]] = {}

    def add(self, line: Line) -> None:
        """Notes the messages that ``line`` sends."""
        if line.logged.kind is not MarkKind.SEND:
            return
        found = self._messages(line)
        if not found:  # it does not say which message: it may be any
            self._unsure.add(self.observation.system.processes.index(line.row.process))
        for sent in found:
            self._sent[sent] = None
        while len(self._sent) > self.most:
            del self._sent[next(iter(self._sent))]
            self._forgot = True

    def add_gap(self, rank: int) -> None:
        """Notes a gap: the process of this rank may have sent anything there."""
        self._unsure.add(rank)

    def __contains__(self, sent: Sent) -> bool:
        """Returns whether a message was sent, as far as that is known."""
        return sent in self._sent or self._forgot or sent[0] in self._unsure

    def needed_by(self, line: Line) -> Sent | None:
        """Returns the message that some line must have sent before ``line``, if there is one."""
        if line.logged.kind is not MarkKind.RECEIVE or not self._comparable or self._excepted:
            return None
        found = self._messages(line)
        if len(found) != 1:
            return None
        sender, receiver, _ = found[0]
        logs = Logged(MarkKind.SEND) in self.observation.logged[sender]
        return found[0] if logs and sender != receiver else None

    def _messages(self, line: Line) -> tuple[Sent, ...]:
        """Returns the messages that a line sends or receives; none if the line is incomplete."""
        kept = self._digests.get(id(line.patterns))
        if kept is None:
            if len(self._digests) >= self.most:
                self._digests.clear()
            found = tuple(dict.fromkeys(self._found(line)))
            kept = self._digests[id(line.patterns)] = (line, found)
        return kept[1]

    def _found(self, line: Line) -> Iterator[Sent]:
        everybody = range(len(self.observation.system.processes))
        for pattern in line.patterns:
            own, other, message = pattern.args
            assert isinstance(own, Exactly)
            if line.logged.kind is MarkKind.SEND:
                receivers = everybody if pattern.to is None else sorted(pattern.to)
                if is_exact(message):
                    yield from ((_rank(own), rank, _digest(message)) for rank in receivers)
            elif is_exact(message) and isinstance(other, Exactly):
                yield _rank(other), _rank(own), _digest(message)

    def to_data(self) -> dict[str, Any]:
        """Returns what was sent as data that JSON can hold."""
        sent = [list(each) for each in self._sent]
        return {"sent": sent, "forgot": self._forgot, "unsure": sorted(self._unsure)}

    def restore(self, data: dict[str, Any]) -> None:
        """Restores what :meth:`to_data` has returned."""
        self._sent = dict.fromkeys((one, other, what) for one, other, what in data["sent"])
        self._forgot, self._unsure = data["forgot"], set(data["unsure"])


def _rank(pattern: Exactly) -> int:
    assert isinstance(pattern.value, int)
    return pattern.value


def _digest(message: Pattern) -> str:
    return hashlib.blake2b(repr(_parts(message)).encode(), digest_size=8).hexdigest()


def _parts(pattern: Pattern) -> object:
    """Returns an exact pattern as data."""
    match pattern:
        case Exactly(value):
            return to_data(value)
        case OneCase(case, fields):
            return [case, *map(_parts, fields)]
        case Parts(parts):
            return [*map(_parts, parts)]
        case Present(item):
            return [_parts(item)]
        case Anything():
            raise AssertionError("it is exact")
        case _:
            assert_never(pattern)

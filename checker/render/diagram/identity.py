"""Identifies the message that a text is about, so that it keeps its colour when relayed."""

from __future__ import annotations

from collections.abc import Iterator

from checker.render.diagram.operations import text_of_indication
from checker.results.events import Indicated, Requested
from checker.results.terms import head, leaves
from checker.results.trace import Step, Trace


class Identities:
    """Numbers the values of clients' requests, and the types of messages without one.

    A text has the identity of the value in it where there is just one such value; else that of its
    type, the text before its parenthesis.
    """

    def __init__(self, trace: Trace, steps: tuple[Step, ...]) -> None:
        self.trace = trace
        self._values = {value: i for i, value in enumerate(_values(trace, steps))}
        self._types: dict[str, int] = {}
        self._known: dict[tuple[str, bool], int] = {}

    def of(self, text: str, is_message: bool = False) -> int:
        """Returns the number of the call or message in ``text``.

        A number in a message is not treated as a value: it may be anything, such as a ballot.
        """
        if (text, is_message) not in self._known:
            self._known[text, is_message] = self._find(text, is_message)
        return self._known[text, is_message]

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the texts that the numbers stand for."""
        return (*(f"about {value}" for value in self._values), *self._types)

    def _find(self, text: str, is_message: bool) -> int:
        found = {word for word in leaves(text) if word in self._values}
        if is_message:
            found = {word for word in found if not word.isdigit()}
        if len(found) == 1:
            return self._values[found.pop()]
        type_ = head(text).strip()
        return self._types.setdefault(type_, len(self._values) + len(self._types))


def _values(trace: Trace, steps: tuple[Step, ...]) -> Iterator[str]:
    """Yields the values that requests carry, in order of first occurrence; those that are only ever
    indicated where there are no requests with values.
    """
    for kind in (Requested, Indicated):
        seen: dict[str, None] = {}
        for step in steps:
            for event in step.events:
                if isinstance(event, kind) and event.call.outermost:
                    for word in _words(trace, step.number, event):
                        if word not in trace.processes:
                            seen.setdefault(word)
        if seen:
            yield from seen
            return


def _words(trace: Trace, number: int, event: Requested | Indicated) -> Iterator[str]:
    told = str(event.call)
    if isinstance(event, Indicated):
        told = text_of_indication(trace, number, event)
    yield from leaves(told.removeprefix(head(told)))

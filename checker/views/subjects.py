"""What messages are about, so that everything about one thing has one colour."""

from __future__ import annotations

import re

from checker.witness.trace import Trace

COLOURS = ("cyan", "yellow", "bright_blue", "magenta", "green", "bright_cyan", "bright_magenta")


class Subjects:
    """The values that clients hand in during a run; a message or delivery that has one of them is
    about it, any other one about itself."""

    def __init__(self, trace: Trace) -> None:
        asked = [
            value
            for step in trace.steps
            for event in step.events
            if event.kind == "request"
            for _, value in event.arguments
        ]
        self._values = tuple(dict.fromkeys(asked))
        self._found: dict[str, int] = {value: i for i, value in enumerate(self._values)}

    def subject(self, text: str) -> str:
        """What ``text``, a message or what is delivered, is about."""
        words = re.findall(r"\w+", text)
        return next((value for value in self._values if value in words), text)

    def style(self, text: str) -> str:
        """The colour of ``text``, a message or what is delivered."""
        number = self._found.setdefault(self.subject(text), len(self._found))
        return COLOURS[number % len(COLOURS)]

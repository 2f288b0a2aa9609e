"""The score of logs by windows: which lines a step of their process explains, alone."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checker.results.conformance_lines import Obstacle
from checker.results.domains import Natural, Positive
from checker.results.verdict import Covered


class HandlerScore(Struct, frozen=True):
    """The windows that begin with lines of one kind, ``name``.

    ``explained`` of the ``windows`` are explained by a step; ``weak`` of these would be if the step
    had done anything; ``unasked`` could not be checked.  ``outcomes``: the largest number of local
    states after one of them.  ``first``: the first line that no step explains, and why;
    ``condition``: what is wrong most often; ``shared``: what all lines that are not explained have
    in common, and no explained one.
    """

    name: str
    windows: Natural
    explained: Natural
    weak: Natural = 0
    unasked: Natural = 0
    outcomes: Natural = 0
    first: Obstacle | None = None
    condition: str = ""
    shared: tuple[str, ...] = ()

    @property
    def red(self) -> int:
        """The windows that no step explains."""
        return self.windows - self.explained - self.unasked


class LineScore(Struct, frozen=True):
    """The windows that a line of the spec explains, on which a handler, a branch or a crash point
    begins: how many, how many of these are ``weak``, and how many windows of it are ``red``;
    ``first``: the first of these, and why no step explains it."""

    file: str
    line: Positive
    explained: Natural = 0
    weak: Natural = 0
    red: Natural = 0
    first: Obstacle | None = None


UnseenKind = Literal["handler", "branch", "point", "fault", "state"]


class Unseen(Struct, frozen=True):
    """Something that no window shows: a place of the spec, a kind of fault, or a value of a
    variable (``state``); ``run``: the steps of a run that shows it, in words; ``never``: no run
    does."""

    kind: UnseenKind
    text: str
    file: str = ""
    line: Natural = 0
    column: Natural = 0
    run: tuple[str, ...] = ()
    never: bool = False


class WindowScore(Struct, frozen=True):
    """The score of a log: ``handlers``, those with windows that are not explained first.

    ``aside``: processes whose log was not checked by windows, or not to its end, with the reason;
    ``assumed``: what may have any value in every step; ``nowhere``: the lines of messages received
    that no line sends.  ``covered``: handlers and branches of the spec, and faults, and whether a
    window is explained by them; ``lines``: the score of lines of the spec.
    ``unseen``: what no window shows, if asked for.
    """

    handlers: tuple[HandlerScore, ...] = ()
    aside: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    nowhere: Natural = 0
    covered: tuple[Covered, ...] = ()
    lines: tuple[LineScore, ...] = ()
    unseen: tuple[Unseen, ...] = ()

    @property
    def exit_code(self) -> int:
        """1 if a window is not explained, 3 if some were not checked, 4 if there are none."""
        if any(each.red for each in self.handlers):
            return 1
        if self.aside or any(each.unasked for each in self.handlers):
            return 3
        return 0 if self.handlers else 4

"""The columns of a space-time diagram in a terminal, and rows of characters on them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise

from msgspec import Struct, field
from rich.cells import cell_len
from rich.text import Text

from checker.render.terminal import marks as m

LEAST = 4
"""The least width of a process's column: its lane, and some of a text."""
USUAL = 8
"""The width of a process's column if there is space, whether or not it has events."""
AROUND = 5
"""The columns that an arrow takes besides its label and the lanes at its ends."""


class Columns(Struct, frozen=True):
    """The lane of each process, from the left; ``edge``: the last column of all of them; ``width``:
    of the whole page.
    """

    at: dict[str, int]
    edge: int
    width: int

    def room(self, lane: str) -> int:
        """Returns the number of columns right of the lane of ``lane``, up to the next one."""
        behind = [x for x in self.at.values() if x > self.at[lane]]
        return min(behind, default=self.width + 1) - self.at[lane] - 1


def columns(lanes: tuple[str, ...], needs: dict[str, int], left: int, width: int) -> Columns | None:
    """Places ``lanes`` after ``left`` columns, each as wide as it needs if that fits, and none
    wider than the others need; returns ``None`` if there is no space for them.
    """
    free = width - left
    if not lanes or free < LEAST * len(lanes):
        return None
    wanted = {lane: max(needs.get(lane, 0), LEAST) for lane in lanes}
    least = min(free // len(lanes), USUAL)
    wanted = {lane: max(wish, least) for lane, wish in wanted.items()}
    given: dict[str, int] = {}
    for rest, lane in zip(
        range(len(lanes), 0, -1), sorted(lanes, key=lambda lane: wanted[lane]), strict=True
    ):
        given[lane] = min(wanted[lane], (free - sum(given.values())) // rest)
    at, x = {}, left
    for lane in lanes:
        at[lane] = x
        x += given[lane]
    return Columns(at, min(x, width), width)


class Row(Struct):
    """A line of characters, each with its style."""

    width: int
    cells: list[tuple[str, str]] = field(default_factory=list)

    def put(self, x: int, text: str, style: str = "") -> None:
        """Writes ``text`` from column ``x`` on, over what is there; clips it at the edge."""
        for character in text:
            size = cell_len(character)
            if size == 0:
                continue
            if x < 0 or x + size > self.width:
                return
            while len(self.cells) < x + size:
                self.cells.append((" ", ""))
            self.cells[x] = (character, style)
            for more in range(1, size):  # the rest of a wide character
                self.cells[x + more] = ("", style)
            x += size

    def sign(self, x: int) -> str:
        """Returns the character in column ``x``."""
        return self.cells[x][0] if x < len(self.cells) else " "

    def text(self, faded: bool = False) -> Text:
        """Returns the line, ``faded`` where it is only context."""
        line = Text(no_wrap=True, overflow="crop", end="")
        for style, cells in groupby(self.cells, key=lambda cell: cell[1]):
            text = "".join(character for character, _ in cells)
            line.append(text, f"{style} dim".strip() if faded else style)
        line.rstrip()
        return line


def shorten(text: str, room: int) -> str:
    """Returns ``text``, or as much of its beginning as fits, with a sign that it is cut."""
    if cell_len(text) <= room:
        return text
    kept = ""
    for character in text:
        if cell_len(kept + character) >= room:
            break
        kept += character
    return (kept.rstrip() + m.CUT) if room > 0 else ""


def widest_gap(lanes: Iterable[int]) -> tuple[int, int]:
    """Returns the first widest gap between neighbouring lanes: its first column, and width."""
    places = sorted(lanes)
    gaps = [(a + 1, b - a - 1) for a, b in pairwise(places)]
    return max(gaps, key=lambda gap: gap[1])

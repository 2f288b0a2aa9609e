"""The log of one process while it is being written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import overload

from checker.conform.lines import NOT_YET, Gap, Item, Line

END = Gap()


class Stream(Sequence[Item]):
    """The items of a log as far as they are there, by their numbers from its beginning; those
    before ``base`` have been dropped.

    Behind the last one is :data:`NOT_YET`, and a gap while the stream is :meth:`assumed_to_go_on`:
    then the lines that are still to come may be any.  ``touched``: whether that item was looked at.
    """

    def __init__(self, base: int = 0, items: Iterable[Item] = (), open_: bool = True) -> None:
        self.base, self.open = base, open_
        self._items = list(items)
        self._behind: Item = NOT_YET
        self.touched = False

    @property
    def end(self) -> int:
        """The number of the next item to come."""
        return self.base + len(self._items)

    @property
    def behind_lines(self) -> int:
        """The number after that of the last line; ``base`` if there is no line."""
        at = len(self._items)
        while at and not isinstance(self._items[at - 1], Line):
            at -= 1
        return self.base + at

    def __len__(self) -> int:
        return self.end + 1

    @overload
    def __getitem__(self, at: int) -> Item: ...

    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...

    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        if isinstance(at, slice):
            return self._items[max((at.start or 0) - self.base, 0) :]
        if at < self.base:
            raise IndexError(at)
        if at < self.end:
            return self._items[at - self.base]
        self.touched = True
        return self._behind

    def append(self, item: Item) -> None:
        """Appends an item."""
        self._items.append(item)

    def drop_before(self, at: int) -> None:
        """Forgets the items before the number ``at``."""
        del self._items[: at - self.base]
        self.base = at

    def cut(self, at: int) -> list[Item]:
        """Removes the items from the number ``at`` on, and returns them."""
        found = self._items[at - self.base :]
        del self._items[at - self.base :]
        return found

    @contextmanager
    def assumed_to_go_on(self) -> Iterator[None]:
        """Within the block, any lines may follow the last one, unless the log has ended."""
        try:
            self._behind = END if self.open else NOT_YET
            yield
        finally:
            self._behind = NOT_YET

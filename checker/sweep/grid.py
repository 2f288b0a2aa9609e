"""Parses a grid of parameters: ``n=3..5,f=0..2,links={perfect,fifo}``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from checker.diagnostics import Diagnostic, SpecError

MOST = 100_000
"""The largest number of cells."""

Axes = Mapping[str, Sequence[str]]

_AXIS = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.+?)\s*", re.DOTALL)
_RANGE = re.compile(r"(-?[0-9]+)\s*\.\.\s*(-?[0-9]+)\s*(?:/\s*([0-9]+))?")
_NUMBER = re.compile(r"-?[0-9]+")
_LIKE_A_RANGE = re.compile(r"[0-9]+\s*(?:-|to|:)\s*[0-9]+")
_EXAMPLE = "such as n=3..5,f=0..2,links={perfect,fifo}"


class Grid(Struct, frozen=True):
    """``cells``: the values of the axes ``names``, each cell once, the first axis slowest."""

    names: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    def settings(self) -> Iterator[dict[str, str]]:
        """Yields each cell as settings."""
        for cell in self.cells:
            yield dict(zip(self.names, cell, strict=True))

    def values(self, name: str) -> tuple[str, ...]:
        """Returns the values that the axis ``name`` takes, each once."""
        place = self.names.index(name)
        return tuple(dict.fromkeys(cell[place] for cell in self.cells))


def grid_of(texts: Sequence[str]) -> Grid:
    """Returns the grid of all ``texts``: one with the same axes as another adds cells to it (so
    that it does not matter whether a shell has expanded braces), one with other axes multiplies.

    Raises :class:`SpecError` (E031, E032).
    """
    groups: dict[frozenset[str], list[Axes]] = {}
    for text in texts:
        axes = axes_of(text)
        groups.setdefault(frozenset(axes), []).append(axes)
    names = [name for same in groups.values() for name in same[0]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise wrong(f"`{twice[0]}` is an axis of two grids with different axes")
    blocks = [_block(same) for same in groups.values()]
    _few_enough(blocks)
    cells = (tuple(itertools.chain(*parts)) for parts in itertools.product(*blocks))
    return Grid(tuple(names), tuple(cells))


def axes_of(text: str) -> dict[str, tuple[str, ...]]:
    """Returns the axes of one text, and the values of each; raises :class:`SpecError` (E031)."""
    axes: dict[str, tuple[str, ...]] = {}
    for part in _parts(text):
        found = _AXIS.fullmatch(part)
        if found is None:
            raise _no_axis(part.strip(), axes)
        name = found[1]
        if name in axes:
            raise wrong(f"duplicate axis `{name}`")
        axes[name] = _values(name, found[2])
    return axes


def _no_axis(part: str, before: dict[str, tuple[str, ...]]) -> SpecError:
    if part and before and "=" not in part:
        last, values = next(reversed(before.items()))
        hint = f"put the values of one axis in braces: {last}={{{', '.join((*values, part))}}}"
        return wrong(f"`{part}` is not an axis", hint)
    message = f"`{part}` is not an axis" if part else "an axis is missing"
    return wrong(message, "an axis is NAME=VALUES")


def _values(name: str, text: str) -> tuple[str, ...]:
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    if inner is text and ("{" in text or "}" in text):
        raise wrong(f"`{text}` is not a list of values of `{name}`")
    values: dict[str, None] = {}
    for item in inner.split(","):
        value = " ".join(item.split())
        if not value or "{" in value or "}" in value:
            raise wrong(f"a value of `{name}` is missing" if not value else f"`{value}` nests")
        values.update(dict.fromkeys(_range(name, value)))
    return tuple(values)


def _range(name: str, value: str) -> Sequence[str]:
    found = _RANGE.fullmatch(value)
    if found is None:
        if ".." in value or _LIKE_A_RANGE.fullmatch(value):
            raise wrong(f"`{name}={value}` is not a range", "a range is written `2..3`")
        return (value,)
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if step == 0 or last < first:
        why = "its step is 0" if step == 0 else "its end is below its start"
        raise wrong(f"the range `{name}={value}` is empty: {why}")
    if (last - first) // step >= MOST:
        raise _too_many((last - first) // step + 1)
    return [str(number) for number in range(first, last + 1, step)]


def _parts(text: str) -> list[str]:
    """Splits ``text`` at the commas outside of braces."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise wrong("a brace is unmatched")
    return parts


def _block(same: list[Axes]) -> list[tuple[str, ...]]:
    """Returns the cells of texts with the same axes, each once, in the first text's order."""
    names = tuple(same[0])
    found: set[tuple[str, ...]] = set()
    for axes in same:
        _few_enough(list(axes.values()))
        found.update(itertools.product(*(axes[name] for name in names)))
    ranks = [_ranks(value for axes in same for value in axes[name]) for name in names]
    return sorted(found, key=lambda cell: [r[v] for r, v in zip(ranks, cell, strict=True)])


def _ranks(values: Iterable[str]) -> dict[str, int]:
    """Ranks numbers by their size, then words in the order in which they come."""
    each = list(dict.fromkeys(values))
    each.sort(key=lambda v: (0, int(v)) if _NUMBER.fullmatch(v) else (1, 0))
    return {value: rank for rank, value in enumerate(each)}


def _few_enough(factors: Sequence[Sequence[object]]) -> None:
    total = 1
    for factor in factors:
        total *= len(factor)
    if total > MOST:
        raise _too_many(total)


def wrong(message: str, hint: str = "") -> SpecError:
    """Returns the error for a grid that can't be parsed (E031)."""
    return SpecError((Diagnostic("E031", message, expected=_EXAMPLE, hint=hint),))


def _too_many(cells: int) -> SpecError:
    message = f"the grid has {cells:,} cells; the limit is {MOST:,}"
    return SpecError((Diagnostic("E032", message),))

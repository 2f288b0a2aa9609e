"""Draws the valence of a check: its inputs as a hypercube, and the state graph folded by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from checker.diagnostics.english import count, listing
from checker.render.diagram.svg_signs import number, safe
from checker.results.valence import Level, Start, Valence

FILLS = ("--message-0", "--message-1", "--message-2", "--message-5")
"""Colours of the values; further ones are used again."""
BOTH, NONE, SPLIT = "--message-3", "--faded", "--fault"
WIDE, ROW, LEFT, RIGHT = 250.0, 14.0, 48.0, 70.0
"""A level's bar, its height, and the room beside it: together narrow enough for a phone."""
RADIUS, EDGE = 26.0, 118.0
MOST_INPUTS = 5
"""The dimensions of the largest hypercube that is drawn."""


def fill_of(report: Valence, values: Sequence[str]) -> str:
    """Returns the colour of a valence."""
    if len(values) == 1:
        return FILLS[report.values.index(values[0]) % len(FILLS)]
    return BOTH if values else NONE


SEVERAL_DECIDED = "several decided"


def open_in_words(values: Sequence[str]) -> str:
    """Returns what the states of a part of a level have in common: what can still be decided."""
    if len(values) == 1:
        return f"only {values[0]}"
    return "several open" if values else "none"


def _head(name: str, width: float, height: float, title: str, said: str) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="spacetime" role="img"'
        f' aria-labelledby="{name}-title {name}-desc"'
        f' width="{number(width)}" height="{number(height)}"'
        f' viewBox="0 0 {number(width)} {number(height)}">'
    )
    yield f'<title id="{name}-title">{safe(title)}</title>'
    yield f'<desc id="{name}-desc">{safe(said)}</desc>'


# ---- the hypercube ----------------------------------------------------------------------------


def hypercube(report: Valence) -> str:
    """Returns the inputs as a picture; empty where they are not those of a hypercube.

    Inputs that differ in one process are joined; where one can only decide one value, and the other
    only another, the line is thick (lemma 2).
    """
    starts = {tuple(v for _, v in start.inputs): start for start in report.starts}
    places = _places(starts)
    if not places:
        return ""
    width = max(x for x, _ in places.values()) + 2 * RADIUS
    height = max(y for _, y in places.values()) + 2 * RADIUS
    adjacent = {frozenset((pair.one, pair.other)) for pair in report.adjacent}
    said = "; ".join(
        f"{' '.join(key)}: {listing(s.open) or 'nothing'}" for key, s in starts.items()
    )
    parts = [*_head("cube", width, height, "What each input can decide", said)]
    numbers = {key: i for i, key in enumerate(starts)}
    for one, other in combinations(places, 2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            thick = frozenset((numbers[one], numbers[other])) in adjacent
            parts.append(_line(places[one], places[other], thick))
    for key, place in places.items():
        parts += _vertex(report, starts[key], place)
    return "".join([*parts, "</svg>"])


def _places(starts: Mapping[tuple[str, ...], Start]) -> dict[tuple[str, ...], tuple[float, float]]:
    """Returns the centre of each input; nothing where there is no hypercube of two values each."""
    if not starts or len(next(iter(starts))) not in range(1, MOST_INPUTS + 1):
        return {}
    size = len(next(iter(starts)))
    low = [sorted({key[i] for key in starts}) for i in range(size)]
    if any(len(values) != 2 for values in low) or len(starts) != 2**size:
        return {}
    steps = [
        (EDGE, 0.0),
        (0.0, -EDGE),
        (EDGE * 0.5, -EDGE * 0.42),
        (EDGE * 2.1, 0),
        (0, -EDGE * 1.9),
    ]
    found = {}
    for key in starts:
        bits = [low[i].index(value) for i, value in enumerate(key)]
        x = sum(bit * step[0] for bit, step in zip(bits, steps, strict=False))
        y = sum(bit * step[1] for bit, step in zip(bits, steps, strict=False))
        found[key] = x, y
    top = min(y for _, y in found.values())
    return {key: (x + RADIUS + 8, y - top + RADIUS + 4) for key, (x, y) in found.items()}


def _line(one: tuple[float, float], other: tuple[float, float], thick: bool) -> str:
    style = "stroke:var(--fault);stroke-width:4" if thick else "stroke:var(--faded);stroke-width:1"
    (a, b), (c, d) = one, other
    ends = f'x1="{number(a)}" y1="{number(b)}" x2="{number(c)}" y2="{number(d)}"'
    return f'<line {ends} style="{style}"/>'


def _vertex(report: Valence, start: Start, place: tuple[float, float]) -> Iterator[str]:
    x, y = place
    colour = fill_of(report, start.open)
    dash = ";stroke-dasharray:5 3" if len(start.open) > 1 else ""
    yield (
        f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(RADIUS)}"'
        f' style="fill:var(--paper);stroke:var({colour});stroke-width:3.5{dash}"/>'
    )
    inputs = " ".join(value for _, value in start.inputs)
    opened = "{" + ",".join(start.open) + "}"
    yield f'<text class="middle" x="{number(x)}" y="{number(y - 2)}">{safe(inputs)}</text>'
    yield (
        f'<text class="middle" x="{number(x)}" y="{number(y + 12)}"'
        f' style="fill:var({colour})">{safe(opened)}</text>'
    )


# ---- levels -----------------------------------------------------------------------------------


def levels(
    report: Valence,
    links: Mapping[int, str] | None = None,
    runs: Mapping[str, str] | None = None,
) -> str:
    """Returns the state graph as a picture: a bar for each level, as wide as it has states, divided
    by what can still be decided; ``links``: for a level, the fragment of what begins or is there;
    ``runs``: for a part of a level, in words, the fragment of a run to such a state.
    """
    widest = max((level.states for level in report.levels), default=1)
    below = ROW * len(report.levels) + 14
    legend, height = _legend(report, below)
    said = f"{count(len(report.levels), 'level')}, the widest has {count(widest, 'state')}"
    parts = [*_head("levels", LEFT + WIDE + RIGHT, height, "The state graph by level", said)]
    for row, level in enumerate(report.levels):
        y = 4 + ROW * row
        label = (
            f'<text class="end" x="{number(LEFT - 22)}" y="{number(y + 10)}">{level.depth}</text>'
        )
        target = (links or {}).get(level.depth)
        if target:
            area = f'<rect y="{y}" width="{LEFT - 2}" height="{ROW}" style="fill:transparent"/>'
            sign = f'{area}<text x="{number(LEFT - 16)}" y="{number(y + 10)}">◆</text>'
            label = f'<a href="#{safe(target)}">{label}{sign}</a>'
        parts.append(label)
        parts += _bar(report, level, y, widest, runs or {})
    return "".join([*parts, *legend, "</svg>"])


def _parts(report: Valence, level: Level) -> Iterator[tuple[int, str, str]]:
    yield level.split, SPLIT, SEVERAL_DECIDED
    yield level.bivalent, BOTH, open_in_words(report.values)
    for value, number_of in zip(report.values, level.univalent, strict=True):
        yield number_of, fill_of(report, (value,)), open_in_words((value,))
    yield level.silent, NONE, open_in_words(())


def _bar(
    report: Valence, level: Level, y: float, widest: int, runs: Mapping[str, str]
) -> Iterator[str]:
    scale, parts = WIDE / widest, [*_parts(report, level)]
    x = LEFT + (WIDE - level.states * scale) / 2
    for states, colour, said in parts:
        if not states:
            continue
        width = max(states * scale, 0.4)
        title = f"level {level.depth}: {count(states, 'state')}, {said}"
        part = (
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}"'
            f' height="{number(ROW - 2)}" style="fill:var({colour})">'
            f"<title>{safe(title)}</title></rect>"
        )
        target = runs.get(said)
        yield f'<a href="#{safe(target)}">{part}</a>' if target else part
        x += states * scale
    at = LEFT + WIDE + 8
    yield f'<text class="quiet" x="{number(at)}" y="{number(y + 10)}">{level.states:,}</text>'


def _legend(report: Valence, y: float) -> tuple[list[str], float]:
    """Returns the legend, in as many rows as it takes from ``y`` on, and where it ends."""
    x, parts = LEFT, list[str]()
    every = [sum(each) for each in zip(*([n for n, _, _ in _parts(report, level)]
             for level in report.levels), strict=True)]  # fmt: skip
    known = [*_parts(report, report.levels[0])] if report.levels else []
    for states, (_, colour, said) in zip(every, known, strict=True):
        if not states:
            continue
        wide = 30 + 7.2 * len(said)
        if x > LEFT and x + wide > LEFT + WIDE + RIGHT:
            x, y = LEFT, y + 16
        place = f'x="{number(x)}" y="{number(y)}"'
        parts.append(f'<rect {place} width="10" height="10" style="fill:var({colour})"/>')
        parts.append(f'<text x="{number(x + 15)}" y="{number(y + 9)}">{safe(said)}</text>')
        x += wide
    return parts, y + 16

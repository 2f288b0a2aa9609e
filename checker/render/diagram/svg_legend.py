"""Draws the legend of a picture; it has only the signs that occur."""

from __future__ import annotations

from collections.abc import Iterator

from checker.render.diagram.parts import MarkKind, Picture
from checker.render.diagram.svg_signs import BODIES, CROSS, SMALL_CROSS, at, sign, text
from checker.render.diagram.svg_style import colour, dash
from checker.results.causality import CopyOutcome

ROW = 24.0

KINDS: dict[MarkKind, str] = {
    "request": "request by its client",
    "receive": "receives",
    "step": "internal step",
    "effect": "performs its next effect",
    "timeout": "timeout",
    "detect": "hears from its oracle",
    "recover": "comes back up",
    "forge": "receives a forgery",
    "also": "in the same step",
    "world": "clocks, rounds, the network",
}

LINES = {
    "delivery": "indicates (delivers)",
    "perform": "performs, visible outside",
    "store": "writes to stable storage",
    "suspicion": "failure detector",
    "coin": "drawn by chance",
}

ARROWS = {
    CopyOutcome.LOST: "lost by the link",
    CopyOutcome.UNDER_WAY: "still in transit",
    CopyOutcome.MISSED: "never arrives",
    CopyOutcome.FORGED: "forged",
}


def legend(picture: Picture, prefix: str) -> tuple[str, float]:
    """Returns the legend around (0, 0), and its height."""
    x, y, parts = 22.0, 22.0, []
    for shape, said in _entries(picture, prefix):
        wide = 54 + len(said) * 6.2
        if x + wide > picture.width and x > 22:
            x, y = 22.0, y + ROW
        parts.append(at(x, y, shape + text(22, 4, said, "words quiet")))
        x += wide
    for note in picture.notes:
        x, y = 22.0, y + ROW * (x > 22)
        parts.append(at(x, y, text(-10, 4, note, "words quiet")))
        x = picture.width
    return "".join(parts), y + ROW


def _entries(picture: Picture, prefix: str) -> Iterator[tuple[str, str]]:
    kinds = {mark.kind for mark in picture.marks} | ({"world"} if picture.bars else set())
    for kind, said in KINDS.items():
        if kind in kinds:
            yield f'<g transform="scale(.8)">{BODIES[kind]}</g>', said
    if picture.operations:
        band = '<g class="operation"><path d="M-6,-10 V10 H6 V-10 Z"/></g>'
        yield band, "an operation, from its call to its return"
    if "crash" in kinds:
        yield CROSS, "crashes"
    lines = [line for mark in picture.marks if mark.label for line in mark.label.lines]
    signs = {line.sign for line in lines if not line.struck}
    for name, said in LINES.items():
        if name in signs:
            yield sign(name, 0, prefix), said
    if any(line.struck for line in lines):
        yield '<text class="struck" x="-10" y="4">abc</text>', "cut off by a crash"
    hows = {drawn.how for drawn in picture.arrows}
    for how, said in ARROWS.items():
        if how in hows:
            named = how is CopyOutcome.FORGED and any(d.claimed for d in picture.arrows)
            yield _sample(how), f"{said} (m as p: in the name of p)" if named else said
    used = {drawn.identity for drawn in picture.arrows}
    for identity, name in enumerate(picture.identities):
        if identity in used:
            line = (
                f'<g class="arrow"><path class="way m{colour(identity)} d{dash(identity)}"'
                ' d="M-14,0 H14"/></g>'
            )
            yield line, name


def _sample(how: CopyOutcome) -> str:
    match how:
        case CopyOutcome.LOST:
            return SMALL_CROSS
        case CopyOutcome.UNDER_WAY:
            return "".join(f'<circle class="solid" cx="{i * 6 - 6}" r="1.7"/>' for i in range(3))
        case CopyOutcome.MISSED:
            return (
                '<g class="arrow missed"><path class="way m7" d="M-14,0 H4"/>'
                '<path class="tip m7" d="M12,0 L2,-5 L2,5 Z"/></g>'
            )
        case _:
            return '<path class="sign" d="M-12,0 H4 M2,-5 V5 M5,-5 V5 M8,-4 L13,0 L8,4 Z"/>'

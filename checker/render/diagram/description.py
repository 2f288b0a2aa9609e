"""Describes a space-time diagram in plain sentences, for users who do not see it."""

from __future__ import annotations

from collections import defaultdict

from checker.diagnostics.english import listing
from checker.render.diagram.parts import Drawn, Picture
from checker.render.diagram.rows import Layout
from checker.results.causality import CopyOutcome

ORDERS: dict[Layout, str] = {
    "steps": "Time runs downwards: a row for each step.",
    "causality": "A step is below those on which it depends; the others may be beside it.",
}
"""The meaning of the height of a step, in a sentence."""

MOST = 60
"""The largest number of steps that are described one by one at either end of a long execution."""


def description_of(picture: Picture) -> str:
    """Describes each step's messages and their outcomes; a line for each sentence."""
    lines = [*picture.sentences]
    fates = [
        f"{lane.process} ({lane.fate})" if lane.fate else lane.process for lane in picture.lanes
    ]
    lines.append(f"Columns: {listing(fates)}. {ORDERS[picture.layout]}")
    told = _steps(picture)
    if len(told) > 2 * MOST:
        left = len(told) - 2 * MOST
        told = [*told[:MOST], f"{left} steps are left out here.", *told[-MOST:]]
    lines += told
    lines += [f"{operation.title}." for operation in picture.operations]
    lines += [f"{drawn.title}." for drawn in picture.arrows if drawn.how is CopyOutcome.UNDER_WAY]
    lines += _never(picture)
    if picture.loop is not None:
        steps = [mark.step for mark in picture.marks if mark.loop]
        first = min(steps + [bar.step for bar in picture.bars if bar.loop])
        lines.append(f"From step {first} on, the steps repeat forever.")
    for strip in picture.strips:
        got = [item.whole for item in strip.items if not item.missing]
        lacks = [item.whole for item in strip.items if item.missing]
        never = f"; it never gets {listing(lacks)}, which others have" if lacks else ""
        lines.append(f"{strip.process} indicated, in order: {listing(got) or 'nothing'}{never}.")
    lines.append(f"At the end: {picture.ends}.")
    return "\n".join(lines)


def _steps(picture: Picture) -> list[str]:
    told: dict[int, list[str]] = defaultdict(list)
    for mark in picture.marks:
        if mark.title not in told[mark.step]:
            told[mark.step].append(mark.title)
    for bar in picture.bars:
        told[bar.step].append(bar.title)
    return [f"{said}." for step in sorted(told) for said in told[step] if step]


def _never(picture: Picture) -> list[str]:
    groups: dict[tuple[int | None, str, str], list[Drawn]] = defaultdict(list)
    for drawn in picture.arrows:
        if drawn.how is CopyOutcome.MISSED:
            groups[drawn.sent, drawn.sender, drawn.message].append(drawn)
    return [
        f"{message} that {sender} sent in step {sent} never arrives at"
        f" {listing([drawn.receiver for drawn in members])}."
        for (sent, sender, message), members in groups.items()
    ]

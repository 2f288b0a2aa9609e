"""Renders a space-time diagram as SVG: one self-contained file, valid XML.

What scripts may rely on (attributes hold plain text; numbers are those of ``Trace.steps``, and the
step that closes a cycle has the number behind the last one):

- ``<g class="step KIND [context] [loop]" data-step="N" data-lane="p1" tabindex="-1" role="img">``
  with a ``<title>``: a mark of a step.  KIND is the kind of the step (``request``, ``receive``,
  ``step``, ``effect``, ``timeout``, ``detect``, ``forge``, ``crash``, ``recover``, ``lose``,
  ``world``, ``start``), or ``crash`` for the second mark of a step inside which its process
  crashes, or ``also`` for what the same step does at another process.  ``data-lane`` is empty for
  what belongs to no process.  Labels beside a mark are inside its group.
- ``<g class="arrow HOW [context] [loop]" data-sent="I" data-ended="J" data-message="…"
  data-from="p1" data-to="p2">`` with a ``<title>``: a copy of a message.  HOW is ``received``,
  ``lost``, ``forged``, ``under-way`` or ``missed``; ``data-sent`` and ``data-ended`` are left out
  where there is no such step.  Its text is in ``<g class="arrow-text [context]" data-sent
  data-ended data-from data-to>``, since texts lie above all arrows.
- ``<g class="lane" data-process="p1">``; ``<g class="strip" data-process="p1">``, and in it
  ``<g class="delivery [missing] [again]" data-step="N" data-item="deliver(p1, a)">`` for what it
  indicated or performed; a missing one has no ``data-step``.
- ``<g class="operation [open]" data-process="p1">`` with a ``<title>``: an operation, from its call
  to its return, or, ``open``, to the end.
- ``<g class="loop-box">``, ``<g class="legend">``,
  ``<g class="violation" [data-step] [data-lane]>``.

Colours are the custom properties ``--message-0`` … ``--message-7``, ``--ink``, ``--paper``,
``--fault`` and ``--faded``; a page that sets them on ``:root`` overrules the ones in here.
"""

from __future__ import annotations

from itertools import groupby

from rich.cells import cell_len

from checker.render.diagram.description import description_of
from checker.render.diagram.parts import (
    Bar,
    Drawn,
    Label,
    Lane,
    Mark,
    Operation,
    Picture,
    Strip,
    Violation,
)
from checker.render.diagram.picture import picture_of
from checker.render.diagram.rows import Layout
from checker.render.diagram.svg_arrows import arrow, arrow_texts
from checker.render.diagram.svg_legend import legend
from checker.render.diagram.svg_signs import (
    LACKING,
    RINGS,
    at,
    body,
    filled_sign,
    number,
    safe,
    sign,
    text,
    title_tag,
)
from checker.render.diagram.svg_style import colour, patterns, style
from checker.render.diagram.words import LINE, SIGN, width_of
from checker.results.trace import Trace

HEADING = 20.0
"""The height of a line of the heading."""

DRAWN = 6.6
"""The usual width of a character; places are made for somewhat wider ones."""


def svg_of_trace(trace: Trace, layout: Layout = "steps") -> str:
    """Draws the space-time diagram of ``trace`` as a picture of its own."""
    return svg_of(picture_of(trace, layout))


def svg_of(picture: Picture, *, title_id: str = "", prefix: str = "") -> str:
    """Renders ``picture`` as an SVG document.

    ``title_id``: the picture is part of a page, whose element of that id names it: then it has no
    heading of its own.  ``prefix``: of the ids inside it; without one, it begins with that id.
    """
    prefix = prefix or (f"{title_id}-" if title_id else "")
    heading, high = ([], 0.0) if title_id else _heading(picture)
    signs, low = legend(picture, prefix)
    width, height = picture.width, high + picture.height + low
    named = f'aria-labelledby="{title_id or "title"}" aria-describedby="{prefix}desc"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="spacetime" role="group" {named}'
        f' width="{number(width)}" height="{number(height)}"'
        f' viewBox="0 0 {number(width)} {number(height)}">',
        f'<title id="{prefix}title">{safe(picture.title)}</title>',
        f'<desc id="{prefix}desc">{safe(description_of(picture))}</desc>',
        f"<style>{style()}</style>",
        patterns(prefix),
        f'<rect width="{number(width)}" height="{number(height)}" class="ground"/>',
        *heading,
        f'<g transform="translate(0,{number(high)})">',
        *(_lane(lane, picture, prefix) for lane in picture.lanes),
        *(_operation(operation) for operation in picture.operations),
        *_end_rule(picture),
        *_loop(picture),
        *(_bar(bar, picture) for bar in picture.bars),
        *(_violation(violation) for violation in picture.violations),
        *(arrow(drawn) for drawn in picture.arrows),
        *(_forgery_sign(drawn, prefix) for drawn in picture.arrows if drawn.how.value == "forged"),
        *(_mark(mark, prefix) for mark in picture.marks),
        *(arrow_texts(drawn) for drawn in picture.arrows),
        *(_strip(strip, picture, prefix) for strip in picture.strips),
        at(0, picture.height, signs, ' class="legend"'),
        "</g></svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _heading(picture: Picture) -> tuple[list[str], float]:
    """Returns the title and the sentences above the picture, and their height."""
    most = max(int((picture.width - 24) / 6.3), 30)
    found = [text(12, 26, picture.title, "words heading")]
    y = 26.0
    for sentence in picture.sentences:
        line = ""
        for word in [*sentence.split(), ""]:
            if word and len(line) + len(word) < most:
                line = f"{line} {word}".strip()
                continue
            y += HEADING
            found.append(text(12, y, line, "words"))
            line = word
    return found, y + 14


def _lane(lane: Lane, picture: Picture, prefix: str) -> str:
    x = number(lane.x)
    parts = [title_tag(f"{lane.process}: {lane.fate}" if lane.fate else lane.process)]
    hatch = {"byzantine": "hatch", "omitting": "omits"}.get(lane.faulty)
    if hatch is not None:
        high = number(picture.end - picture.top)
        parts.append(
            f'<rect x="{number(lane.x - 7)}" y="{number(picture.top)}" width="14"'
            f' height="{high}" fill="url(#{prefix}{hatch})"/>'
        )
    for span in lane.spans:
        down = ' class="down"' if span.down else ""
        parts.append(
            f'<line{down} x1="{x}" x2="{x}" y1="{number(span.top)}" y2="{number(span.bottom)}"/>'
        )
    parts.append(text(lane.x, 26, lane.process, "words head"))
    said = {"byzantine": "B  Byzantine", "omitting": "omits"}.get(lane.faulty, lane.fate)
    parts.append(text(lane.x, 44, said, "words quiet middle" + (" bad" * (not lane.correct))))
    return f'<g class="lane" data-process="{safe(lane.process)}">{"".join(parts)}</g>'


def _operation(operation: Operation) -> str:
    """Draws an operation as a band on its lane, open at the end where it has not returned."""
    x, top, bottom = operation.x, operation.top, operation.bottom
    left, right, high, low = number(x - 6), number(x + 6), number(top), number(bottom)
    way = f"M{left},{low} V{high} H{right} V{low}" + " Z" * operation.has_returned
    classes = "operation" + " open" * (not operation.has_returned)
    return (
        f'<g class="{classes}" data-process="{safe(operation.process)}">'
        f'{title_tag(operation.title)}<path d="{way}"/></g>'
    )


def _end_rule(picture: Picture) -> list[str]:
    y = picture.end
    return [
        f'<line class="rule" x1="8" x2="{number(picture.width - 8)}" y1="{number(y)}"'
        f' y2="{number(y)}"/>',
        text(12, y + 14, picture.ends, "words quiet halo end-of-run"),
    ]


def _loop(picture: Picture) -> list[str]:
    if picture.loop is None:
        return []
    box = picture.loop.box
    said = "↻ " + picture.loop.text
    wide = cell_len(said) * DRAWN
    return [
        '<g class="loop-box">'
        f'<rect x="{number(box.left)}" y="{number(box.top)}" rx="8"'
        f' width="{number(box.right - box.left)}" height="{number(box.bottom - box.top)}"/>'
        + f'<rect class="under" x="{number(box.right - 13 - wide)}" y="{number(box.top - 8)}"'
        f' width="{number(wide + 6)}" height="16"/>'
        + text(box.right - 12, box.top + 4, said, "words halo end")
        + "</g>"
    ]


def _classes(kind: str, context: bool, loop: bool) -> str:
    return "step " + kind + " context" * context + " loop" * loop


def _bar(bar: Bar, picture: Picture) -> str:
    y = number(bar.y)
    parts = [
        title_tag(bar.title),
        f'<line x1="8" x2="{number(picture.width - 8)}" y1="{y}" y2="{y}"/>',
    ]
    parts += [_side(bar, run) for run in _sides(bar, picture)]
    parts.append(at(22, bar.y, body("world", bar.step)))
    parts.append(text(40, bar.y - 5, bar.text, "words halo"))
    classes = _classes("world bar", bar.context, bar.loop)
    return (
        f'<g class="{classes}" data-step="{bar.step}" data-lane="" tabindex="-1" role="img">'
        f"{''.join(parts)}</g>"
    )


def _sides(bar: Bar, picture: Picture) -> list[tuple[bool, list[Lane]]]:
    """Returns neighbouring lanes on the same side of a partition, and whether they are cut off."""
    if not bar.apart:
        return []
    runs = groupby(picture.lanes, key=lambda lane: lane.process in bar.apart)
    return [(is_apart, list(lanes)) for is_apart, lanes in runs]


def _side(bar: Bar, run: tuple[bool, list[Lane]]) -> str:
    """Draws a side of a partition: a bracket over its lanes."""
    is_apart, lanes = run
    left, right = number(lanes[0].x - 40), number(lanes[-1].x + 40)
    way = f"M{left},{number(bar.y + 14)} V{number(bar.y)} H{right} V{number(bar.y + 14)}"
    return f'<path class="{"side apart" if is_apart else "side"}" d="{way}"/>'


def _forgery_sign(drawn: Drawn, prefix: str) -> str:
    """Draws where a Byzantine process forges a message."""
    x, y = drawn.points[0]
    shape = f'<circle r="6" fill="url(#{prefix}hatch)" class="sign faulty"/>'
    ends = f'data-from="{safe(drawn.sender)}" data-to="{safe(drawn.receiver)}"'
    return at(x, y, shape, f' class="forged-from" {ends}')


def _mark(mark: Mark, prefix: str) -> str:
    inside = body(mark.kind, mark.step)
    parts = [title_tag(mark.title), at(mark.x, mark.y, inside)]
    if mark.label is not None:
        parts.append(_label(mark.label, prefix, mark.kind == "crash"))
    classes = _classes(mark.kind, mark.context, mark.loop)
    return (
        f'<g class="{classes}" data-step="{mark.step}" data-lane="{safe(mark.lane)}"'
        f' tabindex="-1" role="img">{"".join(parts)}</g>'
    )


def _label(label: Label, prefix: str, crash: bool) -> str:
    parts = []
    for i, line in enumerate(label.lines):
        y = label.box.top + i * LINE + LINE - 3
        plain = " words bad" if crash else " words"
        how = " quiet" if line.struck or line.sign == "does" else "" if line.sign else plain
        x = label.box.left if label.left else label.box.right - width_of(line)
        mark = sign(line.sign, line.identity, prefix, line.struck)
        parts.append(at(x + 6, y - 4, mark) if mark else "")
        x += SIGN - 1 if mark else 0
        end = "" if label.left or mark else " end"
        parts.append(text(label.box.right if end else x, y, line.text, "halo" + how + end))
        if line.struck:
            to_x = x + cell_len(line.text) * DRAWN
            way = f"M{number(x - 14)},{number(y - 4)} H{number(to_x)}"
            parts.append(f'<path class="sign faulty" d="{way}"/>')
    return "".join(parts)


def _violation(violation: Violation) -> str:
    step = "" if violation.step is None else f' data-step="{violation.step}"'
    lane = f' data-lane="{safe(violation.lane)}"' if violation.lane else ""
    at_a_mark = violation.step is not None and violation.lane
    shapes = RINGS if at_a_mark else LACKING
    box = violation.box
    said = text((box.left + box.right) / 2, box.bottom - 4, violation.text, "words bad halo middle")
    shapes = at(violation.x, violation.y, shapes)
    return f'<g class="violation"{step}{lane}>{title_tag(violation.text)}{shapes}{said}</g>'


def _strip(strip: Strip, picture: Picture, prefix: str) -> str:
    parts = [text(strip.x, picture.end + 78, strip.process, "words head")]
    if not strip.items:
        parts.append(text(strip.x, picture.end + 100, "nothing", "words quiet middle"))
    for item in strip.items:
        box = item.box
        shape = (
            f'<rect class="m{colour(item.identity)}" x="{number(box.left)}"'
            f' y="{number(box.top)}" width="{number(box.right - box.left)}"'
            f' height="{number(box.bottom - box.top)}" rx="2"/>'
        )
        kind = "perform" if item.perform else "delivery"
        drawn = filled_sign(kind, item.identity, prefix, struck=item.missing)
        classes = "delivery" + " missing" * item.missing + " again" * item.again
        step = "" if item.step is None else f' data-step="{item.step}"'
        said = f"{strip.process}: {item.whole}" + (
            f", in step {item.step}" if item.step is not None else ": never, but demanded"
        )
        parts.append(
            f'<g class="{classes}"{step} data-item="{safe(item.whole)}">{title_tag(said)}{shape}'
            + at(box.left + 12, (box.top + box.bottom) / 2, drawn)
            + text(box.left + 24, box.bottom - 6, item.text)
            + "</g>"
        )
    return f'<g class="strip" data-process="{safe(strip.process)}">{"".join(parts)}</g>'

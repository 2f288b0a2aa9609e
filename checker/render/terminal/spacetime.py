"""Renders an execution as a space-time diagram in a terminal: a column for each process, time goes
downwards.

L. Lamport: Time, Clocks, and the Ordering of Events in a Distributed System, CACM 1978, drew time
upwards; everything else is as there.  A message is an arrow on the row of its receipt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from checker.diagnostics.english import count
from checker.render.diagram.identity import Identities
from checker.render.diagram.rows import Layout
from checker.render.diagram.words import text_of_arrow
from checker.render.terminal import marks as m
from checker.render.terminal.columns import AROUND, Columns, Row, columns, shorten, widest_gap
from checker.render.terminal.lasso import repeating
from checker.render.terminal.selection import Shown, restricted
from checker.render.terminal.step_items import QUIET, Block, LaneItem, blocks_of, undelivered
from checker.render.terminal.steps import PERHAPS_MORE, open_after
from checker.results.causality import Arrow, CopyOutcome, causality
from checker.results.trace import Trace
from checker.words.steps import headline
from checker.words.wrappers import fold_wrappers

FAULT, STEM = "bold red", "dim"
COLOURS = (
    "cyan",
    "yellow",
    "magenta",
    "green",
    "bright_blue",
    "bright_yellow",
    "bright_magenta",
    "bright_cyan",
)
"""The colours of messages, and of their deliveries: readable on light and on dark backgrounds."""
WIDEST = 28
"""The largest width in columns of handlers' conditions; they are of less interest."""
ENDING = (m.DELIVERY, m.RETURN, m.PERFORM, "")
"""Marks that stand where an arrow ends: its effects."""
ENDS = {CopyOutcome.LOST: m.LOST, CopyOutcome.MISSED: m.MISSED, CopyOutcome.UNDER_WAY: m.UNDER_WAY}

STILL_OPEN = "{…} the values still open: those that some run from here decides"
"""Explains the sets after the numbers of steps."""
CLAIMED = "m as p: forged, in the name of p"
"""Explains the text of a forged message."""


def spacetime(trace: Trace, layout: Layout = "steps", shown: Shown | None = None) -> RenderableType:
    """Renders the diagram of ``trace``, as wide as the page that it is put on; ``shown``: what of
    it, otherwise all."""
    return _Diagram(trace, layout, shown or Shown())


class _Diagram:
    def __init__(self, trace: Trace, layout: Layout, shown: Shown) -> None:
        trace, notes = fold_wrappers(trace)
        self._trace = trace
        order = causality(trace)
        self._notes = (*notes, CLAIMED) if any(a.claimed for a in order.arrows) else notes
        self._lanes = shown.lanes(trace)
        blocks = blocks_of(trace, order, layout)
        self._left_out = shown.left_out(trace, blocks)
        self._blocks = tuple(restricted(block, self._lanes) for block in blocks)
        self._rest = undelivered(trace, order)
        self._notes += shown.notes(trace, self._lanes)
        if trace.still_open:
            self._notes += (STILL_OPEN,)
        if any(each.perhaps_more for each in trace.still_open):
            self._notes += (PERHAPS_MORE,)
        self._identities = Identities(trace, order.steps)
        explanation = trace.explanation
        self._context = frozenset(explanation.context if explanation else ())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        columns = self._columns(width, self._lanes) or self._columns(width, self._busy())
        if columns is None:
            yield from self._headlines(width)
            return
        page = _Page(
            self._trace,
            columns,
            self._context - self._left_out,
            self._identities,
            self._margin(),
            self._notes,
            self._left_out,
        )
        for line in page.lines(self._blocks, self._rest):
            yield Text.assemble(line, "\n", end="") if isinstance(line, Text) else line

    def _headlines(self, width: int) -> Iterator[Text]:
        """Yields the execution as headlines where not even narrow lanes have room."""
        yield Text(f"There is no room for {len(self._lanes)} processes in {width} columns.\n")
        for block in self._drawn():
            yield Text(f"{block.step.number:>4} {headline(block.step)}", overflow="fold")

    def _drawn(self) -> tuple[Block, ...]:
        """Returns the steps that are not left out."""
        return tuple(b for b in self._blocks if b.step.number not in self._left_out)

    def _margin(self) -> int:
        """Returns the columns on the left: a bar along the cycle, and the step's number."""
        number = len(str(self._trace.length)) + (2 if self._context else 0)
        number += max((1 + len(str(each)) for each in self._trace.still_open), default=0)
        return number + (4 if self._trace.closing is not None else 2)

    def _busy(self) -> tuple[str, ...]:
        """Returns the processes that have events."""
        arrows = [a for b in self._drawn() for a in b.arrows]
        busy = {item.lane for block in self._drawn() for item in block.items}
        busy |= {end for arrow in arrows for end in (arrow.sender, arrow.receiver)}
        return tuple(lane for lane in self._lanes if lane in busy)

    def _columns(self, width: int, lanes: tuple[str, ...]) -> Columns | None:
        needs = {lane: cell_len(lane) + 2 for lane in lanes}
        for item in (item for block in self._drawn() for item in block.items):
            if item.lane in needs:
                most = WIDEST if item.style == QUIET else cell_len(item.text)
                needs[item.lane] = max(needs[item.lane], min(cell_len(item.text), most) + 3)
        for arrow in (*(a for b in self._drawn() for a in b.arrows), *self._rest):
            if arrow.sender not in needs or arrow.receiver not in needs:
                continue
            if arrow.sender == arrow.receiver:
                own = cell_len(_to_itself(arrow)) + 3
                needs[arrow.sender] = max(needs[arrow.sender], own)
                continue
            ends = sorted((lanes.index(arrow.sender), lanes.index(arrow.receiver)))
            widest = max(lanes[ends[0] : ends[1]], key=lambda lane: needs[lane], default="")
            if widest:
                needs[widest] = max(needs[widest], cell_len(_said(arrow)) + AROUND + 1)
        return columns(lanes, needs, self._margin(), width)


class _Page:
    """Writes the lines of a diagram from top to bottom."""

    def __init__(
        self,
        trace: Trace,
        columns: Columns,
        context: frozenset[int],
        identities: Identities,
        margin: int,
        notes: tuple[str, ...],
        left_out: frozenset[int] = frozenset(),
    ) -> None:
        self._trace = trace
        self._left_out = left_out
        self._columns = columns
        self._context = context
        self._identities = identities
        self._first = margin - 2
        self._notes = notes
        self._cut: dict[str, tuple[str, int]] = {}  # what is left of it, and in which step first
        self._step = 0
        self._used: set[str] = set()
        byzantine = {fate.process for fate in trace.fates if fate.faulty == "byzantine"}
        self._now = {lane: m.BYZANTINE if lane in byzantine else m.UP for lane in columns.at}
        self._usual = dict(self._now)
        self._running: set[str] = set()

    def lines(self, blocks: tuple[Block, ...], rest: tuple[Arrow, ...]) -> Iterator[Text | Padding]:
        """Yields all lines, with the legend, and texts that were cut."""
        yield from self._heads()
        loop = self._trace.loop if self._trace.closing is not None else None
        folded = 0
        for block in blocks:
            in_loop = loop is not None and block.step.number > loop
            if loop is not None and block.step.number == loop + 1:
                yield from self._fold(folded, False)
                folded = 0
                yield self._loop_line(m.LOOP_HEAD, f"{repeating(self._trace)} forever")
            if block.step.number in self._left_out:
                folded += 1
                self._pass_by(block)
                continue
            yield from self._fold(folded, in_loop)
            folded = 0
            yield from self._block(block, in_loop)
        yield from self._fold(folded, loop is not None)
        if loop is not None:
            then = "at the start" if loop == 0 else f"after step {loop}"
            yield self._loop_line(m.LOOP_FOOT, f"then the state is as {then}, and so on")
        yield from (row.text() for row in self._multicasts(rest))
        yield self._row().text()
        yield from self._end()
        yield from self._below()

    def _pass_by(self, block: Block) -> None:
        """Notes who is down, and has an operation, after a step that is left out."""
        for item in block.items:
            self._note(item)

    def _note(self, item: LaneItem) -> None:
        if item.mark == m.CRASH:
            self._now[item.lane] = m.DOWN
            self._running.discard(item.lane)
        if item.mark == m.RECOVERY:
            self._now[item.lane] = self._usual[item.lane]
        if item.opens:
            self._running.add(item.lane)
        if item.mark == m.RETURN:
            self._running.discard(item.lane)

    def _fold(self, number: int, in_loop: bool) -> Iterator[Text]:
        """Yields a line in place of that many steps; none for none."""
        if number:
            row = self._row()
            if in_loop:
                row.put(0, m.LOOP, "yellow")
            said = f" {m.FOLDED} {count(number, 'step')} left out "
            row.put(min(self._columns.at.values()) + 2, said, STEM)
            yield row.text()

    def _heads(self) -> Iterator[Text]:
        names = Row(self._columns.width)
        for lane, x in self._columns.at.items():
            names.put(x, self._fitting(lane, self._columns.room(lane)), "bold")
        yield names.text()
        yield self._row().text()

    def _row(self) -> Row:
        """Returns a row with nothing but lanes."""
        row = Row(self._columns.width)
        for lane, x in self._columns.at.items():
            sign = self._now[lane]
            if sign == m.UP and lane in self._running:
                sign = m.OPERATION
            self._used.add(sign)
            row.put(x, sign, STEM if sign in (m.UP, m.OPERATION) else FAULT)
        return row

    def _block(self, block: Block, in_loop: bool) -> Iterator[Text]:
        number = self._step = block.step.number
        faded = number in self._context
        first = True
        for row in self._rows(block):
            if in_loop:
                row.put(0, m.LOOP, "yellow")
            if first:
                label = f"({number})" if faded else str(number)
                label += open_after(self._trace, number)
                row.put(self._first - len(label), label, "bold")
                first = False
            yield row.text(faded)

    def _rows(self, block: Block) -> Iterator[Row]:
        if block.bar:
            yield self._bar(block.bar, m.WORLD)
        items = list(block.items)
        for arrow in block.arrows:
            row = self._row()
            self._draw(row, arrow)
            at = self._columns.at
            if arrow.how in (CopyOutcome.RECEIVED, CopyOutcome.FORGED) and arrow.receiver in at:
                rightwards = at.get(arrow.sender, 0) < at[arrow.receiver]
                here = [item for item in items if item.lane == arrow.receiver]
                alone = len(block.arrows) == 1 and here[:1] == items[:1] != []
                if rightwards and alone and here[0].mark in ENDING:
                    self._item(row, items.pop(0))
            yield row
        for item in items:
            if item.lane not in self._columns.at:
                continue
            row = self._row()
            self._item(row, item)
            yield row

    def _multicasts(self, arrows: tuple[Arrow, ...]) -> Iterator[Row]:
        """Yields arrows that end nowhere, on one row for each message of a sender."""
        at = self._columns.at
        together: dict[tuple[str, str, CopyOutcome], list[Arrow]] = {}
        for arrow in arrows:
            if arrow.sender in at and arrow.receiver in at and arrow.sender != arrow.receiver:
                key = arrow.sender, arrow.message, arrow.how
                together.setdefault(key, []).append(arrow)
        for arrow in arrows:
            if arrow.sender == arrow.receiver and arrow.sender in at:
                row = self._row()
                self._item(row, LaneItem(arrow.sender, m.UNDER_WAY, _to_itself(arrow), "dim"))
                yield row
        for (sender, _, how), some in together.items():
            row = self._row()
            for left in (True, False):
                side = [a for a in some if (at[a.receiver] < at[sender]) is left]
                side.sort(key=lambda a: abs(at[a.receiver] - at[sender]), reverse=True)
                for arrow in side[:1]:
                    self._draw(row, arrow)
                for arrow in side[1:]:
                    end = at[arrow.receiver]
                    head = ENDS.get(how, m.LEFT if left else m.RIGHT)
                    row.put(end + 1 if left else end - 1, head, self._style(arrow))
            yield row

    def _item(self, row: Row, item: LaneItem) -> None:
        x = self._columns.at[item.lane]
        style = self._colour(item.message, True) if item.message else item.style
        if item.mark in (m.DELIVERY, m.RETURN, m.PERFORM, m.REQUEST):
            style = f"{self._colour(item.text)} bold"
        self._note(item)
        if item.mark and item.mark != m.UP:
            self._used.add(item.mark)
            row.put(x, item.mark, style)
        row.put(x + 2, self._fitting(item.text, self._columns.room(item.lane) - 2), style)

    def _draw(self, row: Row, arrow: Arrow) -> None:
        """Draws an arrow from its sender's lane, to that of its receiver or just before it."""
        at = self._columns.at
        if arrow.sender not in at or arrow.receiver not in at:
            return
        start, end = at[arrow.sender], at[arrow.receiver]
        low, high = sorted((start, end))
        style = self._style(arrow)
        line = {CopyOutcome.MISSED: m.BROKEN, CopyOutcome.FORGED: m.DOUBLE}
        stroke = line.get(arrow.how, m.SOLID)
        for x in range(low + 1, high):
            row.put(x, m.CROSSINGS.get(row.sign(x), stroke), style)
        if row.sign(start) in (m.UP, m.OPERATION):
            row.put(start, m.SEND if start < end else m.SENT_LEFT, style)
        inside = [x for x in at.values() if low <= x <= high]
        begin, room = widest_gap(inside)
        label = self._fitting(_said(arrow), room - 4)
        if room >= 6:
            space = room - cell_len(label) - 2
            row.put(begin + 1 + max(space - 1, 0) // 2, f" {label} ", style)
        head = ENDS.get(arrow.how, m.RIGHT if start < end else m.LEFT)
        row.put(end - 1 if start < end else end + 1, head, style)
        self._used.add(head)
        if arrow.how in (CopyOutcome.RECEIVED, CopyOutcome.FORGED, CopyOutcome.COUNTED):
            row.put(end, m.RECEIVE, style)
            self._used.add(m.RECEIVE)

    def _colour(self, text: str, is_message: bool = False) -> str:
        return COLOURS[self._identities.of(text, is_message) % len(COLOURS)]

    def _style(self, arrow: Arrow) -> str:
        match arrow.how:
            case CopyOutcome.RECEIVED | CopyOutcome.COUNTED:
                return self._colour(arrow.message, True)
            case CopyOutcome.UNDER_WAY:
                return "dim"
            case _:
                return FAULT

    def _bar(self, said: str, sign: str) -> Row:
        """Returns a bar across all lanes with a text, which may extend to the edge of the page."""
        first = min(self._columns.at.values())
        text = self._fitting(said, self._columns.width - first - 5)
        row = Row(self._columns.width)
        row.put(first, sign * max(self._columns.edge - first, cell_len(text) + 5), FAULT)
        row.put(first + 2, f" {text} ", FAULT)
        return row

    def _loop_line(self, corner: str, said: str) -> Text:
        row = Row(self._columns.width)
        row.put(0, corner + m.BAR * 2, "yellow")
        row.put(4, self._fitting(said, self._columns.width - 4), "bold yellow")
        return row.text()

    def _end(self) -> Iterator[Text]:
        """Yields the end of the diagram, where the violation becomes apparent."""
        trace = self._trace
        if trace.failure is not None:
            said = f"a run-time error: {trace.failure.code}"
        elif trace.ends:
            violated = f"; {trace.property_name} is violated" if trace.property_name else ""
            rests = "the system is quiescent" if trace.quiescent else "the run may end here"
            said = f"{rests}{violated}"
        elif trace.closing is not None or not trace.property_name:
            return
        else:
            said = f"{trace.property_name} is violated here"
        yield self._bar(said, m.BAR).text()

    def _fitting(self, text: str, room: int) -> str:
        cut = shorten(text, room)
        if cut != text:
            self._cut.setdefault(text.removeprefix(f"{m.RIGHT} "), (cut, self._step))
        return cut

    def _below(self) -> Iterator[Text | Padding]:
        """Yields the legend, and in full the texts that were cut."""
        signs = [f"{sign} {said}" for sign, said in m.MEANINGS if sign in self._used]
        if self._context:
            signs.append("(n) a step that the violation does not depend on")
        signs += self._notes
        yield Text("")
        for line in _fill_lines(signs, self._columns.width):
            yield Text(line, style="dim")
        if self._cut:
            yield Text("")
            yield Text("Cut short above:", style="dim")
            whole = [t for t in self._cut if not any(t != u and t in u for u in self._cut)]
            alike = Counter(self._cut[text][0] for text in whole)
            for text in whole:
                left, step = self._cut[text]
                if alike[left] > 1:
                    text = f"in step {step}: {text}"
                yield Padding(Text(text, style="dim", overflow="fold"), (0, 0, 0, 2))


def _said(arrow: Arrow) -> str:
    return text_of_arrow(arrow.message, arrow.claimed)


def _to_itself(arrow: Arrow) -> str:
    return f"{_said(arrow)} to itself"


def _fill_lines(parts: list[str], width: int) -> Iterator[str]:
    """Yields lines of whole ``parts``, as many on each as there is room for."""
    line = ""
    for part in parts:
        if line and len(line) + 3 + len(part) > width:
            yield line
            line = ""
        line = f"{line}   {part}" if line else part
    if line:
        yield line
